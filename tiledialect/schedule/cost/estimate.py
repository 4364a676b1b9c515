"""The cost service: estimated time of a kernel on a device.

An estimate is counts times rates. Counts are the work: operations, instructions, bytes by level of
memory, waits. Rates are numbers of the device (`device`), as its bandwidth, and those of its
microarchitecture (`rates`). The parts of the work overlap, but not wholly.

| kernel | counts | times |
| --- | --- | --- |
| with a schedule | `counts`: registers, tiles, accesses, fetched bytes | `items` |
| contraction on a CPU | `cpu_body`, `cpu_caches`, too | `cpu_estimate`, in cycles of a core |
| product on tensor cores | `tiles` | `tiles` |
| scatter, sum that could be one | `scatters` | `scatters` |
| fused or separate kernels | `traffic` | `traffic`, in bytes that could be moved |
| nest of patterns | `lowering/nest/utils/estimate` | `nests` |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.cpu_estimate import CpuModel, core_estimate, least_core_seconds
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.items import items_estimate
from tiledialect.schedule.cost.parts import PARTS, Estimate, Work
from tiledialect.schedule.cost.tiles import TilesWork
from tiledialect.schedule.loops import Role, Schedule


def estimate(work: Facts | Work, device: Device, schedule: Schedule | None = None) -> Estimate:
    """Estimate of a kernel on a device, by a schedule if it has one."""
    if isinstance(work, Work):
        return _launched(work.on(device), device)
    return estimated(modelled(work, schedule or Schedule(()), device))


def modelled(facts: Facts, schedule: Schedule, device: Device) -> Model:
    """Counts of a kernel by a schedule on a device."""
    is_contraction = facts.aggregation is not None and not facts.is_rows
    # Without elements there is no run of a body, whose cycles a core's estimate counts.
    has_bodies = is_contraction and facts.points > 0
    model = CpuModel if has_bodies and device.traits.has_vectors else Model
    return model(facts, schedule, device)


def estimated(m: Model) -> Estimate:
    """Estimate of counted work."""
    found = core_estimate(m) if isinstance(m, CpuModel) else items_estimate(m)
    if (tiles := _tiles(m)) is not None:
        own = tiles.on(m.device)
        found = replace(found, **{name: getattr(own, name) for name in ("seconds", *PARTS)})
    return _launched(found, m.device)


def _tiles(m: Model) -> TilesWork | None:
    """Tiles of a schedule on tensor cores, whose groups wait for asynchronous copies."""
    is_asynchronous = any(stage.asynchronous for stage in m.schedule.stages)
    is_copied = m.traits.has_local_memory and is_asynchronous
    if m.schedule.instruction is None or not is_copied:
        return None
    outputs = m.facts.output_indices
    own = [x.extent for x in m.levels if x.role is not Role.GROUP and x.index in outputs]
    steps = [x.extent for x in m.levels if x.role is Role.SERIAL and x.index not in outputs]
    return TilesWork(m.groups, prod(own), prod(steps))


def estimated_below(m: Model, below: float) -> Estimate | None:
    """Estimate of counted work, if it is below some seconds.

    Work whose lower bound is higher is not estimated in full.
    """
    if isinstance(m, CpuModel) and least_core_seconds(m, below) >= below:
        return None
    found = estimated(m)
    return found if found.seconds < below else None


def least_seconds(facts: Facts, device: Device) -> float:
    """Lower bound of a kernel's seconds by any schedule: the device's rates give it."""
    points = facts.points * prod(share for _, share in facts.tests)
    arithmetic = points * facts.operations / (device.arithmetic * 1e9)
    far = facts.moved / (device.bandwidth * 1e9)
    loss = device.rates.items.overlap_loss
    return max(arithmetic, far) + loss * min(arithmetic, far) + device.launch_seconds


def in_sequence(seconds: Iterable[float], device: Device) -> float:
    """Seconds of kernels each of which waits for the one before, by the seconds of each alone.

    A queue takes the launches of the next ones while a kernel runs. The host needs a launch's time
    for each.
    """
    launch, own = device.launch_seconds, device.rates.kernels
    between = own.handover * device.latency * 1e-6 + (1 - own.queued) * launch
    end = -between
    for number, alone in enumerate(seconds, 1):
        end = max(end + between, number * launch) + alone - launch
    return end


def _launched(found: Estimate, device: Device) -> Estimate:
    launch = device.launch_seconds
    return replace(found, seconds=found.seconds + launch, launch=launch)
