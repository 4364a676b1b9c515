"""Implementations of a program: what a search decides, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import tiledialect

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.lowering.runtime.program.program import Program, Types

PASSES = "passes of the program"
"""Name of the part of a search whose candidates are passes."""
PATTERNS = "patterns of the program"
"""Name of the part of a search whose candidates are derivations of a Tile program."""


@dataclass(frozen=True)
class Implementation:
    """Decisions by which a program is computed."""

    schedules: tuple[str, ...] = ()
    """Schedules of kernels, each as ``name: <…> stage <…>``."""
    passes: tuple[str, ...] = ()
    """Passes in place of the cost model's choices: splits of sums, fusion, Winograd's method."""
    steps: str = ""
    """Derivation, a line for each step; empty: the program as it is. Of a Tile program it begins
    with `tile-to-lift`."""

    @staticmethod
    def of_kernels(chosen: Mapping[str, str], passes: tuple[str, ...] = ()) -> Implementation:
        """The implementation by schedules of kernels, by their names, after passes."""
        return Implementation(tuple(f"{name}: {text}" for name, text in chosen.items()), passes)

    def but(self, part: str) -> Implementation:
        """The implementation without the schedule of a kernel, a derivation, or passes."""
        if part == PASSES:
            return replace(self, passes=())
        others = (text for text in self.schedules if not text.startswith(f"{part}: "))
        return replace(self, schedules=tuple(others), steps="")

    def applied(self, program: Program, types: Types, device: Device) -> Program:
        """The program computed so for inputs of some types; a TileError if it cannot be."""
        if self.steps and program.is_scheduled:
            from tiledialect.exploration.lift.contractions import as_patterns

            program = as_patterns(program, types, device)
        module, text = program.module, program.text
        if self.steps:
            from tiledialect.exploration.lift.contractions import TO_LIFT
            from tiledialect.passes.lift.strategies.derivation import Derivation, replay

            steps = self.steps.removeprefix(TO_LIFT)
            module = replay(Derivation.of(module, program.name), steps).module
            text = f"{text}\n// {self.steps}"
        if self.passes:
            text = f"{text}\n// {self.passes}"
        return replace(
            program,
            header=module,
            read=None,
            text=text,
            # Of two schedules for a kernel the last one counts: the user's.
            schedules=(*self.schedules, *program.schedules),
            passes=(*program.passes, *self.passes),
            opened={},
            built={},
        )

    def __str__(self) -> str:
        """Passes, schedules and steps, as a user gives them."""
        return "\n".join([*self.passes, *self.schedules, *self.steps.splitlines()])


@dataclass(frozen=True)
class Found:
    """The fastest implementation of a program for inputs of some types on a device."""

    program: str
    """Digest of the program."""
    device: str
    """Platform, name and driver of the device."""
    types: str
    """Types of the inputs, such as ``4x4xf32,4xf32``."""
    implementation: Implementation
    seconds: float
    """Least measured seconds of a call."""
    default_seconds: float
    """The same without exploration."""
    tried: int
    """Number of candidates of each kernel, at least, of which it is the fastest."""
    version: str = tiledialect.__version__
    """Version of the package that has found it."""

    @property
    def is_current(self) -> bool:
        """Whether this version of the package has found it."""
        return self.version == tiledialect.__version__
