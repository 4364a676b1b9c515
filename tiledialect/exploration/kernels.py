"""Kernels of Tile programs as parts of a search: their spaces are schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property

from xdsl.utils.exceptions import VerifyException

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import (
    named_kernels,
    parse_schedule_text,
    read_schedules,
    schedule_text,
)
from tiledialect.errors import TileError
from tiledialect.exploration.kept import kept_for
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.subject import Subject
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.passes.schedule.tile_loop_tiling import LISTED_FAMILIES, weighed_candidates
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import estimate, least_seconds
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.search import choice
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    Option,
    made,
)
from tiledialect.schedule.search.size_transfer import fitted
from tiledialect.schedule.search.space import decisions_of, schedule_of, without_axes

WHOLE = "whole"
"""Name of the decision between schedules of the space and some that are outside it."""
FREE = "free"


class KernelPart:
    """A kernel whose schedule is searched."""

    mutations = 24
    least_seeds = 4
    awaited_seeds = 4

    def __init__(self, name: str, kernel: KernelOp, device: Device, kept: Sequence[str] = ()):
        self.name = name
        self._kept = kept
        self._kernel = kernel
        self._device = device
        self.facts = kernel_facts(kernel, device)

    @cached_property
    def _weighed(self) -> list[choice.Candidate]:
        return weighed_candidates(self._kernel, self._device)

    @property
    def is_listed(self) -> bool:
        """Whether there are no schedules but those that are weighed."""
        return self._weighed[0].family in LISTED_FAMILIES

    @property
    def weight(self) -> float:
        """Seconds of the default by the cost model."""
        return self._weighed[0].estimate.seconds

    @property
    def least(self) -> float:
        """Lower bound of the seconds on the device, whose caches may hold the tensors."""
        facts, device = self.facts, self._device
        if facts.moved <= device.most_kept:
            return facts.points * facts.operations / (device.arithmetic * 1e9)
        return least_seconds(facts, device)

    @cached_property
    def _outside(self) -> dict[str, choice.Candidate]:
        """Schedules of families that the space does not have, by name: of tensor cores, of copies
        in global memory, of scans."""
        # The default is compared with: it is tried as it is, whatever its axes.
        default, *others = self._weighed
        found = [] if self._in_space(default.schedule) == default.schedule else [default]
        for candidate in others:
            inside = self._in_space(candidate.schedule)
            if inside is None or _simple(inside) != _simple(candidate.schedule):
                found.append(candidate)
        return {f"given {k}": c for k, c in enumerate(found)}

    def _in_space(self, schedule: Schedule) -> Schedule | None:
        """The nearest schedule in the space; None where it has none like it."""
        if schedule.instruction is not None or schedule.global_stages or self.is_listed:
            return None
        try:
            return made(self._schedule, decisions_of(self.facts, schedule))[1]
        except DeadEndError:
            return None

    def _schedule(self, chooser: Chooser) -> Schedule:
        return schedule_of(self.facts, self._device, chooser)

    def candidate(self, chooser: Chooser) -> Candidate:
        """A schedule that the kernel can run."""
        free = [] if self.is_listed else [FREE]
        options: list[Option] = [*free, *self._outside]
        word = str(chooser.choose(WHOLE, options, [FREE, *self._outside]))
        if word != FREE:
            given = self._outside[word]
            return Candidate(self._text(given.schedule), given.estimate.seconds)
        schedule = self._schedule(chooser)
        found = estimate(self.facts, self._device, schedule)
        return Candidate(self._text(schedule), max(found.seconds, self.least))

    def _text(self, schedule: Schedule) -> str:
        kernel = self._kernel
        kernel.schedule = ScheduleAttr(schedule)
        try:
            kernel.verify_schedule(kernel.schedule)
            return schedule_text(kernel)
        except VerifyException as error:
            raise DeadEndError(str(error)) from None
        finally:
            kernel.schedule = None

    def ranked(self, count: int) -> list[str]:
        """The cost model's best schedules that the kernel can run, at most so many."""
        found: list[str] = []
        for candidate in self._weighed:
            if len(found) == count:
                break
            with suppress(DeadEndError):
                found.append(self._text(candidate.schedule))
        return found

    def seeds(self) -> Iterator[Decisions]:
        """Decisions of the default, of schedules near those of earlier searches, and of those that
        the cost model ranks, the best first."""
        outside = {c.schedule: name for name, c in self._outside.items()}
        first, *others = self._weighed
        for schedule in (first.schedule, *self._earlier(), *(c.schedule for c in others)):
            name = outside.get(schedule)
            own = {} if name is not None else decisions_of(self.facts, schedule)
            yield {WHOLE: name or FREE, **own}

    def _earlier(self) -> Iterator[Schedule]:
        """Schedules that searches found for inputs of these and of other shapes."""
        for text in self._kept if not self.is_listed else ():
            with suppress(TileError):
                yield fitted(parse_schedule_text(text, self._kernel), self.facts)


def _simple(schedule: Schedule) -> object:
    """Levels and stages without axes, and without levels of a single step."""
    levels = tuple(without_axes(x for x in schedule.levels if x.extent > 1))
    stages = sorted((s.operand, s.local, s.vector, s.order, s.copies) for s in schedule.stages)
    return levels, stages, schedule.one_pass


def kernel_parts(subject: Subject) -> list[KernelPart]:
    """The kernels of a program whose schedules are open."""
    program = subject.program
    module = lowered(program, subject.types, subject.device, "tile-join-axes")
    target = device_of(module)
    if target is None:
        return []
    given = {name for text in program.schedules for name in read_schedules(text)}
    earlier = kept_schedules(subject)
    return [
        KernelPart(name, kernel, target, earlier.get(name, ()))
        for name, kernel in named_kernels(module).items()
        if kernel.schedule is None and name not in given
    ]


def kept_schedules(subject: Subject) -> dict[str, list[str]]:
    """Schedules that were kept for a program on its device, by the names of kernels: for inputs of
    the same shapes first."""
    found: dict[str, list[str]] = {}
    kept = kept_for(subject.program, subject.device)
    for own in sorted(kept, key=lambda f: f.types != subject.shapes):
        for text in own.implementation.schedules:
            for name, schedule in read_schedules(text).items():
                found.setdefault(name, []).append(schedule)
    return found
