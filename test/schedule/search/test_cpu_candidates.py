"""The schedules that are weighed on CPUs for contractions: all can run, and have vectors."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from cpu_cases import (
    CASES,
    DEVICES,
    channels_first,
    column_sums,
    convolution,
    depthwise_weights,
    facts,
    groups_in_blocks,
    in_blocks,
    pointwise_in_blocks,
    product,
    proposed_by,
    strided_planes,
    tensor,
    two_cores,
    without_copies,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.cost.cpu_estimate import CpuModel, least_core_seconds
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.estimate import estimate, modelled
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.default_schedule import default_levels
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, check
from tiledialect.schedule.search import choice
from tiledialect.schedule.search.choice import MOST_SUMS, proposed, ranked


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_all_candidates_can_run(case: Facts, device: Device):
    found = ranked(case, device)
    ranks = [len(t.shape) for t in case.inputs]
    assert found
    for candidate in found:
        check(case.indices, candidate.schedule, ranks)
        assert candidate.estimate.local_memory <= device.local_mem_size
        assert candidate.schedule.work_items == 1


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_best_is_the_first_of_all(case: Facts, device: Device):
    found = ranked(case, device)
    assert choice.best(case, device) == next(iter(found), None)
    for candidate in found:
        if not candidate.schedule.global_stages:
            model = modelled(case, candidate.schedule, device)
            assert isinstance(model, CpuModel)
            assert least_core_seconds(model) <= candidate.estimate.seconds


@st.composite
def contractions(draw: st.DrawFn) -> Facts:
    """A convolution whose tensors' axes lie in any order."""
    some = {"n": (1, 2, 8), "co": (1, 3, 5, 20), "y": (1, 7, 13), "x": (2, 9, 14), "ci": (1, 3, 50)}
    sizes = {n: draw(st.sampled_from(k)) for n, k in (*some.items(), ("j", (1, 3)), ("i", (1, 5)))}
    stride, dilation, pad = (draw(st.integers(least, 3)) for least in (1, 1, 0))
    at = {
        axis: stride * IndexExpr.of(axis) + dilation * IndexExpr.of(tap) - pad
        for axis, tap in (("y", "j"), ("x", "i"))
    }
    reach = {"y": stride * sizes["y"], "x": stride * sizes["x"]}

    def lying(number: int, axes: str, along: dict[str, IndexExpr], long: dict[str, int]) -> Tensor:
        order = draw(st.permutations(axes.split()))
        shape = tuple(long.get(n, sizes[n]) for n in order)
        return tensor(number, shape, *(along.get(n, n) for n in order))

    return facts(
        4,
        sizes,
        lying(0, "n co y x", {}, {}),
        lying(0, "n ci y x", at, reach),
        lying(1, "co ci j i", {}, {}),
    )


@settings(max_examples=15, deadline=None)
@given(case=contractions())
def test_every_contraction_has_candidates(case: Facts):
    assert all(ranked(case, device) for device in DEVICES.values())


@pytest.mark.parametrize("case", ["product", "large product", "convolution"])
def test_vectors_are_as_wide_as_the_hardware(case: str):
    for device in DEVICES.values():
        last = ranked(CASES[case], device)[0].schedule.levels[-1]
        assert (last.role, last.extent) == (Role.VECTOR, device.native_vector_width)


@pytest.mark.parametrize(
    "name", sorted(CASES.keys() - {"uneven convolution", "convolution", "transposed product"})
)
def test_sums_fit_the_registers_without_embedded_broadcast(name: str):
    """All but those of kernels of few microseconds: their rows are even tiles of 14, or nearly."""
    case = CASES[name]
    device = described(Kind.CPU, {"native_vector_width": 8})
    for candidate in ranked(case, device)[:1]:
        model = CpuModel(case, candidate.schedule, device)
        assert model.held <= device.registers == 16
        assert not model.spilled


def test_sums_that_wait_in_memory_cost_more_than_lanes_without_points():
    """Of 16 registers tiles of 7 rows of two vectors need 17."""
    case, device = product(7, 256, 1024), two_cores(8)
    best = CpuModel(case, ranked(case, device)[0].schedule, device)
    assert not best.spilled


