"""Time of nests that patterns are lowered to, whose operations are counted one by one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from tiledialect.rounding import ceil_div, round_up
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.items import group_waits
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
    fetches: int = 0
    """Steps that begin with a tile in the local memory of the group."""
    ahead: bool = True
    """Whether these are fetched in the step before."""
    registers: int = 0
    """Registers of a work-item."""
    local_memory: int = 0
    """Bytes of local memory of a group."""
    waits: int = 0
    """Times that a work-item waits for operands in a step that it takes at once."""

    def on(self, device: Device) -> Estimate:
        """The longest of instructions, accesses, bytes through the caches, bytes of memory, and a
        GPU's steps, with a share of the others, which do not overlap wholly."""
        rates, bandwidth = device.rates.nests, device.bandwidth * 1e9
        near, shares = bandwidth * rates.cache_rate, self._shares(device)
        arithmetic, accesses = (
            x / (device.arithmetic * 1e9) * shares for x in (self.operations, self.accesses)
        )
        arithmetic *= self._last_round(device)
        cache = self.traffic / near * shares
        memory = self.touched / (bandwidth if self.touched > device.most_kept else near)
        # A few cores ask for as much as memory gives, one does not; nor do a GPU's few work-items.
        asking = min(device.compute_units, rates.asking) / max(self.groups, 1)
        memory *= shares if device.traits.interleaves_groups else max(1.0, asking)
        started = rates.group * self.groups / device.compute_units
        parts = (arithmetic, accesses, cache, memory, self._step_seconds(device))
        longest, loss = max(parts), device.rates.nests.overlap_loss
        waiting = started + self._waiting_seconds(device, arithmetic)
        return Estimate(
            seconds=longest + loss * (sum(parts) - longest) + waiting,
            arithmetic=arithmetic,
            cache=max(cache, accesses),
            memory=memory,
            waiting=waiting,
            groups=self.groups,
            resident=self._resident(device),
            registers=self.registers,
            local_memory=self.local_memory,
        )

    def _resident(self, device: Device) -> int:
        """Groups that a unit runs at a time."""
        if not device.traits.interleaves_groups:
            return 1
        lanes = max(device.sub_group_size, 1)
        limits = [
            ceil_div(self.groups, device.compute_units),
            device.work_items_unit // round_up(self.items, lanes),
        ]
        if device.registers_unit and self.registers:
            own = min(self.registers, device.registers)
            limits.append(device.registers_unit // (own * self.items))
        if self.local_memory:
            limits.append(device.local_mem_unit // self.local_memory)
        return max(1, min(limits))

    def _last_round(self, device: Device) -> float:
        """Factor by which arithmetic is slower as a unit's last groups are too few to keep it
        busy."""
        if not device.traits.interleaves_groups:
            return 1.0
        each = ceil_div(self.groups, device.compute_units)
        last = each % self._resident(device)
        warps = last * ceil_div(self.items, max(device.sub_group_size, 1))
        alone = max(1.0, device.rates.nests.busy / warps) if last else 1.0
        return (each - last + last * alone) / max(each, 1)

    def _waiting_seconds(self, device: Device, arithmetic: float) -> float:
        """Seconds in which groups wait for the tiles of their steps, as those of schedules do
        (`items`): others on the unit hide that, and tiles that are fetched ahead."""
        if not device.traits.interleaves_groups or not self.fetches:
            return 0.0
        resident = self._resident(device)
        rounds = ceil_div(ceil_div(self.groups, device.compute_units), resident)
        own, rates = arithmetic / (rounds * resident), device.rates.items
        alone, seen, barriers = group_waits(rates, device, own, self.fetches, self.ahead)
        return rounds * (max(0.0, alone - own * resident) + seen + barriers / resident)

    def _step_seconds(self, device: Device) -> float:
        """Seconds in which a GPU's work-items, of which so many run at a time, wait for the sums of
        steps and for operands."""
        if not device.traits.interleaves_groups:
            return 0.0
        warps = self.groups * ceil_div(self.items, max(device.sub_group_size, 1))
        rates = device.rates.nests
        turns = ceil(warps / (rates.resident * device.compute_units))
        latencies = self.steps * rates.step_latency + self.waits * rates.operand_latency
        return turns * latencies * device.latency * 1e-6

    def _shares(self, device: Device) -> float:
        """Factor by which a kernel is slower than on a device whose units are all busy."""
        units, groups = device.compute_units, self.groups
        fullest = round_up(groups, units) / max(groups, 1)
        if not device.traits.interleaves_groups:
            return fullest
        lanes = max(device.sub_group_size, 1)
        warps = ceil_div(self.items, lanes)
        full = warps * lanes / max(self.items, 1)
        return full * max(fullest, units * device.rates.nests.hiding / max(groups * warps, 1))
