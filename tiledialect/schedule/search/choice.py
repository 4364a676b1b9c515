"""The choice of a schedule: candidates that fit the device, ranked by the cost model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from tiledialect import caches
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.cpu_estimate import CpuModel
from tiledialect.schedule.cost.device import KIB, Device
from tiledialect.schedule.cost.estimate import (
    estimate,
    estimated,
    estimated_below,
    least_seconds,
    modelled,
)
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.default_schedule import LOCAL_SIZE, default_levels
from tiledialect.schedule.footprint import UNROLLED_COPIES
from tiledialect.schedule.loops import GlobalStage, Role, Schedule, sub_group_share
from tiledialect.schedule.search import budget
from tiledialect.schedule.search.ahead import found_ahead
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.candidates.patterns import generated
from tiledialect.schedule.search.layout_copies import copies, making, reading
from tiledialect.schedule.search.size_transfer import KnownSchedules, current, serves_batches

DEFAULT = "default"
"""Family name of the default schedule."""
MOST_SUMS = 2 << 20
"""Bytes of sums that a work-item of a CPU may have: they are on its stack."""
MAX_STATEMENTS = 1 << 13
"""Most operations in the text of an unrolled body: drivers' compilers take time more than linear in
them. The schedules that are best for the benchmarks have up to 4096, of tensor cores."""
COPY_GAIN = 0.95
"""Most time of a kernel with a copy in global memory, as a share of the time without one."""
MOST_COPIED = 4
"""Number of candidates with a copy that are kept."""
GOOD = 2.0
"""Most seconds of a schedule for another shape, in multiples of the device's lower bound. The best
one for a shape takes no less than that, so that none is more than so many times as slow."""
NO_WORSE = 1.1
"""Most distance of its seconds from the lower bound, in multiples of the distance for the other
shape, for which it was the best; or most seconds in multiples of those of the best one."""
TIE = 1.001
"""Factor by which a schedule that serves other batches may take longer: the cost model does not
resolve less, and a program is called with several batches."""
TRANSFERRED = "as for other sizes"
"""Family name of a schedule for another shape."""


@caches.RANKINGS
def ranked(facts: Facts, device: Device) -> tuple[Candidate, ...]:
    """The candidates that fit a device, those first that are thought to be fastest."""
    found = _by_seconds(_candidates(facts, device), facts)
    for copied in _copied(facts, device, found[0]) if found else ():
        read = _by_seconds(_candidates(copied.facts, device), copied.facts)[:MOST_COPIED]
        found += [copied.candidate(c) for c in read if c.estimate.seconds < copied.most]
    return tuple(_by_seconds(found, facts))


def best(facts: Facts, device: Device) -> Candidate | None:
    """The first of `ranked`; candidates with a higher lower bound are not estimated in full.

    Where a program is compiled for other shapes, it is the schedule for the nearest earlier shape,
    if it is good enough: it takes at most `GOOD` times as long as the first of `ranked`. Where the
    budget of the compilation is spent, it is the first candidate.
    """
    known = current()
    if known is not None and (facts, device) in known.chosen:
        return known.chosen[facts, device]
    if budget.is_spent():
        return budget.settled(facts, lambda: _first(facts, device))
    if known is None:
        return best_alone(facts, device)
    found = known.chosen[facts, device] = _best_or_transferred(facts, device, known)
    return found


@caches.CHOICES
def best_alone(
    facts: Facts, device: Device, below: float = inf, *, lasting: bool = False
) -> Candidate | None:
    """The best candidate of fewer seconds; with `lasting`, one for all batches may take longer."""
    if below == inf and not lasting and (facts, device) in (known := found_ahead()):
        return known[facts, device]
    plain = _fastest(facts, device, below, lasting=lasting)
    found = [plain] if plain is not None else []
    for copied in _copied(facts, device, plain) if plain is not None else ():
        read = _fastest(copied.facts, device, copied.most)
        found += [copied.candidate(read)] if read is not None else []
    return next(iter(_by_seconds(found, facts)), None)


def _best_or_transferred(facts: Facts, device: Device, known: KnownSchedules) -> Candidate | None:
    """The schedule of another size, or the best one if that is not good enough."""
    if not known.searched:
        found = best_alone(facts, device)
    elif (near := known.near(facts)) is None:
        # There will be other shapes after this one, too.
        found = best_alone(facts, device, lasting=True)
    else:
        old, schedules = near
        fits = [c for s in schedules if (c := _kept(facts, s, device)) is not None]
        kept = next(iter(_by_seconds(fits, facts)), None)
        before = best(old, device)
        if kept is not None and before is not None:
            # Distances from the lower bound of the device, for either.
            share = kept.estimate.seconds / least_seconds(facts, device)
            own = before.estimate.seconds / least_seconds(old, device)
            if share <= min(GOOD, NO_WORSE * own):
                return kept
        # Another schedule costs a new kernel.
        most = kept.estimate.seconds / NO_WORSE if kept is not None else inf
        found = best_alone(facts, device, most)
        if found is None:
            return kept
    if found is not None:
        known.note(facts, found.schedule)
    return found


def _kept(facts: Facts, schedule: Schedule, device: Device) -> Candidate | None:
    """A neighbour's schedule as a candidate; None if the device has no room for it."""
    if not schedule.global_stages:
        estimate = _estimated_below(modelled(facts, schedule, device), inf)
        return None if estimate is None else Candidate(TRANSFERRED, schedule, estimate)
    (stage,) = schedule.global_stages
    copy, read = best(making(facts, stage), device), reading(facts, stage)
    plain = replace(schedule.with_axes(stage.operand, stage.order.index), global_stages=())
    estimate = _estimated_below(modelled(read, plain, device), inf)
    if copy is None or estimate is None:
        return None
    return Candidate(TRANSFERRED, schedule, estimate.after(copy.estimate))


