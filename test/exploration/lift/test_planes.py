"""Stencils in 2.5D whose planes work-groups share in local memory, as explorations find them."""

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.exploration.lift.algorithmic import algorithmic
from tiledialect.exploration.lift.mapping import MappingSpace
from tiledialect.exploration.lift.parameters import ParameterSpace
from tiledialect.exploration.lift.settings import (
    AlgorithmicSettings,
    MappingSettings,
    ParameterSettings,
)
from tiledialect.passes.lift import RULES, Derivation
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.decisions import Fixed, made


def stencil(x: lift.Value) -> lift.Value:
    points = lift.map3(lambda w: w[0][1][1] + w[2][1][1] + w[1][0][1] - w[1][1][2] * w[1][1][1])
    return x >> lift.pad3(1, 1, lift.clamp) >> lift.slide3(3, 1) >> points


PLAIN = Derivation.of(lift.fun(lift.array(8, 4, 8), stencil))
TILED = PLAIN.apply(RULES["tile_stencil_25d"], "map.3")
GIVEN = {"vectors": 4, "mapping": "planes", "copies": "local"}
SPACE = np.random.default_rng(0).integers(-4, 5, (8, 4, 8)).astype(np.float32)


def test_parts_of_windows_are_found():
    """Windows that slide over planes are divided into parts, which need one map more."""
    found = algorithmic(TILED, AlgorithmicSettings(exploration_depth=1))
    assert any("map_seq_slide_tiling" in derivation.text for derivation in found)


@pytest.mark.parametrize("parts", [False, True])
def test_planes_are_shared(parts: bool, fast: td.Device):
    tiled = TILED
    if parts:
        tiled = tiled.apply(RULES["map_seq_slide_tiling"], "map.3/map/map_seq_slide", v=4)
    _, mapped = made(MappingSpace(tiled, MappingSettings()).mapped, GIVEN)
    for step in ("add_identity_in_slide", "to_local", "map_lcl(dim=0)", "map_wrg(dim=1)"):
        assert step in mapped.text
    assert ("map_wrg(dim=2)" in mapped.text) == parts
    expected = td.compile(PLAIN.module).reference(SPACE)
    bound = td.compile(mapped.bind(v=2, w=4).module, device=fast)
    assert np.array_equal(bound.reference(SPACE), expected)
    assert np.array_equal(bound(SPACE), expected)


def test_local_memory_limits_tiles():
    """There are places for as many planes as a window has and one more, of 4 x 6 floats here."""
    _, mapped = made(MappingSpace(TILED, MappingSettings()).mapped, GIVEN)
    sizes = {"size v": 2, "size w": 4}
    needed = 4 * 4 * 6 * 4
    allowed = ParameterSettings(max_local_memory=needed)
    assert ParameterSpace(mapped, allowed).bound(Fixed(sizes)).sizes == frozenset()
    _, smaller = made(
        ParameterSpace(mapped, ParameterSettings(max_local_memory=needed - 1)).bound, sizes
    )
    assert smaller.text != ParameterSpace(mapped, allowed).bound(Fixed(sizes)).text


@pytest.mark.parametrize(
    ("program", "kind", "settings", "shared"),
    [
        (TILED, Kind.GPU, MappingSettings(), True),
        (TILED, Kind.CPU, MappingSettings(), False),
        (TILED, Kind.GPU, MappingSettings(local_memory=False), False),
        (PLAIN, Kind.GPU, MappingSettings(), False),
    ],
)
def test_planes_are_for_gpus_with_local_memory(
    program: Derivation, kind: Kind, settings: MappingSettings, shared: bool
):
    _, mapped = made(MappingSpace(program, settings, described(kind, {})).mapped, GIVEN)
    assert ("add_identity_in_slide" in mapped.text) == shared
