"""Prepacking: a function is split into ones of its constant inputs alone, and the rest.

Weights that a product reads in another layout, or in another element type, are packed once, by
functions of the constants, and given to one of the other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as memoized
from typing import Any

from tiledialect.api.function import Function
from tiledialect.api.inputs import Types
from tiledialect.api.kept_function import KeptFunction
from tiledialect.api.packing.aligned_arrays import aligned, trim
from tiledialect.api.packing.splitting import KeptParts, Modules, split
from tiledialect.ir.signature import types_text


@dataclass(frozen=True)
class Packer:
    """A function of some constants alone. Of alike constants it is the same."""

    function: Function
    constants: tuple[str, ...]
    """Names of its inputs in the whole function."""

    @property
    def text(self) -> str:
        """Text of the function, which is the same for the same constants of another whole."""
        return self.function.program.text

    def results(self, read: Callable[[str], Any]) -> tuple[Any, ...]:
        """Results; the constants are read by name, and are not held when these are copied."""
        given = self.function(*map(read, self.constants))
        left = [*given] if isinstance(given, tuple) else [given]
        del given
        found = tuple(aligned(left.pop(0)) for _ in range(len(left)))
        trim()
        # Without an input on the device a call gives arrays of the host.
        if self.constants:
            return found
        from tiledialect.lowering.runtime.call.arrays import placed

        return tuple(placed(self.function.device, array) for array in found)


@dataclass(frozen=True, eq=False)
class Packed:
    """Results of a packer, which functions of the same constants share."""

    arrays: tuple[Any, ...]
    versions: Sequence[Any] = ()
    """States of the constants, where these may change."""


@dataclass(frozen=True)
class Packing:
    """A function in parts: packers, and the rest."""

    packers: tuple[Packer, ...]
    """Functions without a common large constant. While one runs, its constants are in memory twice:
    those of most bytes come first, when others need not be in memory yet."""
    rest: Function
    """The outputs, by inputs of the whole function and what is packed."""
    inputs: tuple[str, ...]
    """Names of these inputs."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants that packers read, each once."""
        return (*dict.fromkeys(name for own in self.packers for name in own.constants),)

    def forget(self) -> None:
        """Give up the compiled packers: of constants that stay nobody needs them again."""
        for own in self.packers:
            own.function.forget()
        trim()

    def arguments(self, values: Mapping[str, Any], packed: Iterable[Any]) -> list[Any]:
        """Arguments of the rest, of the whole function's by name and the packers' results."""
        return [*(values[name] for name in self.inputs), *packed]


def packing_of(function: Function, types: Types, constants: Collection[str]) -> Packing | None:
    """The parts of a function for inputs of some types; None if nothing is constant."""
    from tiledialect.lowering.runtime.device.devices import target_system_spec
    from tiledialect.lowering.runtime.program import cache

    if not constants:
        return None
    program = function.program
    given = program.text, program.name, repr(program.transforms), types_text(types)
    described = str(target_system_spec(function.device))
    key = cache.key("packing", *given, described, *sorted(constants))
    modules: Modules = {}
    parts = cache.find(KeptParts, key)
    if parts is None:
        parts, modules = split(function, types, constants)
        cache.keep(key, parts)
    if parts.rest is None:
        return None

    @memoized
    def made(part: KeptFunction) -> Function:
        # Texts are read if plans are not kept, too.
        return Function(part.source(modules.get(part)), part.name, function.device)

    packers = tuple(Packer(made(own.function), own.constants) for own in parts.packers)
    rest = made(parts.rest)
    return Packing(packers, rest, tuple(name for name in rest.inputs if name in function.inputs))
