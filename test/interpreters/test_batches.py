"""Lift functions executed for many elements at once, against one element at a time."""

# pyright: basic, reportInvalidTypeForm=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.interpreters import batches
from tiledialect.interpreters import lift as interpreter

VECTOR, MATRIX = lift.array("N"), lift.array("N", "M")
RNG = np.random.default_rng(0)
X = RNG.integers(-9, 9, 8).astype(np.float32)
A = RNG.integers(-9, 9, (8, 6)).astype(np.float32)


@lift.fun
def outer_values(x: VECTOR, a: MATRIX):
    """Values of outer maps, and arrays that are the same for all elements."""
    return a >> lift.map(
        lambda row: x >> lift.map(lambda e: row >> lift.map(lambda r: r * e + x[0] + row[1]))
    )


@lift.fun
def same_for_all(x: VECTOR, a: MATRIX):
    """Results that do not depend on the element."""
    return x >> lift.map(lambda e: a >> lift.map(lambda row: row >> lift.map(lambda r: 1.0)))


@lift.fun
def inner_layout(x: VECTOR, a: MATRIX):
    """Layout inside of a map, of arrays that depend on the element and that do not."""
    return a >> lift.map(
        lambda row: (
            lift.concat(row >> lift.pad(1, 2, lift.mirror), x)
            >> lift.pad_constant(1, 0, row[2])
            >> lift.slide(4, 2)
            >> lift.transpose
            >> lift.join
        )
    )


@lift.fun
def chosen_elements(x: VECTOR, a: MATRIX):
    """Elements at indices that depend on the element."""
    return a >> lift.map(
        lambda row: (
            row >> lift.map(lambda r: x[lift.cast(r, lift.i32)] + row[lift.cast(r, lift.i8)])
        )
    )


@lift.fun
def generated(x: VECTOR):
    """Arrays of indices inside of maps, and maps inside of them."""
    return lift.generate(
        3, 4, lambda i, j: x >> lift.map(lambda e: lift.generate(2, lambda k: x[i * j + k] + e))
    )


@lift.fun
def vectors(x: VECTOR, a: MATRIX):
    """Vectors inside of maps, with numbers that depend on the element."""
    return x >> lift.map(
        lambda e: (
            a
            >> lift.map(
                lambda row: (
                    row >> lift.as_vector(2) >> lift.map(lift.map_vec(lambda r: r * 2.0 + e))
                )
            )
            >> lift.map(lift.as_scalar)
        )
    )


@lift.fun
def tuples(x: VECTOR, a: MATRIX):
    """Arrays of tuples, of parts that depend on the element and that do not."""
    pairs = a >> lift.map(
        lambda row: lift.zip(x >> lift.map(lambda e: (e, row[0])), x) >> lift.map(lambda p: p)
    )
    return pairs >> lift.map(lift.map(lambda p: p[0][0] * p[0][1] - p[1]))


@lift.fun
def searches(x: VECTOR, a: MATRIX):
    """A search, which goes another way for each element."""
    steps = lift.generate(20, lambda i: lift.cast(i, lift.f32))
    return a >> lift.map(
        lambda row: steps >> lift.search(lambda s: lift.cast(row[0] - s, lift.i32), -1.0)
    )


PROGRAMS = (
    outer_values,
    same_for_all,
    inner_layout,
    chosen_elements,
    generated,
    vectors,
    tuples,
    searches,
)


def compare(monkeypatch: pytest.MonkeyPatch, program: Any, *arrays: Any) -> None:
    f = td.compile(program)
    together = f.reference(*arrays)
    with monkeypatch.context() as patch:
        patch.setattr(batches, "NUMBERS_AT_ONCE", 1)
        in_parts = f.reference(*arrays)
        patch.setattr(interpreter, "can_batch", lambda op: False)
        one_by_one = f.reference(*arrays)
    assert np.array_equal(together, one_by_one) and np.array_equal(in_parts, one_by_one)
    assert together.dtype == one_by_one.dtype


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_elements_at_once(monkeypatch: pytest.MonkeyPatch, program: Any):
    compare(monkeypatch, program, *([X] if program is generated else [X, A]))