def test_the_fewer_of_rows_and_vectors_are_kept_in_registers():
    case, device = product(510, 512, 512), described(Kind.CPU, {"native_vector_width": 8})
    rows, columns = LoopLevel("i", 1, 3, Role.UNROLL), LoopLevel("j", 8, 4, Role.UNROLL)
    loops = LoopLevel("i", 3, 170, Role.SERIAL), LoopLevel("j", 32, 16, Role.SERIAL)
    sums, lanes = LoopLevel("k", 1, 512, Role.SERIAL), LoopLevel("j", 1, 8, Role.VECTOR)
    by_vectors, by_rows = (
        CpuModel(case, Schedule((*loops, sums, *tile, lanes)), device)
        for tile in ((columns, rows), (rows, columns))
    )
    assert (by_vectors.held, by_rows.held) == (16, 17)
    assert by_vectors.spilled < by_rows.spilled
    proposed = {c.schedule.levels[-3:] for c in ranked(case, device)}
    assert (columns, rows, lanes) in proposed and (rows, columns, lanes) not in proposed


@pytest.mark.parametrize("size", [28, 56, 64])
def test_what_windows_share_fits_the_registers(size: int):
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    case = channels_first(size, 64)
    best = ranked(case, device)[0].schedule
    assert not CpuModel(case, best, device).spilled
    rows = Schedule(
        (
            LoopLevel("n", 1, 2, Role.GROUP, "x"),
            LoopLevel("co", 1, 64, Role.SERIAL),
            LoopLevel("y", 14, size // 14 + 1, Role.SERIAL),
            LoopLevel("x", 16, size // 16 + 1, Role.SERIAL),
            LoopLevel("ci", 1, 64, Role.SERIAL),
            *(LoopLevel(name, 1, 3, Role.UNROLL) for name in "ji"),
            LoopLevel("y", 1, 14, Role.UNROLL),
            LoopLevel("x", 1, 16, Role.VECTOR),
        )
    )
    # Rows that taps share are kept from tap to tap: 13 of each of three columns.
    assert CpuModel(case, rows, device).spilled > 14


@pytest.mark.parametrize("size", [5, 7, 14])
def test_few_sums_over_few_pixels_have_tiles(size: int):
    """Both factors are larger than the sums: a window's weights would be smaller."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    case = depthwise_weights(size, 512)
    assert list(proposed_by("contractions", case, device))
    assert len({x.index for x in ranked(case, device)[0].schedule.levels} & {"j", "i"}) > 0
    model = CpuModel(case, ranked(case, device)[0].schedule, device)
    assert model.vectors >= 8


@pytest.mark.parametrize("size", [10, 13])
def test_tiles_of_all_channels_have_whole_rows(size: int):
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    model = CpuModel(
        convolution(size, 16), ranked(convolution(size, 16), device)[0].schedule, device
    )
    assert model.vectors >= 8 and not model.overshoots


@pytest.mark.parametrize(("pictures", "has_whole_rows"), [(2, True), (8, False)])
def test_rows_along_many_padded_pictures_do_as_well(pictures: int, has_whole_rows: bool):
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    found = proposed_by("contractions", convolution(13, 16, pictures), device)
    rows = {(x.index, x.extent) for s in found for x in s.levels if x.role is Role.UNROLL}
    assert (("x", 13) in rows or ("y", 13) in rows) is has_whole_rows


def test_rows_of_many_groups_are_whole():
    """Groups have weights of their own, so that tiles along groups read none of them again."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    best = ranked(groups_in_blocks(7, 55), device)[0].schedule
    rows = {(x.index, x.extent) for x in best.levels if x.role is Role.UNROLL}
    assert ("x", 7) in rows or ("y", 7) in rows


def test_other_lanes_are_tried_where_some_vectors_are_nearly_empty():
    """Of rows of 65 pixels the fifth vector has one."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    assert "co" in {c.schedule.levels[-1].index for c in ranked(channels_first(65, 64), device)}
    assert {c.schedule.levels[-1].index for c in ranked(channels_first(64, 64), device)} == {"x"}


def test_lanes_that_are_apart_give_way_to_others_that_fill_as_well():
    """Weights are transposed once, and read for all pixels."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    assert ranked(strided_planes(28, 128), device)[0].schedule.levels[-1].index == "co"
    # There each channel is written to the same place of a page.
    assert ranked(strided_planes(32, 128), device)[0].schedule.levels[-1].index == "x"


@pytest.mark.parametrize(
    ("element_type", "nbytes"), [("i8", 1), ("i16", 2), ("f16", 2), ("bf16", 2), ("f64", 8)]
)
def test_vectors_are_those_of_opencl(element_type: str, nbytes: int):
    """Wider ones would be written out element by element."""

    def typed(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(replace(t, type=element_type, bytes=nbytes) for t in tensors)

    for case in (product(37, 29, 31), product(64, 64, 64), column_sums(64, 64)):
        case = replace(case, inputs=typed(case.inputs), outputs=typed(case.outputs))
        for candidate in ranked(case, DEVICES["wide"]):
            vectors = [x for x in candidate.schedule.levels if x.role is Role.VECTOR]
            assert all(level.extent in (2, 4, 8, 16) for level in vectors)


def test_nothing_is_proposed_for_what_has_no_points():
    assert not ranked(column_sums(0, 16), DEVICES["wide"])


def test_long_sums_are_made_in_parts():
    """The part of the second factor that a row of tiles reads fits nowhere at once."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 17)
    best = ranked(CASES["large product"], device)[0].schedule
    outputs = {"i", "j"}
    serial = [x for x in best.levels if x.role is Role.SERIAL]
    assert serial[0].index not in outputs and serial[1].index in outputs
    assert best.stages[0].at == ("k", serial[0].stride)


def test_long_sums_of_many_results_are_made_in_parts():
    """All rows of a vector's columns would be more sums than wait: groups have fewer rows."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 20, compute_units=2)
    large = product(1 << 14, 1 << 14, 1 << 14)
    best = ranked(large, device)[0].schedule
    assert {x.index for x in best.levels if x.role is Role.GROUP} == {"i", "j"}
    assert CpuModel(large, best, device).waiting_bytes <= MOST_SUMS
    assert best.stages[0].at is not None and best.stages[0].at[0] == "k"


@pytest.mark.parametrize("size", [700, 1568, 6272])
def test_parts_of_a_long_sum_are_alike(size: int):
    """Steps of the last part need no tests where a number of parts divides the sum."""
    for schedule in proposed_by("contractions", product(256, 128, size), DEVICES["wide"]):
        assert prod(x.extent for x in schedule.levels if x.index == "k") == size


@pytest.mark.parametrize("room", [1 << 18, 1 << 20])
def test_pictures_are_summed_over_in_blocks(room: int):
    """The second cache holds a block of both operands, however much local memory has room for."""
    device = replace(DEVICES["wide"], local_mem_size=room, compute_units=2)
    best = ranked(CASES["weights"], device)[0].schedule
    serial = [x for x in best.levels if x.role is Role.SERIAL]
    assert [x.index for x in serial[:2]] == ["n", "y"]
    assert best.stages[0].at == ("y", serial[1].stride)


def test_few_rows_make_a_tile():
    for rows in (5, 10, 20):
        best = ranked(product(rows, 16, 2000), DEVICES["narrow"])[0].schedule
        tile = prod(x.extent for x in best.levels if x.index == "i" and x.role is Role.UNROLL)
        assert rows % tile == 0 and tile > 1


def test_sums_that_wait_have_room_on_a_stack():
    device = replace(DEVICES["wide"], local_mem_size=1 << 20, compute_units=1)
    for candidate in without_copies(CASES["product of columns"], device):
        model = CpuModel(CASES["product of columns"], candidate.schedule, device)
        assert model.waiting_bytes <= MOST_SUMS


def test_taps_that_classes_lack_are_left_out():
    """The gradient of a convolution of stride 2 in planes: a class has one or two of three taps."""
    p, q, x, t = (IndexExpr.of(name) for name in "pqxt")
    case = facts(
        3,
        {"n": 64, "p": 2, "q": 28, "x": 14, "k": 128, "t": 2},
        tensor(0, (64, 56, 14), "n", p + 2 * q, x),
        tensor(1, (64, 128, 3), "n", "k", p + 2 * t - 1),
        tensor(0, (128, 28, 14), "k", q - t + 1, x),
    )
    device = replace(DEVICES["wide"], compute_units=2, local_mem_size=1 << 18)
    (names, share), *_ = case.tests
    assert names == {"p", "t"} and share == 0.75
    order = [x.index for x in ranked(case, device)[0].schedule.levels if x.role is Role.SERIAL]
    assert order.index("t") < order.index("k")


def test_lanes_run_along_an_index_that_fills_them():
    x, i = IndexExpr.of("x"), IndexExpr.of("i")
    case = facts(
        3,
        {"co": 64, "ci": 64, "i": 3, "n": 8, "x": 400},
        tensor(0, (64, 64, 3), "co", "ci", "i"),
        tensor(0, (8, 64, 400), "n", "ci", x + i - 1),
        tensor(1, (8, 64, 400), "n", "co", "x"),
    )
    best = ranked(case, DEVICES["wide"])[0].schedule
    assert best.levels[-1].role is Role.VECTOR
    assert best.levels[-1].index in ("co", "ci")


def test_tiles_of_vectors_beat_items_of_one_element():
    device = described(Kind.CPU, {})
    for case in CASES.values():
        plain = estimate(case, device, Schedule(default_levels(case.indices, 64)))
        assert all(best.estimate.seconds < plain.seconds for best in ranked(case, device)[:1])


@pytest.mark.parametrize("size", [1000, 1024, 2048])
def test_many_cores_have_several_groups_each(size: int):
    entries = {"compute_units": 16, "native_vector_width": 16, "local_mem_size": 1 << 20}
    device = described(Kind.CPU, {**entries, "arithmetic": 2000.0, "bandwidth": 75.0})
    case = product(size, size, size)
    assert CpuModel(case, ranked(case, device)[0].schedule, device).groups >= 2 * 16


def test_counting_what_equals_a_maximum_waits_for_nothing():
    x, i = (IndexExpr.of(name) for name in "xi")
    planes = tensor(0, (64, 258), "c", x + i)
    case = facts(2, {"c": 64, "x": 256, "i": 3}, tensor(0, (64, 256), "c", "x"), planes)
    case = replace(case, aggregation="max", combination="none", operations=2.0)
    levels = (LoopLevel("c", 1, 64, Role.GROUP), LoopLevel("x", 16, 16, Role.SERIAL))
    levels += (LoopLevel("i", 1, 3, Role.SERIAL), LoopLevel("x", 1, 16, Role.VECTOR))
    device = DEVICES["wide"]
    cycles = [
        CpuModel(replace(case, counts=counts), Schedule(levels), device).busy_cycles
        for counts in (False, True)
    ]
    assert cycles[1] < cycles[0]


@pytest.mark.parametrize(("length", "is_alone"), [(5, True), (8, False)])
def test_short_rows_that_end_within_a_vector_are_summed_one_by_one(length: int, is_alone: bool):
    device = described(Kind.CPU, {"native_vector_width": 16})
    matrix = product(4096, 1, length)
    rows = replace(matrix, inputs=matrix.inputs[:1])
    found = [s for name, s in proposed(rows, device) if name == "sums"]
    assert found
    copies = {prod(lv.extent for lv in s.levels if lv.role is Role.UNROLL) for s in found}
    assert (copies == {1}) is is_alone


def test_a_group_has_all_blocks_of_channels_for_few_pixels_where_all_pixels_are_too_many():
    case = pointwise_in_blocks(196, 1024, 256)
    device = two_cores(16)
    levels = ranked(case, device)[0].schedule.levels
    assert {x.index for x in levels if x.role is Role.GROUP} == {"p"}
    loops = [x.index for x in levels if x.role is Role.SERIAL]
    assert loops.index("b") < loops.index("p")


def test_vectors_of_several_blocks_meet_the_same_pixels():
    """Blocks of one vector: tiles of one block alone read each element for one vector."""
    device = two_cores(16)
    best = ranked(pointwise_in_blocks(196, 256, 256, size=16), device)[0].schedule
    tile = {x.index: x.extent for x in best.levels if x.role is Role.UNROLL}
    assert tile["b"] > 1 and tile["p"] > 1
    assert best.levels[-1].index == "co" and best.levels[-1].extent == 16


def test_groups_are_as_many_as_the_cores_share():
    """Of 63 tiles 8 groups, the last with 7, where one of two cores would have 5 of 9."""
    case = pointwise_in_blocks(169, 512, 1008, size=16)
    found = proposed_by("contractions", case, two_cores(8))
    assert 8 in {prod(x.extent for x in s.levels if x.role is Role.GROUP) for s in found}


@pytest.mark.parametrize(("channels", "loops"), [(256, 1), (1024, 2)])
def test_many_blocks_of_channels_are_summed_in_parts(channels: int, loops: int):
    """Pieces of 64 rows would be read by turns, and the second cache does not hold all rows."""
    device = replace(two_cores(8), cache_sizes=(32 << 10, 512 << 10, 16 << 20))
    best = ranked(pointwise_in_blocks(196, channels, 256, size=16), device)[0].schedule
    assert [x.index for x in best.levels if x.role is Role.SERIAL].count("cb") == loops


@pytest.mark.parametrize(
    ("lanes", "slides", "has_both"), [(8, True, True), (8, False, False), (16, True, False)]
)
def test_tiles_of_windows_have_vectors_of_two_blocks(lanes: int, slides: bool, has_both: bool):
    """Of blocks of two vectors, with 16 registers: 3 rows of four vectors, the rows inside."""
    size = 2 * lanes
    case = in_blocks(14, 128, size) if slides else pointwise_in_blocks(196, 256, 256, size=size)
    tiles = {
        tuple((x.index, x.extent) for x in c.schedule.levels if x.role is Role.UNROLL)[-3:]
        for c in ranked(case, two_cores(lanes))
    }
    rows = [name for name in "pyx" if (("b", 2), ("co", 2), (name, 3)) in tiles]
    assert bool(rows) == has_both


def test_tiles_leave_little_of_few_rows():
    """Of 14 rows tiles of 5 leave 4, of 6 only 2; more than three tiles take longer."""
    device = two_cores(8)
    tiles = {
        x.extent
        for c in ranked(pointwise_in_blocks(14, 256, 256, size=16), device)
        for x in c.schedule.levels
        if x.index == "p" and x.role is Role.UNROLL
    }
    assert 5 in tiles and 6 not in tiles


def test_elements_that_strided_windows_share_need_registers():
    """With 3 rows of four vectors each tap of 2 * x + i holds 3 elements, and 2 of the tap before."""
    device, case = two_cores(8), in_blocks(28, 128)
    loops = [
        *(LoopLevel("b", 1, 4, Role.GROUP, "x"), LoopLevel("y", 1, 28, Role.SERIAL)),
        *(LoopLevel("x", 3, 10, Role.SERIAL), LoopLevel("cb", 1, 4, Role.SERIAL)),
        *(LoopLevel("ci", 1, 32, Role.SERIAL), LoopLevel("j", 1, 3, Role.SERIAL)),
    ]
    tile = (
        LoopLevel("co", 8, 4, Role.UNROLL),
        LoopLevel("x", 1, 3, Role.UNROLL),
        LoopLevel("co", 1, 8, Role.VECTOR),
    )
    one, three = (
        CpuModel(case, Schedule((*loops, LoopLevel("i", 1, 3, role), *tile)), device)
        for role in (Role.SERIAL, Role.UNROLL)
    )
    assert not one.spilled and three.spilled == 3 * 2
