"""Random orders of passes on random programs: each ends, with IR that verifies or a TileError."""

from __future__ import annotations

import warnings
from dataclasses import MISSING, dataclass, fields

import piece_programs
from building import type_of
from described import spec
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.passes import ModulePass

import tiledialect as td
from tiledialect.dialects.tile import Tile
from tiledialect.ir.signature import find_function
from tiledialect.ir.target_spec import describe
from tiledialect.ir.verification import verify
from tiledialect.language.to_ir import load
from tiledialect.lowering.pipeline import pipeline
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.universe import TILE_UNIVERSE, full_universe

USUAL = tuple(p.name for p in pipeline(64))
"""The passes in the order in which programs are compiled."""


def passes() -> dict[str, type[ModulePass]]:
    """The passes of this package that need no options, and those of the usual order."""
    made = {name: make() for name, make in full_universe().all_passes.items()}
    return {
        name: kind
        for name, kind in made.items()
        if name in USUAL or (name in TILE_UNIVERSE.all_passes and _needs_no_options(kind))
    }


def _needs_no_options(kind: type[ModulePass]) -> bool:
    own = fields(kind)  # pyright: ignore[reportArgumentType]
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in own)


PASSES = passes()


@dataclass(frozen=True)
class Order:
    """Passes for a program, and a kind of device or none."""

    program: piece_programs.Program
    passes: tuple[str, ...]
    device: str | None


@st.composite
def orders(draw: st.DrawFn, most: int = 5) -> Order:
    """The usual order with passes left out, exchanged and repeated, or any order at all."""
    names = list(USUAL)
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(sorted(PASSES)), min_size=1, max_size=12))
    else:
        names = [name for name in names if draw(st.integers(0, 5))]
        for _ in range(draw(st.integers(0, 4))):
            place = draw(st.integers(0, len(names)))
            names.insert(place, draw(st.sampled_from(sorted(PASSES))))
    device = draw(st.sampled_from([None, "CPU", "GPU"]))
    return Order(draw(piece_programs.programs(most)), tuple(names), device)


def ends_well(order: Order) -> None:
    """Run the passes; any error other than a TileError fails, and so does IR that is wrong."""
    module = load(order.program.source)
    specialize(find_function(module), [type_of(array) for array in order.program.arrays()])
    if order.device is not None:
        kind = order.device
        describe(module, spec(kind, {"type": kind.lower(), "compute_units": 2}))
    context = Context()
    for dialect in (Arith, Tile):
        context.load_dialect(dialect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in order.passes:
            try:
                PASSES[name]().apply(context, module)
            except td.TileError:
                return
            try:
                verify(module)
            except td.TileError as error:
                raise AssertionError(f"{name} leaves IR that is wrong: {error}") from error
