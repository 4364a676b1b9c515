"""Numbers of work-items of the groups that share out maps of known sizes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context

import tiledialect as td
from tiledialect import lift
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.tools.tile_opt import TileOptMain

BENCH = Path(__file__).parents[3] / "bench"


SUM = lift.reduce_seq(lift.add, 0.0)


def tiles(rows: int, columns: int, used: int, function: Callable[..., Any]) -> lift.Program:
    """Copies of tiles, of which work-items use so many rows and columns."""

    def on_tile(tile):
        kept = tile >> lift.to_local(lift.map_lcl(1)(lift.map_lcl(0)(lift.id)))
        cut = kept[:used] >> lift.map(lambda row: row[:used])
        return cut >> lift.map_lcl(1)(lift.map_lcl(0)(lambda e: function(kept[0], e)))

    arrays = lift.array("N", rows, columns)
    return lift.fun(arrays, lambda x: x >> lift.map_wrg(on_tile))


def exponential(row: Any, e: Any) -> Any:
    return lift.exp(e) * 2.0 + e


def product(row: Any, e: Any) -> Any:
    return row >> lift.map(lambda a: a * e) >> SUM


def group(program: lift.Program, device: str = "avx512") -> tuple[int, ...]:
    """Work-items of the group along each axis."""
    module = program.module.clone()
    described = (BENCH / "devices" / f"{device}.mlir").open("rb")
    module.attributes[SPEC] = TileOptMain([]).parse_chunk(described, "mlir").attributes[SPEC]
    LiftToNestPass().apply(Context(), module)
    found = re.search(r"known_block_size = array<i32: (\d+), (\d+), (\d+)>", str(module))
    assert found
    return tuple(int(n) for n in found.groups())


@pytest.mark.parametrize(
    ("program", "cpu", "gpu"),
    [
        # All elements of the largest map at once, though its size divides that of no other.
        (tiles(6, 10, 4, exponential), (10, 6, 1), (10, 6, 1)),
        # Where a group cannot have so many, several steps.
        (tiles(34, 34, 32, exponential), (34, 6, 1), (34, 17, 1)),
        # As many as the map has elements that takes longest: the others would be idle.
        (tiles(16, 16, 8, product), (8, 8, 1), (8, 8, 1)),
    ],
)
def test_group(program: lift.Program, cpu: tuple[int, ...], gpu: tuple[int, ...]):
    assert group(program) == cpu
    assert group(program, "h100") == gpu


def test_barriers_inside():
    """All work-items come to the barriers inside of a map as often."""

    def on_row(row):
        kept = lift.to_local(row >> lift.map_lcl(0)(lambda e: e + 1.0))
        return kept >> lift.gather(lift.reverse) >> lift.map_lcl(0)(lambda e: e * 2.0)

    halves = lambda x: x >> lift.map_lcl(1)(on_row)  # noqa: E731
    parts = lift.map_wrg(lambda x: lift.concat(x[:6] >> halves, x[6:] >> halves))
    program = lift.fun(lift.array("N", 10, 8), lambda x: x >> parts)
    assert group(program) == (8, 2, 1)
    x = np.arange(80, dtype=np.float32).reshape(1, 10, 8)
    assert np.array_equal(td.compile(program)(x), (x[..., ::-1] + 1) * 2)


@pytest.mark.parametrize("shape", [(5, 0), (0, 5)])
def test_maps_of_no_elements_have_a_work_item(shape: tuple[int, int], device: td.Device):
    on_row = lift.map_lcl(lambda a: a + 1.0)
    program = lift.fun(lift.array(*shape), lambda x: x >> lift.map_wrg(on_row))
    assert td.compile(program, device=device)(np.zeros(shape, np.float32)).shape == shape
