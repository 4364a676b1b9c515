"""Cost model of fusion: savings and costs in bytes that could be moved meanwhile.

A kernel costs the bytes that it moves, and a launch at least. Fusing saves the bytes that one
kernel writes and the other one reads, and a launch. It costs operations that are repeated wherever
an element is read. A kernel over rows has no more work-groups than rows, which leaves a part of the
device idle if they are few; and rows that are too long to be kept are read once for each phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from math import prod
from operator import itemgetter

from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.analysis.kernel_facts import COSTLY, phases
from tiledialect.dialects.tile.base import size_of, tensor_type
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import SECTORS, Device


@dataclass(frozen=True)
class Machine:
    """Parameters of a device that fusion depends on."""

    operations: float = 10.0
    """Simple operations done while a byte is moved."""
    launch: int = 1 << 20
    """Bytes moved while a kernel is launched."""
    groups: int = 64
    """Work-groups that keep the device busy."""
    lanes: int = 32
    """Neighbours that a work-group takes where memory is fetched in whole lines."""
    near: int = 1 << 16
    """Bytes that a work-group can keep nearby, in registers, local memory or a cache."""
    line: int = 1
    """Bytes that a work-group fetches together on a CPU; 1 on GPUs, where concurrent groups share
    lines.
    """
    nearest: int = 1 << 14
    """Bytes of lines that are still cached when a work-group takes the next row."""
    bandwidth: float = 200.0
    """GB/s."""
    cache_rate: float = 8.0
    """Rate of repeated reads from near caches, relative to memory."""

    @staticmethod
    def of(device: Device | None) -> Machine:
        """Parameters of a device; common ones if it is not known."""
        if device is None:
            return Machine()
        cpu, most, rates = device.is_cpu, device.max_work_group_size, device.rates.kernels
        registers = 4 * min(device.registers_unit, device.registers * most)
        return Machine(
            device.arithmetic / device.bandwidth,
            int(device.launch * 1e3 * device.bandwidth),
            device.compute_units * (1 if cpu else 2),
            device.native_vector_width if cpu else device.sub_group_size,
            int(rates.row_share * (device.second_cache if cpu else registers)),
            SECTORS[device.kind] if cpu else 1,
            device.cache_sizes[0] // 2,
            device.bandwidth,
            rates.cache_rate,
        )

    def time(self, moved: float) -> float:
        """Time of a kernel that moves so many bytes, on a busy device."""
        return max(moved, self.launch)

    def traffic(self, kernel: KernelOp) -> Traffic:
        """Bytes that a kernel moves, and their time."""
        if kernel.axes is None:
            once = moved(kernel)
            return Traffic(once, self.time(once), self.groups)
        axes, reduced = kernel.axes.ranges, kernel.reduced
        rows = prod(r.extent for n, r in axes.items() if n not in reduced)
        last = next((n for n, r in reversed(axes.items()) if r.extent > 1), None)
        groups = rows if last in reduced else ceil_div(rows, self.lanes)
        again = self._row_traffic(kernel, rows, groups)
        busy = self.groups / max(groups, 1)
        return Traffic(again, self.time(again * max(1.0, busy)), groups)

    def _row_traffic(self, kernel: KernelOp, rows: int, groups: int) -> float:
        """Bytes that a row kernel moves: for each phase anew where rows are not kept near.

        Rows in short pieces move whole lines, the rest of which is read again from near, too.
        """
        pairs = zip(kernel.inputs, kernel.block.args, strict=True)
        own = {a: bytes_of(v) for v, a in pairs if size_of(v) > rows}
        made = {v: bytes_of(v) for v in kernel.outputs if size_of(v) > rows}
        lines = self._lines(kernel, {**own, **made}, rows)
        once = moved(kernel) + sum(lines.values()) - sum(own.values()) - sum(made.values())
        needed = phases(kernel)
        again = {a: max(0, len(needed[a]) - 1) for a in own}
        if sum(lines[a] for a in own) <= self.near * max(groups, 1):
            rest = sum(n * (lines[a] - own[a]) for a, n in again.items())
            return once + rest / self.cache_rate
        return once + sum(n * lines[a] for a, n in again.items())

    def _lines(
        self, kernel: KernelOp, own: Mapping[SSAValue, int], rows: int
    ) -> Mapping[SSAValue, int]:
        """Bytes of the lines that rows of tensors of so many bytes lie in.

        Whole lines count if too many are fetched until the next row takes the rest of them. Sums of
        pieces that do not divide lines are as slow by themselves.
        """
        piece = _contiguous_neighbours(kernel)
        if not piece:
            return own
        sizes = {v: piece * element_bytes(tensor_type(v).element_type) for v in own}
        shares = {v: self.line // n if self.line % n == 0 else 1 for v, n in sizes.items()}
        lines = {v: n * shares[v] for v, n in own.items()}
        return lines if sum(lines.values()) > self.nearest * rows else own

    def merging(self, kernels: Iterable[KernelOp], kernel: KernelOp, again: float = 0.0) -> Gain:
        """Gain of one kernel over several, if it repeats some operations."""
        both, note = self.traffic(kernel), ""
        if both.groups < self.groups:
            note = f", with {both.groups} work-groups where {self.groups} keep the device busy"
        return self.gain(map(self.traffic, kernels), [both], again, note)

    def gain(
        self,
        separate: Iterable[Traffic],
        fused: Iterable[Traffic],
        again: float = 0.0,
        note: str = "",
    ) -> Gain:
        """Gain of some kernels over others, if they repeat some operations."""
        separate, fused = [*separate], [*fused]
        less, more = (in_millions(sum(t.moved for t in side)) for side in (fused, separate))
        why = f"moving {less} MB instead of {more} MB" + note
        if again:
            why += f", with {in_millions(again)} million operations again"
        taken = sum(t.time for t in fused) + again / self.operations
        return Gain(sum(t.time for t in separate), taken, why)

    def microseconds(self, time: float) -> str:
        """Time in bytes that could be moved, as text in microseconds."""
        return f"{time / self.bandwidth / 1e3:.1f} us"


@dataclass(frozen=True)
class Traffic:
    """Bytes that a kernel moves, and their time."""

    moved: float
    """Bytes."""
    time: float
    """Time in bytes that could be moved meanwhile on a busy device: `moved` or more."""
    groups: int
    """Work-groups; for kernels without rows as many as keep the device busy."""


@dataclass(frozen=True)
class Gain:
    """Costs of two kernels, and of their fusion, in bytes that could be moved meanwhile."""

    separate: float
    fused: float
    why: str
    """Explanation of the costs."""

    @property
    def saved(self) -> float:
        """Time that the fused kernel saves."""
        return self.separate - self.fused


def in_millions(count: float) -> str:
    """A number as text in millions: three digits, or all that are before the point."""
    millions = count / 1e6
    return f"{millions:.0f}" if millions >= 1000 else f"{millions:.3g}"


def _contiguous_neighbours(kernel: KernelOp) -> int:
    """Number of neighbours of a row that lie together, where other rows are between them,
    else 0.
    """
    assert kernel.axes is not None
    ranges, reduced = kernel.axes.ranges, kernel.reduced
    axes = [(r.extent, n in reduced) for n, r in reversed(ranges.items()) if r.extent > 1]
    along = [n for n, _ in takewhile(itemgetter(1), axes)]
    is_parted = any(is_reduced for _, is_reduced in axes[len(along) :])
    return prod(along) if along and is_parted else 0


def bytes_of(value: SSAValue) -> int:
    """Size of a tensor in bytes."""
    return size_of(value) * element_bytes(tensor_type(value).element_type)


def operations(ops: Iterable[Operation]) -> float:
    """Number of simple operations of elementwise ops for an element.

    A load is one, too: repeated reads hit a cache.
    """
    ops = [op for op in ops if isinstance(op, ElementwiseOp) and not isinstance(op, ConstantOp)]
    loaded = {v for op in ops for v in op.operands if isinstance(v, BlockArgument)}
    return sum(COSTLY.get(op.name, 1) for op in ops) + len(loaded)


def moved(kernel: KernelOp) -> int:
    """Bytes that a kernel moves if it reads every element of its inputs once."""
    return sum(map(bytes_of, (*kernel.inputs, *kernel.outputs)))
