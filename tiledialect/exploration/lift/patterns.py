"""Programs of patterns as parts of a search: their space is of derivations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from math import inf, prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.errors import TileError
from tiledialect.exploration.implementation import PATTERNS
from tiledialect.exploration.lift.algorithmic import stream
from tiledialect.exploration.lift.mapping import (
    COPIES,
    DEFAULT,
    GROUPS_EACH,
    GROUPS_OF_UNIT,
    LOCAL,
    NO,
    NONE,
    WAYS,
    WIDTHS,
    YES,
    MappingSpace,
)
from tiledialect.exploration.lift.parameters import SIZE, ParameterSpace
from tiledialect.exploration.lift.programs import Programs
from tiledialect.exploration.lift.settings import Settings, native_lanes
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.subject import NO_SPEED, Subject, cost_device
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.target_spec import describe
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.lift_to_nest.sizes import input_names
from tiledialect.lowering.nest.utils.estimate import estimate_nest
from tiledialect.lowering.pipeline import local_size_of
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    Fixed,
    enumerated,
    made,
    nearest,
)

PROGRAM = "program"
"""Name of the decision between programs that algorithmic rewriting gives."""
KEPT = 2
"""Number of candidates of a program that are seeds: the best by the cost model, of one for each
mapping."""
PROMISING, WORTH = 3.0, 1.5
"""Most estimates of a seed before and after small changes, in multiples of the best one so far,
with which it comes before the candidates of other programs."""
GROUP_SIZES = 16, 128
"""Work-items along an axis of a GPU's groups of two axes and of one."""
TILE, BLOCK, ROW = 128, 8, 1 << 14
"""Elements along an axis of a tile of a GPU's group, of a block of its work-item, and of a row that
its work-items go through in strides."""
PASSES = 3
"""Most passes of changes of a seed."""
GAIN = 0.98
"""Most estimate of a changed seed, in multiples of the estimate before."""
FEWEST = 1e-9
"""Least seconds of a kernel in ratios."""


@dataclass
class LiftPart:
    """A program of patterns whose derivation is searched."""

    start: Derivation
    """The program with the sizes of its inputs."""
    name: str
    device: Device
    target: Attribute
    settings: Settings = field(default_factory=Settings)
    first: str = ""
    """Step before the derivation, which makes the program of another."""
    mutations = 4

    def __post_init__(self):
        self._spaces: dict[str, MappingSpace] = {}
        self._sizes: dict[str, ParameterSpace] = {}
        self._estimates: dict[str, float] = {}

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

    @cached_property
    def programs(self) -> Programs:
        """Programs of algorithmic rewriting, the program itself first."""
        width = native_lanes(self.device)
        return Programs(stream(self.start, self.settings.algorithmic, width=width))

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

    def candidate(self, chooser: Chooser) -> Candidate:
        """The derivation that decisions make, with its estimate."""
        derivation = self.derivation(chooser)
        text = "" if derivation.steps == self.start.steps else derivation.text
        text = "\n".join(filter(None, [self.first, text]))
        if text not in self._estimates:
            try:
                self._estimates[text] = estimate(derivation, self.target, self.device)
            except (TileError, VerifyException) as error:
                raise DeadEndError(str(error)) from None
        return Candidate(text, self._estimates[text])

    def derivation(self, chooser: Chooser) -> Derivation:
        """The derivation that decisions make."""
        space, mapped = self._mapped(chooser)
        return space.unrolled(self._space_of(mapped).bound(chooser), chooser)

    def _mapped(self, chooser: Chooser) -> tuple[MappingSpace, Derivation]:
        """The mapping that decisions make, of the program that they choose."""
        word = str(chooser.choose(PROGRAM, self.programs, self.programs))
        if word not in self._spaces:
            given = self.programs.program(word), self.settings.mapping, self.device
            self._spaces[word] = MappingSpace(*given)
        return self._spaces[word], self._spaces[word].mapped(chooser)

    def seeds(self) -> Iterator[Decisions]:
        """The default, then candidates of all programs, good ones by the cost model first.

        Programs are found and looked at as candidates are asked for: the first candidates are
        measured before the last programs are known.
        """
        default, start = self._default
        yield default
        pool: list[_Ranked] = []
        later: list[_Ranked] = []
        best, plain, count = start.estimate, start.estimate, 0
        for word in self.programs.all():
            found: dict[str, _Ranked] = {}
            for decisions, candidate in self._candidates_of(word):
                count += 1
                ranked = _Ranked(candidate.estimate, count, decisions)
                if candidate.text != start.text and candidate.estimate < inf:
                    found.setdefault(candidate.text, ranked)
            pool = sorted((*pool, *sorted(found.values())[:KEPT]))
            # One for each program, as small changes take as long as a look at another one. They
            # gain so much that candidates are compared with what others were before.
            plain = min(plain, pool[0].estimate if pool else inf)
            if pool and pool[0].estimate < PROMISING * plain:
                first = pool.pop(0)
                if first.estimate < best:
                    best = first.estimate
                    yield first.decisions
                refined = self._refined(first)
                best = min(best, refined.estimate)
                if refined.estimate < WORTH * best:
                    yield refined.decisions
                else:
                    later.append(refined)
        later += map(self._refined, pool)
        yield from (ranked.decisions for ranked in sorted(later))

    def _candidates_of(self, word: str) -> Iterator[tuple[Decisions, Candidate]]:
        """Candidates of all mappings of a program, and with copies of the best ones of each kind;
        with the widest vectors, unrolled loops, and sizes of vectors."""
        given = {PROGRAM: word, "vectors": WIDTHS[-1], "unroll": YES, **dict.fromkeys(WAYS, NO)}
        given |= {"copies": NONE, GROUPS_OF_UNIT: 0}
        best: dict[str, tuple[float, Decisions]] = {}
        for decisions, mapped in enumerated(lambda c: self._mapped(_Given(c, given))[1]):
            for sizes in self._starts(mapped):
                with suppress(DeadEndError):
                    found, candidate = made(self.candidate, {**given, **decisions, **sizes})
                    yield found, candidate
                    kind = str(decisions["mapping"]).rstrip("012")
                    ranked = candidate.estimate, found
                    best[kind] = min(best.get(kind, ranked), ranked, key=lambda pair: pair[0])
        for _, decisions in best.values():
            with suppress(DeadEndError):
                yield made(self.candidate, {**decisions, "copies": LOCAL})

    def _starts(self, mapped: Derivation) -> Iterator[Decisions]:
        """Sizes to begin with: vectors, and on a GPU rows and squares of the work-items of a group,
        which smaller sizes do not fill, blocks of a work-item in tiles of a group, and strides of
        its work-items in rows."""
        space = self._space_of(mapped)
        own = (native_lanes(self.device), *(GROUP_SIZES if self.device.is_gpu else ()))
        for size in own if space.names else own[:1]:
            yield {SIZE + name: size for name in space.names}
        if self.device.is_gpu and space.parts:
            wholes = frozenset[str]().union(*space.parts.values())
            for whole, part in ((TILE, BLOCK), (ROW, GROUP_SIZES[-1])):
                sizes = {n: whole if n in wholes else GROUP_SIZES[0] for n in space.names}
                yield {SIZE + n: part if n in space.parts else size for n, size in sizes.items()}

    def _space_of(self, mapped: Derivation) -> ParameterSpace:
        """The open sizes of a mapped program."""
        if mapped.text not in self._sizes:
            given = mapped, self.settings.parameters, self.device
            self._sizes[mapped.text] = ParameterSpace(*given)
        return self._sizes[mapped.text]

    def _refined(self, start: _Ranked) -> _Ranked:
        """Decisions that are better by the cost model, after small changes."""
        best, decisions = start.estimate, start.decisions
        for _ in range(PASSES):
            before = best
            for change in [*_changes(decisions)]:
                best, decisions = self._changed(best, decisions, change)
            if best == before:
                break
        return _Ranked(best, start.number, decisions)

    def _changed(
        self, best: float, decisions: Decisions, change: Callable[[Decisions], Decisions]
    ) -> tuple[float, Decisions]:
        """An estimate and decisions after a change, made again as long as it helps: sizes may be
        far off."""
        with suppress(DeadEndError):
            while True:
                found, candidate = made(self.candidate, change(decisions))
                if candidate.estimate >= best * GAIN:
                    break
                best, decisions = candidate.estimate, found
        return best, decisions


