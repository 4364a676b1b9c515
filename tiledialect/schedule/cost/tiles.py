"""Time of products of matrices on tensor cores, whose work-groups wait for copies of tiles."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.parts import Estimate, Work

LARGEST = 128 * 128
"""Results of the largest tile of a work-group."""


@dataclass(frozen=True)
class TilesWork(Work):
    """Tiles of a product, each with a sum in steps."""

    groups: int
    results: int
    """Results of a group's tile."""
    steps: int
    """Steps of the sum in a group."""
    written: int = 0
    """Bytes that are written and read again, of partial results."""

    def on(self, device: Device) -> Estimate:
        """Waits of the unit with most groups, and the bytes of partial results."""
        rates, share = device.rates.of_gpu.tensor_cores, LARGEST / self.results
        each = 1.0 if share <= 1 else rates.half_tile if share <= 2 else rates.quarter_tile
        rounds = ceil_div(self.groups, device.compute_units)
        waiting = rates.step * device.latency * 1e-6 * self.steps * (rounds / share * each)
        memory = self.written / (device.bandwidth * 1e9)
        return Estimate(waiting + memory, waiting=waiting, memory=memory, groups=self.groups)

    def fills(self, device: Device) -> bool:
        """Whether enough units have a group for tensor cores to be faster than other units."""
        return device.rates.of_gpu.tensor_cores.speed * self.groups >= device.compute_units
