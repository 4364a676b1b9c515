"""Bounds of values: a value with a surely normal reciprocal need not be scaled before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log2

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    Float64Type,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.analysis.online_sums import maximum_of
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import IndexExpr

POINTS = 63
"""No more than two to this power are ever summed."""
FAR = 8
"""Most ops that are looked through, one after another."""
LARGEST: dict[type[Attribute], float] = {Float32Type: 128, Float64Type: 1024}
"""The power of two that a type's finite numbers are below."""

Rule = Callable[[Operation, Sequence[float]], float]
"""Bound of an op's result from the bounds of its operands."""


def magnitude(value: SSAValue, far: int = FAR) -> float:
    """A power of two that no finite number of a value exceeds, nor a partial sum of it."""
    if (constant := constant_of(value)) is not None:
        return log2(abs(constant.number)) if constant.number else -inf
    most = LARGEST.get(type(tensor_type(value).element_type), inf)
    op = value.owner
    rule = RULES.get(type(op)) if isinstance(op, Operation) else None
    if rule is None or not isinstance(op, Operation) or far == 0:
        return most
    # Other operands are sizes.
    tensors = (v for v in op.operands if isinstance(v.type, TensorType | UnrankedTensorType))
    return min(most, rule(op, [magnitude(v, far - 1) for v in tensors]))


def _sum(op: Operation, parts: Sequence[float]) -> float:
    return max(parts) + 1


def _same(op: Operation, parts: Sequence[float]) -> float:
    return parts[0]


def _quotient(op: Operation, parts: Sequence[float]) -> float:
    return parts[0] - parts[1] if constant_of(op.operands[1]) is not None else inf


def _exponential(op: Operation, parts: Sequence[float]) -> float:
    return 0 if _is_of_difference_to_maximum(op.results[0]) else inf


def _aggregate(op: Operation, parts: Sequence[float]) -> float:
    assert isinstance(op, ContractionOp)
    is_plain = op.combination.data in (Combination.none, Combination.mul) and op.default is None
    if not is_plain or op.aggregation.data is Aggregation.mul:
        return inf
    return sum(parts) + (POINTS if op.aggregation.data is Aggregation.add else 0)


def _is_of_difference_to_maximum(exponential: SSAValue) -> bool:
    """Whether a value is the exponential of elements minus the greatest of their row."""
    greatest = maximum_of(exponential)
    if greatest is None or greatest.constraints.data or greatest.default is not None:
        return False
    access, output = greatest.accesses.data[0].data, greatest.output.data
    whole = shape_of(tensor_type(greatest.inputs[0])) or ()
    kept = shape_of(tensor_type(greatest.result)) or ()
    names = {e.variable for e in access}
    if None in names or not len(names) == len(access) == len(output) == len(whole):
        return False
    axes = zip(access, output, whole, kept, strict=True)
    # Where a maximum over an axis has more than one place, the others are 0.
    return all(
        m == 1 if b == IndexExpr() else b == a and n == m != DYNAMIC_INDEX for a, b, n, m in axes
    )


RULES: dict[type[Operation], Rule] = {
    ContractionOp: _aggregate,
    ReshapeOp: _same,
    ew.AbsOp: _same,
    ew.AddOp: _sum,
    ew.DivOp: _quotient,
    ew.ExpOp: _exponential,
    ew.MulOp: lambda op, parts: sum(parts),
    ew.NegOp: _same,
    ew.SqrtOp: lambda op, parts: parts[0] / 2,
    ew.SubOp: _sum,
}
