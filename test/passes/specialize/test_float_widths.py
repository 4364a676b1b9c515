"""Reals that have no width of their own take that of what they finally meet."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f64

import tiledialect as td
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.meetings import element_type
from tiledialect.ir.signature import find_function, parse_type
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize

HEADER = "function (X[N], W[N], I[N]) -> "
N = 23
RNG = np.random.default_rng(3)
X, W = RNG.random(N) + 0.5, RNG.random(N).astype("f4")
I = RNG.integers(1, 9, N).astype("i4")  # noqa: E741
PLACES = np.arange(N)

DFT = """
function (X[N]) -> (Re, Im) {
  I = index(X, 0);
  Z[k, n: N, N] = =(I[k] * I[n]);
  Angle = Z * (-2 * 3.141592653589793 / N);
  Cos = cos(Angle);
  Sin = sin(Angle);
  Re[k: N] = +(X[n] * Cos[k, n]);
  Im[k: N] = +(X[n] * Sin[k, n]);
}
"""


def results(source: str, *inputs: Any) -> list[np.ndarray[Any, Any]]:
    """Of a device, which agree with the reference semantics in types and to 1e-12 of their scale."""
    f = td.compile(source)
    found, expected = f(*inputs), f.reference(*inputs)
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        if a.dtype == np.float64:
            assert np.allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(initial=1))
    return list(found)


CASES: list[tuple[str, Callable[[], Any]]] = [
    ("index(X, 0) * 0.1", lambda: PLACES * 0.1),
    ("(index(X, 0) + 1) / 3.0 * X", lambda: (PLACES + 1) / 3.0 * X),
    ("X > 1 ? 0.1 : 0.2", lambda: np.where(X > 1, 0.1, 0.2)),
    ("(X > 1 ? 0.1 : 0.2) * 0.3 + X", lambda: np.where(X > 1, 0.1, 0.2) * 0.3 + X),
    ("exp(-I) + 0 * X", lambda: np.exp(-I.astype("f8"))),
    ("sqrt(I) < 1.7320508 ? X : 0", lambda: np.where(np.sqrt(I.astype("f8")) < 1.7320508, X, 0)),
    ("I * (1.0 / N) - X", lambda: I * (1.0 / N) - X),
    ("exp(1) * sqrt(N) + 0 * X", lambda: np.full(N, np.exp(1) * np.sqrt(N))),
    ("sigmoid(I) * gather(X, I)", lambda: X[I] / (1 + np.exp(-I.astype("f8")))),
    ("pow(I, 0.3) * X", lambda: I**0.3 * X),
    ("stop_gradient(0.1) * X", lambda: 0.1 * X),
    ("reshape(index(X, 0) * 0.1, N, 1) * X", lambda: PLACES[:, None] * 0.1 * X),
    ("as_float(I * 0.1, 64)", lambda: I * 0.1),
    ("scatter(0.1, I, X)", lambda: np.bincount(I, minlength=N) * 0.1),
    ("0.1", lambda: np.array(0.1)),
    ("I * 0.1", lambda: I * 0.1),
    ("log(1 + I) > 1.5 ? 1.5 : 0.1", lambda: np.where(np.log(1.0 + I) > 1.5, 1.5, 0.1)),
]


@pytest.mark.parametrize(("value", "expected"), CASES, ids=[value for value, _ in CASES])
def test_as_exact_as_numpy(value: str, expected: Callable[[], Any]):
    (found,) = results(f"{HEADER}(O) {{ O = {value}; }}", X, W, I)
    assert found.dtype == np.float64
    assert np.allclose(found, expected(), rtol=1e-12, atol=1e-14)


def test_a_fourier_transform():
    x = RNG.standard_normal(50)
    re, im = results(DFT, x)
    expected = np.fft.fft(x)
    # An angle of up to 300 is off by 3e-14, and 50 products with numbers of about 1 are summed.
    assert np.allclose(re, expected.real, atol=1e-12) and np.allclose(im, expected.imag, atol=1e-12)
    assert {r.dtype for r in results(DFT, x.astype("f4"))} == {np.dtype("f4")}


@pytest.mark.parametrize(
    ("body", "dtypes"),
    [
        # What another statement does changes no type.
        ("T = index(X, 0) * 0.1; O = T * W; P = T * X;", "f4 f8"),
        ("T = index(W, 0) * 0.1; O = T; P = T * X;", "f4 f8"),
        ("O = W > 0.5 ? 0.1 : 0.2; P = X > 0.5 ? 0.1 : 0.2;", "f4 f8"),
        ("T = I * 0.5; U = T + index(I, 0) * 0.25; O = U; P = U * W;", "f8 f4"),
        ("T = as_float(I, 32) * 0.1; O = T; P = T * X;", "f4 f8"),
        ("D = as_float(W, 64); S[] = +(D[i]); O = as_float(S, 32); P = I < 0.5 ? 0.1 : O;", "f4 f4"),
    ],
)  # fmt: skip
def test_only_what_is_met_counts(body: str, dtypes: str):
    found = results(f"{HEADER}(O, P) {{ {body} }}", X, W, I)
    assert [a.dtype for a in found] == [np.dtype(t) for t in dtypes.split()]


@pytest.mark.parametrize("value", [value for value, _ in CASES if "64" not in value])
def test_nothing_of_f64_in_programs_of_f32(value: str):
    function = find_function(load(f"{HEADER}(O) {{ O = {value}; }}"))
    specialize(function, [parse_type(f"{N}x{t}") for t in ("f32", "f16", "i32")])
    types = {element_type(v) for op in function.walk() for v in op.results}
    assert f64 not in types and any(map(et.is_float, types))


def test_random_numbers():
    source = """
    function (X[N], State) -> (O, U) {
      U = prng_value(prng_step(State, N));
      O = X + log(1 - U * 0.9);
    }"""
    found, draws = results(source, X, np.arange(4, dtype=np.uint32))
    assert draws.dtype == np.float32
    assert np.allclose(found, X + np.log(1 - draws.astype("f8") * 0.9), rtol=1e-12)


def test_numbers_of_python():
    f = td.compile("function (X[N], I[N], S, T) -> (O) { A = I * S; O = A * X + I * T; }")
    assert np.allclose(f(X, I, 0.1, 0.3), I * 0.1 * X + I * 0.3, rtol=1e-14)
    assert f(W, I, 0.1, 0.3).dtype == np.float32
    g = td.compile("function (I[N], S) -> (O) { O = I * S; }")
    with pytest.warns(td.TileWarning, match=r"S is taken as f32, .*: give np.float64\(S\)"):
        assert g(I, 0.1).dtype == np.float32
    assert np.array_equal(g(I, np.float64(0.1)), I * 0.1)


def test_gradients_in_f64():
    source = """
    function (X[N]) -> (L) {
      Places = index(X, 0);
      Weights = exp(Places * -0.1) + (X > 1 ? 0.1 : 0.7);
      Y = sin(X * Weights) * (1.0 / 3);
      L[] = +(Y[i] * Y[i]);
    }"""
    f = td.compile(source)
    found = f.gradient()(X)
    step = 1e-6 * np.eye(N)
    expected = [(f(X + h) - f(X - h)) / 2e-6 for h in step]
    assert found.dtype == np.float64
    # The step is off by 1e-12, the difference by 1e-16 / 1e-6.
    assert np.allclose(found, expected, atol=1e-9)
    weights = np.exp(PLACES * -0.1) + np.where(X > 1, 0.1, 0.7)
    exact = 2 / 9 * np.sin(X * weights) * np.cos(X * weights) * weights
    assert np.allclose(found, exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("value", "derivative"),
    [
        ("pow(3, X)", lambda: np.log(3) * 3**X),
        ("pow(I, X)", lambda: np.log(I.astype("f8")) * I**X),
        ("pow(X, I) * 0.1", lambda: I * X ** (I - 1.0) * 0.1),
    ],
)
def test_derivatives_of_powers_of_integers(value: str, derivative: Callable[[], Any]):
    f = td.compile(f"{HEADER}(O) {{ O = {value}; }}").gradient("X")
    expected = derivative()
    for call in (f, f.reference):
        assert np.allclose(call(X, W, I, np.ones(N)), expected, rtol=1e-12)
    # As text, and before types are known.
    read = td.compile(f.tile).reference(X, W, I, np.ones(N))
    assert np.allclose(read, expected, rtol=1e-12)


def test_a_custom_gradient_is_as_exact():
    source = """
    function (X[N]) -> (O) {
      Scale = index(X, 0) * 0.1;
      O = custom_gradient(X * 2, X) (DO) -> (DX) { DX = DO * exp(Scale) * 0.3; };
    }"""
    found = td.compile(source).gradient()(X, np.ones(N))
    assert np.allclose(found, np.exp(PLACES * 0.1) * 0.3, rtol=1e-14)


# -- what nothing decides ------------------------------------------------------------------------


def said(source: str, *inputs: Any) -> Sequence[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        td.compile(source).reference(*inputs)
        specialized = find_function(load(source))
        texts = specialize(specialized, [parse_type(f"{len(a)}xi32") for a in inputs])
    assert not found
    return texts


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("I * 0.1", "1:30: O is of type f32, as no input of the program holds reals that say another; write as_float(I, 64), or as_float(I, 32), for I"),
        ("exp(I)", "as_float(I, 64)"),
        ("I > 2 ? 0.1 : 0.2", "as_float(0.1, 64)"),
        ("sqrt(N)", "O is of type f32"),
        ("I > 2 ? 0.5 : 1.0", None),
        ("I > 2.5", None),
        ("as_float(I, 32) * 0.1", None),
        ("I / 3", None),
        ("0.5", None),
    ],
)  # fmt: skip
def test_what_is_warned_of(value: str, words: str | None):
    texts = said(f"function (I[N]) -> (O) {{ O = {value}; }}", I)
    assert len(texts) == (words is not None)
    assert words is None or words in texts[0]


# -- random programs ------------------------------------------------------------------------------

INTEGERS = st.sampled_from(["I", "index(X, 0)", "index(I, 0) * 2 + 1", "N", "(X > 1)", "3"])
REALS = st.sampled_from(["0.1", "1.7", "X", "(1.0 / N)", "sqrt(N)"])
UNARY = {"exp": lambda a: np.exp(-np.abs(a)), "sin": np.sin, "sqrt": lambda a: np.sqrt(np.abs(a))}
TEXTS = {"exp": "exp(-abs({}))", "sin": "sin({})", "sqrt": "sqrt(abs({}))"}


def expressions() -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({' '.join(t)})"),
            st.tuples(st.sampled_from(list(TEXTS)), inner).map(lambda t: TEXTS[t[0]].format(t[1])),
            st.tuples(inner, inner).map(lambda t: f"(X > 1 ? {t[0]} : {t[1]})"),
        )

    return st.recursive(st.one_of(INTEGERS, REALS), larger, max_leaves=6)


def by_numpy(expression: str) -> Any:
    """The value of an expression, computed in f64."""
    names = {
        "X": X,
        "I": I.astype("f8"),
        "N": float(N),
        "exp": np.exp,
        "sin": np.sin,
        "sqrt": np.sqrt,
        "abs": np.abs,
        "index": lambda a, axis: PLACES.astype("f8"),
        "where": np.where,
    }
    text = expression.replace("(X > 1 ?", "where(X > 1,").replace(" : ", ", ")
    text = text.replace("(X > 1)", "(1.0 * (X > 1))")
    return eval(text, names)


@settings(deadline=None, max_examples=60)
@given(expressions())
def test_random_programs_in_f64(expression: str):
    f = td.compile(f"{HEADER}(O) {{ O = 0.1 * {expression} + X * 0; }}")
    found = f.reference(X, W, I)
    assert found.dtype == np.float64
    expected = by_numpy(f"0.1 * {expression} + X * 0")
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
