"""Functions of batches against a loop over the elements, by the reference semantics."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from compare import assert_close
from gradients import contractions, elementwise
from gradients.differences import Case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import programs
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect import lift
from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.dialects.tile.elementwise.ops import ELEMENTWISE_OPS, ConstantOp, SizeOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import SPECIAL_OPS
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, find_function
from tiledialect.passes.transform.rules.tensors import RULES
from tiledialect.passes.transform.tile_vmap import vmap

Array = npt.NDArray[Any]
CASES: list[Case] = [*elementwise.CASES, *contractions.CASES]
SIZE = 3


def check(module: ModuleOp, batches: Sequence[Array], axes: Sequence[int | None]) -> None:
    """The function of a batch gives what the function gives for each element."""
    function = find_function(module)
    names = argument_names(function)
    batched = module.clone()
    mapped = {n: axis for n, axis in zip(names, axes, strict=True) if axis is not None}
    vmap(find_function(batched), SIZE, mapped)
    batched.verify()
    found = run_function(batched, None, batches)
    for k in range(SIZE):
        element = [
            a if axis is None else np.asarray(np.take(a, k, axis))
            for a, axis in zip(batches, axes, strict=True)
        ]
        expected = run_function(module, None, element)
        for value, wanted in zip(found, expected, strict=True):
            # The same sums in NumPy's order for another number of axes.
            assert_close(value[k], wanted, length=wanted.size, ulps=100, scale="largest")


def stacked(array: Array, axis: int, seed: int) -> Array:
    """A batch of an array, and of it with its elements in other orders."""
    random = np.random.default_rng(seed)
    others = [random.permutation(array.ravel()).reshape(array.shape) for _ in range(SIZE - 1)]
    return np.stack([array, *others], axis)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cases_of_gradients(case: Case):
    """`make fuzz` tries all."""
    check_case(case)


def check_case(case: Case) -> None:
    """A batch of a case's inputs, one of which all elements share."""
    axes: list[int | None] = [-1 if k % 2 else 0 for k in range(len(case.inputs))]
    if len(axes) > 2:
        axes[1] = None
    check(case.module(), batched(case.inputs, axes), axes)


def batched(inputs: Sequence[Array], axes: Sequence[int | None]) -> list[Array]:
    return [
        a if axis is None else stacked(a, axis, k)
        for k, (a, axis) in enumerate(zip(inputs, axes, strict=True))
    ]


@st.composite
def batches_of_programs(draw: st.DrawFn) -> tuple[ModuleOp, list[Array], list[int | None]]:
    """Random programs with batches of their inputs, and the axes of these."""
    program = draw(programs(most=8))
    axes: list[int | None] = [draw(st.sampled_from([0, -1, None])) for _ in program.arrays]
    if all(axis is None for axis in axes):
        axes[0] = 0
    return program.module, batched(program.arrays, axes), axes


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches_of_programs())
def test_random_programs(given_: tuple[ModuleOp, list[Array], list[int | None]]):
    check(*given_)


X, Y = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(4, dtype=np.float32)
INDICES = np.array([[1, 9], [-3, 0], [2, 2]])
STATES = np.array([[1, 2, 3, 0], [5, 6, 2**32 - 1, 7], [0, 0, 0, 0]], np.uint32)

