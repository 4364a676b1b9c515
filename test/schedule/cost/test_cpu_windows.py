"""The schedules that are weighed on CPUs for windows, and for their gradients."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from cpu_cases import DEVICES, facts, tensor, windows_along_rows

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import UNROLLED, Role
from tiledialect.schedule.search import choice
from tiledialect.schedule.search.choice import ranked


@pytest.mark.parametrize("size", [2, 3, 5, 7])
@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_windows_of_short_rows_have_vectors(size: int, device: Device):
    """Rows of windows would not fill them, tiles of a contraction do."""
    best = ranked(windows_along_rows(size), device)[0].schedule
    assert best.levels[-1].role is Role.VECTOR


@pytest.mark.parametrize("size", [14, 56, 224])
def test_windows_along_padded_rows_need_a_stage(size: int):
    """Each lane of a vector would be tested."""
    device = replace(DEVICES["wide"], local_mem_size=1 << 18)
    best = ranked(windows_along_rows(size), device)[0].schedule
    assert best.levels[-1].index == "x"
    assert [stage.operand for stage in best.stages] == [0]


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
        x.index for x in ranked(case, DEVICES[name])[0].schedule.levels if x.role is Role.VECTOR
    } == {"q"}


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
    last = [level for level in best.levels if level.role in UNROLLED and level.index == "c"]
    assert best.levels[-len(last) :] == tuple(last)
    assert prod(level.extent for level in last) == 16


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
    assert [s.index for s in found.schedule.levels if s.role is Role.VECTOR] == ["x"]


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
