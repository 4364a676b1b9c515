"""Arguments of another kind are refused in the words of who gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tiledialect import TileError, lift
from tiledialect.passes.lift import (
    RULES,
    Derivation,
    NotApplicable,
    applicable,
    apply,
    at,
    at_input,
    attempt,
    bottom_up,
    choice,
    everywhere,
    in_function,
    load_rules,
    macro,
    repeat,
    replay,
    sequence,
    to_svg,
    top_down,
)
from tiledialect.passes.lift.rules import patterns as p

given: Any = lambda value: value  # noqa: E731
"""A value that the type checker does not know."""


@lift.fun
def sums(x: lift.array("N")):
    return x >> lift.slide(3, 1) >> lift.map(lift.reduce(lift.add, 0.0))


STEPS = Derivation.of(sums)
RULE = "a rule is given as RULES"


@pytest.mark.parametrize(
    "combinator",
    [
        *(
            sequence,
            choice,
            attempt,
            repeat,
            at_input,
            in_function,
            top_down,
            bottom_up,
            everywhere,
        ),
        lambda strategy: at(p.map("f"), strategy),
        lambda strategy: apply(sums, strategy, "map"),
        lambda strategy: STEPS.apply(strategy),
    ],
)
def test_names_are_no_rules(combinator: Callable[[Any], object]):
    with pytest.raises(TileError, match=rf"{RULE}.*, not 'map_glb'"):
        combinator("map_glb")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: replay(given(3), ""),
            "a program is of lift.fun, a ModuleOp or a Derivation, not 3",
        ),
        (lambda: applicable(given(3)), "a program is of lift.fun"),
        (lambda: replay(sums, given(3)), "the steps are a text, not 3"),
        (lambda: applicable(sums, given(3)), "rules are given by their names"),
        (lambda: replay(sums, "a at map", given({"a": 3})), "rules are given by their names"),
        (lambda: STEPS.redo(given(3)), "a step is one of a derivation's `steps`, not 3"),
        (lambda: STEPS.apply(RULES["map_glb"], given(3)), "a place is a text, .*, not 3"),
        (lambda: STEPS.apply(RULES["map_glb"], ""), "there is nothing at "),
        (lambda: STEPS.apply(RULES["split_join"], "map", n=given([2])), r"\[2\] is no size"),
        (lambda: STEPS.bind(N=given(None)), "None is no size"),
        (lambda: STEPS.bind(N=given(1.5)), "1.5 is no size"),
        (lambda: at(given("map"), RULES["map_glb"]), "a place is given by a pattern, .* 'map'"),
        (lambda: at_input(RULES["map_glb"], given("x")), "an operand has a number, not 'x'"),
        (lambda: macro(given(3)), "macro takes a function of sizes .*, not 3"),
        (lambda: load_rules(given(3)), "rules are loaded from a file, not 3"),
        (lambda: to_svg(given(sums)), "to_svg draws a derivation"),
        (lambda: lift.check(given("map_fusion")), "check takes a rule, .*, not 'map_fusion'"),
        (lambda: lift.check(RULES["map_fusion"], trials=0), "`trials` must be .*, got 0"),
        (
            lambda: lift.check(RULES["map_fusion"], programs=given(sums)),
            "`programs` is a list of programs",
        ),
    ],
)
def test_other_arguments(call: Callable[[], object], message: str):
    with pytest.raises(TileError, match=message):
        call()


def test_an_input_that_is_not_there():
    with pytest.raises(NotApplicable, match="there is no input 9"):
        STEPS.apply(at_input(RULES["map_glb"], 9))


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0, "N / n is divided by n, which is 0"),
        ("M + 1", r"\(N\) / \(M \+ 1\) is not a sum of products"),
        (-2, "cannot have -2 elements"),
    ],
)
def test_sizes_that_divide_nothing(size: int | str, message: str):
    negated = lift.fun(lift.array("N"), lambda x: x >> lift.map(lift.neg))
    split = apply(negated, RULES["split_join"], "map", n="n")
    with pytest.raises(TileError, match=message):
        split.bind(n=size)