def _changes(decisions: Decisions) -> Iterator[Callable[[Decisions], Decisions]]:
    """Small changes: another copy or way, a size that grows or shrinks, and two at the expense of
    each other."""
    for name in decisions:
        if name == GROUPS_OF_UNIT:
            yield lambda given: {**given, GROUPS_OF_UNIT: GROUPS_EACH[1]}
        elif name in WAYS:
            yield lambda given, n=name: {**given, n: YES}
        elif name == "copies":
            for copies in COPIES[1:]:
                yield lambda given, c=copies: {**given, "copies": c}
    sizes = [name for name in decisions if name.startswith(SIZE)]
    for name in sizes:
        for factor in (2.0, 1.5, 0.5):
            yield partial(_scaled, factors={name: factor})
    for pair in pairwise(sizes):
        for factors in ((0.5, 2.0), (2.0, 0.5)):
            yield partial(_scaled, factors=dict(zip(pair, factors, strict=True)))


def _scaled(given: Decisions, factors: Mapping[str, float]) -> Decisions:
    """Decisions with some sizes multiplied."""
    return {
        **given,
        **{n: max(1, int(int(given[n]) * f)) for n, f in factors.items() if n in given},
    }


@dataclass(frozen=True, order=True)
class _Ranked:
    """Decisions by the estimate of what they make."""

    estimate: float
    number: int
    """Order among equals."""
    decisions: Decisions = field(compare=False)


@dataclass(frozen=True)
class _Given:
    """Chooser for whom some decisions are made."""

    chooser: Chooser
    given: Decisions

    def choose(self, name: str, options: Any, domain: Any = ()) -> Any:
        """The given option, or another chooser's choice."""
        if name in self.given and options:
            options = [nearest(self.given[name], options, domain)]
        return self.chooser.choose(name, options, domain)


def estimate(derivation: Derivation, target: Attribute, device: Device) -> float:
    """Seconds of the kernels of a derivation by the cost model; a TileError if there are none."""
    module = derivation.module.clone()
    describe(module, target)
    LiftLowerPass().apply(Context(), module)
    LiftToNestPass(local_size_of(module)).apply(Context(), module)
    return estimate_nest(module, device)


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
