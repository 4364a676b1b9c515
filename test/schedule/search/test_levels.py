"""The builder of schedules, and the roles and patterns from which they are made."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cpu_cases import DEVICES, facts, product, proposed_by, tensor

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopLevel, Role, Stage, check
from tiledialect.schedule.search.candidates.contraction_roles import cpu_roles, gpu_roles
from tiledialect.schedule.search.candidates.levels import Levels, even_share
from tiledialect.schedule.search.candidates.patterns import PATTERNS, generated
from tiledialect.schedule.search.candidates.roles import memory_roles, read_once_roles
from tiledialect.schedule.search.candidates.tiles import Shape, Tiles

GPU = described(Kind.GPU, {})


def test_levels_lie_around_those_before_and_the_rest_is_on_the_grid():
    levels = Levels(product(100, 64, 30)).vector("j", 8).unroll("i", 4).whole(["k"])
    assert levels.points == 8 * 4 * 30
    assert [levels.rest(n) for n in "ijk"] == [25, 8, 1]
    assert levels.schedule().levels == (
        LoopLevel("i", 4, 25, Role.GROUP, "y"),
        LoopLevel("j", 8, 8, Role.GROUP, "x"),
        LoopLevel("k", 1, 30, Role.SERIAL),
        LoopLevel("i", 1, 4, Role.UNROLL),
        LoopLevel("j", 1, 8, Role.VECTOR),
    )


def test_groups_are_on_the_grid_after_the_rest_of_the_output():
    levels = Levels(product(100, 64, 30)).vector("j", 8).loop("j", 8).add("i", 5, Role.GROUP)
    assert levels.whole(["k"]).schedule().levels[:2] == (
        LoopLevel("i", 5, 20, Role.GROUP, "y"),
        LoopLevel("i", 1, 5, Role.GROUP, "x"),
    )


def test_a_copy_of_levels_is_independent():
    levels = Levels(product(8, 8, 8)).vector("j", 8)
    levels.copy().whole(["k"]).add("i", 2, Role.GROUP)
    assert levels.rest("k") == 8 and len(levels.inner) == 1 and not levels.groups


def test_items_are_shared_by_powers_of_two_and_the_first_index_has_neighbours():
    levels = Levels(product(100, 6, 30)).share(["j", "i"], 64)
    assert [(x.index, x.extent) for x in levels.items] == [("i", 8), ("j", 8)]


def test_levels_of_one_step_are_left_out_but_for_places_of_stages():
    levels = Levels(product(8, 8, 8)).loop("i", 1)
    levels.add("k", 1, Role.SERIAL, is_place=True)
    stage = Stage(0, local=True, at=("k", 1))
    schedule = levels.whole(["k"]).schedule([stage])
    inner = [x for x in schedule.levels if x.role is Role.SERIAL]
    assert [(x.index, x.extent) for x in inner] == [("k", 8), ("k", 1)]
    assert schedule.stages == (stage,)


def test_unrolled_steps_are_no_more_than_there_are():
    assert Levels(product(3, 8, 8)).unroll("i", 8).unroll(None, 8).reach["i"] == 3


def test_shares_divide_an_extent_if_that_costs_no_more_than_half_of_them():
    assert [even_share(n, 8) for n in (24, 25, 26, 5)] == [8, 5, 8, 5]


def test_lanes_run_along_the_output_of_products():
    case = product(100, 64, 30)
    (on_cpu,), (on_gpu,) = cpu_roles(case, DEVICES["wide"]), gpu_roles(case, GPU)
    assert on_cpu == on_gpu and (on_cpu.along, on_cpu.rows, on_cpu.sums) == ("j", ("i",), ("k",))


@pytest.mark.parametrize(("c", "wide"), [(2048, ("t", "c")), (32, ("c", "t"))])
def test_the_tap_along_which_rows_slide_is_innermost_where_weights_are_far(
    c: int, wide: tuple[str, ...]
):
    x, t = IndexExpr.of("x"), IndexExpr.of("t")
    source = tensor(0, (8, 23, c), "y", x + t, "c")
    weights, result = tensor(1, (4, c, 64), "t", "c", "o"), tensor(2, (8, 20, 64), "y", "x", "o")
    case = facts(3, {"y": 8, "x": 20, "o": 64, "c": c, "t": 4}, result, source, weights)
    # By the order of memory channels are.
    sums = {n: next(iter(cpu_roles(case, DEVICES[n]))).sums for n in DEVICES}
    assert sums == {"narrow": ("c", "t"), "wide": wide}


def test_lanes_run_along_sums_that_read_an_operand_once():
    source, result = tensor(0, (40, 50, 60), "a", "b", "k"), tensor(1, (50, 40), "b", "a")
    case = replace(facts(2, {"b": 50, "a": 40, "k": 60}, result, source), combination="none")
    (once,) = read_once_roles(case, DEVICES["wide"])
    (memory,) = memory_roles(case, DEVICES["wide"])
    assert (once.along, once.rows) == (memory.along, memory.rows) == ("k", ("b", "a"))


def test_groups_of_rows_lie_together_in_the_operand():
    """The outermost index of its memory is shared first, however the output lies."""
    source, result = tensor(0, (4096, 4, 60), "a", "b", "k"), tensor(1, (4, 4096), "b", "a")
    case = replace(facts(2, {"b": 4, "a": 4096, "k": 60}, result, source), combination="none")
    for schedule in proposed_by("sums", case, DEVICES["wide"]):
        shared = [x.index for x in schedule.levels if x.role is Role.GROUP]
        assert shared == ["a"]


def test_one_shape_makes_tiles_of_either_kind_of_device():
    case = product(512, 512, 512)
    (r,) = gpu_roles(case, GPU)
    tile = Shape(4, 2, (("i", 8),), items=(("j", 8), ("i", 4)), unrolled=1024)
    on_gpu = Tiles(case, r, tile).in_chunks(tile._replace(chunk=8, staged=(0, 1)))
    assert on_gpu.work_items == 32 and {s.at for s in on_gpu.stages} == {("k", 8), ("k", 1)}
    tile = Shape(16, 2, (("i", 6),))
    tiles = Tiles(case, r, tile)
    assert tiles.counts == {"i": 86, "j": 16}
    on_cpu = tiles.in_blocks(tile._replace(blocks=(("i", 4), ("j", 16)), parts=(2,), staged=(1,)))
    assert on_cpu.work_items == 1 and [s.at for s in on_cpu.stages] == [("k", 256)]
    for schedule in (on_gpu, on_cpu):
        check(case.indices, schedule, [2, 2])


def test_patterns_propose_in_the_order_of_the_table():
    case = product(100, 64, 30)
    for device in (GPU, *DEVICES.values()):
        families = list(dict.fromkeys(name for name, _ in generated(case, device)))
        order = dict.fromkeys(p.family for p in PATTERNS if p.kind in (None, device.kind))
        assert families and families == [name for name in order if name in families]
