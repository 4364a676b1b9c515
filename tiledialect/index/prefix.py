"""Prefix: spaces in which an output element aggregates all up to, or from, a place on an axis.

The points are given in the output's indices and then the inputs'. There, the space is cumulative
along an output index ``i`` if just one test of the points depends on ``i``: it bounds another index
``k`` by at most, or at least, ``a*i + c``, while no input is read at ``i``. Then the space is a
product except for that test. The aggregate at an ``i`` is a running aggregate, along ``k``, of the
aggregates at each ``k``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiledialect.index import sets
from tiledialect.index.change import changed, coefficients
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError, remembered
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.lattice import Echelon
from tiledialect.index.reduce import solve
from tiledialect.index.sets import Guard, GuardKind


@dataclass(frozen=True)
class Prefix:
    """A cumulative space, taken apart."""

    source: IndexSpace
    """Points at each place of the axis that is scanned."""
    axis: int
    """Number of that axis of the output."""
    reverse: bool
    """Whether the places from one on are aggregated, not those up to it."""
    result: IndexSpace
    """Place of each output element's running aggregate (the first input), and of the factors."""
    factors: tuple[int, ...]
    """Inputs that are read at the output's indices alone, so that they can be multiplied with
    aggregates instead of with aggregated elements."""


@remembered
def prefix(space: IndexSpace) -> Prefix | None:
    """The decomposition of a space that is cumulative along one of its output's axes; else None."""
    try:
        sets.ranges(space)
    except UnboundedIndexError:
        return None
    plain = _in_own_indices(space)
    if plain is None or sets.is_empty(space):
        return None
    found = (_along(plain, axis) for axis, e in enumerate(plain.output) if e.variable is not None)
    return next((p for p in found if p is not None), None)


def _in_own_indices(space: IndexSpace) -> IndexSpace | None:
    """The space in variables that are its output's indices, then its inputs'.

    None if that needs fractions, or if an output index is no variable even so.
    """
    found, basis = Echelon(), list[IndexExpr]()
    for constraint in space.all_constraints():
        if found.add(coefficients(constraint.expr, space.variables)):
            basis.append(constraint.expr)
    values = solve(space, basis)
    new = changed(space, values)
    exprs = (*values.values(), *(c.expr for c in new.all_constraints()))
    if any(e.denominator != 1 for e in exprs):
        return None
    names = [e.variable for e in new.output if not e.is_constant]
    return new if None not in names and len(set(names)) == len(names) else None


def _along(space: IndexSpace, axis: int) -> Prefix | None:
    """The decomposition of a space that is cumulative along an axis of its output; else None."""
    index, size = space.output[axis], space.output_shape[axis]
    name, outputs = str(index.variable), set(space.output_variables)

    def mentions(exprs: Sequence[IndexExpr]) -> bool:
        return any(name in e.names for e in exprs)

    factors = [k for k, access in enumerate(space.inputs) if mentions(access)]
    terms = [k for k in range(len(space.inputs)) if k not in factors]
    if not terms or any(not outputs.issuperset(e.names) for k in factors for e in space.inputs[k]):
        return None
    of_output = [
        c for c in space.constraints if mentions([c.expr]) and outputs.issuperset(c.expr.names)
    ]
    whole = _part(space, terms, [c for c in space.constraints if c not in of_output])
    rest = _part(space, terms, [c for c in space.constraints if not mentions([c.expr])])
    rest = _with_axis(rest, axis, IndexExpr(), 1)
    try:
        ranges = sets.ranges(rest)
    except UnboundedIndexError:
        return None
    guards = sets.guards(whole, {**ranges, name: Range(0, size)})
    limits = [g for g in guards if mentions([g.expr])]
    limit = _limit(limits[0], name) if len(limits) == 1 else None
    if limit is None or limit.name in outputs:
        return None
    along = ranges[limit.name]
    least, greatest = sets.interval(limit.place, {name: Range(0, size)})
    if least < along.lower if limit.reverse else greatest >= along.upper:
        return None
    source = _with_axis(rest, axis, IndexExpr.of(limit.name) - along.lower, along.extent)
    place = limit.place - along.lower
    result = IndexSpace(
        space.output,
        space.output_shape,
        (_with_axis(source, axis, place, 0).output, *(space.inputs[k] for k in factors)),
        (source.output_shape, *(space.input_shapes[k] for k in factors)),
        tuple(of_output),
    )
    return Prefix(source, axis, limit.reverse, result, tuple(factors))


@dataclass(frozen=True)
class _Limit:
    """Bound of the index ``name`` by ``place`` from above, or, in ``reverse``, from below."""

    name: str
    place: IndexExpr
    reverse: bool


def _limit(guard: Guard, index: str) -> _Limit | None:
    """Bound that a guard gives for another index than ``index``, in terms of ``index`` alone."""
    if guard.kind is GuardKind.DIVISIBLE:
        return None
    # It holds where this is at least 0.
    lower = guard.kind is GuardKind.LOWER
    expr = guard.expr if lower else guard.bound - 1 - guard.expr
    others = [n for n in expr.names if n != index]
    if len(others) != 1 or abs(expr.coefficient(others[0])) != 1:
        return None
    sign = expr.coefficient(others[0])
    return _Limit(others[0], IndexExpr.of(others[0]) - sign * expr, sign > 0)


def _part(
    space: IndexSpace, inputs: Sequence[int], constraints: Sequence[Constraint]
) -> IndexSpace:
    """A space with some of its inputs and constraints."""
    return IndexSpace(
        space.output,
        space.output_shape,
        tuple(space.inputs[k] for k in inputs),
        tuple(space.input_shapes[k] for k in inputs),
        tuple(constraints),
    )


def _with_axis(space: IndexSpace, axis: int, index: IndexExpr, size: int) -> IndexSpace:
    """A space with another index along an axis of its output, of another size."""
    output, shape = list(space.output), list(space.output_shape)
    output[axis], shape[axis] = index, size
    return IndexSpace(
        tuple(output), tuple(shape), space.inputs, space.input_shapes, space.constraints
    )
