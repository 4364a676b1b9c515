"""Several functions in one text, which call one another; functions for tensors of any rank."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from running import reference
from test_roundtrip import reads_back
from work import is_linear

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.ir.signature import find_function
from tiledialect.language import to_ir
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient.tile_gradient import TileGradientPass

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
TEXT = """
function spread(X[N, M]) -> (O) { O = sqrt(element(moments(X), 1)); }
function moments(X[N, M]) -> (Mean, Var) { Mean = mean(X); Var = mean(X * X) - Mean * Mean; }
function mean(X[N, M]) -> (Y) { S[i: N] = +(X[i, j]); Y = S / M; }
"""


def test_functions_call_one_another():
    module = load(TEXT)
    module.verify()
    assert [f.sym_name.data for f in module.ops] == ["spread", "moments", "mean"]  # pyright: ignore[reportAttributeAccessIssue]
    reads_back(TEXT)
    (result,) = (td.compile(TEXT, name="spread").reference(X[0]),)
    np.testing.assert_allclose(result, X[0].std(axis=1), rtol=1e-6)


def test_calls_that_make_too_many_statements(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(to_ir, "MOST_STATEMENTS", 5)
    with pytest.raises(TileError, match="the calls make more than 5 statements of this function"):
        load(TEXT)


def test_a_name_chooses():
    np.testing.assert_array_equal(td.compile(TEXT, name="mean")(X[0]), X[0].mean(axis=1))
    with pytest.raises(TileError, match="name one of the functions here: spread, moments, mean"):
        td.compile(TEXT)
    with pytest.raises(TileError, match="there is no function foo here"):
        td.compile(TEXT, name="foo")


def test_the_names_inside_are_their_own():
    text = """
    function f(N, A[M]) -> (T) { S = N * 2; T[i: M] = +(A[i]) default S; }
    function g(A[N], S) -> (T, S2) { T = f(f(S, A), A) + S; S2 = T * N; }
    """
    f = td.compile(text, name="g")
    a, s = np.float32([1, 2]), np.float32([5, 6])
    assert [r.tolist() for r in f.reference(a, s)] == [[6, 8], [12, 16]]
    reads_back(text)


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("function f(A) -> (O) { O = ¦f(A); }", "cannot call itself: `f` calls `f`"),
        ("function f(A) -> (O) { O = g(A); } function g(A) -> (O) { O = ¦f(A); }",
         "cannot call itself: `f` calls `g` calls `f`"),
        ("function f(A) -> (O) { O = A; } function ¦f(A) -> (O) { O = A; }", "two functions `f`"),
        ("function f(A) -> (O) { O = A; } function g(A) -> (O) { O = ¦f(A, A); }",
         "`f` takes 1 argument, not 2"),
        ("function f(A[N, M]) -> (O) { O = A; } function g(A[N]) -> (O) { O = f(¦A); }",
         "`f` takes a tensor of 2 dimensions here, and this has 1"),
        ("function f(A) -> (O, P) { O = A; P = A; } function g(A) -> (O) { O = ¦f(A) + 1; }",
         "`add` takes tensors, not a tuple"),
        ("function fun(A) -> (O) { O = A; } function g(A) -> (O) { O = ¦fum(A); }",
         "there is no function `fum`; do you mean `fun`?"),
    ],
)  # fmt: skip
def test_calls_that_are_refused(marked: str, said: str):
    before, _, after = marked.partition("¦")
    with pytest.raises(TileError) as caught:
        load(before + after)
    assert said in caught.value.message
    assert caught.value.span is not None and caught.value.span.column == len(before) + 1


@pytest.mark.parametrize(
    ("header", "call", "array", "said"),
    [
        ("A[N, N]", "A[N, M]", X[0], "the assertion `N_of_f_fits` does not hold"),
        ("A[3]", "A", X[0, 0], "the assertion `3_of_f_fits` does not hold"),
        ("A[N]", "A", X, "A must have 1 dimension here, and is 2x3x4"),
    ],
)
def test_arguments_must_fit(header: str, call: str, array: Any, said: str):
    text = f"function f({header}) -> (O) {{ O = A; }} function g({call}) -> (O) {{ O = f(A); }}"
    with pytest.raises(TileError, match=said):
        td.compile(text, name="g").reference(array)


def test_gradients_print_what_reads_back():
    for text in (TEXT, "function f(A, B) -> (O) { C = A * B; O = C * C; }"):
        module = load(text)
        name = find_function(module, None if "f(A, B)" in text else "spread").sym_name.data
        TileGradientPass(name).apply(None, module)  # pyright: ignore[reportArgumentType]
        again = load(print_tile(module))
        assert str(load(print_tile(again))) == str(again)
        names = [f.sym_name.data for f in module.ops]  # pyright: ignore[reportAttributeAccessIssue]
        assert names == [f.sym_name.data for f in again.ops]  # pyright: ignore[reportAttributeAccessIssue]


def test_axes_count_from_the_end_too():
    source = (
        "function (A[N, M, L]) -> (O) { O = index(A, -1) + index(A, -3) * dim(A, -2) + dim(A, 1); }"
    )
    (result,) = reference(source, [np.zeros((2, 3, 4), np.float32)])
    i, _, k = np.indices((2, 3, 4))
    assert np.array_equal(result, k + 3 * i + 3)


@pytest.mark.parametrize(("rank", "name"), [*product((1, 2, 3), ("softmax", "logsoftmax"))])
def test_softmax_over_any_axis(rank: int, name: str):
    array = X[(0,) * (3 - rank)] * 100
    for axis in range(-rank, rank):
        dims = ", ".join("NMK"[:rank])
        text = f"function (A[{dims}]) -> (O) {{ O = {name}(A, {axis}); }}"
        reads_back(text)
        (result,) = reference(text, [array])
        shifted = array.astype(np.float64) - array.max(axis, keepdims=True)
        total = np.exp(shifted).sum(axis, keepdims=True)
        expected = np.exp(shifted) / total if name == "softmax" else shifted - np.log(total)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("header", "call", "said"),
    [
        ("A", "softmax(A, 0)", "needs the number of dimensions of A"),
        ("A[N]", "softmax(A, 1)", "A has 1 dimension, and none is 1"),
        ("A[N]", "softmax(A, N)", "takes a number here, not a dimension"),
        ("A[N]", "builtin_softmax(A, N, N)", r"2 dimensions \(`softmax\(X, axis\)` takes any\)"),
        ("A[N]", "A * dim(A, 1)", "A has 1 dimension, and none is 1"),
        ("A[N]", "index(A, -2)", "A has 1 dimension, and none is -2"),
        (
            "A",
            "index(A, -1)",
            "`index` needs the number of dimensions of A to count from the last",
        ),
        ("A", "A * dim(A, -1)", "`dim` needs the number of dimensions of A"),
        ("A[N]", "assert_x()", "`assert_x` takes 1 argument, not 0"),
    ],
)
def test_what_they_refuse(header: str, call: str, said: str):
    with pytest.raises(TileError, match=said):
        load(f"function ({header}) -> (O) {{ O = {call}; }}")


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("A", "O[i: dim(A, 1)] = +(A[j, i + dim(A, 0) - 2]);", [3, 5, 7, 0]),
        ("A[2, N]", "O[i] = +(A[i, j]);", [6, 9]),
        ("A[N, 4]", "O = dim(A, 0) * dim(A, 1);", 8),
        ("A[N, M]", "O = N % 2 + 7 % M;", 3),
        ("A[N, M]", "O = !(N == 2);", 0),
        ("A[N, M]", "O[i: N] = +(B[i, j]); B = !A;", [1, 0]),
    ],
)  # fmt: skip
def test_dimensions(header: str, body: str, expected: Any):
    if body.endswith("B = !A;"):
        body = "B = !A; O[i: N] = +(B[i, j]);"
    data = np.array([[0, 1, 2, 3], [3, 4, 5, -3]], np.float32)
    text = f"function ({header}) -> (O) {{ {body} }}"
    reads_back(text)
    (result,) = reference(text, [data])
    np.testing.assert_array_equal(result, expected)


def test_constant_dimensions_are_checked():
    with pytest.raises(TileError, match="A is 3, but 2 was given"):
        reference("function (A[3]) -> (O) { O = A; }", [np.ones(2)])


def test_the_work_is_linear_in_the_depth_of_calls():
    def load_nested(depth: int) -> None:
        load("function (A) -> (O) { O = " + "abs(" * depth + "A" + ")" * depth + "; }")

    assert is_linear(load_nested, 400)
