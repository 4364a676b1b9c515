"""Tensors that copies put together of parts: concatenations, stacks, interleaved elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import Shape, name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.structure.small_stencils import (
    MOST_STENCIL_POINTS,
    inner_copies,
    stencil_points,
)
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.sets import interval

Axis = tuple[IndexExpr, Range]
"""Position of a contraction's writes along an axis, and its range."""


@dataclass(frozen=True)
class ConcatenatedPart:
    """A tensor of which each element is one of a larger tensor."""

    op: Operation
    """The copy that writes it there."""
    value: SSAValue
    places: tuple[IndexExpr, ...]
    """Position of the element at `d0, d1, …` in the larger tensor."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The values of `d0, d1, …`."""
        return _ranges(_shape(self.value))


def parts_of(value: SSAValue) -> tuple[ConcatenatedPart, ...]:
    """The parts, of one shape, that copies write beside one another, and that are all of a tensor.

    Empty if it is not put together so, or if anything else takes it before that is done.
    """
    found = all_parts(value)
    return found if len({_shape(p.value) for p in found}) == 1 else ()


def all_parts(value: SSAValue) -> tuple[ConcatenatedPart, ...]:
    """The parts of a tensor as `parts_of` has them, of any shapes."""
    found: list[ConcatenatedPart] = []
    whole: SSAValue | None = value
    while whole is not None:
        op = whole.owner
        if not isinstance(op, ContractionOp) or (part := _part(op)) is None:
            return ()
        found.append(part)
        whole = op.default
        if whole is not None and not whole.has_one_use():
            return ()
    is_whole = sum(prod(_shape(p.value)) for p in found) == prod(_shape(value))
    if len(found) < 2 or not is_whole:
        return ()
    apart = all(_are_apart(*two) for two in combinations(found, 2))
    return tuple(reversed(found)) if apart else ()


def parts_yielded(values: Sequence[SSAValue]) -> dict[SSAValue, tuple[ConcatenatedPart, ...]]:
    """Results of a kernel that are concatenated of parts computed at its own places, with the
    parts.

    None are if another result has another shape than those parts.
    """
    found = {v: parts for v in values if _is_only_yielded(v) and (parts := parts_of(v))}
    shapes = {_shape(p.value) for parts in found.values() for p in parts}
    shapes |= {_shape(v) for v in values if v not in found}
    return found if len(shapes) == 1 else {}


def check_shapes(
    contractions: Sequence[ContractionOp],
    others: Sequence[Operation],
    values: Sequence[SSAValue],
    parts: Mapping[SSAValue, tuple[ConcatenatedPart, ...]],
) -> None:
    """Refuse a kernel whose values have no common shape, or of several contractions of many points.

    It does not run over the indices of these ``contractions``, but over elements; ``others`` are
    its scan, or its only contraction, and it gives the ``values``.

    Raises:
        VerifyException: why.
    """
    written = {part.op for own in parts.values() for part in own}
    if not all(stencil_points(op) for op in contractions if op not in written):
        names = " and ".join(name_of(op.result) for op in contractions)
        raise VerifyException(
            "a tile.kernel without axes has one contraction at most, or several of at most "
            f"{MOST_STENCIL_POINTS} points an element, not {names}"
        )
    inner = {*inner_copies(contractions), *written}
    outer = [op.results[0] for op in (*contractions, *others) if op not in inner]
    whole = [v for v in values if v not in parts]
    found = [*outer, *whole, *(part.value for own in parts.values() for part in own)]
    for value in found[1:]:
        if _shape(value) != _shape(found[0]):
            raise VerifyException(
                "a tile.kernel computes values of one shape, unlike "
                f"{name_of(found[0])} ({found[0].type}) and {name_of(value)} ({value.type})"
            )


