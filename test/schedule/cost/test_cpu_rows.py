"""The schedules that are weighed on CPUs for sums and kernels along rows, and of columns."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from cpu_cases import CASES, DEVICES, column_sums, facts, proposed_by, tensor, two_cores

import tiledialect as td
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role, check
from tiledialect.schedule.search import choice
from tiledialect.schedule.search.candidates.sums import MOST_OPERATIONS
from tiledialect.schedule.search.choice import ranked


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
@pytest.mark.parametrize("last", [77, 3])
def test_outer_products_are_written_row_by_row(last: int, device: Device):
    """But for rows that are no vectors. Nothing is summed, whatever the operands have in common."""
    sizes = {"b": 100, "i": 65, "j": last}
    row = 65 * IndexExpr.of("b") + IndexExpr.of("i")
    first, second = tensor(0, (6500,), row), tensor(1, (100, last), "b", "j")
    case = facts(3, sizes, tensor(0, (100, 65, last), "b", "i", "j"), first, second)
    assert bool(proposed_by("contractions", case, device)) == (last == 3)
    found = choice.best(case, device)
    assert found is not None
    check(case.indices, found.schedule, [1, 2])
    if last == 77:
        assert found.family == "streams"
        assert [x.index for x in found.schedule.levels if x.role is not Role.GROUP][-1] == "j"


@pytest.mark.parametrize("columns", [37, 127, 1001])
def test_columns_that_vectors_do_not_fill_are_summed_several_vectors_at_a_time(columns: int):
    device = replace(DEVICES["wide"], compute_units=2)
    case = column_sums(30000, columns)
    found = ranked(case, device)
    for candidate in found:
        check(case.indices, candidate.schedule, [2])
    vectors = [level for level in found[0].schedule.levels if level.role is Role.UNROLL]
    assert [level.index for level in vectors] == ["j"]


@pytest.mark.parametrize(
    "columns, counts", [(127, {1}), (333, {1, 2}), (260, {1}), (272, {1, 2}), (1000, {1, 2})]
)
def test_long_rows_that_vectors_do_not_divide_have_two_at_a_time(columns: int, counts: set[int]):
    """Not where a half, a quarter… of a vector is left of a row of less than 32."""
    x, result = tensor(0, (1000, columns), "i", "j"), tensor(1, (1000,), "i")
    indices = (LoopIndex("i", Range(0, 1000), True), LoopIndex("j", Range(0, columns), False))
    case = Facts(indices, (x,), (result,), "add", is_rows=True, held=1, live=1, passes=(2,))
    found = set[int]()
    for schedule in proposed_by("row kernels", case, DEVICES["wide"]):
        check(case.indices, schedule, [2])
        own = [x.extent for x in schedule.levels if x.index == "j" and x.role is Role.UNROLL]
        found.add(prod(own))
    assert found == counts


@pytest.mark.parametrize("count", [1003, 10007, 16385, 40009])
def test_any_number_of_short_rows_is_computed_several_at_a_time(count: int):
    """No group has only those of which the last ones go back."""
    x, result = tensor(0, (count, 64), "i", "j"), tensor(1, (count,), "i")
    indices = (LoopIndex("i", Range(0, count), True), LoopIndex("j", Range(0, 64), False))
    case = Facts(indices, (x,), (result,), "add", is_rows=True, held=1, live=1, passes=(2,))
    for schedule in proposed_by("row kernels", case, DEVICES["wide"]):
        check(case.indices, schedule, [2])
        own = [x for x in schedule.levels if x.index == "i"]
        together = own[-1].extent
        group = prod(x.extent for x in own if x.role is not Role.GROUP)
        assert own[-1].role is Role.UNROLL and together > 1
        assert not 0 < count % group < together


@pytest.mark.covering(1)
@pytest.mark.parametrize("operation", ["+", ">"])
@pytest.mark.parametrize("rows, columns", [(5, 37), (300, 127), (40, 333), (2000, 37)])
def test_columns_that_vectors_do_not_fill_have_the_right_sums(
    operation: str, rows: int, columns: int
):
    f = td.compile(f"function (X[N, M]) -> (O) {{ O[j: M] = {operation}(X[i, j]); }}")
    x = np.random.default_rng(0).integers(-9, 9, (rows, columns)).astype(np.float32)
    assert np.array_equal(f(x), x.sum(0) if operation == "+" else x.max(0))


@pytest.mark.parametrize("operations", [2.0, 400.0, 1e5])
def test_what_takes_long_to_compute_is_written_out_less(operations: float):
    read, result = tensor(0, (512, 512), "i", "j"), tensor(0, (512,), "i")
    case = replace(facts(1, {"i": 512, "j": 512}, result, read), combination="none")
    bodies = [
        prod(x.extent for x in schedule.levels if x.role is Role.UNROLL)
        for schedule in proposed_by("sums", replace(case, operations=operations), DEVICES["wide"])
    ]
    assert max(bodies) == {2.0: 32, 400.0: 8, 1e5: 1}[operations]
    assert all(copies == 1 or copies * operations <= MOST_OPERATIONS for copies in bodies)


def test_columns_are_added_in_long_rows():
    best = ranked(CASES["column sums"], DEVICES["wide"])[0].schedule
    (row,) = (x for x in best.levels if x.role is Role.GROUP)
    assert row.stride == 2048 // row.extent >= 128
    assert next(x for x in best.levels if x.role is Role.SERIAL).index == "i"


@pytest.mark.parametrize("channels", (4, 8, 16))
def test_short_rows_are_summed_together(channels: int):
    """Groups of few channels of pictures: neighbouring groups are summed at the same time."""
    sizes = {"n": 8, "g": 16, "x": 784, "k": channels}
    source = tensor(0, (8, 784, 16, channels), "n", "x", "g", "k")
    case = replace(facts(2, sizes, tensor(0, (8, 16), "n", "g"), source), combination="none")
    best = ranked(case, DEVICES["wide"])[0].schedule
    assert [x for x in best.levels if x.role in (Role.UNROLL, Role.VECTOR)] == [
        LoopLevel("g", 1, 8, Role.UNROLL),
        LoopLevel("k", 1, channels, Role.VECTOR),
    ]


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
        return not any((x.index, x.role) == ("c", Role.GROUP) for x in found.levels)

    assert has_whole_rows(169, 500)
    assert not has_whole_rows(12544, 500)
