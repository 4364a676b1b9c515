"""Derivatives along directions: against gradients, which are tested by finite differences."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from compare import assert_close
from gradients import contractions, elementwise
from gradients.differences import Case, cotangents, differentiated, run, specialized, wrt_of
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect import lift
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient.tile_jvp import jvp

CASES: list[Case] = [c for c in (*elementwise.CASES, *contractions.CASES) if c.second]
TOLERANCE = 1e-11
"""Both sums are of float64, of terms that are added in another order."""


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_tangents_are_the_transpose_of_gradients(case: Case):
    check_transpose(case)


def check_transpose(case: Case) -> None:
    """Tangents, and products of them with weights by the gradient."""
    module = case.module()
    function = find_function(module)
    places = wrt_of(function, case.inputs, case.wrt)
    tangents = cotangents([case.inputs[k] for k in places], seed=5)
    made = ModuleOp([jvp(function, case.wrt)])
    made.verify()
    outputs = run(module, case.inputs)
    found = run(made, (*case.inputs, *tangents))
    for value, expected in zip(found, outputs, strict=False):
        assert np.array_equal(value, expected, equal_nan=True)
    weights = cotangents(outputs)
    real = [w for w in weights if kind_of(w.dtype) == "f"]
    slopes = run(differentiated(module, case.wrt), (*case.inputs, *weights))
    forward = [w * t for w, t in zip(real, found[len(outputs) :], strict=True)]
    backward = [s * t for s, t in zip(slopes, tangents, strict=True)]
    scale = 1 + sum(np.abs(a).sum() for a in (*forward, *backward))
    difference = sum(a.sum() for a in forward) - sum(a.sum() for a in backward)
    assert abs(difference) <= TOLERANCE * scale


@pytest.mark.parametrize("name", ["softmax", "max_mul", "product_with_zeros"])
def test_before_shapes_are_known(name: str):
    (case,) = [c for c in CASES if c.name == name]
    function = find_function(case.module())
    places = wrt_of(function, case.inputs, case.wrt)
    inputs = (*case.inputs, *cotangents([case.inputs[k] for k in places]))
    wanted = run(ModuleOp([jvp(function, case.wrt)]), inputs)
    polymorphic = load(case.source)
    wrt = case.wrt or tuple(argument_names(find_function(polymorphic))[k] for k in places)
    open_ = ModuleOp([jvp(find_function(polymorphic), wrt)])
    for found, expected in zip(run(specialized(open_, inputs), inputs), wanted, strict=True):
        assert_close(found, expected, ulps=1000)


CUBE = "function (X[N]) -> (Y) { Y = X * X * X; }"


def test_functions(device: td.Device):
    f = td.compile(
        "function (A[M, K], B[K, N]) -> (C, S) { C[i, j: M, N] = +(A[i, k] * B[k, j]); "
        "S = softmax(C, 1); }",
        device=device,
    )
    r = np.random.default_rng(0)
    a, ta = r.standard_normal((2, 4, 5)).astype(np.float32)
    b = r.standard_normal((5, 3)).astype(np.float32)
    along = f.jvp("A")
    assert along.inputs == ("A", "B", "TA")
    assert along.outputs == ("C", "S", "TC", "TS")
    c, s, tc, ts = pickle.loads(pickle.dumps(along))(a, b, ta)
    assert_close(c, a @ b, ulps=20)
    assert_close(tc, ta @ b, ulps=20)
    # The derivative of a softmax is the difference of a product and its sum: terms of order 1.
    assert_close(ts, s * (tc - (s * tc).sum(1, keepdims=True)), ulps=100, scale=1)


def test_second_derivatives_in_all_orders():
    f, x, one, zero = td.compile(CUBE), np.float64([1, 2, 3]), np.ones(3), np.zeros(3)
    assert np.array_equal(f.jvp()(x, one).TY, 3 * x * x)
    assert np.array_equal(f.jvp().jvp()(x, one, one, zero)[3], 6 * x)
    assert np.array_equal(f.jvp().gradient("X")(x, one, zero, one), 6 * x)
    assert np.array_equal(f.gradient().jvp("X")(x, one, one)[1], 6 * x)


def test_outputs_of_integers():
    """Without tangents if that is known; zeros for what a call shows to be integers."""
    f = td.compile("function (X[N]) -> (I, J, Y) { I = index(X, 0); J = X > 1; Y = X * X; }")
    along = f.jvp()
    assert along.outputs == ("I", "J", "Y", "TJ", "TY")
    found = along(np.float32([1, 2]), np.float32([1, 3]))
    assert found.TJ.tolist() == [0, 0]
    assert found.TY.tolist() == [2, 12]


def test_inputs_that_do_not_count():
    """Nothing of the output depends on the input; and the output is the input itself."""
    f = td.compile("function (X[N], Y[N]) -> (Z, W) { Z = Y * 2.0; W = X; }").jvp("X")
    z, w, tz, tw = f(np.ones(3, np.float32), np.ones(3, np.float32), np.float32([1, 2, 3]))
    assert z.tolist() == [2, 2, 2] and w.tolist() == [1, 1, 1]
    assert tz.tolist() == [0, 0, 0] and tw.tolist() == [1, 2, 3]


def test_patterns_of_lift():
    @lift.fun
    def dot(x: lift.array(3), y: lift.array(3)):
        products = lift.zip(x, y) >> lift.map(lambda p: p[0] * p[1])
        return products >> lift.reduce(lambda a, b: a + b, 0.0)

    f = td.compile(dot)
    x, y, t = np.float32([1, 2, 3]), np.float32([4, 5, 6]), np.float32([1, 0, 2])
    found = f.jvp(0)(x, y, t)
    assert np.array_equal(np.ravel(found[1]), [16])


NOT_LINEAR = """function (X[N]) -> (Y) {
  Y = custom_gradient(X, X) (DY) -> (DX) { DX = DY * DY; };
}"""


@pytest.mark.parametrize(
    ("text", "wrt", "words"),
    [
        (CUBE, "Z", "Z"),
        (NOT_LINEAR, None, "a custom gradient is not linear in its cotangent"),
        ("function (X[N]) -> (Y) { Y = index(X, 0); }", None, "no output of main holds reals"),
    ],
)
def test_refusals(text: str, wrt: str | None, words: str):
    with pytest.raises(TileError) as caught:
        td.compile(text).jvp(wrt)(np.float32([1, 2]), np.float32([1, 2]))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("x", "t", "words"),
    [
        (np.int32([1, 2]), np.float32([1, 2]), "X holds i32: there are no tangents of integers"),
        (np.float32([1, 2]), np.ones(3), "TX must be 2xf32, as X is, not 3xf64"),
    ],
)
def test_tangents_that_do_not_fit(x: Any, t: Any, words: str):
    with pytest.raises(TileError) as caught:
        td.compile(CUBE).jvp()(x, t)
    assert words in str(caught.value)