SPECIAL = {
    "rows of one": ("function (X[N, M], I) -> (G) { G = gather(X, I); }", (X, INDICES), (None, 0)),
    "rows of own": ("function (X[N], I) -> (G) { G = gather(X, I); }", (X, INDICES), (0, 0)),
    "one index": ("function (X[N], I) -> (G) { G = gather(X, I); }", (X, INDICES[0]), (0, None)),
    "scattered": (
        "function (U, I, X[N]) -> (S) { S = scatter(U, I, X); }",
        (X[:, :2], INDICES, Y),
        (0, 0, None),
    ),
    "scattered by one index": (
        "function (U, I, X[N]) -> (S) { S = scatter(U, I, X); }",
        (X[:, :2], INDICES[0], X),
        (0, None, 0),
    ),
    "one scattered": (
        "function (U, I, X[N]) -> (S) { S = scatter(U, I, X); }",
        (Y[:2], INDICES, Y),
        (None, 0, None),
    ),
    "counted": (
        "function (W[], I, X[N]) -> (S) { S = scatter(W, I, X); }",
        (Y[:3], INDICES.astype(np.uint64), Y),
        (0, 0, None),
    ),
    "shape and positions": (
        "function (X[N]) -> (S, I, Y) { S = shape(X); I = index(X, 0); Y = X + I; }",
        (X,),
        (0,),
    ),
    "sum of one": (
        "function (X[N, M], Y[M]) -> (S) { Z = X + Y; S[m: M] = +(X[n, m]); }",
        (X, X),
        (None, 0),
    ),
    "default": (
        "function (X[N], Y[M]) -> (O) { O[2*n: M] = =(X[n]), n < 2 default Y; }",
        (X, Y),
        (0, None),
    ),
    "batch in the default alone": (
        "function (X[N], Y[M]) -> (O) { O[2*n: M] = =(X[n]), n < 2 default Y; }",
        (Y, X),
        (None, 0),
    ),
    "constraint": (
        "function (X[N]) -> (O) { O[n: N] = +(X[n + k]), k < 2; }",
        (X,),
        (0,),
    ),
    "reshape": (
        "function (X[N, M]) -> (R) { R = reshape(X, M, N); }",
        (np.stack([X, 2 * X, 3 * X], 1),),
        (1,),
    ),
    "scalars": ("function (A[], X[N]) -> (Y) { Y = A * X + 1; }", (Y[:3], Y), (0, None)),
    "states": (
        "function (S[4]) -> (R, N) { P = prng_step(S, 3, 3); R = prng_value(P); "
        "N = prng_state(P); }",
        (STATES,),
        (0,),
    ),
    "same for all": (
        "function (X[N], S[4]) -> (R, Y) { P = prng_step(S, 5); R = prng_value(P); Y = X; }",
        (X, STATES[1]),
        (0, None),
    ),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_ops(name: str, device: td.Device):
    """The device gives what it gives for each element, too."""
    text, inputs, axes = SPECIAL[name]
    f = td.compile(text, device=device)
    g = f.vmap(in_axes=axes)
    found, expected = listed(g(*inputs)), listed(g.reference(*inputs))
    for k in range(SIZE):
        element = [a if x is None else np.take(a, k, x) for a, x in zip(inputs, axes, strict=True)]
        for value, again, wanted in zip(
            found, expected, listed(f.reference(*element)), strict=True
        ):
            assert_close(again[k], np.asarray(wanted))
            assert_close(value[k], np.asarray(wanted))


def listed(outputs: Any) -> list[Array]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


SQUARES = td.compile("function (X) -> (L) { Y = X * X; L[] = +(Y[i]); }")
ROWS = np.float32([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("f", "inputs", "expected"),
    [
        (SQUARES.gradient().vmap(), (ROWS,), 2 * ROWS),
        (SQUARES.vmap().gradient(), (ROWS, np.float32([1, 2])), [[2, 4], [12, 16]]),
        (SQUARES.jvp().vmap(), (ROWS, ROWS), ([5, 25], [10, 50])),
        (SQUARES.vmap().jvp(), (ROWS, 1), ([5, 25], [6, 14])),
        (SQUARES.vmap().vmap(1), (np.stack([ROWS, -ROWS]),), [[5, 5], [25, 25]]),
        (
            SQUARES.gradient().gradient("X").vmap(),
            (ROWS, [1, 1], [[1, 0], [0, 1]]),
            [[2, 0], [0, 2]],
        ),
        (SQUARES.value_and_gradient().vmap({"X": 1}, {"DX": -1}), (ROWS,), ([10, 20], 2 * ROWS)),
    ],
)
def test_compositions(f: td.Function, inputs: Any, expected: Any):
    for value, wanted in zip(
        listed(pickle.loads(pickle.dumps(f))(*inputs)), listed(expected), strict=True
    ):
        assert np.array_equal(value, wanted)


def test_a_loss_whose_gradient_has_custom_parts():
    """A custom gradient reads an input that is the same for all elements: its cotangent is a sum."""
    f = td.compile(
        "function (X[N], A[]) -> (Y) { Y = custom_gradient(A * X, X, A) (DY) -> (DX, DA) "
        "{ DX = 3 * DY; DA = 1.0; }; }"
    )
    x, dy = np.ones((3, 2), np.float32), np.float32([[1, 2], [3, 4], [5, 6]])
    dx, da = f.vmap((0, None)).gradient()(x, 2.0, dy)
    assert np.array_equal(dx, 3 * dy) and da == 3


def test_patterns_of_lift():
    @lift.fun
    def double(x: lift.array("N")):
        return x >> lift.map(lambda v: v + v)

    assert np.array_equal(td.compile(double).vmap(1)(ROWS), 2 * ROWS.T)


def test_an_output_that_is_the_same_for_all():
    f = td.compile("function (X[N], Y[M]) -> (A, B) { A = X + 1; B = Y * 2; }")
    a, b = f.vmap({"X": 0}, {"B": None})(ROWS, ROWS[0])
    assert np.array_equal(a, ROWS + 1) and np.array_equal(b, [2, 4])
    assert np.array_equal(f.vmap({"X": 0})(ROWS, ROWS[0]).B, [[2, 4], [2, 4]])


def test_header_and_text():
    f = td.compile("function f(X[N, B], W) -> (Y) { Y = X * 2; }").vmap({"X": 1})
    assert repr(f) == "<Function f_vmap (X[N, B_2, B], W) -> (Y)>"
    f(np.ones((2, 3, 4), np.float32), 1)
    assert f.tile.startswith("function f_vmap(X[N, B_2, B], W) -> (Y) {")


PRODUCT = td.compile("function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }")
A, B = np.ones((2, 2, 2), np.float32), np.ones((2, 2, 5), np.float32)


WHILE = """func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %y = scf.while (%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {
    %first = tensor.extract %a[%zero] : tensor<3xf32>
    %limit = arith.constant 9.0 : f32
    %goes = arith.cmpf olt, %first, %limit : f32
    scf.condition(%goes) %a : tensor<3xf32>
  } do {
  ^bb0(%a: tensor<3xf32>):
    %b = arith.addf %a, %a : tensor<3xf32>
    scf.yield %b : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}"""


def test_loops_that_end_by_their_data(tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text(WHILE)
    with pytest.raises(TileError, match=r"scf\.while has no batched form: data decide"):
        td.compile(path).vmap()(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "words"),
    [
        ({"Z": 0}, 0, "in_axes names Z, which is none of A, B"),
        ((0,), 0, "in_axes gives 1 axis for A, B"),
        (None, 0, "in_axes is None for all inputs"),
        ("A", 0, "in_axes gives 'A' for A: an axis is a whole number or None"),
        (0, {"A": 0}, "out_axes names A, which is none of C"),
        (3, 0, "A has 3 axes, and no axis 3 to map over"),
        ((0, 2), 0, "the sizes to map over differ: 2 in A (axis 0), 5 in B (axis 2)"),
        ((0, None), 0, "B has 2 dimensions in the header (K, N), but the one given has 3"),
        ((0, 1), 5, "C has 3 axes, and no axis 5 to map over"),
        ((0, 1), None, "C differs between the elements of the batch"),
    ],
)
def test_refusals(in_axes: Any, out_axes: Any, words: str):
    with pytest.raises(TileError) as caught:
        PRODUCT.vmap(in_axes, out_axes)(A, B)
    assert words in str(caught.value)


def test_every_op_has_a_rule():
    kinds = {*ELEMENTWISE_OPS, *SPECIAL_OPS, ContractionOp, ScanOp, CustomGradientOp}
    plain = {k for k in kinds if issubclass(k, ElementwiseOp) and k not in RULES}
    assert kinds - plain - {CustomGradientOp, ConstantOp, SizeOp} == set(RULES) & kinds
