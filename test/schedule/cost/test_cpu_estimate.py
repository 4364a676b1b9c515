"""Costs of schedules on CPUs: registers, loads, stores and caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from cpu_cases import (
    DEVICES,
    channels_first,
    convolution,
    facts,
    product,
    strided_planes,
    tensor,
    two_cores,
    windows_along_rows,
)

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.cost.cpu_body import TilePart
from tiledialect.schedule.cost.cpu_estimate import CpuModel, core_estimate
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage


def test_rows_of_a_copy_that_pages_part_meet_in_the_first_cache():
    rows, lanes = LoopLevel("i", 1, 14, Role.UNROLL), LoopLevel("j", 1, 8, Role.VECTOR)
    device = described(Kind.CPU, {"native_vector_width": 8})
    for length, meet in ((1024, True), (1000, False)):
        case = product(14, 8, length)
        levels = (LoopLevel("k", 1, length, Role.SERIAL), rows, lanes)
        model = CpuModel(case, Schedule(levels, (Stage(0, local=True),)), device)
        assert (model.conflicts > 0) is meet


def test_scattered_results_cost_lines():
    case, device = channels_first(56, 64), replace(DEVICES["wide"], local_mem_size=1 << 18)

    def stored(along: str) -> float:
        """Cycles to store tiles of seven pixels along an index, and 16 channels."""
        serial = {"y": 56, "x": 56, along: 8}
        levels = (
            LoopLevel("n", 1, 2, Role.GROUP, "x"),
            *(
                LoopLevel(n, 7 if n == along else 1, count, Role.SERIAL)
                for n, count in serial.items()
            ),
            LoopLevel("co", 16, 4, Role.SERIAL),
            *(LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in ("ci", "j", "i")),
            LoopLevel(along, 1, 7, Role.UNROLL),
            LoopLevel("co", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels), device).stored_cycles

    assert stored("y") > 2 * stored("x")


@pytest.mark.parametrize(
    ("size", "are_evicted"), [(28, False), (32, True), (33, False), (64, True)]
)
def test_lanes_that_pages_part_are_written_to_lines_that_others_take(size: int, are_evicted: bool):
    """Planes of 32 x 32 floats are a page: 16 channels have their lines at the same place of it."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)

    def stored(size: int) -> float:
        """Cycles to store an element."""
        case = channels_first(size, 64)
        names = ("n", "y", "x", "ci", "j", "i")
        levels = (
            *(LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in names),
            LoopLevel("co", 16, 4, Role.UNROLL),
            LoopLevel("co", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels), device).stored_cycles / (2 * 64 * size * size)

    # Planes of 29 x 29 floats are no part of a page.
    assert (stored(size) > 1.5 * stored(29)) is are_evicted