def _estimated_below(model: Model, below: float) -> Estimate | None:
    """Estimate of a schedule, if the device has room for it and it takes fewer seconds."""
    # On a CPU the lower bound is found sooner, elsewhere the room.
    if not isinstance(model, CpuModel) and exceeded(model):
        return None
    found = estimated_below(model, below)
    return None if found is None or exceeded(model) else found


def _by_seconds(candidates: Iterable[Candidate], facts: Facts) -> list[Candidate]:
    """Sort candidates for a kernel, the fastest first; equal ones by whether they serve other
    batches."""

    def seconds(c: Candidate) -> float:
        return c.estimate.seconds * (1 if serves_batches(c.schedule, facts) else TIE)

    return sorted(candidates, key=seconds)


def _fastest(
    facts: Facts, device: Device, below: float = inf, *, lasting: bool = False
) -> Candidate | None:
    """The first candidate of fewest seconds, if these are fewer than that.

    One that serves other batches, too, may take a little longer; more so with `lasting`.
    """
    found, handicap = None, NO_WORSE if lasting else TIE
    for name, schedule in proposed(facts, device):
        model = modelled(facts, schedule, device)
        if (estimate := _estimated_below(model, below)) is not None:
            seconds = estimate.seconds * (1 if serves_batches(schedule, facts) else handicap)
            if seconds < below:
                found, below = Candidate(name, schedule, estimate), seconds
    return found


def _first(facts: Facts, device: Device) -> Candidate | None:
    """The first candidate that fits a device."""
    return next(_candidates(facts, device), None)


@dataclass(frozen=True)
class _Copied:
    """A kernel that reads a copy of an operand, and the bound under which it gains."""

    stage: GlobalStage
    making: Estimate
    """Estimate of making the copy."""
    facts: Facts
    most: float
    """The seconds that it must stay below."""

    def candidate(self, reading: Candidate) -> Candidate:
        """Candidate that makes the copy and then reads it."""
        stage = self.stage
        schedule = reading.schedule.with_axes(stage.operand, stage.order.__getitem__)
        schedule = replace(schedule, global_stages=(stage,))
        return Candidate(reading.family, schedule, reading.estimate.after(self.making))


