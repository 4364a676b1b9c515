"""Parameters: the open sizes within their conditions."""

import pytest
from small_programs import program

from tiledialect.exploration.parameters import ParameterSpace, parameters
from tiledialect.exploration.settings import ParameterSettings
from tiledialect.passes.lift import RULES
from tiledialect.schedule.search.decisions import DeadEndError, Fixed, enumerated


def test_tiles_divide_and_others_follow():
    tiled = program("stencil").apply(RULES["tile_stencil"], "map")
    space = ParameterSpace(tiled, ParameterSettings())
    assert space.names == ("v",)
    assert [d["size v"] for d, _ in enumerated(space.bound)] == [1, 2, 4, 8]
    assert all(not d.sizes for d in parameters(tiled))


def test_two_sizes_divide_one_another():
    parts = program("dot").apply(RULES["partial_reduce"], n="n").apply(RULES["partial_reduce"])
    found = [dict(d.steps[-1].sizes) for d in parameters(parts)]
    pairs = {tuple(sorted((k, v.value) for k, v in sizes.items())) for sizes in found}
    assert pairs
    assert len(pairs) == len(found)
    for pair in pairs:
        n, n1 = (number for _, number in pair)
        assert 16 % n == 0
        assert (16 // n) % n1 == 0 or n % n1 == 0


def test_no_open_sizes():
    assert [d.text for d in parameters(program("dot"))] == [program("dot").text]


def test_bounds_are_conditions():
    mapped = (
        program("matmul")
        .apply(RULES["tile_maps"], "map")
        .apply(RULES["map_wrg"](dim=1), "map")
        .apply(RULES["map_wrg"](dim=0), "map_wrg/map")
        .apply(RULES["map_lcl"](dim=1), "map_wrg/map_wrg/map")
        .apply(RULES["map_lcl"](dim=0), "map_wrg/map_wrg/map_lcl/map")
    )
    space = ParameterSpace(mapped, ParameterSettings(max_local_size=8, max_workgroups=4))
    found = [tuple(d.values()) for d, _ in enumerated(space.bound)]
    assert found
    for m, n in found:
        assert m * n <= 8
        assert (4 // m) * (8 // n) <= 4
    with pytest.raises(DeadEndError):
        ParameterSpace(mapped, ParameterSettings(max_local_size=1, max_workgroups=1)).bound(
            Fixed({})
        )
