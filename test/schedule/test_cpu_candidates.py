"""The schedules that are weighed on CPUs: all can run, and what is chosen computes the same."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiledialect as td
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule import choice
from tiledialect.schedule.candidates.cpu_contractions import cpu_contractions
from tiledialect.schedule.candidates.cpu_rows import MOST_OPERATIONS, cpu_rows
from tiledialect.schedule.candidates.row_kernels import row_kernels
from tiledialect.schedule.choice import MOST_SUMS, Candidate, estimated, modelled, ranked
from tiledialect.schedule.cpu_body import Part
from tiledialect.schedule.cpu_cost import CpuModel, cpu_cost, least_cpu_seconds
from tiledialect.schedule.default import default_leaves
from tiledialect.schedule.device import Device, Kind, described
from tiledialect.schedule.facts import Facts, Tensor, padded_indices
from tiledialect.schedule.leaves import WRITTEN_OUT, Leaf, LoopIndex, Role, Schedule, Stage, check

DEVICES = {
    "narrow": described(Kind.CPU, {"compute_units": 2, "native_vector_width": 4}),
    "wide": described(Kind.CPU, {"compute_units": 8, "native_vector_width": 16}),
}


def tensor(number: int, shape: tuple[int, ...], *access: IndexExpr | str) -> Tensor:
    """A tensor of floats."""
    exprs = tuple(IndexExpr.of(e) for e in access)
    return Tensor(number, shape, exprs, "f32", 4)


def facts(outputs: int, sizes: dict[str, int], result: Tensor, *inputs: Tensor) -> Facts:
    """A contraction whose first indices are the output's."""
    indices = tuple(
        LoopIndex(name, Range(0, size), k < outputs) for k, (name, size) in enumerate(sizes.items())
    )
    return Facts(indices, inputs, (result,), "add", "mul", 2.0)


def product(m: int, n: int, k: int, *, transposed: bool = False) -> Facts:
    """A matrix product; the second factor may lie transposed."""
    second = tensor(1, (n, k), "j", "k") if transposed else tensor(1, (k, n), "k", "j")
    first, result = tensor(0, (m, k), "i", "k"), tensor(0, (m, n), "i", "j")
    return facts(2, {"i": m, "j": n, "k": k}, result, first, second)


def convolution(size: int, channels: int, pictures: int = 2) -> Facts:
    """A padded convolution of 3 x 3."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (pictures, size, size, channels), (3, 3, channels, channels)
    return facts(
        4,
        {"n": pictures, "y": size, "x": size, "co": channels, "j": 3, "i": 3, "ci": channels},
        tensor(0, image, "n", "y", "x", "co"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "ci"),
        tensor(1, kernel, "j", "i", "ci", "co"),
    )


def weights(size: int, channels: int) -> Facts:
    """The gradient of a padded convolution of 3 x 3 by its weights."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (2, size, size, channels), (3, 3, channels, channels)
    return facts(
        4,
        {"j": 3, "i": 3, "ci": channels, "co": channels, "n": 2, "y": size, "x": size},
        tensor(0, kernel, "j", "i", "ci", "co"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "ci"),
        tensor(1, image, "n", "y", "x", "co"),
    )


def column_sums(rows: int, columns: int) -> Facts:
    """Sums of the columns of a matrix."""
    result, matrix = tensor(0, (columns,), "j"), tensor(0, (rows, columns), "i", "j")
    return facts(1, {"j": columns, "i": rows}, result, matrix)