def test_parts_of_rows_come_in_whole_lines():
    """Of rows of 160 pixels groups that take 33 touch three lines each, groups of whole rows ten."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    case = facts(
        4,
        {"n": 4, "co": 32, "y": 80, "x": 80, "ci": 3, "j": 3, "i": 3},
        tensor(0, (4, 32, 80, 80), "n", "co", "y", "x"),
        tensor(0, (4, 3, 160, 160), "n", "ci", y * 2 + j - 1, x * 2 + i - 1),
        tensor(1, (32, 3, 3, 3), "co", "ci", "j", "i"),
    )
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    inside = [LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in ("co", "ci", "j", "i")]
    lanes = LoopLevel("x", 1, 16, Role.VECTOR)
    columns = LoopLevel("x", 16, 5, Role.GROUP, "x"), LoopLevel("y", 1, 80, Role.SERIAL)
    rows = LoopLevel("y", 16, 5, Role.GROUP, "x"), LoopLevel("y", 1, 16, Role.SERIAL)
    blocks = (rows[1], LoopLevel("x", 16, 5, Role.SERIAL))
    first, pictures = LoopLevel("n", 1, 4, Role.GROUP, "y"), []
    for outside in ((columns[0], columns[1]), (rows[0], *blocks)):
        levels = (first, *outside, *inside, lanes)
        pictures.append(core_estimate(CpuModel(case, Schedule(levels), device)).cache)
    assert pictures[0] > pictures[1]


@pytest.mark.parametrize(("element_type", "nbytes"), [("f32", 4), ("i32", 4)])
def test_every_other_float_of_a_row_takes_two_loads(element_type: str, nbytes: int):
    case = strided_planes(32, 16)
    inputs = tuple(replace(t, type=element_type, bytes=nbytes) for t in case.inputs)
    levels = (
        *(LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in ("co", "y", "ci", "j", "i")),
        LoopLevel("x", 16, 2, Role.UNROLL),
        LoopLevel("x", 1, 16, Role.VECTOR),
    )
    model = CpuModel(replace(case, inputs=inputs), Schedule(levels), DEVICES["wide"])
    one_by_one = 2.0 * 32
    assert (model.loads(model.accesses[0]) < one_by_one / 2) == (element_type == "f32")


@pytest.mark.parametrize(("lanes", "most"), [(16, 8), (8, 4)])
def test_lanes_that_are_apart_take_as_many_loads_and_shuffles(lanes: int, most: int):
    """No more than lanes loaded one by one, which they are where more than half the vectors lie
    between the first and the last."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": lanes})
    loads: list[float] = []
    for apart in range(2, 10):
        row = apart * IndexExpr.of("x") + IndexExpr.of("k")
        case = facts(
            2,
            {"d": 16, "x": 64, "k": 5},
            tensor(0, (16, 64), "d", "x"),
            tensor(0, (64 * apart + 5,), row),
            tensor(1, (16, 5), "d", "k"),
        )
        levels = (
            *(LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in ("d", "k")),
            LoopLevel("x", lanes, 64 // lanes, Role.SERIAL),
            LoopLevel("x", 1, lanes, Role.VECTOR),
        )
        model = CpuModel(case, Schedule(levels), device)
        loads.append(model.loads(model.accesses[0]))
    assert loads == sorted(loads)
    assert all(count == 2.0 * lanes for count in loads[most - 1 :])
    assert loads[1] < 2.0 * lanes


def test_lines_that_come_from_memory_cost_more_to_write_to():
    """Of a result that the last cache holds, they are near."""

    def stored(pictures: int) -> float:
        """Cycles to store a vector of channels, channels first."""
        image = (pictures, 64, 56, 56)
        case = facts(
            4,
            {"n": pictures, "co": 64, "y": 56, "x": 56, "ci": 4},
            tensor(0, image, "n", "co", "y", "x"),
            tensor(0, (pictures, 4, 56, 56), "n", "ci", "y", "x"),
            tensor(1, (64, 4), "co", "ci"),
        )
        levels = (
            LoopLevel("n", 1, pictures, Role.GROUP, "x"),
            *(LoopLevel(n, 1, case.extents[n], Role.SERIAL) for n in ("y", "x")),
            LoopLevel("co", 16, 4, Role.SERIAL),
            LoopLevel("ci", 1, 4, Role.SERIAL),
            LoopLevel("co", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels), DEVICES["wide"]).stored_cycles

    assert stored(64) > stored(2)


def test_compilers_that_load_first_spill_tiles_of_three_vectors():
    case = product(960, 960, 960)

    def spilled(platform: str, rows: int, columns: int) -> float:
        device = described(Kind.CPU, {"platform": platform, "native_vector_width": 16})
        levels = (
            LoopLevel("j", 16 * columns, -(-960 // (16 * columns)), Role.GROUP, "x"),
            LoopLevel("i", rows, 960 // rows, Role.SERIAL),
            LoopLevel("k", 4, 240, Role.SERIAL),
            LoopLevel("k", 1, 4, Role.UNROLL),
            LoopLevel("i", 1, rows, Role.UNROLL),
            LoopLevel("j", 16, columns, Role.UNROLL),
            LoopLevel("j", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels), device).spilled

    assert spilled("Portable Computing Language", 8, 3) > spilled("Intel(R) OpenCL", 8, 3)
    assert spilled("Portable Computing Language", 6, 4) == 0


def test_what_the_second_cache_keeps_is_fetched_once_by_each_core():
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})

    def fetched(rows: int) -> float:
        case = product(rows, 3200, 100)
        levels = (
            LoopLevel("j", 32, 100, Role.GROUP, "x"),
            LoopLevel("i", 1, rows, Role.SERIAL),
            LoopLevel("k", 1, 100, Role.SERIAL),
            LoopLevel("j", 16, 2, Role.UNROLL),
            LoopLevel("j", 1, 16, Role.VECTOR),
        )
        return core_estimate(CpuModel(case, Schedule(levels), device)).cache

    # The first factor, of 40 kB, stays in a core's cache; of 4 MB, each group reads it anew.
    assert fetched(10000) > 2 * 100 * fetched(100)


def test_lanes_past_the_end_are_known_in_groups_at_one_edge_alone():
    device, case = two_cores(16), windows_along_rows(803)
    alone = replace(case, inputs=(tensor(0, (32, 803, 803), "c", "y", "x"), case.inputs[1]))

    def edges(case: Facts, column: Role, *stages: Stage) -> float:
        levels = (
            LoopLevel("c", 1, 32, Role.GROUP, "y"),
            LoopLevel("x", 16, 51, column, "x"),
            LoopLevel("y", 1, 803, Role.SERIAL),
            *(LoopLevel(tap, 1, 3, Role.UNROLL) for tap in "ji"),
            LoopLevel("x", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels, stages), device).edges

    assert edges(case, Role.GROUP) > edges(case, Role.SERIAL)
    assert edges(alone, Role.GROUP) == edges(alone, Role.SERIAL)
    assert edges(case, Role.GROUP, Stage(0, local=True), Stage(1, local=True)) == 1


def test_the_last_tile_of_a_loop_holds_what_is_left():
    """4 tiles of 6 pixels and one of 4, if none has its own copy or is tested as it is read."""
    case, device = convolution(28, 64), two_cores(8)
    levels = (
        *(LoopLevel(name, 1, count, Role.SERIAL) for name, count in (("n", 2), ("y", 28))),
        *(LoopLevel("x", 6, 5, Role.SERIAL), LoopLevel("co", 16, 4, Role.SERIAL)),
        *(
            LoopLevel(name, 1, count, Role.SERIAL)
            for name, count in (("j", 3), ("i", 3), ("ci", 64))
        ),
        *(LoopLevel("x", 1, 6, Role.UNROLL), LoopLevel("co", 8, 2, Role.UNROLL)),
        LoopLevel("co", 1, 8, Role.VECTOR),
    )
    whole = Stage(0, local=True)

    def busy(*stages: Stage, levels: tuple[LoopLevel, ...] = levels) -> float:
        model = CpuModel(case, Schedule(levels, stages), device)
        return model.busy_cycles / model.busy_in(TilePart())

    # Twelve products take six cycles; eight take four, as long as a sum until it is there again.
    assert busy(whole) == pytest.approx((4 + 4 / 6) / 5)
    assert busy(replace(whole, at=("x", 6))) == busy() == 1
    # Sums that wait while taps around them go on are added to as they are.
    n, y, x, co, j, *others = levels
    assert busy(whole, levels=(j, n, y, x, co, *others)) == 1


def test_tiles_rank_as_they_were_measured():
    """Shares of a core's rate that tiles reached with AVX2: 14 rows of a vector have 15 loads for
    14 products, 3 rows of 4 vectors 7 for 12."""
    measured = {(14, 1): 0.83, (6, 2): 0.95, (3, 4): 0.99}

    def share(rows: int, vectors: int, lanes: int) -> float:
        levels = (
            LoopLevel("k", 1, 100, Role.SERIAL),
            *(LoopLevel("i", 1, rows, Role.UNROLL), LoopLevel("j", lanes, vectors, Role.UNROLL)),
            LoopLevel("j", 1, lanes, Role.VECTOR),
        )
        case = product(rows, vectors * lanes, 100)
        model = CpuModel(case, Schedule(levels), two_cores(lanes))
        return rows * vectors / 2 / model.busy_cycles

    shares = [share(*tile, 8) for tile in sorted(measured, key=measured.__getitem__)]
    assert shares == sorted(shares) and shares[0] < shares[1]
    # With AVX-512 a core loads two whole vectors in a cycle.
    assert share(14, 1, 16) > share(14, 1, 8)


def test_what_all_tiles_fetch_is_no_less_for_the_last():
    """Tiles of 48 and 16 of 64 columns fetch the same rows from memory, as two of 32 do."""
    inputs = (tensor(0, (64, 4096), "i", "k"), tensor(1, (64, 64), "i", "j"))
    case = facts(2, {"k": 4096, "j": 64, "i": 64}, tensor(2, (4096, 64), "k", "j"), *inputs)

    def seconds(vectors: int) -> float:
        levels = (
            *(LoopLevel("k", 8, 512, Role.SERIAL), LoopLevel("j", vectors * 16, 2, Role.SERIAL)),
            *(LoopLevel("i", 4, 16, Role.SERIAL), LoopLevel("i", 1, 4, Role.UNROLL)),
            *(LoopLevel("k", 1, 8, Role.UNROLL), LoopLevel("j", 16, vectors, Role.UNROLL)),
            LoopLevel("j", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(levels, (Stage(1, local=True),)), two_cores(16)).busy

    assert seconds(3) > seconds(2)


def test_complete_sums_do_not_wait_for_one_another():
    """Maxima of 3 x 3 pixels, a vector of channels a body: those of the next pixel are under way."""
    y, x = IndexExpr.of("y") * 2 + "j", IndexExpr.of("x") * 2 + "i"
    case = facts(
        3,
        {"y": 55, "x": 55, "c": 16, "j": 3, "i": 3},
        tensor(0, (55, 55, 16), "y", "x", "c"),
        tensor(0, (111, 111, 16), y, x, "c"),
    )
    case = replace(case, aggregation="max", combination="none")
    loops = (("y", 55, Role.GROUP), ("x", 55, Role.SERIAL))
    taps = (("j", 3, Role.UNROLL), ("i", 3, Role.UNROLL), ("c", 16, Role.VECTOR))
    device = two_cores(16)

    def cycles(levels: Sequence[tuple[str, int, Role]]) -> float:
        schedule = Schedule(tuple(LoopLevel(name, 1, n, role) for name, n, role in levels))
        return CpuModel(case, schedule, device).busy_cycles

    whole = cycles((*loops, *taps))
    assert whole < 30
    # In a loop each maximum waits for the one before.
    assert 3 * cycles((*loops, ("j", 3, Role.SERIAL), *taps[1:])) > 4 * whole
