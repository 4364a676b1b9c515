"""Implementations of a program: what a search decides, as data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tiledialect.lowering.runtime.program.program import Program
from tiledialect.passes.fuse.options import Fusion


@dataclass(frozen=True)
class Implementation:
    """Decisions by which a program is computed."""

    schedules: tuple[str, ...] = ()
    """Schedules of kernels, each as ``name: <…> stage <…>``."""
    fusion: Fusion = field(default_factory=Fusion)
    """Ops that share a kernel."""
    steps: str = ""
    """Derivation of a Lift program, a line for each step; empty: the program as it is."""

    def but(self, kernel: str) -> Implementation:
        """The implementation without the schedule of a kernel."""
        others = (text for text in self.schedules if not text.startswith(f"{kernel}: "))
        return replace(self, schedules=tuple(others))

    def applied(self, program: Program) -> Program:
        """The program computed so; a TileError if it cannot be."""
        module, text = program.module, program.text
        if self.steps:
            from tiledialect.passes.lift.strategies.derivation import Derivation, replay

            module = replay(Derivation.of(module, program.name), self.steps).module
            text = f"{text}\n// {self.steps}"
        if self.fusion != Fusion():
            text = f"{text} {self.fusion}"
        return replace(
            program,
            module=module,
            text=text,
            # Of two schedules for a kernel the last one counts: the user's.
            schedules=(*self.schedules, *program.schedules),
            fusion=program.fusion if self.fusion == Fusion() else self.fusion,
            opened={},
            built={},
        )

    def __str__(self) -> str:
        """Schedules, fusion and steps, as a user gives them."""
        flags = {k: v for k, v in vars(self.fusion).items() if v not in (None, ())}
        fusion = [f"fusion: {', '.join(f'{k}={v}' for k, v in flags.items())}"] if flags else []
        return "\n".join([*fusion, *self.schedules, *self.steps.splitlines()])