def _copied(facts: Facts, device: Device, plain: Candidate) -> Iterator[_Copied]:
    """The copies of operands that may gain on the best plain candidate."""
    for stage in copies(facts, device):
        copy, other = best(making(facts, stage), device), reading(facts, stage)
        if copy is not None:
            most = COPY_GAIN * plain.estimate.seconds - copy.estimate.seconds
            if least_seconds(other, device) < most:
                yield _Copied(stage, copy.estimate, other, most)


@caches.CHOICES
def default(facts: Facts, device: Device) -> Candidate:
    """The default schedule, weighed as the others are."""
    local_size = min(LOCAL_SIZE, device.max_work_group_size)
    schedule = Schedule(default_levels(facts.indices, local_size))
    return Candidate(DEFAULT, schedule, estimate(facts, device, schedule))


def best_seconds(facts: Facts, device: Device) -> float:
    """Seconds of the best schedule of a kernel."""
    return best_or_default(facts, device).estimate.seconds


def best_or_default(facts: Facts, device: Device) -> Candidate:
    """The best schedule, which may be the default one."""
    found, plain = best(facts, device), default(facts, device)
    if found is None or plain.estimate.seconds < found.estimate.seconds:
        return plain
    return found


def in_sub_groups(facts: Facts, schedule: Schedule, device: Device) -> Schedule:
    """Schedule with sums of work-items that are lanes joined in sub-groups, if possible.

    This saves barriers: most kernels wait for memory all the same, and none was slower.
    """
    if device.traits.has_vectors or not device.sub_group_sizes:
        return schedule
    size = max(device.sub_group_sizes)
    joined = replace(schedule, sub_groups=size)
    is_whole = schedule.extents(Role.LOCAL)[0] % size == 0
    return joined if is_whole and sub_group_share(joined, facts.reduced_indices) > 1 else schedule


def proposed(facts: Facts, device: Device) -> Iterator[tuple[str, Schedule]]:
    """The schedules that patterns propose for a kernel, each once; a device may be too small."""
    if not facts.points:
        # Outputs are written all the same, by the default schedule.
        return
    seen: set[Schedule] = set()
    reads_again = len({t.number for t in facts.inputs}) < len(facts.inputs)
    for name, plain in generated(facts, device):
        staged = _staged_once(plain) if reads_again else plain
        schedule = in_sub_groups(facts, staged, device)
        if schedule not in seen:
            seen.add(schedule)
            yield name, schedule


def _staged_once(schedule: Schedule) -> Schedule:
    """Schedule with one stage of a kind for a tensor that is read twice, which serves each read.

    Patterns propose one for each read.
    """
    kinds = {(stage.operand, stage.local): stage for stage in reversed(schedule.stages)}
    kept = tuple(s for s in schedule.stages if s is kinds[s.operand, s.local])
    return replace(schedule, stages=kept)


def _candidates(facts: Facts, device: Device) -> Iterator[Candidate]:
    """Proposals of patterns that fit the device."""
    for name, schedule in proposed(facts, device):
        model = modelled(facts, schedule, device)
        if not exceeded(model):
            yield Candidate(name, schedule, estimated(model))


def exceeded(model: Model) -> str:
    """Resource of which a schedule needs more than a device has; empty if it fits."""
    device = model.device
    if model.items > device.max_work_group_size:
        return f"{device.max_work_group_size} work-items in a group"
    if isinstance(model, CpuModel) and model.waiting_bytes > MOST_SUMS:
        return f"{MOST_SUMS / KIB:.0f} KiB of sums in a work-item"
    if max(model.local_memory, model.joining_memory) > device.local_mem_size:
        return f"{device.local_mem_size / KIB:.0f} KiB of local memory"
    if model.copy_steps > UNROLLED_COPIES:
        return f"{UNROLLED_COPIES} steps to fetch a tile ahead"
    if model.statements > MAX_STATEMENTS:
        return f"{MAX_STATEMENTS} operations in their text"
    return ""


def misfits(facts: Facts, device: Device) -> Mapping[str, int]:
    """Number of proposed schedules for each resource that they exceed."""
    models = (modelled(facts, schedule, device) for _, schedule in proposed(facts, device))
    return Counter(reason for reason in map(exceeded, models) if reason)