def windows_along_rows(size: int) -> Facts:
    """A padded depthwise convolution of 3 x 3 of planes."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image = (32, size, size)
    return facts(
        3,
        {"c": 32, "y": size, "x": size, "j": 3, "i": 3},
        tensor(0, image, "c", "y", "x"),
        tensor(0, image, "c", y + j - 1, x + i - 1),
        tensor(1, (32, 3, 3), "c", "j", "i"),
    )


CASES = {
    "product": product(64, 64, 64),
    "uneven product": product(37, 29, 31),
    "large product": product(2048, 1024, 4096),
    "thin product": product(8, 8, 5000),
    "transposed product": product(100, 48, 60, transposed=True),
    "product with few columns": product(300, 3, 500),
    "product of few rows": product(5, 333, 200),
    "product with a vector": facts(
        1,
        {"i": 100, "k": 300},
        tensor(0, (100,), "i"),
        tensor(0, (100, 300), "i", "k"),
        tensor(1, (300,), "k"),
    ),
    "product of columns": facts(
        2,
        {"i": 2048, "j": 2048, "k": 2048},
        tensor(0, (2048, 2048), "i", "j"),
        tensor(0, (2048, 2048), "k", "i"),
        tensor(1, (2048, 2048), "k", "j"),
    ),
    "column sums": column_sums(4096, 2048),
    "sums of few columns": column_sums(12, 3),
    "one sum for all": facts(1, {"j": 64, "k": 300}, tensor(0, (64,), "j"), tensor(0, (300,), "k")),
    "weights": weights(56, 64),
    "convolution": convolution(14, 16),
    "uneven convolution": convolution(7, 3),
}


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


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_best_is_the_first_of_all(case: Facts, device: Device):
    found = ranked(case, device)
    assert choice.best(case, device) == next(iter(found), None)
    for candidate in found:
        if not candidate.schedule.global_stages:
            model = modelled(case, candidate.schedule, device)
            assert isinstance(model, CpuModel)
            assert least_cpu_seconds(model) <= candidate.estimate.seconds


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("last", [77, 3])
def test_outer_products_are_written_row_by_row(last: int, device: Device):
    """But for rows that are no vectors. Nothing is summed, whatever the operands have in common."""
    sizes = {"b": 100, "i": 65, "j": last}
    row = 65 * IndexExpr.of("b") + IndexExpr.of("i")
    first, second = tensor(0, (6500,), row), tensor(1, (100, last), "b", "j")
    case = facts(3, sizes, tensor(0, (100, 65, last), "b", "i", "j"), first, second)
    assert bool(list(cpu_contractions(case, device))) == (last == 3)
    found = choice.best(case, device)
    assert found is not None
    check(case.indices, found.schedule, [1, 2])
    if last == 77:
        assert found.family == "streams"
        assert [x.index for x in found.schedule.leaves if x.role is not Role.GROUP][-1] == "j"


@pytest.mark.parametrize("columns", [37, 127, 1001])
def test_columns_that_vectors_do_not_fill_are_summed_several_vectors_at_a_time(columns: int):
    device = replace(DEVICES["wide"], compute_units=2)
    case = column_sums(30000, columns)
    found = ranked(case, device)
    for candidate in found:
        check(case.indices, candidate.schedule, [2])
    vectors = [leaf for leaf in found[0].schedule.leaves if leaf.role is Role.UNROLL]
    assert [leaf.index for leaf in vectors] == ["j"]


@pytest.mark.parametrize(
    "columns, counts", [(127, {1}), (333, {1, 2}), (260, {1}), (272, {1, 2}), (1000, {1, 2})]
)
def test_long_rows_that_vectors_do_not_divide_have_two_at_a_time(columns: int, counts: set[int]):
    """Not where a half, a quarter… of a vector is left of a row of less than 32."""
    x, result = tensor(0, (1000, columns), "i", "j"), tensor(1, (1000,), "i")
    indices = (LoopIndex("i", Range(0, 1000), True), LoopIndex("j", Range(0, columns), False))
    case = Facts(indices, (x,), (result,), "add", is_rows=True, held=1, live=1, passes=(2,))
    found = set[int]()
    for schedule in row_kernels(case, DEVICES["wide"]):
        check(case.indices, schedule, [2])
        own = [x.extent for x in schedule.leaves if x.index == "j" and x.role is Role.UNROLL]
        found.add(prod(own))
    assert found == counts


@pytest.mark.parametrize("count", [1003, 10007, 16385, 40009])
def test_any_number_of_short_rows_is_computed_several_at_a_time(count: int):
    """No group has only those of which the last ones go back."""
    x, result = tensor(0, (count, 64), "i", "j"), tensor(1, (count,), "i")
    indices = (LoopIndex("i", Range(0, count), True), LoopIndex("j", Range(0, 64), False))
    case = Facts(indices, (x,), (result,), "add", is_rows=True, held=1, live=1, passes=(2,))
    for schedule in row_kernels(case, DEVICES["wide"]):
        check(case.indices, schedule, [2])
        own = [x for x in schedule.leaves if x.index == "i"]
        together = own[-1].extent
        group = prod(x.extent for x in own if x.role is not Role.GROUP)
        assert own[-1].role is Role.UNROLL and together > 1
        assert not 0 < count % group < together


@pytest.mark.parametrize("operation", ["+", ">"])
@pytest.mark.parametrize("rows, columns", [(5, 37), (300, 127), (40, 333), (2000, 37)])
def test_columns_that_vectors_do_not_fill_have_the_right_sums(
    operation: str, rows: int, columns: int
):
    f = td.compile(f"function (X[N, M]) -> (O) {{ O[j: M] = {operation}(X[i, j]); }}")
    x = np.random.default_rng(0).integers(-9, 9, (rows, columns)).astype(np.float32)
    assert np.array_equal(f(x), x.sum(0) if operation == "+" else x.max(0))


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


@settings(max_examples=30, deadline=None)
@given(case=contractions())
def test_every_contraction_has_candidates(case: Facts):
    assert all(ranked(case, device) for device in DEVICES.values())


@pytest.mark.parametrize("case", ["product", "large product", "convolution"])
def test_vectors_are_as_wide_as_the_hardware(case: str):
    for device in DEVICES.values():
        last = ranked(CASES[case], device)[0].schedule.leaves[-1]
        assert (last.role, last.extent) == (Role.VECTOR, device.native_vector_width)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"uneven convolution"}))
def test_sums_fit_the_registers_without_embedded_broadcast(name: str):
    """All but those of a kernel that is started in ten times the time that it runs."""
    case = CASES[name]
    device = described(Kind.CPU, {"native_vector_width": 8})
    for candidate in ranked(case, device)[:1]:
        model = CpuModel(case, candidate.schedule, device)
        assert model.held <= device.registers == 16
        assert not model.spilled


def channels_first(size: int, channels: int) -> Facts:
    """A padded convolution of 3 x 3 whose pictures lie channel by channel."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (2, channels, size, size), (channels, channels, 3, 3)
    return facts(
        4,
        {"n": 2, "co": channels, "y": size, "x": size, "ci": channels, "j": 3, "i": 3},
        tensor(0, image, "n", "co", "y", "x"),
        tensor(0, image, "n", "ci", y + j - 1, x + i - 1),
        tensor(1, kernel, "co", "ci", "j", "i"),
    )


def test_rows_of_a_copy_that_pages_part_meet_in_the_first_cache():
    rows, lanes = Leaf("i", 1, 14, Role.UNROLL), Leaf("j", 1, 8, Role.VECTOR)
    device = described(Kind.CPU, {"native_vector_width": 8})
    for length, meet in ((1024, True), (1000, False)):
        case = product(14, 8, length)
        leaves = (Leaf("k", 1, length, Role.SERIAL), rows, lanes)
        model = CpuModel(case, Schedule(leaves, (Stage(0, local=True),)), device)
        assert (model.conflicts > 0) is meet


