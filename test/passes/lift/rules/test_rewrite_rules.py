"""Rewrite rules keep what a program means, on random programs that they match."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES, dot
from random_functions import Make
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect import lift
from tiledialect.dialects.lift import maps
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.passes.lift import Derivation, NotApplicable, replay
from tiledialect.passes.lift.rules.collections import FAMILIES, RULES
from tiledialect.passes.lift.rules.places import places, reachable
from tiledialect.passes.lift.rules.rule import Named
from tiledialect.passes.lift.strategies.mapping import computes


def bound(derivation: Derivation, sizes: dict[str, int]) -> Derivation:
    """The derivation with values for those names of sizes that it has."""
    return derivation.bind(**{n: v for n, v in sizes.items() if n in derivation.sizes})


def inputs(module: ModuleOp, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    """Whole numbers, in order along the last axis, for the inputs of a program."""
    rng = np.random.default_rng(seed)
    function = bound(Derivation.of(module), sizes).function
    return [
        np.sort(rng.integers(-4, 12, t.get_shape()).astype(np.float32), axis=-1)
        for t in function.function_type.inputs
    ]


def result(derivation: Derivation, arrays: list[np.ndarray]) -> np.ndarray:
    return td.compile(derivation.module).reference(*arrays)


def test_every_rule_has_an_example():
    assert EXAMPLES.keys() == RULES.keys()


def test_every_rule_has_a_lit_test():
    assert {name for names in FAMILIES.values() for name in names} == RULES.keys()
    for family, names in FAMILIES.items():
        text = (Path(__file__).parent / f"{family}.mlir").read_text()
        assert [n for n in names if f"// CHECK-LABEL: func.func @{n}(" not in text] == []


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("seed", range(len(SIZES)))
def test_rule(name: str, seed: int):
    """The result is the same; parameters stay open, or are given, or are bound afterwards."""
    example, rule = EXAMPLES[name], RULES[name]
    program = Derivation.of(example.program(Make(Random(seed))))
    arrays = inputs(program.module, SIZES[seed], seed)
    expected = result(program, arrays)
    given = dict(example.parameters)
    closed = program.apply(rule, **given)
    np.testing.assert_array_equal(result(closed, arrays), expected)
    kept = {n: v for n, v in given.items() if rule.parameters[n].annotation is int}
    left_open = program.apply(rule, **kept)
    left = bound(left_open, {n: v for n, v in given.items() if n not in kept})
    assert str(left.module) == str(closed.module)
    again = replay(program.module, closed.text)
    assert str(again.module) == str(closed.module)


def test_vectors_of_what_a_tuple_around_holds():
    """A function of vectors may take a component of a tuple that is not its argument."""

    def sums(x, y):
        zeros = lift.generate(4, lambda i: lift.cast(i * 0, lift.f32))
        row = lambda s, t: lift.zip(s, t[0]) >> lift.map(lambda p: p[0] + p[1] * t[1])  # noqa: E731
        return lift.zip(x, y) >> lift.reduce_seq(row, zeros)

    program = Derivation.of(lift.fun(lift.array("N", 4), lift.array("N"), sums))
    arrays = [np.arange(12, dtype=np.float32).reshape(3, 4), np.float32([2, 3, 5])]
    vectors = program.apply(RULES["vectorize_zip"], "reduce_seq/map", w=4)
    np.testing.assert_array_equal(result(vectors, arrays), result(program, arrays))


@pytest.mark.parametrize("seed", range(12))
def test_random_sequences(seed: int):
    """Rules at random, one after the other, keep the result."""
    random = Random(seed)
    example = EXAMPLES[random.choice(list(EXAMPLES))]
    derivation = Derivation.of(example.program(Make(random)))
    arrays = inputs(derivation.module, SIZES[1], seed)
    expected = result(derivation, arrays)
    derivation = bound(derivation, SIZES[1])
    for _ in range(6):
        derivation = one_step(derivation, random)
        found = result(derivation, arrays)
        assert np.array_equal(found, expected), derivation.text


def one_step(derivation: Derivation, random: Random) -> Derivation:
    """A rule that applies, at a place; mostly one that looks for something in particular."""
    addresses = places(derivation.function)
    rules = random.sample(list(RULES.values()), len(RULES))
    if random.random() < 0.8:
        rules.sort(key=lambda rule: rule.name.startswith(("add_", "to_")))
    for rule in rules:
        matching = [place for place, op in addresses.items() if matches(rule, op)]
        numbers = {name: random.choice([1, 2, 4]) for name in rule.parameters if name != "u"}
        numbers = {n: random.randrange(2) if n == "dim" else v for n, v in numbers.items()}
        try:
            if matching:
                return derivation.apply(rule, random.choice(matching), **numbers)
        except NotApplicable:
            continue
    return derivation


def matches(rule: Named, op: LiftOp) -> bool:
    try:
        rule.check(op.results[0])
    except NotApplicable:
        return False
    return True


def test_names_of_lift():
    """The rules that stand beside Lift's in the documentation are there."""
    page = (Path(__file__).parents[4] / "docs" / "lift-names.md").read_text()
    rows = [line.split("|")[2] for line in page.splitlines() if line.startswith("| `")]
    named = [n for row in rows for n in re.findall(r"`([a-z0-9_]+)`", row.partition("none:")[0])]
    assert len(rows) > 90 and set(named) <= RULES.keys()


def layer(x, y, z):
    """A sum for each row and column, with a number for the column."""
    columns = lift.zip(y, z)
    return x >> lift.map(lambda a: columns >> lift.map(lambda b, c: lift.max(dot(a, b) - c, 0.0)))


def scaled(x, y, z):
    """Sums that are halved: nothing of the row or the column is used again."""
    return x >> lift.map(lambda a: y >> lift.map(lambda b: 0.5 * dot(a, b)))


def distances(x, y, z):
    """A sum for each row and column, with numbers for both."""
    columns = lift.zip(y, z)
    rows = lift.zip(x, z)
    return rows >> lift.map(lambda a, d: columns >> lift.map(lambda b, c: (d + c) - dot(a, b)))


def windows(x, y, z):
    """A sum for each window, with the number in its middle."""
    return x >> lift.slide2(2, 1) >> lift.map2(lambda w: w[1][1] - dot(w >> lift.join, z))


@pytest.mark.parametrize("name", ["map_reduce_fission", "register_block_2d", "reuse_block_2d", "tile_matrix_product", "hold_blocks_2d", "block_sums_2d"])  # fmt: skip
@pytest.mark.parametrize("function", [layer, scaled, distances, windows])
def test_sums_that_others_finish(function, name: str):
    """Blocks are of the sums alone, and what is done to these stays inside of their tile."""
    rule = RULES[name]
    if (function is windows) != (name == "block_sums_2d") and name != "map_reduce_fission":
        pytest.skip("sums of rows and columns are blocked otherwise than those of windows")
    kinds = (
        lift.array(5, 9) if function is windows else lift.array(4, 8),
        lift.array(4, 8),
        lift.array(4),
    )
    program = Derivation.of(lift.fun(*kinds, function))
    sizes = {"m": 4, "n": 4, "k": 2, "p": 2, "q": 1}
    found = program.apply(rule, **{n: v for n, v in sizes.items() if n in rule.parameters})
    arrays = inputs(program.module, {}, 0)
    assert np.array_equal(result(found, arrays), result(program, arrays))
    ops = reachable(found.function)
    outer = [op for op in ops if op.parent_op() is found.function and isinstance(op, maps.MapBase)]
    assert sum(map(computes, outer)) == (2 if name == "map_reduce_fission" else 1)
