"""Tile programs as patterns, so that derivations of them are candidates, too."""

from __future__ import annotations

from dataclasses import replace

from xdsl.context import Context

from tiledialect.errors import TileError
from tiledialect.ir.signature import find_function
from tiledialect.lowering.lift_to_nest.sizes import is_of_patterns
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.passes.lift.tile_to_lift import TileToLiftPass
from tiledialect.passes.normalize.tile_defract import TileDefractPass

TO_LIFT = TileToLiftPass.name
"""First step of the derivations of Tile programs."""


def as_patterns(program: Program, types: Types, device: Device) -> Program:
    """A Tile program of contractions as one of patterns, for inputs of some types.

    Raises a TileError if there are other ops, or contractions that no pattern expresses.
    """
    module = lowered(program, types, device, TileDefractPass.name)
    TileToLiftPass().apply(Context(), module)
    name = find_function(module, None).sym_name.data
    if not is_of_patterns(find_function(module, name)):
        raise TileError(f"{program.result_name} has ops that are no contractions")
    text = f"{program.text}\n// {TO_LIFT} {program.transforms!r}"
    given = {"header": module, "read": None, "name": name, "text": text}
    return replace(program, **given, transforms=(), opened={}, built={})