def test_the_fewer_of_rows_and_vectors_are_kept_in_registers():
    case, device = product(510, 512, 512), described(Kind.CPU, {"native_vector_width": 8})
    rows, columns = Leaf("i", 1, 3, Role.UNROLL), Leaf("j", 8, 4, Role.UNROLL)
    loops = Leaf("i", 3, 170, Role.SERIAL), Leaf("j", 32, 16, Role.SERIAL)
    sums, lanes = Leaf("k", 1, 512, Role.SERIAL), Leaf("j", 1, 8, Role.VECTOR)
    by_vectors, by_rows = (
        CpuModel(case, Schedule((*loops, sums, *tile, lanes)), device)
        for tile in ((columns, rows), (rows, columns))
    )
    assert (by_vectors.held, by_rows.held) == (16, 17)
    assert by_vectors.spilled < by_rows.spilled
    proposed = {c.schedule.leaves[-3:] for c in ranked(case, device)}
    assert (columns, rows, lanes) in proposed and (rows, columns, lanes) not in proposed


@pytest.mark.parametrize("size", [28, 56, 64])
def test_what_windows_share_fits_the_registers(size: int):
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    case = channels_first(size, 64)
    best = ranked(case, device)[0].schedule
    assert not CpuModel(case, best, device).spilled
    rows = Schedule(
        (
            Leaf("n", 1, 2, Role.GROUP, "x"),
            Leaf("co", 1, 64, Role.SERIAL),
            Leaf("y", 14, size // 14 + 1, Role.SERIAL),
            Leaf("x", 16, size // 16 + 1, Role.SERIAL),
            Leaf("ci", 1, 64, Role.SERIAL),
            *(Leaf(name, 1, 3, Role.UNROLL) for name in "ji"),
            Leaf("y", 1, 14, Role.UNROLL),
            Leaf("x", 1, 16, Role.VECTOR),
        )
    )
    # Rows that taps share are kept from tap to tap: 13 of each of three columns.
    assert CpuModel(case, rows, device).spilled > 14


def test_scattered_results_cost_lines():
    case, device = channels_first(56, 64), replace(DEVICES["wide"], local_mem_size=1 << 18)

    def stored(along: str) -> float:
        """Cycles to store tiles of seven pixels along an index, and 16 channels."""
        serial = {"y": 56, "x": 56, along: 8}
        leaves = (
            Leaf("n", 1, 2, Role.GROUP, "x"),
            *(Leaf(n, 7 if n == along else 1, count, Role.SERIAL) for n, count in serial.items()),
            Leaf("co", 16, 4, Role.SERIAL),
            *(Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("ci", "j", "i")),
            Leaf(along, 1, 7, Role.UNROLL),
            Leaf("co", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(leaves), device).stored_cycles

    assert stored("y") > 2 * stored("x")


@pytest.mark.parametrize(
    ("size", "are_evicted"), [(28, False), (32, True), (33, False), (64, True)]
)
def test_lanes_that_pages_part_are_written_to_lines_that_others_take(size: int, are_evicted: bool):
    """Planes of 32 x 32 floats are a page: 16 channels have their lines at the same place of it."""
    case, device = channels_first(size, 64), replace(DEVICES["wide"], local_mem_size=1 << 18)
    leaves = (
        *(Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("n", "y", "x", "ci", "j", "i")),
        Leaf("co", 16, 4, Role.UNROLL),
        Leaf("co", 1, 16, Role.VECTOR),
    )
    model = CpuModel(case, Schedule(leaves), device)
    each = model.stored_cycles / (2 * 64 * size * size)
    assert (each > 20) is are_evicted


def depthwise_weights(size: int, channels: int) -> Facts:
    """The gradient of a depthwise convolution of 3 x 3 by its weights."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image = (1, size, size, channels)
    return facts(
        3,
        {"j": 3, "i": 3, "c": channels, "n": 1, "y": size, "x": size},
        tensor(0, (3, 3, channels), "j", "i", "c"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "c"),
        tensor(1, image, "n", "y", "x", "c"),
    )


@pytest.mark.parametrize("size", [5, 7, 14])
def test_few_sums_over_few_pixels_have_tiles(size: int):
    """Both factors are larger than the sums: a window's weights would be smaller."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    case = depthwise_weights(size, 512)
    assert list(cpu_contractions(case, device))
    assert len({x.index for x in ranked(case, device)[0].schedule.leaves} & {"j", "i"}) > 0
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
    found = cpu_contractions(convolution(13, 16, pictures), device)
    rows = {(x.index, x.extent) for s in found for x in s.leaves if x.role is Role.UNROLL}
    assert (("x", 13) in rows or ("y", 13) in rows) is has_whole_rows


def test_other_lanes_are_tried_where_some_vectors_are_nearly_empty():
    """Of rows of 65 pixels the fifth vector has one."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    assert "co" in {c.schedule.leaves[-1].index for c in ranked(channels_first(65, 64), device)}
    assert {c.schedule.leaves[-1].index for c in ranked(channels_first(64, 64), device)} == {"x"}


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
    inside = [Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("co", "ci", "j", "i")]
    lanes = Leaf("x", 1, 16, Role.VECTOR)
    columns = Leaf("x", 16, 5, Role.GROUP, "x"), Leaf("y", 1, 80, Role.SERIAL)
    rows = Leaf("y", 16, 5, Role.GROUP, "x"), Leaf("y", 1, 16, Role.SERIAL)
    blocks = (rows[1], Leaf("x", 16, 5, Role.SERIAL))
    first, pictures = Leaf("n", 1, 4, Role.GROUP, "y"), []
    for outside in ((columns[0], columns[1]), (rows[0], *blocks)):
        leaves = (first, *outside, *inside, lanes)
        pictures.append(cpu_cost(CpuModel(case, Schedule(leaves), device)).cache)
    assert pictures[0] > pictures[1]


def strided_planes(size: int, channels: int) -> Facts:
    """A convolution of 4 x 4 with stride 2, channels first."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    return facts(
        4,
        {"n": 1, "co": channels, "y": size, "x": size, "ci": channels, "j": 4, "i": 4},
        tensor(0, (1, channels, size, size), "n", "co", "y", "x"),
        tensor(0, (1, channels, 2 * size + 2, 2 * size + 2), "n", "ci", y * 2 + j, x * 2 + i),
        tensor(1, (channels, channels, 4, 4), "co", "ci", "j", "i"),
    )


def test_lanes_that_are_apart_give_way_to_others_that_fill_as_well():
    """Weights are transposed once, and read for all pixels."""
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    assert ranked(strided_planes(28, 128), device)[0].schedule.leaves[-1].index == "co"
    # There each channel is written to the same place of a page.
    assert ranked(strided_planes(32, 128), device)[0].schedule.leaves[-1].index == "x"


@pytest.mark.parametrize(("element_type", "nbytes"), [("f32", 4), ("i32", 4)])
def test_every_other_float_of_a_row_takes_two_loads(element_type: str, nbytes: int):
    case = strided_planes(32, 16)
    inputs = tuple(replace(t, type=element_type, bytes=nbytes) for t in case.inputs)
    leaves = (
        *(Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("co", "y", "ci", "j", "i")),
        Leaf("x", 16, 2, Role.UNROLL),
        Leaf("x", 1, 16, Role.VECTOR),
    )
    model = CpuModel(replace(case, inputs=inputs), Schedule(leaves), DEVICES["wide"])
    one_by_one = 2.0 * 32
    assert (model.loads(model.walks[0]) < one_by_one / 2) == (element_type == "f32")


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
        leaves = (
            *(Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("d", "k")),
            Leaf("x", lanes, 64 // lanes, Role.SERIAL),
            Leaf("x", 1, lanes, Role.VECTOR),
        )
        model = CpuModel(case, Schedule(leaves), device)
        loads.append(model.loads(model.walks[0]))
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
        leaves = (
            Leaf("n", 1, pictures, Role.GROUP, "x"),
            *(Leaf(n, 1, case.extents[n], Role.SERIAL) for n in ("y", "x")),
            Leaf("co", 16, 4, Role.SERIAL),
            Leaf("ci", 1, 4, Role.SERIAL),
            Leaf("co", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(leaves), DEVICES["wide"]).stored_cycles

    assert stored(64) > stored(2)


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
            vectors = [x for x in candidate.schedule.leaves if x.role is Role.VECTOR]
            assert all(leaf.extent in (2, 4, 8, 16) for leaf in vectors)


def test_nothing_is_proposed_for_what_has_no_points():
    assert not ranked(column_sums(0, 16), DEVICES["wide"])


def test_what_is_padded_or_lies_across_is_packed():
    device = DEVICES["wide"]
    for case, number in (("convolution", 0), ("transposed product", 1)):
        facts = CASES[case]
        padded = padded_indices(facts, facts.inputs[number])
        for candidate in ranked(facts, device):
            written = {x.index for x in candidate.schedule.leaves if x.role in WRITTEN_OUT}
            if candidate.family == "contractions on CPUs" and (written & padded or not padded):
                assert number in {stage.operand for stage in candidate.schedule.stages}


def test_rows_along_pictures_need_no_stage():
    """Loops over the points of pictures leave out taps that are outside."""
    device = replace(DEVICES["wide"], compute_units=2)
    best = ranked(convolution(14, 64, pictures=8), device)[0].schedule
    assert Leaf("n", 1, 8, Role.UNROLL) in best.leaves
    assert 0 not in {stage.operand for stage in best.stages}


@pytest.mark.parametrize("size", [2, 3, 5, 7])
@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_windows_of_short_rows_have_vectors(size: int, device: Device):
    """Rows of windows would not fill them, tiles of a contraction do."""
    best = ranked(windows_along_rows(size), device)[0].schedule
    assert best.leaves[-1].role is Role.VECTOR


@pytest.mark.parametrize("size", [14, 56, 224])
def test_windows_along_padded_rows_need_a_stage(size: int):
    """Each lane of a vector would be tested."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    best = ranked(windows_along_rows(size), device)[0].schedule
    assert best.leaves[-1].index == "x"
    assert [stage.operand for stage in best.stages] == [0]


def test_long_sums_are_made_in_parts():
    """What a row of tiles reads of the second factor fits nowhere at once."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 17)
    best = ranked(CASES["large product"], device)[0].schedule
    outputs = {"i", "j"}
    serial = [x for x in best.leaves if x.role is Role.SERIAL]
    assert serial[0].index not in outputs and serial[1].index in outputs
    assert best.stages[0].at == ("k", serial[0].stride)


def test_long_sums_of_many_results_are_made_in_parts():
    """All rows of a vector's columns would be more sums than wait: groups have fewer rows."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 20, compute_units=2)
    large = product(1 << 14, 1 << 14, 1 << 14)
    best = ranked(large, device)[0].schedule
    assert {x.index for x in best.leaves if x.role is Role.GROUP} == {"i", "j"}
    assert CpuModel(large, best, device).waiting_bytes <= MOST_SUMS
    assert best.stages[0].at is not None and best.stages[0].at[0] == "k"


@pytest.mark.parametrize("size", [700, 1568, 6272])
def test_parts_of_a_long_sum_are_alike(size: int):
    """Steps of the last part need no tests where a number of parts divides the sum."""
    for schedule in cpu_contractions(product(256, 128, size), DEVICES["wide"]):
        assert prod(x.extent for x in schedule.leaves if x.index == "k") == size


@pytest.mark.parametrize("room", [1 << 18, 1 << 20])
def test_pictures_are_summed_over_in_blocks(room: int):
    """The second cache holds a block of both operands, however much local memory has room for."""
    device = replace(DEVICES["wide"], local_mem_size=room, compute_units=2)
    best = ranked(CASES["weights"], device)[0].schedule
    serial = [x for x in best.leaves if x.role is Role.SERIAL]
    assert [x.index for x in serial[:2]] == ["n", "y"]
    assert best.stages[0].at == ("y", serial[1].stride)


def without_copies(case: Facts, device: Device) -> list[Candidate]:
    """The candidates that read all operands from where they are."""
    return [c for c in ranked(case, device) if not c.schedule.global_stages]


def test_operands_of_far_rows_are_packed():
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    best = without_copies(CASES["product of columns"], device)[0].schedule
    assert [(stage.operand, stage.at and stage.at[0]) for stage in best.stages] == [
        (0, "k"),
        (1, "j"),
    ]


def across(m: int, n: int, k: int) -> Facts:
    """A matrix product whose first factor lies transposed."""
    result, second = tensor(0, (m, n), "i", "j"), tensor(1, (k, n), "k", "j")
    return facts(2, {"i": m, "j": n, "k": k}, result, tensor(0, (k, m), "k", "i"), second)


def two_cores(lanes: int) -> Device:
    """A CPU whose rates are known."""
    rates = {"arithmetic": 22.0 * lanes, "bandwidth": 23.0, "local_mem_size": 1 << 18}
    return described(Kind.CPU, {"compute_units": 2, "native_vector_width": lanes, **rates})


@pytest.mark.parametrize("size", [700, 960])
def test_what_lies_across_is_copied_where_it_is_read_often(size: int):
    best = ranked(across(size, size, size), two_cores(8))[0].schedule
    assert [stage.operand for stage in best.global_stages] == [0]


@pytest.mark.parametrize("lanes", [8, 16])
def test_long_factors_that_are_read_across_are_packed(lanes: int):
    best = ranked(across(2000, 32, 2000), two_cores(lanes))[0].schedule
    assert any(stage.operand == 0 for stage in best.stages)


def test_operands_that_few_rows_use_are_read_as_they_lie():
    for rows in (4, 8, 16):
        best = ranked(product(rows, 512, 512), DEVICES["wide"])[0].schedule
        assert not best.stages
    assert ranked(product(512, 512, 512), DEVICES["wide"])[0].schedule.stages


def test_few_columns_are_summed_along_memory():
    """All of them for some rows at a time; a factor that lies across is copied once."""
    for size in (300, 512, 700):
        for transposed in (False, True):
            case = product(size, 2, size, transposed=transposed)
            best = ranked(case, DEVICES["wide"])[0].schedule
            assert (best.leaves[-1].index, best.leaves[-1].role) == ("k", Role.VECTOR)
            unrolled = {x.index: x.extent for x in best.leaves if x.role is Role.UNROLL}
            assert unrolled["j"] == 2 and unrolled["i"] > 1
            assert [s.order for s in best.stages] == ([] if transposed else [(1, 0)])


@pytest.mark.parametrize("operations", [2.0, 400.0, 1e5])
def test_what_takes_long_to_compute_is_written_out_less(operations: float):
    read, result = tensor(0, (512, 512), "i", "j"), tensor(0, (512,), "i")
    case = replace(facts(1, {"i": 512, "j": 512}, result, read), combination="none")
    bodies = [
        prod(x.extent for x in schedule.leaves if x.role is Role.UNROLL)
        for schedule in cpu_rows(replace(case, operations=operations), DEVICES["wide"])
    ]
    assert max(bodies) == {2.0: 32, 400.0: 8, 1e5: 1}[operations]
    assert all(copies == 1 or copies * operations <= MOST_OPERATIONS for copies in bodies)


def test_columns_that_lanes_do_not_divide_need_no_copy():
    for columns in (500, 333):
        best = ranked(product(8, columns, 500), DEVICES["wide"])[0].schedule
        assert best.leaves[-1] == Leaf("j", 1, 16, Role.VECTOR) and not best.stages


def test_few_rows_make_a_tile():
    for rows in (5, 10, 20):
        best = ranked(product(rows, 16, 2000), DEVICES["narrow"])[0].schedule
        tile = prod(x.extent for x in best.leaves if x.index == "i" and x.role is Role.UNROLL)
        assert rows % tile == 0 and tile > 1


def test_sums_that_wait_have_room_on_a_stack():
    device = replace(DEVICES["wide"], local_mem_size=1 << 20, compute_units=1)
    for candidate in without_copies(CASES["product of columns"], device):
        model = CpuModel(CASES["product of columns"], candidate.schedule, device)
        assert model.waiting_bytes <= MOST_SUMS


def test_columns_are_added_in_long_rows():
    best = ranked(CASES["column sums"], DEVICES["wide"])[0].schedule
    (row,) = (x for x in best.leaves if x.role is Role.GROUP)
    assert row.stride == 2048 // row.extent >= 128
    assert next(x for x in best.leaves if x.role is Role.SERIAL).index == "i"


@pytest.mark.parametrize("channels", (4, 8, 16))
def test_short_rows_are_summed_together(channels: int):
    """Groups of few channels of pictures: neighbouring groups are summed at the same time."""
    sizes = {"n": 8, "g": 16, "x": 784, "k": channels}
    source = tensor(0, (8, 784, 16, channels), "n", "x", "g", "k")
    case = replace(facts(2, sizes, tensor(0, (8, 16), "n", "g"), source), combination="none")
    best = ranked(case, DEVICES["wide"])[0].schedule
    assert [x for x in best.leaves if x.role in (Role.UNROLL, Role.VECTOR)] == [
        Leaf("g", 1, 8, Role.UNROLL),
        Leaf("k", 1, channels, Role.VECTOR),
    ]


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
    order = [x.index for x in ranked(case, device)[0].schedule.leaves if x.role is Role.SERIAL]
    assert order.index("t") < order.index("k")


@pytest.mark.parametrize("name", sorted(DEVICES))
def test_vectors_run_along_the_steps_of_residue_classes(name: str):
    """The gradient of a maximum over windows of 3 elements, 2 apart: each is used twice at most."""
    p, q, t = (IndexExpr.of(name) for name in "pqt")
    case = facts(
        3,
        {"c": 64, "p": 2, "q": 256, "t": 2},
        tensor(0, (64, 512), "c", p + 2 * q),
        tensor(0, (64, 512), "c", p + 2 * q),
        tensor(1, (64, 256), "c", q + t),
        tensor(2, (64, 256), "c", q + t),
    )
    case = replace(case, combination="cond")
    assert {
        x.index for x in ranked(case, DEVICES[name])[0].schedule.leaves if x.role is Role.VECTOR
    } == {"q"}


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
    assert best.leaves[-1].role is Role.VECTOR
    assert best.leaves[-1].index in ("co", "ci")


POOLING = replace(
    facts(
        4,
        {"n": 8, "y": 28, "x": 28, "c": 64, "j": 2, "i": 2},
        tensor(0, (8, 28, 28, 64), "n", "y", "x", "c"),
        tensor(
            0, (8, 56, 56, 64), "n", IndexExpr.of("y") * 2 + "j", IndexExpr.of("x") * 2 + "i", "c"
        ),
    ),
    aggregation="max",
    combination="none",
)
TRANSPOSITION = replace(
    facts(
        2, {"r": 512, "c": 256}, tensor(0, (512, 256), "r", "c"), tensor(0, (256, 512), "c", "r")
    ),
    aggregation="assign",
    combination="none",
)


@pytest.mark.parametrize("case", [POOLING, TRANSPOSITION], ids=["pooling", "transposition"])
@pytest.mark.parametrize("width", [8, 16])
def test_lines_are_written_at_once(case: Facts, width: int):
    best = ranked(case, described(Kind.CPU, {"native_vector_width": width}))[0].schedule
    last = [leaf for leaf in best.leaves if leaf.role in WRITTEN_OUT and leaf.index == "c"]
    assert best.leaves[-len(last) :] == tuple(last)
    assert prod(leaf.extent for leaf in last) == 16


def test_tiles_of_vectors_beat_items_of_one_element():
    device = described(Kind.CPU, {})
    for case in CASES.values():
        plain = estimated(modelled(case, Schedule(default_leaves(case.indices, 64)), device))
        assert all(best.estimate.seconds < plain.seconds for best in ranked(case, device)[:1])


PROGRAMS = {
    "product": "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
    "transposed": "function (A[L, M], B[N, L]) -> (C) { C[i, j: M, N] = +(A[k, i] * B[j, k]); }",
    "second transposed": "function (A[M, L], B[N, L]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[j, k]); }",
    "vector": "function (A[M, L], B[L]) -> (C) { C[i: M] = +(A[i, k] * B[k]); }",
    "maxima": """function (A[H, W, C]) -> (O) {
        O[y, x, c: H/2, W/2, C] = >(A[2*y + j - 1, 2*x + i - 1, c]), j < 3, i < 3;
    }""",
    "weights": """function (A[N, H, W, C], D[N, H, W, K]) -> (O) {
        O[j, i, c, k: 3, 3, C, K] = +(A[n, y + j - 1, x + i - 1, c] * D[n, y, x, k]);
    }""",
    "weights of planes": """function (A[N, C, H, W], D[N, K, H, W]) -> (O) {
        O[k, c, j, i: K, C, 3, 3] = +(A[n, c, y + j - 1, x + i - 1] * D[n, k, y, x]);
    }""",
    "depthwise weights": """function (A[N, H, W, C], D[N, H, W, C]) -> (O) {
        O[j, i, c: 3, 3, C] = +(A[n, y + j - 1, x + i - 1, c] * D[n, y, x, c]);
    }""",
    "strided planes": """function (D[N, K, H, W], B[K, C, 5, 5]) -> (A) {
        A[n, c, 2*y + j - 2, 2*x + i - 2: N, C, 2*H, 2*W] = +(D[n, k, y, x] * B[k, c, j, i]);
    }""",
    "strided windows": """function (A[N, C, H, W], B[K, C, 4, 4]) -> (O) {
        O[n, k, y, x: N, K, H/2, W/2] = +(A[n, c, 2*y + j - 1, 2*x + i - 1] * B[k, c, j, i]);
    }""",
    "few planes": """function (A[N, C, H, W], B[K, C]) -> (O) {
        O[n, k, y, x: N, K, H/2, W/2] = +(A[n, c, 2*y, 2*x] * B[k, c]);
    }""",
    "columns": "function (A[M, N], X[M]) -> (Y) { Y[j: N] = +(X[i] * A[i, j]); }",
    "groups": "function (A[N, P, G, K]) -> (S) { S[n, g: N, G] = +(A[n, p, g, k]); }",
    "depthwise": """function (A[H, W, C], B[3, 3, C]) -> (O) {
        O[y, x, c: H, W, C] = +(A[y + j - 1, x + i - 1, c] * B[j, i, c]);
    }""",
    "depthwise planes": """function (A[C, H, W], B[C, 3, 3]) -> (O) {
        O[c, y, x: C, H, W] = +(A[c, y + j - 1, x + i - 1] * B[c, j, i]);
    }""",
    "maxima of planes": """function (A[C, H, W]) -> (O) {
        O[c, y, x: C, H, W] = >(A[c, y + j - 1, x + i - 1]), j < 3, i < 3;
    }""",
}
SHAPES = {
    "product": [
        *([(70, 33), (33, 50)], [(5, 700), (700, 17)], [(1, 40), (40, 40)]),
        *([(200, 330), (330, 3)], [(8, 90), (90, 333)], [(128, 100), (100, 10)]),
    ],
    "transposed": [((33, 40), (64, 33)), ((900, 5), (11, 900))],
    "second transposed": [((201, 130), (3, 130))],
    "vector": [((37, 100), (100,)), ((3, 15), (15,))],
    "weights": [((2, 8, 4, 4), (2, 8, 4, 16))],
    "weights of planes": [((2, 16, 6, 9), (2, 16, 6, 9))],
    "strided planes": [((2, 4, 7, 7), (4, 5, 5, 5))],
    "few planes": [((2, 4, 6, 10), (2, 4))],
    "strided windows": [((1, 8, 64, 64), (32, 8, 4, 4))],
    "depthwise weights": [((2, 8, 6, 16), (2, 8, 6, 16))],
    "columns": [((64, 256), (64,)), ((37, 100), (37,))],
    "maxima": [((11, 14, 24),)],
    "groups": [((3, 50, 16, 8),), ((2, 30, 12, 4),)],
    "depthwise": [((9, 17, 24), (3, 3, 24)), ((9, 17, 3), (3, 3, 3))],
    "depthwise planes": [
        *([((5, 9, 24), (5, 3, 3)), ((3, 20, 70), (3, 3, 3))]),
        *([((37, 7, 7), (37, 3, 3)), ((9, 5, 3), (9, 3, 3)), ((4, 40, 2), (4, 3, 3))]),
    ],
    "maxima of planes": [((5, 9, 24),), ((37, 7, 7),), ((9, 33, 5),)],
}


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_chosen_one_computes_the_same(name: str, device: td.Device):
    f = td.compile(PROGRAMS[name], device=device)
    rng = np.random.default_rng(0)
    for shapes in SHAPES[name]:
        arrays = [rng.integers(-9, 9, shape).astype(np.float32) for shape in shapes]
        np.testing.assert_array_equal(f(*arrays), f.reference(*arrays))


@pytest.mark.parametrize("size", [1000, 1024, 2048])
def test_many_cores_have_several_groups_each(size: int):
    entries = {"compute_units": 16, "native_vector_width": 16, "local_mem_size": 1 << 20}
    device = described(Kind.CPU, {**entries, "arithmetic": 2000.0, "bandwidth": 75.0})
    case = product(size, size, size)
    assert CpuModel(case, ranked(case, device)[0].schedule, device).groups >= 2 * 16


def test_compilers_that_load_first_spill_tiles_of_three_vectors():
    case = product(960, 960, 960)

    def spilled(platform: str, rows: int, columns: int) -> float:
        device = described(Kind.CPU, {"platform": platform, "native_vector_width": 16})
        leaves = (
            Leaf("j", 16 * columns, -(-960 // (16 * columns)), Role.GROUP, "x"),
            Leaf("i", rows, 960 // rows, Role.SERIAL),
            Leaf("k", 4, 240, Role.SERIAL),
            Leaf("k", 1, 4, Role.UNROLL),
            Leaf("i", 1, rows, Role.UNROLL),
            Leaf("j", 16, columns, Role.UNROLL),
            Leaf("j", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(leaves), device).spilled

    assert spilled("Portable Computing Language", 8, 3) > spilled("Intel(R) OpenCL", 8, 3)
    assert spilled("Portable Computing Language", 6, 4) == 0


def test_what_the_second_cache_keeps_is_fetched_once_by_each_core():
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})

    def fetched(rows: int) -> float:
        case = product(rows, 3200, 100)
        leaves = (
            Leaf("j", 32, 100, Role.GROUP, "x"),
            Leaf("i", 1, rows, Role.SERIAL),
            Leaf("k", 1, 100, Role.SERIAL),
            Leaf("j", 16, 2, Role.UNROLL),
            Leaf("j", 1, 16, Role.VECTOR),
        )
        return cpu_cost(CpuModel(case, Schedule(leaves), device)).cache

    # The first factor, of 40 kB, stays in a core's cache; of 4 MB, each group reads it anew.
    assert fetched(10000) > 2 * 100 * fetched(100)


def test_lanes_past_the_end_are_known_in_groups_at_one_edge_alone():
    device, case = two_cores(16), windows_along_rows(803)
    alone = replace(case, inputs=(tensor(0, (32, 803, 803), "c", "y", "x"), case.inputs[1]))

    def edges(case: Facts, column: Role, *stages: Stage) -> float:
        leaves = (
            Leaf("c", 1, 32, Role.GROUP, "y"),
            Leaf("x", 16, 51, column, "x"),
            Leaf("y", 1, 803, Role.SERIAL),
            *(Leaf(tap, 1, 3, Role.UNROLL) for tap in "ji"),
            Leaf("x", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(leaves, stages), device).edges

    assert edges(case, Role.GROUP) > edges(case, Role.SERIAL)
    assert edges(alone, Role.GROUP) == edges(alone, Role.SERIAL)
    assert edges(case, Role.GROUP, Stage(0, local=True), Stage(1, local=True)) == 1


def test_rows_of_columns_are_read_as_a_whole_where_they_are_near():
    """Sums of columns have all of a row in a group, if the second cache keeps the group's rows."""

    def has_whole_rows(pixels: int, channels: int) -> bool:
        sizes = {"b": 16, "c": channels, "y": pixels}
        source = tensor(0, (16, pixels, channels), "b", "y", "c")
        sums = Facts(
            facts(2, sizes, source).indices,
            (source,),
            (tensor(1, (16, channels), "b", "c"),),
            "add",
            None,
            1.0,
        )
        found = ranked(sums, two_cores(16))[0].schedule
        return not any((x.index, x.role) == ("c", Role.GROUP) for x in found.leaves)

    assert has_whole_rows(169, 500)
    assert not has_whole_rows(12544, 500)


def test_the_last_tile_of_a_loop_holds_what_is_left():
    """4 tiles of 6 pixels and one of 4, if none has its own copy or is tested as it is read."""
    case, device = convolution(28, 64), two_cores(8)
    leaves = (
        *(Leaf(name, 1, count, Role.SERIAL) for name, count in (("n", 2), ("y", 28))),
        *(Leaf("x", 6, 5, Role.SERIAL), Leaf("co", 16, 4, Role.SERIAL)),
        *(Leaf(name, 1, count, Role.SERIAL) for name, count in (("j", 3), ("i", 3), ("ci", 64))),
        *(Leaf("x", 1, 6, Role.UNROLL), Leaf("co", 8, 2, Role.UNROLL)),
        Leaf("co", 1, 8, Role.VECTOR),
    )
    whole = Stage(0, local=True)

    def busy(*stages: Stage, leaves: tuple[Leaf, ...] = leaves) -> float:
        model = CpuModel(case, Schedule(leaves, stages), device)
        return model.busy_cycles / model.busy_in(Part())

    # Twelve products take six cycles; eight take five, as long as a sum until it is there again.
    assert busy(whole) == pytest.approx((4 + 5 / 6) / 5)
    assert busy(replace(whole, at=("x", 6))) == busy() == 1
    # Sums that wait while taps around them go on are added to as they are.
    n, y, x, co, j, *others = leaves
    assert busy(whole, leaves=(j, n, y, x, co, *others)) == 1


def test_what_all_tiles_fetch_is_no_less_for_the_last():
    """Tiles of 48 and 16 of 64 columns fetch the same rows from memory, as two of 32 do."""
    inputs = (tensor(0, (64, 4096), "i", "k"), tensor(1, (64, 64), "i", "j"))
    case = facts(2, {"k": 4096, "j": 64, "i": 64}, tensor(2, (4096, 64), "k", "j"), *inputs)

    def seconds(vectors: int) -> float:
        leaves = (
            *(Leaf("k", 8, 512, Role.SERIAL), Leaf("j", vectors * 16, 2, Role.SERIAL)),
            *(Leaf("i", 4, 16, Role.SERIAL), Leaf("i", 1, 4, Role.UNROLL)),
            *(Leaf("k", 1, 8, Role.UNROLL), Leaf("j", 16, vectors, Role.UNROLL)),
            Leaf("j", 1, 16, Role.VECTOR),
        )
        return CpuModel(case, Schedule(leaves, (Stage(1, local=True),)), two_cores(16)).busy

    assert seconds(3) > seconds(2)


def test_copies_of_planes_are_whole_where_the_first_cache_holds_them():
    b, c, y, x, yc, xc, j, i = (
        IndexExpr.of(name) for name in ("b", "c", "y", "x", "p", "q", "j", "i")
    )
    picture, maxima = (8, 33, 57, 57), (8, 33, 29, 29)
    at, shared = (b, c, yc + 2 * y, xc + 2 * x), (b, c, y + j, x + i)
    sizes = {"b": 8, "c": 33, "p": 2, "y": 29, "q": 2, "x": 29, "j": 2, "i": 2}
    inputs = (tensor(0, picture, *at), tensor(1, maxima, *shared), tensor(2, maxima, *shared))
    case = replace(facts(6, sizes, tensor(0, picture, *at), *inputs), combination="cond")
    device = described(
        Kind.CPU,
        {"compute_units": 2, "native_vector_width": 16, "cache_sizes": (48 << 10, 1 << 20)},
    )
    found = choice.best(case, device)
    assert found is not None
    assert {s.at for s in found.schedule.stages} == {("c", 1)}


def test_steps_between_which_other_residue_classes_lie_are_tried_as_lanes():
    b, c, y, x, yc, xc, j, i = (
        IndexExpr.of(name) for name in ("b", "c", "y", "x", "p", "q", "j", "i")
    )
    # Pictures and channels fill vectors better, but their elements lie far apart.
    picture, maxima = (32, 64, 28, 28), (32, 64, 14, 14)
    at, shared = (b, c, yc + 2 * y, xc + 2 * x), (b, c, y + j, x + i)
    sizes = {"b": 32, "c": 64, "p": 2, "y": 14, "q": 2, "x": 14, "j": 2, "i": 2}
    inputs = (tensor(0, picture, *at), tensor(1, maxima, *shared), tensor(2, maxima, *shared))
    case = replace(facts(6, sizes, tensor(0, picture, *at), *inputs), combination="cond")
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    found = choice.best(case, device)
    assert found is not None
    assert [s.index for s in found.schedule.leaves if s.role is Role.VECTOR] == ["x"]


def test_what_serves_one_result_is_read_where_it_lies():
    b, c, y, x, yc, xc, j, i = (
        IndexExpr.of(name) for name in ("b", "c", "y", "x", "p", "q", "j", "i")
    )
    # A copy of the picture would be read as often as it is written, and by lanes as far apart.
    picture, maxima = (4, 64, 112, 112), (4, 64, 56, 56)
    at, shared = (b, c, yc + 2 * y, xc + 2 * x), (b, c, y + j, x + i)
    sizes = {"b": 4, "c": 64, "p": 2, "y": 56, "q": 2, "x": 56, "j": 2, "i": 2}
    inputs = (tensor(0, picture, *at), tensor(1, maxima, *shared), tensor(2, maxima, *shared))
    case = replace(facts(6, sizes, tensor(0, picture, *at), *inputs), combination="cond")
    device = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
    found = choice.best(case, device)
    assert found is not None
    assert {stage.operand for stage in found.schedule.stages} == {1, 2}


def test_counting_what_equals_a_maximum_waits_for_nothing():
    x, i = (IndexExpr.of(name) for name in "xi")
    planes = tensor(0, (64, 258), "c", x + i)
    case = facts(2, {"c": 64, "x": 256, "i": 3}, tensor(0, (64, 256), "c", "x"), planes)
    case = replace(case, aggregation="max", combination="none", operations=2.0)
    leaves = (Leaf("c", 1, 64, Role.GROUP), Leaf("x", 16, 16, Role.SERIAL))
    leaves += (Leaf("i", 1, 3, Role.UNROLL), Leaf("x", 1, 16, Role.VECTOR))
    device = DEVICES["wide"]
    cycles = [
        CpuModel(replace(case, counts=counts), Schedule(leaves), device).busy_cycles
        for counts in (False, True)
    ]
    assert cycles[1] < cycles[0]
