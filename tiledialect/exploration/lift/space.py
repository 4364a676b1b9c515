"""Spaces of derivations of a program: its programs, their mappings and sizes, with estimates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tiledialect.errors import TileError
from tiledialect.exploration.lift.algorithmic import stream
from tiledialect.exploration.lift.mapping import MappingSpace
from tiledialect.exploration.lift.parameters import KEPT, Kept, ParameterSpace
from tiledialect.exploration.lift.programs import Programs
from tiledialect.exploration.lift.settings import Settings, native_lanes
from tiledialect.exploration.parts import Candidate
from tiledialect.ir.target_spec import describe
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.cost.estimate import estimate_nest
from tiledialect.lowering.nest.nest_merge_loads import NestMergeLoadsPass
from tiledialect.lowering.nest.nest_pad_rows import NestPadRowsPass
from tiledialect.lowering.pipeline import local_size_of
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.search.decisions import Chooser, DeadEndError

PROGRAM = "program"
"""Name of the decision between programs that algorithmic rewriting gives."""


@dataclass
class LiftSpace:
    """Derivations that compute a program of patterns."""

    start: Derivation
    """The program with the sizes of its inputs."""
    name: str
    device: Device
    target: Attribute
    settings: Settings = field(default_factory=Settings)
    first: str = ""
    """Step before the derivation, which makes the program of another."""

    def __post_init__(self):
        self._spaces: dict[str, MappingSpace] = {}
        self._sizes: dict[str, ParameterSpace] = {}
        self._kept = Kept(KEPT)
        self.estimates: dict[str, float] = {}
        """Seconds by the cost model of the derivations so far, by their texts."""

    @cached_property
    def programs(self) -> Programs:
        """Programs of algorithmic rewriting, the program itself first."""
        width = native_lanes(self.device)
        return Programs(stream(self.start, self.settings.algorithmic, width=width))

    def candidate(self, chooser: Chooser) -> Candidate:
        """The derivation that decisions make, with its estimate."""
        derivation = self.derivation(chooser)
        text = "" if derivation.steps == self.start.steps else derivation.text
        text = "\n".join(filter(None, [self.first, text]))
        if text not in self.estimates:
            try:
                self.estimates[text] = estimate(derivation, self.target, self.device)
            except (TileError, VerifyException) as error:
                raise DeadEndError(str(error)) from None
        return Candidate(text, self.estimates[text])

    def derivation(self, chooser: Chooser) -> Derivation:
        """The derivation that decisions make."""
        space, mapped = self.mapped(chooser)
        return space.unrolled(self.space_of(mapped).bound(chooser), chooser)

    def mapped(self, chooser: Chooser) -> tuple[MappingSpace, Derivation]:
        """The mapping that decisions make, of the program that they choose."""
        word = str(chooser.choose(PROGRAM, self.programs, self.programs))
        if word not in self._spaces:
            given = self.programs.program(word), self.settings.mapping, self.device
            self._spaces[word] = MappingSpace(*given, kept=self._kept)
        return self._spaces[word], self._spaces[word].mapped(chooser)

    def space_of(self, mapped: Derivation) -> ParameterSpace:
        """The open sizes of a mapped program."""
        if mapped.text not in self._sizes:
            given = mapped, self.settings.parameters, self.device
            self._sizes[mapped.text] = ParameterSpace(*given, kept=self._kept)
        return self._sizes[mapped.text]


def estimate(derivation: Derivation, target: Attribute, device: Device) -> float:
    """Seconds of the kernels of a derivation by the cost model; a TileError if there are none."""
    module = derivation.module.clone()
    describe(module, target)
    LiftLowerPass().apply(Context(), module)
    LiftToNestPass(local_size_of(module)).apply(Context(), module)
    if not device.traits.has_vectors:
        NestMergeLoadsPass().apply(Context(), module)
        NestPadRowsPass().apply(Context(), module)
    return estimate_nest(module, device)
