"""Python's numbers take the types of what they meet; cotangents those of their outputs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.device.queues import queue_for

SCALE = "function (A[N], S) -> (O) { O = A * S; }"
F64, F32, F16 = (np.array([1, 2, 3], t) for t in ("f8", "f4", "f2"))
U8, I64 = np.array([1, 2, 3], "u1"), np.array([1, 2, 3], "i8")


@pytest.mark.parametrize(
    ("array", "number", "dtype"),
    [
        *((array, 0.1, array.dtype) for array in (F64, F32, F16)),
        *((array, 3, array.dtype) for array in (F64, F32, F16, U8, I64)),
        *((array, [3, 4, 5], array.dtype) for array in (F64, F16, U8)),
        *((array, True, array.dtype) for array in (F16, U8)),
        *((array, 0.5, np.dtype("f4")) for array in (U8, I64)),
    ],
    ids=str,
)
def test_a_number_takes_the_type_of_what_it_meets(array: Any, number: Any, dtype: Any):
    f = td.compile(SCALE)
    for call in (f, f.reference):
        result = call(array, number)
        assert result.dtype == dtype
        assert np.array_equal(result, array.astype(dtype) * np.array(number, dtype))


def test_a_real_is_as_exact_as_the_array():
    assert td.compile(SCALE)(F64, 0.1)[0] == 0.1


@pytest.mark.parametrize(
    ("source", "inputs", "dtype"),
    [
        ("function (A[N], S) -> (O) { T = S * 2; O = A + T; }", (F64, 0.5), "float64"),
        ("function (A[N], S, T) -> (O) { B = A * S; O = B + T; }", (F16, 0.5, 2.5), "float16"),
        ("function (A[N], S, T) -> (O) { O = A * (S + T); }", (F64, 0.5, 1), "float64"),
        ("function (A[N], S[]) -> (O) { O[i: N] = +(A[i] * S[]); }", (F64, 0.5), "float64"),
        ("function (A[N], S) -> (O) { O = (S < 1 ? A : A * 2); }", (F64, 0.5), "float64"),
        ("function (A[N], S) -> (O) { O = S * 3 + shape(A); }", (U8, 2), "int32"),
        ("function (A[N], I) -> (O) { O = gather(A, I); }", (F64, 1), "float64"),
        ("function (S, T) -> (O) { O = S + T; }", (0.5, 1), "float32"),
        ("function (S) -> (O) { O = S + 1; }", (2**40,), "int64"),
    ],
)
def test_where_numbers_meet_something(source: str, inputs: Any, dtype: str):
    f = td.compile(source)
    result, expected = f(*inputs), f.reference(*inputs)
    assert result.dtype == expected.dtype == np.dtype(dtype)
    assert np.array_equal(result, expected)
    assert "__kernel" in f.opencl(*inputs)


def test_only_what_it_meets_counts():
    f = td.compile("function (A[N], B[N], S, T) -> (C, D) { C = A * S; D = B * T; }")
    c, d = f(F64, F16, 0.1, 0.1)
    assert (c.dtype, d.dtype) == (np.float64, np.float16)
    assert c[0] == 0.1 and d[0] == np.float16(0.1)


def test_a_number_that_does_not_fit():
    with pytest.raises(td.TileError, match="S has values that are no uint8, the type that it"):
        td.compile(SCALE)(U8, 300)
    assert td.compile(SCALE)(U8, np.int32(300))[0] == 300


# -- cotangents ------------------------------------------------------------------------------

NORM = "function (X[N]) -> (S) { S[] = +(X[i] * X[i]); }"


def test_cotangents_take_the_type_of_their_output():
    for source, cotangent in ((NORM, 1), (NORM, 1.5), ("function (X[N]) -> (Y) { Y = X * X; }",
                                                       [1, 0.5, 2])):  # fmt: skip
        g = td.compile(source).gradient()
        for x in (F64, F32, F16):
            result = g(x, cotangent)
            assert result.dtype == x.dtype
            assert np.array_equal(result, (2 * x * np.array(cotangent)).astype(x.dtype))


def test_the_cotangent_of_a_scalar_may_be_left_out():
    f = td.compile(NORM)
    g = f.gradient()
    for call in (g, g.reference, lambda x: g.profile(x)[0]):
        assert np.array_equal(call(F64), 2 * F64)
    assert np.array_equal(g(X=F64), 2 * F64)
    assert g.opencl(F64) == g.opencl(F64, "f64")
    assert np.array_equal(g.gradient(wrt="X")(F64, DDX=[1.0, 0, 0]), [2, 0, 0])


def test_calls_that_leave_out_a_cotangent_are_told_apart(device: td.Device):
    """By the types of what is given, however it is given; none takes what another was called with."""
    queue = cl.CommandQueue(queue_for(device).context)
    g = td.compile(NORM, device=device).gradient()
    for x in (F32, F32 + 1, F64, F64[:2], F32):
        assert np.array_equal(g(x), 2 * x) and np.array_equal(g(X=x), 2 * x)
        assert np.array_equal(g(x, 3), 6 * x) and np.array_equal(g(x, x[1]), 2 * x[1] * x)
        on_device = cla.to_device(queue, x)
        results = g(on_device), g(X=on_device), g(on_device)
        for result in results:
            assert result.queue is queue and np.array_equal(result.get(), 2 * x)
        assert np.array_equal(g(on_device, 3).get(), 6 * x)
    with pytest.raises(td.TileError, match="takes 2 inputs"):
        g()


def test_other_cotangents_may_not():
    g = td.compile("function (X[N]) -> (Y) { Y = X * X; }").gradient()
    for call in (g, g.reference, g.opencl):
        with pytest.raises(td.TileError, match="main_gradient needs DY: cotangents of numbers"):
            call(F32)


AUXILIARY = """
function (X[N]) -> (L, Y, I) {
  L[] = +(X[i] * X[i]);
  Y = X * X * X;
  I = index(X, 0);
}
"""


def test_cotangents_of_auxiliary_outputs_are_zero():
    g = td.compile(AUXILIARY).gradient()
    d_l, d_y = 2 * F32, 3 * F32**2
    for call in (g, g.reference, lambda *args, **named: g.profile(*args, **named)[0]):
        assert np.array_equal(call(F32), d_l)
        assert np.array_equal(call(F32, 2.0), 2 * d_l)
        assert np.array_equal(call(F32, 2.0, None), 2 * d_l)
        assert np.array_equal(call(F32, None, np.ones(3, np.float32)), d_y)
        assert np.array_equal(call(F32, DY=np.ones(3, np.float32)), d_y)
        assert np.array_equal(call(F32, 1.0, 1.0, None), d_l + d_y)
        assert np.array_equal(call(F32, None, None, None), 0 * F32)
    assert g.opencl(F32) == g.opencl(F32, None, "3xf32")


def test_no_cotangent_of_integers_is_needed():
    g = td.compile("function (X[N]) -> (I, Y) { Y = X * X; I = index(X, 0); }").gradient()
    assert np.array_equal(g(F32, DY=F32), 2 * F32 * F32)
    assert np.array_equal(g(F32, None, F32), 2 * F32 * F32)
    with pytest.raises(td.TileError, match="needs DY: cotangents of numbers alone"):
        g(F32)


def test_cotangents_are_converted():
    g = td.compile("function (X[N]) -> (Y) { Y = X * X; }").gradient()
    for dy in (2, 2.0, np.float64(2), np.float32(2), np.full(3, 2.0), np.full(3, 2)):
        result = g(F32, dy)
        assert result.dtype == np.float32 and np.array_equal(result, 4 * F32)
        assert np.array_equal(g.reference(F32, dy), result)
    assert g(F64, np.ones(3, np.float32)).dtype == np.float64


def test_a_cotangent_of_one_element_is_no_number():
    g = td.compile(NORM).gradient()
    for call in (g, g.reference, g.opencl):
        with pytest.raises(
            td.TileError, match=r"DS is a number \(f32\), as S is, not 1xf32: give DS\[0\]"
        ):
            call(F32, np.ones(1, np.float32))
    with pytest.raises(td.TileError, match=r"not 1x1xf32: give DS\[0, 0\]"):
        g(F32, [[1.0]])


def test_random_states_may_be_lists():
    text = """function (X[N], S) -> (O, T) {
      P = prng_step(S, N); O = prng_value(P) + X; T = prng_state(P);
    }"""
    f, state = td.compile(text), [1, 2, 3, 2**32 - 1]
    values, following = f(F32, state)
    expected = f(F32, np.uint32(state))
    assert np.array_equal(values, expected.O) and following.dtype == np.uint32
    with pytest.raises(td.TileError, match="S has values that are no uint32"):
        f(F32, [1, 2, 3, -1])


def test_value_and_gradient():
    f = td.compile("function loss(X[N], W[N]) -> (S) { S[] = +(X[i] * W[i]); }")
    both = f.value_and_gradient()(F64, F64 + 1)
    assert both._fields == ("S", "DX", "DW")
    value, gradient = f.value_and_gradient(wrt="W")(F64, F64)
    assert value == 14 and np.array_equal(gradient, F64)


# -- what to differentiate by ----------------------------------------------------------------

LOOKUP = "function (A[N], I[M]) -> (O) { O = gather(A, I); }"


def test_integers_are_left_out():
    f, indices = td.compile(LOOKUP), np.int32([0, 0, 2])
    g = f.gradient()
    for call in (g, g.reference, lambda *inputs: g.profile(*inputs)[0]):
        assert np.array_equal(call(F64, indices, [1, 2, 4]), [3, 0, 4])
    both = f.value_and_gradient()(F64, indices, [1, 2, 4])
    assert both._fields == ("O", "DA") and np.array_equal(both.DA, [3, 0, 4])


def test_outputs_are_those_of_the_last_call():
    assert td.compile(LOOKUP).gradient().outputs == ("DA",)
    assert td.compile(LOOKUP).value_and_gradient().outputs == ("O", "DA")
    g = td.compile("function (A[N], B[N]) -> (O) { O = A * B; }").gradient()
    assert g.outputs == ("DA", "DB")
    for b, outputs in ((np.int32([1, 2, 3]), ("DA",)), (F32, ("DA", "DB"))) * 2:
        g(F32, b, F32)
        assert g.outputs == outputs
        # A call that takes another way, with an array that has gaps.
        g(F32, np.repeat(b[::-1], 2)[::2], F32)
        assert g.outputs == outputs


def test_integers_that_are_named_are_refused():
    g = td.compile(LOOKUP).gradient(wrt=("A", "I"))
    with pytest.raises(td.TileError, match="I holds i32: there is no gradient"):
        g(F64, np.int32([0]), [1.0])


def test_a_gradient_by_integers_alone():
    f = td.compile("function (I[N]) -> (O) { O = I * 2; }")
    with pytest.raises(td.TileError, match="no gradient with respect to integers: I"):
        f.gradient()(np.int32([1]), np.int32([1]))


def test_a_gradient_of_a_gradient_must_know_its_inputs():
    g = td.compile("function (A[N], I[N]) -> (O) { O = A * I; }").gradient().gradient()
    with pytest.raises(td.TileError, match=re.escape(".gradient(wrt=('A',)).gradient()")):
        g(F64, np.int32([0, 1, 2]), F64, F64, F64)


def test_declared_integers_are_no_outputs(tmp_path: Any):
    path = tmp_path / "f.mlir"
    path.write_text("""
      func.func @f(%A: tensor<3xf32>, %I: tensor<3xi32>) -> tensor<3xf32> {
        %O = tile.mul %A, %I : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
        func.return %O : tensor<3xf32>
      }""")
    g = td.compile(path).gradient()
    assert g.outputs == ("DA",)
    assert np.array_equal(g(F32, np.int32([1, 2, 3]), F32), [1, 4, 9])


@pytest.mark.parametrize("wrt", [1, -1, (1,), ["B"], "B"])
def test_inputs_by_place(wrt: Any):
    f = td.compile("function (A[N], B[N]) -> (C) { C = A * B; }")
    assert f.gradient(wrt=wrt).outputs == ("DB",)


@pytest.mark.parametrize(
    ("wrt", "words"),
    [
        (2, "there is no input 2 to differentiate by; there is A, B"),
        (True, "`wrt` must name inputs of main (A, B), got True"),
        (1.5, "`wrt` must name inputs of main (A, B), got 1.5"),
        ([], "`wrt` must name inputs of main (A, B), got []"),
        ({"A": 5}, "`wrt` must name inputs of main (A, B), got {'A': 5}"),
        ([None], "`wrt` must name inputs of main (A, B), got [None]"),
        ("X", "there is no input X to differentiate by; there is A, B"),
    ],
)
def test_what_is_no_input(wrt: Any, words: str):
    f = td.compile("function (A[N], B[N]) -> (C) { C = A * B; }")
    with pytest.raises(td.TileError, match=re.escape(words)):
        f.gradient(wrt=wrt)
