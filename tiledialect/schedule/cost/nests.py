"""Time of nests that patterns are lowered to, whose operations are counted one by one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.parts import Estimate, Work


@dataclass(frozen=True)
class NestWork(Work):
    """Counts of a kernel, for all work-items together."""

    operations: float
    """Time of instructions, in operations of full vectors."""
    accesses: float
    """Time of accesses that other units make, in the same."""
    traffic: float
    """Bytes that pass the caches."""
    touched: float
    """Bytes of global memory that are read or written."""
    groups: int
    items: int
    """Work-items of a group."""
    steps: int = 0
    """Steps of loops that a work-item makes one after the other."""

    def on(self, device: Device) -> Estimate:
        """The longest of instructions, accesses, bytes through the caches, bytes of memory, and a
        GPU's steps, with a share of the others, which do not overlap wholly."""
        rates, bandwidth = device.rates.nests, device.bandwidth * 1e9
        near, shares = bandwidth * rates.cache_rate, self._shares(device)
        arithmetic, accesses = (
            x / (device.arithmetic * 1e9) * shares for x in (self.operations, self.accesses)
        )
        cache = self.traffic / near * shares
        memory = self.touched / (bandwidth if self.touched > device.most_kept else near)
        # A few cores ask for as much as memory gives; few work-items of a GPU do not.
        memory *= 1.0 if device.is_cpu else shares
        started = rates.group * self.groups / device.compute_units
        parts = (arithmetic, accesses, cache, memory, self._step_seconds(device))
        longest, loss = max(parts), device.rates.nests.overlap_loss
        return Estimate(
            seconds=longest + loss * (sum(parts) - longest) + started,
            arithmetic=arithmetic,
            cache=max(cache, accesses),
            memory=memory,
            waiting=started,
            groups=self.groups,
        )

    def _step_seconds(self, device: Device) -> float:
        """Seconds of the steps of a GPU's work-items, of which so many run at a time."""
        if device.is_cpu:
            return 0.0
        warps = self.groups * ceil_div(self.items, max(device.sub_group_size, 1))
        rates = device.rates.nests
        turns = ceil(warps / (rates.resident * device.compute_units))
        return turns * self.steps * rates.step_latency * device.latency * 1e-6

    def _shares(self, device: Device) -> float:
        """Factor by which a kernel is slower than on a device whose units are all busy."""
        units, groups = device.compute_units, self.groups
        fullest = ceil_div(groups, units) * units / max(groups, 1)
        if device.is_cpu:
            return fullest
        lanes = max(device.sub_group_size, 1)
        warps = ceil_div(self.items, lanes)
        full = warps * lanes / max(self.items, 1)
        return full * max(fullest, units * device.rates.nests.hiding / max(groups * warps, 1))
