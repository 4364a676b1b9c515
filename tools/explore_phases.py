"""Phases of the exploration of programs on files: each prints programs for the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect.api.function import Function
from tiledialect.errors import TileError
from tiledialect.exploration.lift.algorithmic import stream
from tiledialect.exploration.lift.mapping import mapping
from tiledialect.exploration.lift.parameters import parameters
from tiledialect.exploration.lift.patterns import input_sizes
from tiledialect.exploration.lift.settings import Settings, native_lanes
from tiledialect.exploration.subject import cost_device
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.signature import argument_names, find_function, type_text
from tiledialect.lowering.lift_to_nest.sizes import input_names, is_of_patterns
from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.passes.specialize.argument_types import declared_type
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device

BETWEEN = "// -----"
"""Line between programs, as for the option ``--split-input-file`` of `xdsl-opt`."""
TILE_PHASES = (
    "{} is a Tile program, which has the phase algorithmic, and schedules in place of {}: "
    "tile-explore without --phase searches them"
)
_HEAD = re.compile(r"\s*((?://[^\n]*\n)*)")


@dataclass(frozen=True)
class Phase:
    """A phase with its settings, for a device."""

    settings: Settings
    device: Device | None
    most: int
    """Most programs that a program gives."""

    def algorithmic(self, program: Derivation) -> Iterator[Derivation]:
        """Programs of algorithmic rewriting, each found when it is asked for."""
        width = native_lanes(self.device)
        return islice(stream(program, self.settings.algorithmic, width=width), self.most)

    def mapping(self, program: Derivation) -> list[Derivation]:
        """Mappings of a program."""
        return mapping(program, self.settings.mapping, self.device, self.most)

    def parameters(self, program: Derivation) -> list[Derivation]:
        """The program with sizes; inputs whose sizes are not known have the assumed one."""
        names = input_names(program.function)
        size = self.settings.parameters.default_input_size
        known = program.bind(**dict.fromkeys(names, size)) if names else program
        return parameters(known, self.settings.parameters, self.device, self.most)


PHASES: Mapping[str, Callable[[Phase, Derivation], Iterable[Derivation]]] = {
    "algorithmic": Phase.algorithmic,
    "mapping": Phase.mapping,
    "parameters": Phase.parameters,
}


@dataclass(frozen=True)
class Programs:
    """Programs of a file, and the types of their inputs that are given."""

    text: str
    file: str
    name: str | None
    """Name of the function."""
    types: Mapping[str, TensorType[Attribute]]

    def read(self) -> list[tuple[str, Derivation]]:
        """The programs, each with the comments before it: steps of earlier phases."""
        found: list[tuple[str, Derivation]] = []
        for part in re.split(rf"^{BETWEEN}\s*$", self.text, flags=re.MULTILINE):
            if part.strip():
                head = _HEAD.match(part)
                found.append((head[1] if head else "", self._derivation(part)))
        if not found:
            raise TileError(f"{self.file} has no program")
        return found

    def _derivation(self, text: str) -> Derivation:
        module = parse_mlir(text, self.file)
        function = find_function(module, self.name)
        if not is_of_patterns(function):
            raise TileError(
                f"{function.sym_name.data} is not of Lift's patterns alone: phases are for these"
            )
        program = Derivation.of(module, function.sym_name.data)
        if not self.types:
            return program
        names, own = argument_names(function), function.function_type.inputs
        types = (self.types.get(n) or declared_type(n, t) for n, t in zip(names, own, strict=True))
        sizes = input_sizes(program, tuple(types))
        return program.bind(**sizes) if sizes else program


def tile_texts(
    name: str, function: Function, types: Mapping[str, TensorType[Attribute]], most: int
) -> Iterator[str]:
    """Programs that the algorithmic phase makes of a Tile program, as text; at most so many."""
    if name != "algorithmic":
        raise TileError(TILE_PHASES.format(function.name, name))
    part = function.program_part({n: type_text(t) for n, t in types.items()})
    for number, text in enumerate(part.printed(most)):
        yield f"{BETWEEN}\n{text}" if number else text


def phase_texts(
    name: str, programs: Programs, device: str | None, settings: Settings, most: int
) -> Iterator[str]:
    """Programs that a phase makes of those of a file, as text; at most so many."""
    if name not in PHASES:
        raise TileError(f"there is no phase {name!r}; there is {', '.join(PHASES)}")
    given = programs.read()
    phase = Phase(settings, cost_device(choose(device)), ceil_div(most, len(given)))
    found = ((head, d) for head, program in given for d in PHASES[name](phase, program))
    for number, (head, derivation) in enumerate(found):
        if number == most:
            return
        steps = "".join(f"// {step}\n" for step in derivation.text.splitlines())
        between = f"{BETWEEN}\n" if number else ""
        yield f"{between}{head}{steps}{print_module(derivation.module)}"
