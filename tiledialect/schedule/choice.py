"""The choice of a schedule: candidates that fit the device, ranked by the cost model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from tiledialect.schedule.candidates import FAMILIES
from tiledialect.schedule.copies import copies, making, reading
from tiledialect.schedule.cost import OVERLAP_LOSS, Estimate, cost
from tiledialect.schedule.cpu_cost import OVERLAP_LOSS as CPU_OVERLAP_LOSS
from tiledialect.schedule.cpu_cost import CpuModel, cpu_cost
from tiledialect.schedule.default import default_leaves
from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts
from tiledialect.schedule.leaves import Role, Schedule, sub_group_share
from tiledialect.schedule.model import Model
from tiledialect.schedule.tiles import UNROLLED_COPIES

DEFAULT = "default"
"""What the family of the default schedule is called."""
LOCAL_SIZE = 64
"""How many work-items the groups of the default schedule have."""
MOST_SUMS = 2 << 20
"""Bytes of sums that a work-item of a CPU may have: they are on its stack."""
COPY_GAIN = 0.92
"""What reads a copy in global memory must take at most this share of the time of what does not."""
MOST_COPIED = 4
"""How many candidates that read a copy are kept."""
KEPT = 256
"""How many kernels' rankings are kept, for others that are alike."""


@dataclass(frozen=True)
class Candidate:
    """A schedule that a family proposes, and what it is thought to cost."""

    family: str
    schedule: Schedule
    estimate: Estimate


def modelled(facts: Facts, schedule: Schedule, device: Device) -> Model:
    """A schedule of a kernel on a device, as the cost model for such kernels sees it."""
    is_contraction = facts.aggregation is not None and not facts.is_rows
    model = CpuModel if is_contraction and device.kind is Kind.CPU else Model
    return model(facts, schedule, device)


def estimated(model: Model) -> Estimate:
    """What it is thought to cost."""
    return cpu_cost(model) if isinstance(model, CpuModel) else cost(model)


@lru_cache(maxsize=KEPT)
def ranked(facts: Facts, device: Device) -> tuple[Candidate, ...]:
    """The candidates that fit a device, those first that are thought to be fastest."""
    found = _by_seconds(_candidates(facts, device))
    return tuple(_by_seconds((*found, *_with_copies(facts, device, found[:1]))))


def _by_seconds(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: c.estimate.seconds)


def _with_copies(facts: Facts, device: Device, plain: Sequence[Candidate]) -> Iterator[Candidate]:
    """The best candidates that read a copy of an operand, if they gain on the best plain one."""
    for stage in copies(facts, device) if plain else ():
        copy, other = ranked(making(facts, stage), device)[:1], reading(facts, stage)
        most = COPY_GAIN * plain[0].estimate.seconds - sum(c.estimate.seconds for c in copy)
        if not copy or least_seconds(other, device) >= most:
            continue
        for found in _by_seconds(_candidates(other, device))[:MOST_COPIED]:
            if found.estimate.seconds < most:
                schedule = found.schedule.with_axes(stage.operand, stage.order.__getitem__)
                schedule = replace(schedule, global_stages=(stage,))
                yield Candidate(found.family, schedule, found.estimate.after(copy[0].estimate))


@lru_cache(maxsize=KEPT)
def default(facts: Facts, device: Device) -> Candidate:
    """The default schedule, weighed as the others are."""
    local_size = min(LOCAL_SIZE, device.max_work_group_size)
    schedule = Schedule(default_leaves(facts.indices, local_size))
    return Candidate(DEFAULT, schedule, estimated(modelled(facts, schedule, device)))


def best_seconds(facts: Facts, device: Device) -> float:
    """What a kernel takes at the best."""
    found = (*ranked(facts, device)[:1], default(facts, device))
    return min(candidate.estimate.seconds for candidate in found)


def least_seconds(facts: Facts, device: Device) -> float:
    """What a kernel takes at least, however it is scheduled: the device's rates say so."""
    points = facts.points * prod(share for _, share in facts.tests)
    arithmetic = points * facts.operations / (device.arithmetic * 1e9)
    far = facts.moved / (device.bandwidth * 1e9)
    overlap = CPU_OVERLAP_LOSS if device.kind is Kind.CPU else OVERLAP_LOSS
    return max(arithmetic, far) + overlap * min(arithmetic, far) + device.launch * 1e-6


def in_sub_groups(facts: Facts, schedule: Schedule, device: Device) -> Schedule:
    """The same, but work-items of GPUs that share sums join them in sub-groups, if they can.

    That saves barriers: most kernels wait for memory all the same, and none was slower.
    """
    if device.kind is Kind.CPU or not device.sub_group_sizes:
        return schedule
    size = max(device.sub_group_sizes)
    joined = replace(schedule, sub_groups=size)
    is_whole = schedule.extents(Role.LOCAL)[0] % size == 0
    return joined if is_whole and sub_group_share(joined, facts.reduced_indices) > 1 else schedule


def proposed(facts: Facts, device: Device) -> Iterator[tuple[str, Schedule]]:
    """The schedules that families propose for a kernel, each once; a device may be too small."""
    if not facts.points:
        # Outputs are written all the same, by the default schedule.
        return
    seen: set[Schedule] = set()
    for name, family in FAMILIES.items():
        for plain in family(facts, device):
            schedule = in_sub_groups(facts, _staged_once(facts, plain), device)
            if schedule not in seen:
                seen.add(schedule)
                yield name, schedule


def _staged_once(facts: Facts, schedule: Schedule) -> Schedule:
    """The same, but that a tensor which is read twice has one stage of a kind: it is for each read.

    Families propose one for each read.
    """
    if len({t.number for t in facts.inputs}) == len(facts.inputs):
        return schedule
    kinds = {(stage.operand, stage.local): stage for stage in reversed(schedule.stages)}
    kept = tuple(s for s in schedule.stages if s is kinds[s.operand, s.local])
    return replace(schedule, stages=kept)


def _candidates(facts: Facts, device: Device) -> Iterator[Candidate]:
    for name, schedule in proposed(facts, device):
        if schedule.work_items > device.max_work_group_size:
            continue
        model = modelled(facts, schedule, device)
        if _fits(model):
            yield Candidate(name, schedule, estimated(model))


def _fits(model: Model) -> bool:
    """Whether a device has room for a schedule; what does not fit need not be weighed."""
    if isinstance(model, CpuModel) and model.waiting_bytes > MOST_SUMS:
        return False
    room = model.device.local_mem_size
    return model.local_memory <= room and model.copy_steps <= UNROLLED_COPIES
