"""Cost of fused and of separate kernels, in bytes that could be moved meanwhile.

A kernel costs the bytes that it moves, and a launch at least. Fusing saves the bytes that one
kernel writes and the other one reads, and a launch. It costs operations that are repeated wherever
an element is read. A kernel over rows has no more work-groups than rows, which leaves a part of the
device idle if they are few; and rows that are too long to be kept are read once for each phase.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.traits import Kind


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


@dataclass(frozen=True)
class Machine:
    """Parameters of a device that fusion depends on."""

    operations: float
    """Simple operations done while a byte is moved."""
    launch: int
    """Bytes moved while a kernel is launched."""
    groups: int
    """Work-groups that keep the device busy."""
    lanes: int
    """Neighbours that a work-group takes where memory is fetched in whole lines."""
    near: int
    """Bytes that a work-group can keep nearby, in registers, local memory or a cache."""
    line: int
    """Bytes that a work-group fetches together; 1 where concurrent groups share lines."""
    nearest: int
    """Bytes of lines that are still cached when a work-group takes the next row."""
    bandwidth: float
    """GB/s."""
    cache_rate: float
    """Rate of repeated reads from near caches, relative to memory."""

    @staticmethod
    def of(device: Device | None) -> Machine:
        """Parameters of a device; of a common GPU if it is not known."""
        device = device or described(Kind.GPU, {})
        own, traits = device.rates.kernels, device.traits
        most = device.registers * device.max_work_group_size
        registers, is_many = 4 * min(device.registers_unit, most), traits.interleaves_groups
        return Machine(
            device.arithmetic / device.bandwidth,
            int(device.launch * 1e3 * device.bandwidth),
            device.compute_units * (2 if is_many else 1),
            device.simd_lanes,
            int(own.row_share * (registers if is_many else device.second_cache)),
            1 if is_many else traits.sector,
            device.cache_sizes[0] // 2,
            device.bandwidth,
            own.cache_rate,
        )

    def time(self, moved: float) -> float:
        """Time of a kernel that moves so many bytes, on a busy device."""
        return max(moved, self.launch)

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

    def rows(self, moved: float, groups: int) -> Traffic:
        """Traffic of a kernel over rows, which has so many work-groups."""
        return Traffic(moved, self.time(moved * max(1.0, self.groups / max(groups, 1))), groups)


def in_millions(count: float) -> str:
    """A number as text in millions: three digits, or all that are before the point."""
    millions = count / 1e6
    return f"{millions:.0f}" if millions >= 1000 else f"{millions:.3g}"
