"""Rules tried on programs at random: those that change what a program means are found."""

from __future__ import annotations

from typing import Any

import pytest

from tiledialect import TileError, lift
from tiledialect.passes.lift import RULES, NotApplicable, apply, macro, rule, sequence
from tiledialect.passes.lift.rules import patterns as p


@rule(p.pad("a", "b", "edge") >> p.pad("c", "d", "edge"))
def pad_pad(x, a, b, c, d, edge):
    return x >> lift.pad(a + c, b + d, edge.data)


@rule(p.map("f") >> p.map("g"))
def maps_exchanged(x, f, g):
    return x >> lift.map(g) >> lift.map(f)


@rule(p.transpose)
def not_transposed(x):
    rows, columns = lift.Value(x.ssa).size, x[0].size
    return x >> lift.join >> lift.split(rows) if columns else x


@rule(p.gather("i") >> p.gather("j"))
def gathers_exchanged(x, i, j):
    return x >> lift.gather(_of(j)) >> lift.gather(_of(i))


def _of(index: Any) -> Any:
    return lambda i: index.expr.substitute({index.variable: i})


@rule(p.reduce("f", "e"))
def last_left_out(x, f, e):
    return x >> lift.slice(0, x.size - 1) >> lift.reduce(f, e)


@rule(p.slide("n", "s") >> p.map("f"))
def windows_from_the_end(x, n, s, f):
    return x >> lift.slide(n, s) >> lift.map(f) >> lift.gather(lift.reverse)


@macro
def two_of_them():
    """Exchange maps, and fuse them."""
    return sequence(maps_exchanged, RULES["map_fusion"])


WRONG = (pad_pad, maps_exchanged, not_transposed, gathers_exchanged, last_left_out, windows_from_the_end, two_of_them)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_rules_that_change_the_meaning(wrong):
    with pytest.raises(TileError) as raised:
        lift.check(wrong, trials=50)
    message = raised.value.message
    assert (
        message.startswith(wrong.name) and "changes the meaning of a program: it gives" in message
    )
    assert "// before\nbuiltin.module" in message and "// after\nbuiltin.module" in message


RIGHT = ("map_fusion", "split_join", "slide_tiling", "join_past_map", "map_past_pad", "gather_past_map", "let_inlining", "zip_past_split", "simplify", "vectorize", "map_seq_slide")  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_rules_of_the_package(name: str):
    assert lift.check(RULES[name], trials=4) == 4


def test_a_function_of_another_type_is_no_rule():
    rows = lift.fun(
        lift.array("N", 2),
        lambda x: x >> lift.map(lift.reduce(lift.add, 0.0)) >> lift.map(lambda a: a + 1.0),
    )
    with pytest.raises(NotApplicable, match="a function takes f32, not tensor<2xf32>"):
        apply(rows, maps_exchanged)


def test_programs_that_are_given():
    def key(x, k):
        return x >> lift.search(lambda e: k - e, -1, "binary")

    linear = RULES["search_linear"]
    with pytest.raises(TileError, match="search_linear applies to none of 60 programs"):
        lift.check(linear, trials=1)
    one = lift.fun(lift.array(1, lift.i32), lift.i32, key)
    assert lift.check(linear, trials=3, programs=[one]) == 3
