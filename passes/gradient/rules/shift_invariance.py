"""Shift-invariant extrema: maxima subtracted before `exp` that change no result.

In `E = exp(X - M); S = sum(E); Y = E / S` the maximum `M` keeps exponentials small. `Y` is the same
for any `M`: `E` and `S` have a factor `exp(-M)` in common. So the derivative by `M` is 0, and need
not be computed as a sum of terms of which nothing remains but roundings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import IndexExpr
from tiledialect.passes.gradient.rules.elementwise import can_flow


@dataclass(frozen=True)
class Share:
    """Dependence of an element of a value on the aligned element of the aggregate `m`."""

    degree: float
    """Shift: the value is its value for `m = 0`, plus `degree * m`."""
    axes: tuple[int | None, ...]
    """Axis of the value along each of the aggregate's, counted from the last one as broadcasting
    does; None for axes of size 1.
    """
    is_factor: bool = False
    """Whether the value is multiplied by `exp(degree * m)` instead."""


Shares = list[Share | None]
"""Shares of an op's operands; None for those that do not depend on the aggregate."""
Rule = Callable[[Operation, Shares], Share | None]
"""Share of an op's result, of which one operand at least has a share."""


class _DependenceError(Exception):
    """The results may depend on the aggregate."""


def shift_invariant_extrema(values: Iterable[SSAValue]) -> set[SSAValue]:
    """Values of a function whose derivatives are 0, as all results are invariant to their
    shifts.
    """
    return {value for value in values if _is_extremum(value) and _is_shift_invariant(value)}


def _is_extremum(value: SSAValue) -> bool:
    """Whether a value is a greatest or least one: nothing else keeps exponentials small."""
    op = value.owner
    if isinstance(op, ContractionOp):
        return op.aggregation.data in EXTREMES
    return isinstance(op, ew.MaxOp | ew.MinOp)


def _is_shift_invariant(value: SSAValue) -> bool:
    shape = shape_of(tensor_type(value))
    if shape is None or DYNAMIC_INDEX in shape:
        return False
    axes = tuple(k - len(shape) if n != 1 else None for k, n in enumerate(shape))
    shares = {value: Share(1, axes)}
    op = value.owner
    assert isinstance(op, Operation)
    block = op.parent
    try:
        while (op := op.next_op) is not None:
            if shares.keys().isdisjoint(op.operands):
                continue
            share = _share(op, [shares.get(v) for v in op.operands])
            if share is not None and share.degree:
                shares[op.results[0]] = share
    except _DependenceError:
        return False
    # Values captured by a region are not operands of its op.
    return all(u.operation.parent is block for v in shares for u in v.uses)


def _share(op: Operation, shares: Shares) -> Share | None:
    if op.results and not can_flow(op.results[0]):
        # Neither the result nor a selection by it has a derivative.
        return None
    if (rule := RULES.get(type(op))) is None:
        raise _DependenceError
    return rule(op, shares)


def _one(shares: Shares) -> Share:
    """The share that all operands have; an error if they differ, or only some have one."""
    first = shares[0]
    if first is None or any(s != first for s in shares):
        raise _DependenceError
    return first


def _same(op: Operation, shares: Shares) -> Share:
    return _one(shares)


def _same_factor(op: Operation, shares: Shares) -> Share:
    if not (share := _one(shares)).is_factor:
        raise _DependenceError
    return share


def _scaled(share: Share, by: float) -> Share:
    return replace(share, degree=share.degree * by)


def _neg(op: Operation, shares: Shares) -> Share:
    share = _one(shares)
    return share if share.is_factor else _scaled(share, -1)


def _exp(op: Operation, shares: Shares) -> Share:
    if (share := _one(shares)).is_factor:
        raise _DependenceError
    return replace(share, is_factor=True)


def _log(op: Operation, shares: Shares) -> Share:
    return replace(_same_factor(op, shares), is_factor=False)


def _power(exponent: float) -> Rule:
    return lambda op, shares: _scaled(_same_factor(op, shares), exponent)


def _combined(shares: Shares, signs: tuple[int, int], *, is_factor: bool) -> Share:
    """Share of a sum of values, or of a product of factors."""
    there = [(s, sign) for s, sign in zip(shares, signs, strict=True) if s is not None]
    axes = there[0][0].axes
    if any(s.axes != axes or s.is_factor != is_factor for s, _ in there):
        raise _DependenceError
    return Share(sum(s.degree * sign for s, sign in there), axes, is_factor)


def _sum(sign: int) -> Rule:
    def rule(op: Operation, shares: Shares) -> Share:
        if any(s is not None and s.is_factor for s in shares):
            return _selected(op, shares)
        return _combined(shares, (1, sign), is_factor=False)

    return rule


def _product(sign: int) -> Rule:
    def rule(op: Operation, shares: Shares) -> Share:
        number = _number(op.operands[1]) if shares[0] is not None else None
        share = shares[0]
        if number is None and sign > 0 and shares[1] is not None:
            number, share = _number(op.operands[0]), shares[1]
        if share is None or share.is_factor or not number:
            return _combined(shares, (1, sign), is_factor=True)
        return _scaled(share, number if sign > 0 else 1 / number)

    return rule


def _number(value: SSAValue) -> float | None:
    constant = constant_of(value)
    return float(constant.value.value.data) if constant is not None else None


def _selected(op: Operation, shares: Shares) -> Share:
    """Share of a value that is one of several, or their sum: 0 has any factor."""
    values = zip(op.operands, shares, strict=True)
    return _same_factor(op, [s for v, s in values if _number(v) != 0])


def _select(op: Operation, shares: Shares) -> Share | None:
    condition, *values = shares
    if condition is not None:
        raise _DependenceError
    if any(s is not None and s.is_factor for s in values):
        zeros = (_number(v) for v in op.operands[1:])
        return _one([s for s, zero in zip(values, zeros, strict=True) if zero != 0])
    return _one(values)


def _contraction(op: Operation, shares: Shares) -> Share:
    """Share of an aggregate of factors: the points of an element have it in common."""
    assert isinstance(op, ContractionOp)
    kinds = Combination.none, Combination.mul
    is_plain = op.combination.data in kinds and op.aggregation.data is not Aggregation.mul
    if not is_plain or op.default is not None:
        raise _DependenceError
    own = list[Share]()
    for share, access in zip(shares, op.accesses.data, strict=False):
        if share is not None:
            axes = tuple(_axis_of(op, access.data[k]) if k else None for k in share.axes)
            own.append(replace(share, axes=axes))
    if any(not s.is_factor or s.axes != own[0].axes for s in own):
        raise _DependenceError
    return replace(own[0], degree=sum(s.degree for s in own))


def _axis_of(op: ContractionOp, e: IndexExpr) -> int:
    """Axis of an op's result, from the last one, that lies along an index expression."""
    output = op.output.data
    if e.variable is None or e not in output:
        raise _DependenceError
    return output.index(e) - len(output)


RULES: dict[type[Operation], Rule] = {
    ContractionOp: _contraction,
    ew.AbsOp: _same_factor,
    ew.AddOp: _sum(1),
    ew.CastOp: _same,
    ew.DivOp: _product(-1),
    ew.ExpOp: _exp,
    ew.IdentOp: _same,
    ew.LogOp: _log,
    ew.MaxOp: _same,
    ew.MinOp: _same,
    ew.MulOp: _product(1),
    ew.NegOp: _neg,
    ew.RecipOp: _power(-1),
    ew.ReluOp: _same_factor,
    ew.SelectOp: _select,
    ew.SqrtOp: _power(0.5),
    ew.SubOp: _sum(-1),
}