def _part(op: ContractionOp) -> ConcatenatedPart | None:
    """Part that a copy writes, if it writes all elements of its operand, each at one place."""
    is_copy = op.aggregation.data is Aggregation.assign and len(op.inputs) == 1
    if not is_copy or op.domain is None or op.symbols or op.constraints.data:
        return None
    (value,), (access,) = op.inputs, op.accesses
    t, sizes = tensor_type(value), _shape(value)
    is_same = t.element_type == tensor_type(op.result).element_type
    if not is_same or isinstance(value.owner, ConstantOp) or 0 in sizes:
        return None
    own = _own_places(access.data, sizes, op.domain.ranges)
    if own is None or not own.keys() >= set(op.index_names):
        return None
    written = tuple(e.substitute(own) for e in op.output.data)
    return (
        ConcatenatedPart(op, value, written)
        if _is_inside(written, sizes, _shape(op.result))
        else None
    )


def _own_places(
    access: Sequence[IndexExpr], sizes: Shape, domain: Mapping[str, Range]
) -> dict[str, IndexExpr] | None:
    """The indices of a copy by `d0, d1, …`, where it reads that element; None if not of all."""
    found: dict[str, IndexExpr] = {}
    for k, (e, size) in enumerate(zip(access, sizes, strict=True)):
        if not e.names and (e.constant, size) == (0, 1):
            continue
        if e.denominator != 1 or len(e.names) != 1 or e.names[0] in found:
            return None
        (name,) = e.names
        first, r = -int(e.constant), domain[name]
        if e.coefficient(name) != 1 or r.lower > first or r.upper < first + size:
            return None
        found[name] = IndexExpr.of(f"d{k}") + first
    return found


def _is_inside(written: Sequence[IndexExpr], sizes: Shape, whole: Shape) -> bool:
    """Whether all elements of a part have a place of their own in the whole, in their order."""
    ranges, names = _ranges(sizes), [n for e in written for n in e.names]
    moving = [n for n, r in ranges.items() if r.extent > 1]
    plain = all(e.denominator == 1 and len(e.names) <= 1 for e in written)
    forward = all(e.coefficient(n) > 0 for e in written for n in e.names)
    if not plain or not forward or [n for n in names if n in moving] != moving:
        return False
    return are_inside(written, ranges, whole)


def _are_apart(a: ConcatenatedPart, b: ConcatenatedPart) -> bool:
    first, second = (places(p.places, p.ranges) for p in (a, b))
    return any(miss(x, y) for x, y in zip(first, second, strict=True))


def places(access: Sequence[IndexExpr], ranges: Mapping[str, Range]) -> list[Axis]:
    """Position and range of an access along each axis."""
    ends = [interval(e, ranges) for e in access]
    return [(e, Range(low, high + 1)) for e, (low, high) in zip(access, ends, strict=True)]


def are_inside(
    access: Sequence[IndexExpr], ranges: Mapping[str, Range], sizes: Sequence[int]
) -> bool:
    """Whether all that an access reaches is in a tensor of these sizes."""
    found = (r for _, r in places(access, ranges))
    return all(r.lower >= 0 and r.upper <= n for r, n in zip(found, sizes, strict=True))


def miss(a: Axis, b: Axis) -> bool:
    """Whether two ranges have no element in common, or multiples of a step other remainders."""
    (left, left_range), (right, right_range) = a, b
    if left_range.upper <= right_range.lower or right_range.upper <= left_range.lower:
        return True
    coefficients = [e.coefficient(name) for e in (left, right) for name in e.names]
    if any(c.denominator != 1 for c in (*coefficients, left.constant, right.constant)):
        return False
    step = gcd(*map(int, coefficients))
    return step > 1 and int(left.constant - right.constant) % step != 0


def _is_only_yielded(value: SSAValue) -> bool:
    return all(isinstance(use.operation, YieldOp) for use in value.uses)


def _ranges(shape: Shape) -> dict[str, Range]:
    return {f"d{k}": Range(0, size) for k, size in enumerate(shape)}


def _shape(value: SSAValue) -> Shape:
    return shape_of(tensor_type(value)) or ()
