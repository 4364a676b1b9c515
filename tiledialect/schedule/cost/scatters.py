"""Time of scatters, and of sums over one-hot matrices that could be scatters."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.parts import Estimate, Work
from tiledialect.schedule.cost.rates import CoreScatters, GpuScatters

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
        match device.rates.scatters:
            case CoreScatters() as core:
                waves = ceil_div(self.groups, device.compute_units)
                searched, added = waves * each * (core.test if self.slabs > 1 else core.take), 0.0
            case GpuScatters() as gpu:
                searched, added = self.groups * each / gpu.searched, each / self.slabs * gpu.add
        return Estimate(
            seconds=(searched + added) * 1e-9 + summed,
            arithmetic=searched * 1e-9,
            waiting=added * 1e-9,
            memory=summed,
            groups=self.groups,
        )


@dataclass(frozen=True)
class OneHot(Work):
    """A sum over a one-hot matrix, each of whose rows compares all indices."""

    rows: int
    points: int
    """Number of indices."""
    rest: int
    """Number of elements of a row."""
    is_count: bool
    """Whether ones are added."""

    def on(self, device: Device) -> Estimate:
        """Comparisons of each row with each index."""
        rates = device.rates.scatters
        cost = rates.comparison if isinstance(rates, GpuScatters) else 1.0
        return _arithmetic(self.rows * self.points * self.rest * cost, device)

    @property
    def scattered(self) -> Work:
        """The same sum as additions to the rows that indices name."""
        return _Additions(self)


@dataclass(frozen=True)
class _Additions(Work):
    """Additions to rows that indices name, where a work-item reads all indices."""

    sums: OneHot

    def on(self, device: Device) -> Estimate:
        """As many comparisons on CPUs as take the time; reads and additions on GPUs."""
        sums, rates = self.sums, device.rates.scatters
        if isinstance(rates, CoreScatters):
            lanes = device.lanes("i32", 4) if sums.is_count else 0
            rows = max(rates.rows, rates.counted_rows * lanes)
            return _arithmetic(rows * sums.points * sums.rest, device)
        read = sums.points * rates.read_bytes / (device.bandwidth * 1e9)
        waits = rates.add_latencies * sums.points / max(1, min(sums.rows, MAX_GROUPS))
        added = waits * device.latency * 1e-6
        return Estimate(seconds=read + added, memory=read, waiting=added)


def _arithmetic(operations: float, device: Device) -> Estimate:
    seconds = operations / (device.arithmetic * 1e9)
    return Estimate(seconds=seconds, arithmetic=seconds)
