"""Passes whose options that are true or false may be named alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

FLAGS = ("bool", "bool | None")
"""The types of such options, as a dataclass has them."""


@dataclass(frozen=True)
class PassWithFlags(ModulePass):
    """A pass that takes ``{explain}`` for ``{explain=true}``, as MLIR's do."""

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """The pass of a specification; a ValueError if an option is unknown or of a wrong type."""
        flags = {f.name for f in fields(cls) if f.type in FLAGS}
        given = spec.normalize_parameter_names().parameters
        alone = {name: (True,) for name, values in given.items() if name in flags and not values}
        return super().from_spec(ArgSpec(spec.name, {**given, **alone}))
