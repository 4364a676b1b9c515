"""Rewritten programs on every device give what the reference gives for the program they come from."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES, Make
from test_rewrite_rules import bound, inputs, one_step, result

import tiledialect as td
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
