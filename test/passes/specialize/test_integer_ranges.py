"""Positions and what is computed from them are i32 where that holds them, else i64."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.ir.signature import find_function, parse_type
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.specialize.types.integer_ranges import BINARY

SMALL, LARGE = 100, 50_000


def specialized(value: str, size: int) -> tuple[str, tuple[str, ...]]:
    """The element type of a function's result, and what is warned of."""
    source = f"function (X[N]) -> (O) {{ I = index(X, 0); O{value}; }}"
    function = find_function(load(source))
    texts = specialize(function, [parse_type(f"{size}xf32")])
    (t,) = function.function_type.outputs
    return str(getattr(t, "element_type", t)), texts


CASES: list[tuple[str, Callable[[Any], Any]]] = [
    (" = I * I", lambda i: i * i),
    (" = -I * I", lambda i: -i * i),
    (" = I * N * 2 - 1", lambda i: i * len(i) * 2 - 1),
    (" = I << 17", lambda i: i << 17),
    (" = pow(-1 - I, 3)", lambda i: (-1 - i) ** 3),
    (" = (I ^ -32768) * N * 2", lambda i: (i ^ -32768) * len(i) * 2),
    (" = (I | -32768) * N * 2", lambda i: (i | -32768) * len(i) * 2),
    (" = (-I & -32768) * N * 2", lambda i: (-i & -32768) * len(i) * 2),
    (" = ~I * N * 2", lambda i: ~i * len(i) * 2),
    (" = pow(I, 2)", lambda i: i**2),
    (" = max(I * I, 7)", lambda i: np.maximum(i * i, 7)),
    (" = I * (N * N) % 10007", lambda i: i * len(i) ** 2 % 10007),
    (" = (I > 5 ? I * I : -I)", lambda i: np.where(i > 5, i * i, -i)),
    ("[] = +(I[i] * I[i])", lambda i: (i * i).sum()),
    ("[i: N] = *(I[i - j]), j < 3", lambda i: i * (i - 1).clip(0) * (i - 2).clip(0)),
    ("[i: N] = +(I[j] * I[i - j]), j < 3", lambda i: sum((i - k).clip(0) * k for k in range(3))),
    (" = sum_to(I * 2, 1)", lambda i: 2 * i.sum()),
    (" = gather(I * I, I)", lambda i: i * i),
    (" = as_float(I * I, 64)", lambda i: i * i),
]


@pytest.mark.parametrize(("value", "expected"), CASES, ids=[value for value, _ in CASES])
def test_no_integer_wraps(value: str, expected: Callable[[Any], Any]):
    f = td.compile(f"function (X[N]) -> (O) {{ I = index(X, 0); O{value}; }}")
    for size in (SMALL, LARGE):
        x = np.zeros(size, np.float32)
        found = f(x)
        assert np.array_equal(found, expected(np.arange(size)))
        assert found.dtype == f.reference(x).dtype
    assert specialized(value, LARGE)[1] == ()


@pytest.mark.parametrize(
    ("value", "small", "large"),
    [
        (" = I", "i32", "i32"),
        (" = I + N", "i32", "i32"),
        (" = I * I", "i32", "i64"),
        (" = I * I / N", "i32", "i64"),
        (" = I * 0.5", "f32", "f32"),
        (" = I * I > 3", "i1", "i1"),
        # No sum is larger than the largest term times their number.
        ("[] = +(I[i])", "i32", "i64"),
        ("[] = +(I[i] * I[i])", "i32", "i64"),
        ("[i: N] = +(I[i - j]), j < 3", "i32", "i32"),
        # Nor a product than the largest factor to their number.
        ("[i: N] = *(I[i - j]), j < 3", "i32", "i64"),
        ("[i: N] = >(I[i - j] + I[j])", "i32", "i32"),
        (" = I < 3000000000", "i1", "i1"),
        (" = shape(X)", "i32", "i32"),
    ],
)
def test_types_are_as_wide_as_needed(value: str, small: str, large: str):
    assert specialized(value, SMALL)[0] == small
    assert specialized(value, LARGE)[0] == large


@pytest.mark.parametrize(
    ("value", "size", "words"),
    [
        (" = as_int(I, 32) * I", LARGE, "1:47: O is of type i32 and wraps beyond 2147483647, where it may be 2499900001; compute it from as_int(…, 64)"),
        (" = as_int(I, 16) - 7", LARGE, None),
        (" = as_int(I, 8) * I", SMALL, None),
        (" = as_int(I, 32) * I", SMALL, None),
        (" = as_int(X, 32) * I", LARGE, None),
        (" = as_int(I, 64) * I", LARGE, None),
        ("[] = *(I[i])", SMALL, "1:43: O is of type i64 and wraps beyond 9223372036854775807, where it may be"),
        (" = I + pow(N, 20)", SMALL, "an integer here is of type i64 and wraps beyond 9223372036854775807, where it may be"),
        (" = I + pow(2, 63)", SMALL, "where it may be 9223372036854775808"),
        (" = I + (1 << 70)", SMALL, None),
        (" = I * I * I * I * I", LARGE, "wraps beyond 9223372036854775807, where it may be"),
    ],
)  # fmt: skip
def test_what_is_warned_of(value: str, size: int, words: str | None):
    texts = specialized(value, size)[1]
    assert len(texts) == (words is not None)
    assert words is None or words in texts[0]


def test_a_number_that_a_given_type_does_not_hold():
    f = td.compile("function (X[N]) -> (O) { O = X * 3000000000; }")
    with pytest.raises(td.TileError, match=re.escape("does not fit i32, the type of X")):
        f(np.zeros(3, np.int32))


ENDS = [(a, b) for a, b in product(range(-3, 5), repeat=2) if a <= b]


@pytest.mark.parametrize("op", [op for op in BINARY if op.name in numeric.FUNCTIONS])
def test_ranges_hold_all_results(op: Any):
    every = np.arange(-3, 5)
    results = numeric.apply(op.name, CONCRETE["i64"], [every[:, None], every[None, :]])
    for a, b in product(ENDS, repeat=2):
        if (found := BINARY[op](a, b)) is not None:
            own = results[a[0] + 3 : a[1] + 4, b[0] + 3 : b[1] + 4]
            assert found[0] <= own.min() and own.max() <= found[1], (a, b)
