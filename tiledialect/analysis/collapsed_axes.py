"""Collapsible axes: two axes of a kernel that are adjacent in every value along one of them.

Such axes can be one: reshapes around the kernel, which cost nothing, make it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.attributes import AccessAttr
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import GatherOp
from tiledialect.dialects.tile.structure.row_axes import Map, Rows, shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import Access, IndexExpr, Range

UNCOLLAPSIBLE = -1
"""Result of `_dropped` where two axes cannot be one."""

Places = Sequence[tuple[SSAValue, Access]]
"""Values with the index expressions at which they are made and read."""


@dataclass(frozen=True)
class CollapsedAxes:
    """Two axes of a kernel, as one."""

    first: str
    second: str
    axes: Mapping[str, Range]
    """All axes of the kernel."""
    dropped: Mapping[SSAValue, int | None]
    """Axis of each value that is merged into the one before; None if the value is unchanged."""
    single: Mapping[str, int] = field(default_factory=dict[str, int])
    """Indices with one value each, which replaces them."""

    @property
    def ranges(self) -> dict[str, Range]:
        """The axes that are left."""
        together = Range(0, self.axes[self.first].extent * self.axes[self.second].extent)
        left = {n: r for n, r in self.axes.items() if n != self.second and n not in self.single}
        return {**left, self.first: together}

    def shape(self, value: SSAValue) -> Shape:
        """Shape of a value with collapsed axes."""
        old, k = shape(value), self.dropped.get(value)
        return old if k is None else (*old[: k - 1], old[k - 1] * old[k], *old[k + 1 :])

    def access(self, value: SSAValue, access: AccessAttr) -> AccessAttr:
        """Access of a contraction to a value with collapsed axes."""
        exprs = [e.substitute(self.single) for e in access.data]
        k = self.dropped.get(value)
        if k is None:
            return AccessAttr(exprs)
        # A part of an axis begins as many elements further on as its places have.
        offset = exprs[k - 1].constant * (shape(value)[k] - 1)
        return AccessAttr((*exprs[: k - 1], exprs[k - 1] + offset, *exprs[k + 1 :]))


def collapsible_axes(kernel: KernelOp, least: Callable[[str], int]) -> CollapsedAxes | None:
    """Two axes of a kernel that can be one, of which the second has fewer values than its least."""
    if any(isinstance(op, IndexOp | GatherOp) for op in kernel.block.ops):
        return None
    op = kernel.contraction
    return _of_rows(kernel, least) if op is None else _of_contraction(kernel, op, least)


def _of_rows(kernel: KernelOp, least: Callable[[str], int]) -> CollapsedAxes | None:
    """The last two axes of a row kernel, or of one of elementwise ops alone."""
    axes = _axes(kernel)
    # A value that is yielded unchanged determines no axes.
    if len(axes) < 2 or any(v in kernel.block.args for v in kernel.yield_op.values):
        return None
    first, second = [*axes][-2:]
    if len({first, second} & kernel.reduced) == 1 or axes[second].extent >= least(second):
        return None
    try:
        rows = Rows.of([op for op in kernel.block.ops if not isinstance(op, YieldOp)], axes)
    except VerifyException:
        return None
    dropped: dict[SSAValue, int | None] = {}
    for value, along in _row_places(kernel, rows):
        found = _dropped(along, [*axes])
        if found == UNCOLLAPSIBLE or dropped.setdefault(value, found) != found:
            return None
    return CollapsedAxes(first, second, axes, dropped)


def _axes(kernel: KernelOp) -> dict[str, Range]:
    """Axes of a row kernel, or of a kernel of elementwise ops alone; else none."""
    if kernel.axes is not None:
        return dict(kernel.axes.ranges)
    if not all(isinstance(op, ElementwiseOp | ConstantOp | YieldOp) for op in kernel.block.ops):
        return {}
    return {index.name: index.range for index in kernel.indices}


def _row_places(kernel: KernelOp, rows: Rows) -> Iterator[tuple[SSAValue, Map]]:
    """Values in a kernel, and the axes along which they are made and read."""
    for op in kernel.block.ops:
        if not isinstance(op, ConstantOp | YieldOp):
            yield op.results[0], rows.maps[op.results[0]]
            yield from zip(op.operands, rows.reads(op), strict=True)


def _dropped(along: Map, axes: Sequence[str]) -> int | None:
    """Axis of a value that is dropped; None if none is, and UNCOLLAPSIBLE if the axes cannot be
    one."""
    *_, before, last = axes
    if last in along:
        k = along.index(last)
        return k if k and along[k - 1] == before else UNCOLLAPSIBLE
    if before in along:
        return UNCOLLAPSIBLE
    aligned = axes[len(axes) - len(along) :]
    if any(a not in (None, b) for a, b in zip(along, aligned, strict=True)):
        # It has fewer axes than its operands, and so have all values computed with it.
        return None
    return len(along) - 1 if len(along) > 1 else None


def _of_contraction(
    kernel: KernelOp, op: ContractionOp, least: Callable[[str], int]
) -> CollapsedAxes | None:
    """Two indices of a contraction, both summed over or neither."""
    allowed = ContractionOp | ElementwiseOp | ConstantOp | YieldOp
    if op.domain is None or op.constraints.data:
        return None
    if not all(isinstance(x, allowed) for x in kernel.block.ops):
        return None
    ranges = op.domain.ranges
    output = {name for e in op.output.data for name in e.names}
    # Axes of size 1 alone are written at one place.
    sizes = zip(op.output.data, shape(op.result), strict=True)
    written = {name for e, size in sizes if size > 1 for name in e.names}
    single = {n: r.lower for n, r in ranges.items() if r.extent == 1 and n not in written}
    places = list(accesses_of(kernel, op, single))
    adjacent = (pair for _, along in places for pair in pairwise(map(str, along)))
    for a, b in dict.fromkeys(adjacent):
        # A diagonal is along no two indices.
        if a != b and {a, b} <= ranges.keys() and (a in output) == (b in output):
            is_short = ranges[b].extent < least(b)
            if is_short and (dropped := _dropped_by(places, a, b, ranges)) is not None:
                return CollapsedAxes(a, b, ranges, dropped, single)
    return None


def accesses_of(
    kernel: KernelOp, op: ContractionOp, single: Mapping[str, int]
) -> Iterator[tuple[SSAValue, Access]]:
    """Accesses of a contraction, and of all ops before or after it."""
    accesses = zip((*op.inputs, op.result), (*op.accesses, op.output), strict=True)
    pending = [(v, tuple(e.substitute(single) for e in a.data)) for v, a in accesses]
    output = pending[-1][1]
    results = (*kernel.yield_op.values, *([op.default] if op.default is not None else ()))
    pending += [(v, output) for v in results]
    seen: set[tuple[SSAValue, Access]] = set()
    while pending:
        value, along = pending.pop()
        along = along[len(along) - len(shape(value)) :]
        if isinstance(value.owner, ConstantOp) or (value, along) in seen:
            continue
        seen.add((value, along))
        yield value, along
        if isinstance(value.owner, ElementwiseOp):
            pending += [(v, along) for v in value.owner.operands]


def _dropped_by(
    places: Places, a: str, b: str, ranges: Mapping[str, Range]
) -> dict[SSAValue, int | None] | None:
    """Axis of each value that is dropped if two indices become one; None if they cannot."""
    if ranges[a].lower or ranges[b].lower:
        return None
    dropped: dict[SSAValue, int | None] = {}
    both, extents = (IndexExpr.of(a), IndexExpr.of(b)), (ranges[a].extent, ranges[b].extent)
    for value, along in places:
        moved = [k for k, e in enumerate(along) if not {a, b}.isdisjoint(e.names)]
        k = moved[-1] if moved else None
        # A value broadcast along both has an axis of size 1 for each, or for the second alone.
        if k is not None and k > 0:
            sizes, offset = shape(value)[k - 1 : k + 1], along[k - 1] - both[0]
            # A part of the first axis is one of both, as all of the second is there. A broadcast
            # along the first alone would no longer be one.
            is_there = sizes == extents or (sizes[0] > 1 and sizes[1] == extents[1])
            is_part = is_there and offset.is_constant and offset.denominator == 1
            is_one = offset == IndexExpr() and sizes == (1, 1)
            if along[k] != both[1] or len(moved) > 2 or not (is_part or is_one):
                return None
        elif k == 0 and (along[0] != both[1] or shape(value)[0] != 1):
            return None
        found = k or None
        if dropped.setdefault(value, found) != found:
            return None
    return dropped
