"""Programs of patterns as parts of a search: their space is of derivations."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.errors import TileError
from tiledialect.exploration.implementation import PATTERNS
from tiledialect.exploration.lift.estimators import Estimators, LocalEstimators
from tiledialect.exploration.lift.mapping import DEFAULT
from tiledialect.exploration.lift.parameters import SIZE
from tiledialect.exploration.lift.ranking import Ranked
from tiledialect.exploration.lift.settings import Settings
from tiledialect.exploration.lift.space import LiftSpace
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.subject import NO_SPEED, Subject, cost_device
from tiledialect.index.integer.expressions import Expr
from tiledialect.lowering.lift_to_nest.sizes import input_names
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.search.decisions import Decisions, Fixed

PROMISING, WORTH = 3.0, 1.5
"""Most estimates of a seed before and after small changes, in multiples of the best one so far,
with which it comes before the candidates of other programs."""
NEAR = 1.2
"""Most estimates of a program's candidates of other kinds of mappings, in multiples of the best one
so far, with which they are measured as they are: estimates tell kinds apart less well."""
FIRST = 4
"""Number of candidates that mutations need to begin with."""
PASSES = 3
"""Most passes of small changes of a candidate, as long as it gets better."""
LOOKS = 6
"""Number of programs that are looked at before small changes of the best candidates, which take as
long as the looks if there are open sizes."""
LEAP = 2.0
"""Times that a program is faster than all before it, from which its changes do not wait; without
open sizes they are few, and do not wait if it is faster at all."""
FEWEST = 1e-9
"""Least seconds of a kernel in ratios."""
LOOK = 0.1
"""Seconds between looks whether other processes have estimated candidates."""


@dataclass
class LiftPart(LiftSpace):
    """A program of patterns whose derivation is searched."""

    mutations = 4
    least_seeds = 32
    estimators: Estimators | None = None
    """Workers that estimate seeds; None: this process."""

    @staticmethod
    def of(subject: Subject, settings: Settings | None = None, first: str = "") -> LiftPart:
        """The program of a subject, which a step may have made of another."""
        program = subject.program
        target = target_system_spec(subject.device)
        start = Derivation.of(program.module, program.name)
        sizes = input_sizes(start, subject.types)
        start = start.bind(**sizes) if sizes else start
        device = cost_device(subject.device)
        if device is None:
            raise TileError(NO_SPEED.format(subject.device.id))
        name = PATTERNS if first else program.name
        return LiftPart(start, name, device, target, settings or Settings(), first)

    @property
    def awaited_seeds(self) -> int:
        """Number of seeds before mutations: the least they need, or all where other processes look
        for seeds."""
        is_here = self.estimators is None or self.estimators.count == 1
        return self.least_seeds if is_here else FIRST

    @property
    def weight(self) -> float:
        """Seconds of the default by the cost model."""
        return self._default[1].estimate

    @property
    def least(self) -> float:
        """Lower bound of the seconds: inputs and results pass the memory once."""
        kind = self.start.function.function_type
        arrays = [t for t in (*kind.inputs, *kind.outputs) if isinstance(t, TensorType)]
        moved = sum(_bytes(t) for t in arrays)
        if moved <= self.device.most_kept:
            return FEWEST
        return moved / (self.device.bandwidth * 1e9)

    @cached_property
    def _default(self) -> tuple[Decisions, Candidate]:
        chooser = Fixed({"vectors": 1, "mapping": DEFAULT})
        candidate = self.candidate(chooser)
        return chooser.made, candidate

    def seeds(self) -> Iterator[Decisions | None]:
        """The default, then candidates of all programs, good ones by the cost model first.

        Programs are found and looked at as candidates are asked for: the first candidates are
        measured before the last programs are known.
        """
        default, start = self._default
        yield default
        yield from _Seeds(self, self.estimators or LocalEstimators(self), start).run()


class _Seeds:
    """Estimates of a program's candidates, and what they tell so far."""

    def __init__(self, part: LiftPart, estimators: Estimators, start: Candidate):
        self._part, self._estimators, self._start = part, estimators, start
        self._flying: dict[Future[list[Ranked]], Ranked | None] = {}
        """Jobs, with the candidate that is changed; None for all those of a program."""
        self._passes: dict[str, int] = {}
        """Passes of small changes of which a candidate is the result, by its text."""
        self._pool: list[Ranked] = []
        self._later: list[Ranked] = []
        self._best = self._plain = start.estimate
        """Least estimate, and that without small changes: they gain so much that candidates are
        compared with what others were before."""
        self._looked = 0

    def run(self) -> Iterator[Decisions | None]:
        """Candidates that come before those of other programs; then all."""
        words = self._part.programs.all()
        most = (self._estimators.count + 1) // 2
        while True:
            looks = sum(ranked is None for ranked in self._flying.values())
            # What is done may be given before the next look, which takes long in this process.
            free = 0 if any(future.done() for future in self._flying) else most - looks
            for word in islice(words, free):
                self._flying[self._estimators.best_of(word, self._start.text)] = None
            if not self._flying:
                break
            yield from self._landed()
        yield from (ranked.decisions for ranked in sorted(self._later))
        while self._pool or self._flying:
            while self._pool and len(self._flying) < self._estimators.count:
                self._refine(self._pool.pop(0))
            yield from self._landed()
        yield from (ranked.decisions for ranked in sorted(self._later))

    def _landed(self) -> Iterator[Decisions | None]:
        """Candidates of the jobs that are done by now, and a pause."""
        done, _ = wait(self._flying, LOOK, FIRST_COMPLETED)
        for future in [future for future in self._flying if future in done]:
            given, found = self._flying.pop(future), future.result()
            self._part.estimates |= {ranked.text: ranked.estimate for ranked in found}
            yield from self._of_program(found) if given is None else self._of_change(given, found)
        yield None

    def _of_program(self, found: list[Ranked]) -> Iterator[Decisions]:
        """Candidates that are the best so far, as they are, or nearly so; then another one is
        changed, which may take as long as a look at a program."""
        self._looked += 1
        own = [replace(ranked, number=(self._looked, *ranked.number)) for ranked in found]
        self._pool = sorted((*self._pool, *own))
        before, self._plain = self._plain, min([self._plain, *(r.estimate for r in own)])
        for number, ranked in enumerate(own):
            if ranked.estimate < (NEAR * self._plain if number else self._best):
                self._best = min(self._best, ranked.estimate)
                yield ranked.decisions
        if not self._pool or self._pool[0].estimate >= PROMISING * self._plain:
            return
        has_sizes = any(name.startswith(SIZE) for name in self._pool[0].decisions)
        is_leap = self._plain < before / (LEAP if has_sizes else 1.0)
        if is_leap or self._looked >= LOOKS:
            self._refine(self._pool.pop(0))

    def _refine(self, ranked: Ranked) -> None:
        self._flying[self._estimators.refined(ranked)] = ranked

    def _of_change(self, given: Ranked, found: list[Ranked]) -> Iterator[Decisions]:
        passes = self._passes.pop(given.text, 0) + 1
        for ranked in found or [given]:
            self._best = min(self._best, ranked.estimate)
            if ranked.estimate >= WORTH * self._best:
                self._later.append(ranked)
                continue
            yield ranked.decisions
            if passes < PASSES and ranked.estimate < given.estimate:
                self._passes[ranked.text] = passes
                self._refine(ranked)


def input_sizes(program: Derivation, types: tuple[TensorType[Attribute], ...]) -> dict[str, int]:
    """Values of the names of sizes for inputs of some types."""
    found: dict[str, int] = {}
    for name, (number, axis, value) in input_names(program.function).items():
        known = {"axis": Expr.const(types[number].get_shape()[axis])}
        known |= {n: Expr.const(v) for n, v in found.items()}
        size = value.substitute(known).value
        if size is None:
            raise TileError(f"the size {name} is not known")
        found[name] = size
    return found


def _bytes(t: TensorType[Attribute]) -> int:
    return prod(t.get_shape()) * element_bytes(t.element_type)
