"""Classes of values that have the same layout, as elementwise ops combine their elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects import func
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.disjoint_set import DisjointSet

from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.ir.ops_in import values_in
from tiledialect.passes.schedule.rewrites.blocked_axes import (
    Access,
    Blocks,
    block_step,
    blockable,
    is_reshape,
    moving_index,
    whole_index,
)
from tiledialect.schedule.cost.device import Device

BLOCK_VECTORS = 2, 1
"""Vectors of a block: so many have the register tiles of a contraction along its lanes, if they
divide the axis."""


@dataclass
class Classes:
    """Classes of values."""

    axis: int
    """Place of the axis that is to lie in blocks, counted from the end, but for reshapes."""
    values: Sequence[SSAValue]
    """All values, each once."""
    axes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Place of the axis of values behind reshapes, and of those in their kernels."""
    joined: DisjointSet[SSAValue] = field(init=False)
    wanted: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values that are to lie in blocks."""
    pinned: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values that cannot."""
    steps: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Numbers of which blocks of a value must be a divisor: contractions begin there, or end."""
    views: list[tuple[SSAValue, SSAValue, int]] = field(
        default_factory=list[tuple[SSAValue, SSAValue, int]]
    )
    """Values without the axis that must have blocks along another one, counted from the end, if a
    value, the first one, lies in blocks."""

    def __post_init__(self) -> None:
        self.joined = DisjointSet(self.values)

    def join(self, values: Sequence[SSAValue]) -> None:
        """Let values have the same layout."""
        for value in values[1:]:
            self.joined.union(values[0], value)

    def blocks(self, device: Device) -> Mapping[SSAValue, Blocks]:
        """Blocks of the values that are to lie in blocks, and can."""
        find = self.joined.find
        pinned, wanted = (set(map(find, vs)) for vs in (self.pinned, self.wanted))
        members: dict[SSAValue, list[SSAValue]] = {}
        for value in self.values:
            members.setdefault(find(value), []).append(value)
        found: dict[SSAValue, Blocks] = {}
        for root in wanted - pinned:
            size = self._size(members[root], device)
            found |= {v: Blocks(self.axis_of(v), size) for v in members[root] if size}
        for value, view, axis in self.views:
            if (own := found.get(value)) is not None:
                own = Blocks(axis, own.size, is_view=True)
                found |= dict.fromkeys(members[find(view)], own)
        return found

    def axis_of(self, value: SSAValue) -> int:
        """Place of a value's axis, counted from the end."""
        return self.axes.get(value, self.axis)

    def _size(self, values: Sequence[SSAValue], device: Device) -> int:
        """Size of a class's blocks; 0 if they do not divide the axis."""
        pairs = ((shape(v), self.axis_of(v)) for v in values)
        sizes = {s[-axis] for s, axis in pairs if len(s) >= axis} - {1}
        if not sizes:
            return 0
        step = gcd(*sizes, *(self.steps.get(v, 0) for v in values))
        types = (tensor_type(v).element_type for v in values)
        lanes = min(device.lanes(str(t), element_bytes(t)) for t in types)
        tried = (vectors * lanes for vectors in BLOCK_VECTORS)
        return next((n for n in tried if n > 1 and step % n == 0), 0)

    def add_reshape(self, op: ReshapeOp) -> None:
        """Take over that a reshape keeps the axis and those before it, or else no blocks."""
        before, after = shape(op.operand), shape(op.result)
        axis = self.axis_of(op.operand)
        at = len(before) - axis
        if is_reshape(before, axis) or before[: at + 1] != after[: at + 1]:
            self.pinned.update((op.operand, op.result))
            return
        self.axes[op.result] = len(after) - at
        self.join((op.operand, op.result))

    def add(self, kernel: KernelOp, known: Collection[SSAValue]) -> None:
        """Take over what a kernel says of its values, of which some are constant."""
        constants = constant_operands(kernel, known)
        own = {self.axes[v] for v in kernel.inputs if v in self.axes} or {self.axis}
        if len(own) > 1:
            self.pinned.update((*kernel.inputs, *kernel.outputs))
            return
        (axis,) = own
        self.axes.update(dict.fromkeys((*values_in(kernel.block), *kernel.outputs), axis))
        inner = (v for v in kernel.block.args if v not in constants)
        outer = (
            v for v, a in zip(kernel.inputs, kernel.block.args, strict=True) if a not in constants
        )
        for a, v in (*zip(inner, outer, strict=True), *_results(kernel)):
            if not is_reshape(shape(v), axis):
                self.join((a, v))
        if kernel.axes is not None:
            self._add_rows(kernel, axis)
        for op in kernel.block.ops:
            if isinstance(op, ElementwiseOp):
                self.join([v for v in (*op.results, *op.operands) if shape(v)])
        for op in kernel.contractions:
            self._add_contraction(op, constants, axis)

    def _add_rows(self, kernel: KernelOp, axis: int) -> None:
        """Take over that all values of a row kernel lie along the same axes, of which one over
        which something aggregates stays whole."""
        values = [v for v in values_in(kernel.block) if shape(v)]
        self.join(values)
        axes = [*kernel.axes.ranges] if kernel.axes is not None else []
        if len(axes) < axis or axes[-axis] in kernel.reduced:
            self.pinned.update(values)

    def _add_contraction(
        self, op: ContractionOp, constants: Collection[SSAValue], axis: int
    ) -> None:
        places = range(1, axis + 1)
        written = {k: whole_index(op, op.result, op.output.data, k) for k in places}
        if self._moving(op, op.result, op.output.data, axis) is None:
            self.pinned.add(op.result)
        if op.default is not None:
            self.join((op.result, op.default))
        reads = zip(op.inputs, op.accesses, strict=True)
        moving = [(v, a.data) for v, a in reads if v not in constants]
        for value, access in moving:
            index = self._moving(op, value, access, axis)
            at = len(access) - axis
            if index is None and at >= 0 and shape(value)[at] > 1:
                self.pinned.add(value)
            for other, place in ((op.result, op.output.data), *moving):
                if index is None or not any(index in e.names for e in place):
                    continue
                if self._moving(op, other, place, axis) == index:
                    self.join((value, other))
                elif other is op.result and len(place) < axis and index in written.values():
                    at = next(k for k, name in written.items() if name == index)
                    self.views.append((value, other, at))
                else:
                    self.pinned.add(value)
        if own_index(op, constants, axis) is not None:
            self.wanted.add(op.result)

    def _moving(self, op: ContractionOp, value: SSAValue, access: Access, axis: int) -> str | None:
        """The index that alone moves along the axis of a contraction's tensor, whose steps are
        kept."""
        index = moving_index(op, value, access, axis)
        if index is not None:
            step = block_step(op, access, axis, index)
            self.steps[value] = gcd(self.steps.get(value, 0), step)
        return index


