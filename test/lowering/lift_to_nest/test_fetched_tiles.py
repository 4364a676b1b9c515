"""Values in local memory that are fetched in the step before, and those that cannot be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import TileError, lift
from tiledialect.passes.lift import RULES, Derivation

FETCH = RULES["fetch_ahead"]


def sums(step: Callable[[Any, Any], Any], rows: int = 6, columns: int = 16) -> Derivation:
    """Steps of one group over the rows of a matrix, of which each is fetched ahead."""
    program = lift.fun(
        lift.array(2, rows, columns),
        lambda x: x >> lift.map_wrg(lambda m: m >> lift.reduce_seq(step, 0.0)),
    )
    return Derivation.of(program).apply(FETCH, "map_wrg/reduce_seq/to_local")


def kept(row: Any) -> Any:
    return row >> lift.to_local(lift.map_lcl(lift.id))


def total(row: Any) -> Any:
    return row >> lift.reduce_seq(lift.add, 0.0)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("columns", [8, 24])
def test_steps_take_copies_in_turns(rows: int, columns: int, device: td.Device):
    """Also where a group has fewer work-items than a row has elements."""
    ahead = sums(lambda s, row: 0.5 * s + total(kept(row)), rows, columns)
    x = np.arange(2 * rows * columns, dtype=np.float32).reshape(2, rows, columns) % 7
    expected = np.zeros(2, np.float32)
    for row in range(rows):
        expected = 0.5 * expected + x[:, row].sum(-1)
    function = td.compile(ahead.module, device=device)
    assert np.array_equal(function(x), expected)
    assert np.array_equal(function.reference(x), expected)
    if rows > 1:
        assert f"__local float map_lcl[{2 * columns}]" in function.opencl(x)


@pytest.mark.parametrize("columns", [5, 12])
def test_some_work_items_fetch(columns: int, device: td.Device):
    """Of 16, which a map of more elements has."""

    def step(s: Any, row: Any) -> Any:
        own = row >> lift.slice(0, columns) >> lift.to_local(lift.map_lcl(lift.id))
        sums = row >> lift.to_local(lift.map_lcl(lambda a: a + own[0] + own[columns - 1]))
        return s + total(sums)

    x = np.arange(2 * 5 * 16, dtype=np.float32).reshape(2, 5, 16) % 7
    program = lift.fun(
        lift.array(2, 5, 16), lambda x: x >> lift.map_wrg(lambda m: m >> lift.reduce_seq(step, 0.0))
    )
    found = Derivation.of(program).apply(FETCH, "map_wrg/reduce_seq/to_local")
    expected = (x + x[..., :1] + x[..., columns - 1 : columns]).sum((1, 2))
    assert np.array_equal(td.compile(found.module, device=device)(x), expected)


def test_what_needs_its_own_step_is_refused():
    def moved(s: Any, row: Any) -> Any:
        return total(row >> lift.to_local(lift.map_lcl(lambda a: a + s)))

    x = np.ones((2, 6, 16), np.float32)
    with pytest.raises(TileError, match="map_lcl is fetched ahead, but needs results of its step"):
        td.compile(sums(moved).module)(x)


def test_unrolled_steps_are_refused():
    x = np.ones((2, 6, 16), np.float32)
    ahead = sums(lambda s, row: s + total(kept(row)))
    unrolled = ahead.apply(RULES["reduce_seq_unroll"], "map_wrg/reduce_seq")
    with pytest.raises(TileError, match="map_lcl is fetched ahead, but its steps are unrolled"):
        td.compile(unrolled.module)(x)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [(257, "work-items do not share it out evenly"), (4160, "that takes 4160 steps")],
)
def test_rows_that_work_items_do_not_hold_are_refused(columns: int, reason: str):
    ahead = sums(lambda s, row: s + total(kept(row)), columns=columns)
    with pytest.raises(TileError, match=f"map_lcl is fetched ahead, but {reason}"):
        td.compile(ahead.module)(np.ones((2, 6, columns), np.float32))


def test_pairs_are_fetched_to_two_memories(device: td.Device):
    def pairs(s: Any, row: Any) -> Any:
        both = row >> lift.to_local(lift.map_lcl(lambda a: (a, a + 1.0)))
        return s + (both >> lift.map(lambda p: p[0] * p[1]) >> lift.reduce_seq(lift.add, 0.0))

    x = np.arange(2 * 6 * 16, dtype=np.float32).reshape(2, 6, 16) % 5
    found = td.compile(sums(pairs).module, device=device)(x)
    assert np.array_equal(found, (x * (x + 1)).sum((1, 2)))
