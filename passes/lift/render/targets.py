"""Targets of `tile-opt -t` for Lift programs: graphs, rules that apply, steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tiledialect.ir.mlir_text import read_text
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import find_function
from tiledialect.passes.lift.lift_rewrite import recorded
from tiledialect.passes.lift.render.drawing import to_svg
from tiledialect.passes.lift.rules.collections import rules_with
from tiledialect.passes.lift.strategies.derivation import Derivation, applicable, replay


def _programs(module: ModuleOp, name: str | None) -> list[Derivation]:
    if name is not None:
        return [Derivation.of(module, find_function(module, name).sym_name.data)]
    functions = ops_of(module, func.FuncOp)
    return [Derivation.of(module, function.sym_name.data) for function in functions]


def _replayed(
    module: ModuleOp, name: str | None, script: str | None, load: str | None
) -> Derivation:
    derivation = Derivation.of(module, find_function(module, name).sym_name.data)
    if script is None:
        return derivation
    return replay(derivation, read_text(Path(script)), rules_with(load), script)


@dataclass(frozen=True)
class LiftGraphTarget(Target):
    """Expression graph of a Lift program, or those of each step of a script, as SVG."""

    name = "lift-graph"

    function: str | None = None
    """Name of the function; may be left out if there is only one."""
    script: str | None = None
    """File of steps, as for `lift-rewrite`: each is drawn before and after."""
    load: str | None = None
    """Python file that defines more rules."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Draw the function."""
        output.write(to_svg(_replayed(module, self.function, self.script, self.load)))


@dataclass(frozen=True)
class LiftDerivationTarget(Target):
    """Every program that the steps of a script make, and between them the rules."""

    name = "lift-derivation"

    script: str
    """File of steps, as for `lift-rewrite`."""
    load: str | None = None
    """Python file that defines more rules."""
    function: str | None = None
    """Name of the function; may be left out if there is only one."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Print the programs."""
        output.write(str(_replayed(module, self.function, self.script, self.load)))


@dataclass(frozen=True)
class LiftRulesTarget(Target):
    """Rewrite rules that apply to a Lift program, each with its place."""

    name = "lift-rules"

    function: str | None = None
    """Name of the function; all, if left out."""
    load: str | None = None
    """Python file that defines more rules."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """List the rules."""
        rules = rules_with(self.load)
        for program in _programs(module, self.function):
            for rule, place in applicable(program, rules):
                output.write(f"{rule.name} at {place}\n")


@dataclass(frozen=True)
class LiftStepsTarget(Target):
    """Steps by which `lift-rewrite` made a Lift program, for its option `script`."""

    name = "lift-steps"

    function: str | None = None
    """Name of the function; may be left out if there is only one."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """List the steps."""
        for step in recorded(find_function(module, self.function)):
            output.write(f"{step}\n")