def own_index(op: ContractionOp, constants: Collection[SSAValue], axis: int) -> str | None:
    """The index along an axis of a contraction's result that of its operands moves constant ones
    alone."""
    index = moving_index(op, op.result, op.output.data, axis)
    if index is None or is_reshape(shape(op.result), axis):
        return None
    reads = zip(op.inputs, op.accesses, strict=True)
    moved = [v for v, a in reads if any(index in e.names for e in a.data)]
    return index if moved and all(v in constants for v in moved) else None


def constant_operands(kernel: KernelOp, known: Collection[SSAValue]) -> list[BlockArgument]:
    """Arguments of a kernel that are constant, and read by its contraction alone."""
    op = kernel.contraction
    pairs = zip(kernel.block.args, kernel.inputs, strict=True)
    own = ((a, [use.operation for use in a.uses]) for a, v in pairs if v in known)
    return [a for a, users in own if op is not None and users == [op]]


def blocked_axis(kernels: Collection[KernelOp], known: Collection[SSAValue]) -> int | None:
    """The axis, counted from the end, along which most contractions compute vectors for constants;
    None if that is the last one, where vectors lie as they are."""
    return next((axis for axis, _ in Counter(_own_axes(kernels, known)).most_common(1)), None)


def _own_axes(kernels: Collection[KernelOp], known: Collection[SSAValue]) -> Iterator[int]:
    for kernel in kernels:
        if (op := kernel.contraction) is not None:
            constants = constant_operands(kernel, known)
            rank = len(op.output.data)
            yield from (a for a in range(2, rank + 1) if own_index(op, constants, a) is not None)


def classes_of(function: func.FuncOp, known: Collection[SSAValue], axis: int) -> Classes:
    """Classes of a function's values."""
    block = function.body.block
    inner = [v for op in block.ops if isinstance(op, KernelOp) for v in values_in(op.block)]
    found = Classes(axis, [*values_in(block), *inner])
    found.pinned.update(block.args)
    for op in block.ops:
        if isinstance(op, KernelOp) and blockable(op, known):
            found.add(op, known)
        elif isinstance(op, ReshapeOp):
            found.add_reshape(op)
        else:
            found.pinned.update((*op.operands, *op.results))
    return found


def _results(kernel: KernelOp) -> list[tuple[SSAValue, SSAValue]]:
    return [*zip(kernel.yield_op.values, kernel.outputs, strict=True)]
