"""Rewritten programs on every device give what the reference gives for the program they come from."""

from __future__ import annotations

import runpy
from contextlib import nullcontext
from pathlib import Path
from random import Random

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES
from random_functions import Make
from test_rewrite_rules import bound, inputs, one_step, result

import tiledialect as td
from tiledialect import lift
from tiledialect.passes.lift import RULES, Derivation, replay

REPOSITORY = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("seed", range(8))
def test_random_sequences(seed: int, device: td.Device):
    random = Random(seed)
    example = EXAMPLES[random.choice(list(EXAMPLES))]
    derivation = Derivation.of(example.program(Make(random)))
    arrays = inputs(derivation.module, SIZES[1], seed)
    expected = result(derivation, arrays)
    derivation = bound(derivation, SIZES[1])
    for _ in range(5):
        derivation = one_step(derivation, random)
    found = td.compile(derivation.module, device=device)(*arrays)
    assert np.array_equal(found, expected), derivation.text


@pytest.mark.parametrize("place", ["map_wrg", "map_wrg/map_wrg"])
def test_ends_apart_of_tiles_in_local_memory(place: str, device: td.Device):
    """Barriers stand in branches that all work-items of a group take, or none."""
    nine_points = runpy.run_path(str(REPOSITORY / "lift" / "stencil_2d.py"))["nine_points"]
    steps = (REPOSITORY / "derivations" / "stencil_2d.txt").read_text()
    tiled = replay(nine_points, steps).bind(v=4).apply(RULES["map_ends"], place, n=1)
    image = np.random.default_rng(0).integers(0, 9, (16, 20)).astype(np.float32)
    found = td.compile(tiled.module, device=device)(image)
    np.testing.assert_array_equal(found, result(tiled.initial, [image]))


@lift.fun
def products(a: lift.array(2, 4, 8), b: lift.array(2, 8, 16)):
    def dot(row, column):
        return lift.zip(row, column) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)

    def product(a, b):
        columns = b >> lift.transpose
        return a >> lift.map(lambda row: columns >> lift.map(lambda column: dot(row, column)))

    return lift.zip(a, b) >> lift.map(product)


WARNED = "is done number by number|is done separately for each number of a vector"


@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ("vectorize_zip(w=4) at map/map/map/map", 1),
        ("vectorize_reduce(w=4) at map/map/map/reduce", 1),
        (
            "move_reduce_out at map/map/map\n"
            "move_reduce_out at map/map\n"
            "vectorize_zip(w=4) at map/reduce/map/map",
            7,
        ),
        ("partial_reduce(n=4) at map/map/map/reduce\nvectorize_zip(w=4) at map/map/map/map", None),
        (
            "move_reduce_out at map/map/map\n"
            "partial_reduce(n=4) at map/map/reduce\n"
            "vectorize_zip(w=4) at map/map/reduce/map",
            None,
        ),
    ],
)
def test_vectors_stay_vectors_or_say_that_they_do_not(
    steps: str, loops: int | None, device: td.Device
):
    """Batched product, where maps of vectors are read by reductions or written."""
    a, b = (
        np.random.default_rng(0).integers(-4, 5, s).astype("f") for s in ((2, 4, 8), (2, 8, 16))
    )
    f = td.compile(replay(products, steps).module, device=device)
    with nullcontext() if loops else pytest.warns(td.TileWarning, match=WARNED):
        found = f(a, b)
    np.testing.assert_array_equal(found, a @ b)
    if loops:
        text = f.opencl()
        assert "float4" in text and text.count("for (") <= loops
