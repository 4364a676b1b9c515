"""Time of scatters, and of sums over one-hot matrices that could be scatters."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device, Kind
from tiledialect.schedule.cost.parts import Estimate, Work
from tiledialect.schedule.cost.rates import rates

MOVES = 3
"""Number of moves of a part's results: initialised with 0, added to, and summed."""
MAX_GROUPS = 1024
"""Maximum work-groups that the rows of a scatter are divided among."""


@dataclass(frozen=True)
class ScatterWork(Work):
    """A scatter whose indices are divided into parts, and the sum of the parts."""

    indices: int
    parts: int
    groups: int
    slabs: int
    """Number of groups that share the rows of a part."""
    nbytes: int
    """Bytes of the results of a part."""

    def on(self, device: Device) -> Estimate:
        """Search for the indices of each group's rows, additions one after the other, sums."""
        launch = device.launch_seconds
        moved = self.parts * MOVES * self.nbytes / device.bandwidth * 1e-9
        summed = moved + launch if self.parts > 1 else 0.0
        each = self.indices / self.parts
        if device.is_cpu:
            core = device.rates.of_cpu.scatters
            waves = ceil_div(self.groups, device.compute_units)
            searched, added = waves * each * (core.test if self.slabs > 1 else core.take), 0.0
        else:
            gpu = device.rates.of_gpu.scatters
            searched, added = self.groups * each / gpu.searched, each / self.slabs * gpu.add
        return Estimate(
            seconds=(searched + added) * 1e-9 + summed,
            arithmetic=searched * 1e-9,
            waiting=added * 1e-9,
            memory=summed,
            groups=self.groups,
        )


@dataclass(frozen=True)
class OneHot:
    """A sum over a one-hot matrix: additions to rows that indices name."""

    rows: int
    points: int
    """Number of indices."""
    rest: int
    """Number of elements of a row."""
    is_count: bool
    """Whether ones are added."""

    def is_faster_scattered(self, device: Device | None) -> bool:
        """Whether a scatter, in which a work-item reads all indices, is faster than comparing."""
        if device is None or device.is_cpu:
            least = (rates(Kind.CPU) if device is None else device.rates).of_cpu.scatters
            lanes = device.lanes("i32", 4) if device is not None and self.is_count else 0
            return self.rows >= max(least.rows, least.counted_rows * lanes)
        gpu = device.rates.of_gpu.scatters
        read = gpu.read_bytes / (device.bandwidth * 1e9)
        added = gpu.add_latencies * device.latency * 1e-6
        compared = self.rows * self.points * self.rest * gpu.comparison
        scattered = self.points * (read + added / min(self.rows, MAX_GROUPS))
        return scattered < compared / (device.arithmetic * 1e9)
