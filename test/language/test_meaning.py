"""Meaning of statements in the corners of the language, by the reference semantics.

The values are those that PlaidML 0.7 gives, but for what is marked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import reference

from tiledialect.errors import TileError
from tiledialect.ir.signature import find_function, parse_type
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize

A = np.array([1, 2, 3, 4], np.float32)
B = np.array([3, 1, 1, 4], np.float32)
I = np.array([-7, 7, -8, 5], np.int32)  # noqa: E741
M = np.arange(6, dtype=np.float32).reshape(2, 3)


def value(body: str, **inputs: Any) -> Any:
    """Value of `O` after the statements."""
    sized = {"A": "NM", "B": "NM", "X": "K"}
    header = ", ".join(f"{x}[{', '.join(sized[x][: a.ndim])}]" for x, a in inputs.items())
    (result,) = reference(f"function ({header}) -> (O) {{ {body} }}", list(inputs.values()))
    return result


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        # With N = 4.
        ("N / 3", 1),
        ("(N - 7) / 2 + 9", 8),
        ("(0 - N) / 3 + 9", 8),
        ("-N / 3 + 9", 8),
        ("-7 / 2 + 9", 6),
        ("7 / 2", 3),
        ("N / 2 * 3", 6),
        ("N - 4", 0),
        ("max(N, 9) - min(N, 2)", 7),
        ("abs(N - 9)", 5),
        ("-(-N)", 4),
        ("ident(N)", 4),
        ("(N == 4) + (N != 4) * 5", 1),
        ("(N < 5) + 2 * (N < 4) + 4 * (N > 3) + 8 * (N > 4)", 5),
        ("(N <= 4) + 2 * (N <= 3) + 4 * (N >= 4) + 8 * (N >= 5)", 5),
        ("N < 3 ? 7 : 8", 8),
        ("cond(N - 9, 7, 8)", 7),
        ("select(N - 4, 7, 8)", 8),
        ("add(N, mul(2, sub(N, 3)))", 6),
    ],
)
def test_sizes(size: str, expected: int):
    assert value(f"O[i: {size}] = +(A[0]);", A=A).shape == (expected,)
    # A named size, as a number, and as an output.
    assert value(f"D = {size}; O[i: D] = +(A[0]);", A=A).shape == (expected,)
    assert value(f"O = {size};", A=A) == expected
    assert value(f"D = {size}; O = A[] + D;".replace("[]", ""), A=A)[0] == 1 + expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("O[i: N] = +(A[i]), i < 2;", [1, 2, 0, 0]),
        ("O[i: N] = >(A[i]), i < 2;", [1, 2, 0, 0]),
        # A written element does not include its default.
        ("O[i: N] = +(A[i]), i < 2 default B;", [1, 2, 1, 4]),
        ("O[i: N] = *(A[i]), i < 2 default B;", [1, 2, 1, 4]),
        ("O[i: N] = >(A[i]), i < 2 default B;", [1, 2, 1, 4]),
        ("O[i: N] = <(A[i]), i < 2 default B;", [1, 2, 1, 4]),
        ("O[i: N] = =(A[i]), i < 2 default B;", [1, 2, 1, 4]),
        ("O[i: N] = +(A[i] == B[j]);", [2, 0, 1, 1]),
        ("O[i: N] = +(A[i] == B[j] ? B[j]);", [2, 0, 3, 4]),
        ("O[i: N] = >(A[i] == B[j] ? B[j]);", [1, 0, 3, 4]),
        ("O[i: N] = >(A[i] + B[j]);", [5, 6, 7, 8]),
        ("O[i: N] = +(A[i/2]);", [1, 0, 2, 0]),
        ("O[i: N] = +(A[1/2*i]);", [1, 0, 2, 0]),
        ("O[i: N] = +(A[(i + 1)/2]);", [0, 2, 0, 3]),
        ("O[i: N] = +(A[(i + N)/2 - N/2]);", [1, 0, 2, 0]),
        ("O[2*i: N] = +(A[i]);", [1, 0, 2, 0]),
        ("O[2i: N] = +(A[2 i]);", [1, 0, 3, 0]),
        ("O[i: N/2] = >(A[2*i + j]), j < 2;", [2, 4]),
        ("O[2*i + j: N] = +(A[i]), j < 2;", [1, 1, 2, 2]),
        ("O[i: N] = +(A[N - 1 - i]);", [4, 3, 2, 1]),
        ("O[i: N] = +(A[j]), i - j < N;", [1, 3, 6, 10]),
        ("O[i: N] = +(A[j] * B[k]), i - j < 1, j - k < 1;", [3, 2, 3, 16]),
        ("O[i: 2*N] = +(A[i]);", [1, 2, 3, 4, 0, 0, 0, 0]),
        ("O[0: 1] = =(A[i]), i < 1;", [1]),
        ("O[:] = +(A[i]);", 10),
        ("O[] = +(A[i]);", 10),
        ("O[i + j: N] = =(A[i]), j < 1;", [1, 2, 3, 4]),
        ("Pad = (N - 1)/2; O[i: N] = +(A[i + Pad]);", [2, 3, 4, 0]),
        ("K = 2; O[i: N] = +(A[i/K]);", [1, 0, 2, 0]),
        ("O[i: N] = +(A[i]), i < N/3 + 1;", [1, 2, 0, 0]),
        # PlaidML gives up on these two: nothing is ever read, because 3/2 is no integer.
        ("O[i: N] = +(A[i + (N - 1)/2]);", [0, 0, 0, 0]),
        ("O[i: N] = >(A[i - N]) default B;", [3, 1, 1, 4]),
        # PlaidML refuses these three.
        ("O[i: N] = +(A[i] * B[i] * A[i]);", [3, 4, 9, 64]),
        ("O[i: N] = >(A[i] + B[i] + A[0]);", [5, 4, 5, 9]),
        ("O[i] = +(A[i] * B[i]);", [3, 2, 3, 16]),
    ],
)
def test_contractions(statement: str, expected: Any):
    np.testing.assert_array_equal(value(statement, A=A, B=B), np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("A / 2", [-3, 3, -4, 2]),
        ("A / -3", [2, -2, 2, -1]),
        ("A >> 1", [-4, 3, -4, 2]),
        ("A << 1", [-14, 14, -16, 10]),
        ("~A", [6, -8, 7, -6]),
        ("abs(A)", [7, 7, 8, 5]),
        ("A < 7 == 1", [1, 0, 1, 1]),
        ("A + 7 ? 2 : A - 7 ? 3 : 4", [3, 2, 2, 2]),
        ("A - 1 - 1", [-9, 5, -10, 3]),
        ("-A * A", [-49, -49, -64, -25]),
        ("1 << 2 + max(A, 0) / 5", [4, 8, 4, 8]),
        ("1/2 * A", [0, 0, 0, 0]),
        ("A * N", [-28, 28, -32, 20]),
        # As in C; PlaidML has `^` bind more weakly than `|`.
        ("A & 6 | 1 ^ 3", [-7 & 6 | 2, 7 & 6 | 2, -8 & 6 | 2, 5 & 6 | 2]),
        ("7 ^ 3 | A & 0", [4, 4, 4, 4]),
    ],
)
def test_elementwise(expression: str, expected: list[int]):
    np.testing.assert_array_equal(value(f"O = {expression};", A=I), expected)


def test_what_functions_give():
    check = np.testing.assert_array_equal
    check(value("O = round(A);", A=np.float32([0.5, 1.5, 2.5, -0.5])), [1, 2, 3, -1])
    check(value("O = index(A, 1);", A=M), [[0, 1, 2], [0, 1, 2]])
    check(value("O = shape(A);", A=M), [2, 3])
    check(value("O = reshape(A, M, N);", A=M), M.reshape(3, 2))
    check(value("O = as_int(A, 32);", A=np.float32([1.7, -1.7])), [1, -1])
    check(value("O = gather(A, X);", A=M, X=np.int32([1, 0, 1])), M[[1, 0, 1]])
    check(value("T = tuple(A, N, 3.5); O = element(T, 0) + element(T, 2);", A=M), M + 3.5)
    check(
        value("T = tuple(tuple(A, 2), N); O = element(element(T, 0), 0) * element(T, 1);", A=M),
        M * 2,
    )
    check(value("O = A == 2 ? 1 : 0;", A=M), [[0, 0, 1], [0, 0, 0]])
    check(value("X = assert_even(N == 2); O = A;", A=M), M)
    # PlaidML cuts the fraction off first, so that 0.3 is false.
    check(value("O = as_bool(A);", A=np.float32([1.7, 0, 0.3])), [True, False, True])


def test_builtins():
    exponential = np.exp(M.astype(np.float64) - M.max(1, keepdims=True))
    softmax = exponential / exponential.sum(1, keepdims=True)
    close = np.testing.assert_allclose
    close(value("O = builtin_softmax(A, N, M);", A=M), softmax, rtol=1e-6)
    close(value("O = builtin_softmax(A * 1000, N, M);", A=M), [[0, 0, 1]] * 2, atol=1e-7)
    close(value("O = 2 * builtin_logsoftmax(A, N, M);", A=M), 2 * np.log(softmax), rtol=1e-5)
    p, t = M / 8 + 0.1, M / 10
    expected = -t * np.log(p) - (1 - t) * np.log(1 - p)
    found = value("O = builtin_binary_crossentropy(A, B, N * M);", A=p, B=t)
    close(found, expected, rtol=1e-5)


def test_random_numbers():
    state = np.uint32([1, 2, 3, 4])
    source = """function (S) -> (X, Y, T) {
      First = prng_step(S, 3, 5);
      T = prng_state(First);
      X = prng_value(First);
      Y = prng_value(prng_step(T, 3, 5)) + 0 * prng_value(First);
    }"""
    x, y, after = reference(source, [state])
    assert x.shape == (3, 5) and x.dtype == np.float32
    assert ((x >= 0) & (x < 1)).all() and (x != y).any()
    assert after.dtype == np.uint32 and (after != state).any()


def test_a_failed_assertion_is_an_error_at_its_place():
    module = load("function (A[N]) -> (O) {\n X = assert_small(N < 3);\n O = A;\n}", "a.tile")
    with pytest.raises(TileError) as caught:
        specialize(find_function(module), [parse_type("4xf32")])
    assert caught.value.span is not None and caught.value.span.line == 2


def test_dimensions_that_are_divided_by_zero_are_an_error_at_their_place():
    module = load("function (A[N]) -> (O) {\n  D = 7 / (N - 4);\n O = A;\n}")
    with pytest.raises(TileError, match="divided by 0") as caught:
        specialize(find_function(module), [parse_type("4xf32")])
    span = caught.value.span
    assert span is not None and (span.line, span.column) == (2, 7)


@pytest.mark.parametrize(
    ("given", "symbol"),
    [(None, "main"), ("conv-1.2", "conv_1_2"), ("2d", "main"), ("", "main"), ("é", "main")],
)
def test_functions_without_a_name_are_named_by_the_caller(given: str | None, symbol: str):
    text = "function (A) -> (O) { O = A; }"
    assert find_function(load(text, name=given)).sym_name.data == symbol
    named = find_function(load(text.replace("function", "function f"), name=given))
    assert named.sym_name.data == "f"
