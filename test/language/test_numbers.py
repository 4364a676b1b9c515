"""Numbers in the text and dimensions: which types hold them, and what becomes of the others."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from running import reference, run

from tiledialect.errors import TileError

U8 = np.array([1, 250], np.uint8)
F16 = np.array([1, -2], np.float16)
F32 = np.array([1, -2], np.float32)


@pytest.mark.parametrize(
    ("value", "array", "said"),
    [
        ("A > 300", U8, "300 does not fit u8, the type of A; write as_int(A, 32)"),
        ("A + -1", U8, "-1 does not fit u8, the type of A; write as_int(A, 32)"),
        ("A == -1", np.array([1], np.uint32), "-1 does not fit u32, the type of A; write as_int(A, 64)"),
        ("A * (N * 200)", U8, "400 does not fit u8, the type of A"),
        ("A > 0 ? A : 256", U8, "256 does not fit u8, the type of A"),
        ("A - 3000000000", np.array([1], np.int32), "does not fit i32, the type of A; write as_int(A, 64)"),
        ("3000000000", U8, "3000000000 does not fit i32; write as_int(3000000000, 64)"),
        ("N * 1500000000", U8, "3000000000 does not fit i32; write as_int(3000000000, 64)"),
        ("reshape(3000000000, 1)", U8, "3000000000 does not fit i32"),
    ],
)  # fmt: skip
def test_integers_that_do_not_fit_are_refused(value: str, array: Any, said: str):
    with pytest.raises(TileError) as caught:
        reference(f"function (A[N]) -> (O) {{ O = {value}; }}", [array])
    assert said in caught.value.message
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("value", "array", "expected"),
    [
        ("A > 255", U8, [False, False]),
        ("as_int(A, 32) > 300", U8, [False, False]),
        ("as_int(3000000000, 64)", U8, 3000000000),
        ("as_int(N * 1500000000, 64)", U8, 3000000000),
        ("A > 0 ? A : -1e9", F16, [1, -np.inf]),
        ("A / 70000", F16, np.float16([1 / 70000, -2 / 70000])),
        ("A / (N * 35000)", F16, np.float16([1 / 70000, -2 / 70000])),
        ("(A > 0) * 3000000000", U8, [3000000000, 3000000000]),
        ("A < 1e39", F32, [True, True]),
        ("A + 1e39", F32, [np.inf, np.inf]),
        ("A < 1e400 ? A : 0", F32, F32),
        ("A * 1e400", F32, [np.inf, -np.inf]),
        ("-1e400", U8, np.float32(-np.inf)),
        ("N > 2 ? N : 0.5", U8, np.float32(0.5)),
        ("N > 1 ? N : 0.5", U8, np.float32(2)),
    ],
)  # fmt: skip
def test_numbers_and_their_types(value: str, array: Any, expected: Any, device: Any):
    source = f"function (A[N]) -> (O) {{ O = {value}; }}"
    for (result,) in (reference(source, [array]), run(source, [array], device)):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_remainders_are_of_the_sign_of_the_first(dtype: str, device: Any):
    least = np.iinfo(dtype).min
    a, b = np.array([7, 5, 100, 3, least], dtype), np.array([3, 0, 7, 5, 1], dtype)
    if dtype.startswith("i"):
        a, b = np.append(a, [-7, 7, -7, least]).astype(dtype), np.append(b, [3, -3, -3, -1]).astype(dtype)  # fmt: skip
    expected = np.where(b == 0, a, np.fmod(a, np.where(b == 0, 1, b)))
    source = "function (A, B) -> (O) { O = A % B; }"
    for (result,) in (reference(source, [a, b]), run(source, [a, b], device)):
        np.testing.assert_array_equal(result, expected.astype(dtype))


@pytest.mark.parametrize(
    ("value", "who"), [("A % 2", "A"), ("I % 2.5", "an operand"), ("2.5 % A", "an operand")]
)
def test_there_are_no_remainders_of_reals(value: str, who: str):
    said = f"rem works on integers, but {who} holds reals; for reals x and y write x - y * floor"
    with pytest.raises(TileError, match=re.escape(said)):
        reference(f"function (A[N], I[N]) -> (O) {{ O = {value}; }}", [F32, U8])


def test_what_is_written_for_remainders_of_reals():
    (result,) = reference("function (X, Y) -> (O) { O = X - Y * floor(X / Y); }", [F32, -2 * F32])
    np.testing.assert_array_equal(result, np.mod(F32, -2 * F32))


def test_sums_of_bools_count(device: Any):
    x, w = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(4, np.float32)
    source = """function (X[N, M], W) -> (S, Twice, Not) {
        S = sum_to(X <= 5, W); Twice = S * 2; Not = ~S;
    }"""
    counts = (x <= 5).sum(axis=0).astype(np.int32)
    for results in (reference(source, [x, w]), run(source, [x, w], device)):
        for result, expected in zip(results, (counts, 2 * counts, ~counts), strict=True):
            np.testing.assert_array_equal(result, expected)
            assert result.dtype == np.int32


def test_integers_in_a_contraction_are_rounded_to_the_type_they_meet(device: Any):
    a, b = np.array([70000, 2049], np.int32), np.array([1, 1], np.float16)
    source = "function (A[N], B[N]) -> (O) { O[i: N] = +(A[i] * B[i]); }"
    for (result,) in (reference(source, [a, b]), run(source, [a, b], device)):
        np.testing.assert_array_equal(result, np.array([np.inf, 2048], np.float16))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("O[i: N] = +(A[i + (N - 2)*j]);", "nothing bounds the index j"),
        ("".join(f"D{k + 1} = D{k}*D{k}; " for k in range(28)) + "O = A * D28;", "the dimension D6 does not fit 64 bits"),
        ("O[i, j: N, 99 * N**20] = +(A[i]);".replace("N**20", "*".join("N" * 70)), "a size here does not fit 64"),
    ],
)  # fmt: skip
def test_what_dimensions_make_wrong(body: str, said: str):
    with pytest.raises(TileError, match=said):
        reference(f"function (A[N]) -> (O) {{ D0 = N; {body} }}", [F32])
