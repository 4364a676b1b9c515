"""Gradients: against finite differences, in IR and in text, on every device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import LARGEST, assert_close
from generators import Contraction
from gradients import contractions, custom, elementwise
from gradients.differences import (
    Arrays,
    Case,
    check_module,
    cotangents,
    differentiated,
    run,
    wrt_of,
)
from gradients.random_contractions import differentiable, module_and_inputs
from hypothesis import HealthCheck, given, settings
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ELEMENTWISE_OPS, ConstantOp, SizeOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import SPECIAL_OPS
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, find_function
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient.rules.elementwise import DERIVATIVES
from tiledialect.passes.gradient.tile_gradient import gradient

CASES: list[Case] = [*elementwise.CASES, *contractions.CASES]


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_order(case: Case):
    check_module(case.module(), case.inputs, case.wrt)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=str)
def test_second_order(case: Case):
    check_second_order(case)


def check_second_order(case: Case) -> None:
    """The gradient of a gradient against finite differences."""
    module = case.module()
    inputs = (*case.inputs, *cotangents(run(module, case.inputs)))
    check_module(differentiated(module, case.wrt), inputs)


@pytest.mark.parametrize("name", ["product_with_zeros", "pow_3x4_3x4", "softmax", "max_mul"])
def test_third_order(name: str):
    (case,) = [c for c in CASES if c.name == name]
    module, inputs = case.module(), case.inputs
    for _ in range(2):
        inputs = (*inputs, *cotangents(run(module, inputs)))
        module = differentiated(module, argument_names(find_function(module))[:1])
    check_module(module, inputs, argument_names(find_function(module))[:1])


# -- before shapes are known, and as text --------------------------------------------------------


def assert_results(module: ModuleOp, inputs: Arrays, wanted: Arrays, what: str) -> None:
    for found, expected in zip(run(module, inputs), wanted, strict=True):
        assert_close(found, expected, ulps=1000, scale=LARGEST, what=what)


def check_text(case: Case) -> None:
    """A gradient made before shapes are known, and what its text reads as, compute the same."""
    module = load(case.source)
    function = find_function(module)
    inputs = (*case.inputs, *cotangents(run(case.module(), case.inputs)))
    specialized = differentiated(case.module(), case.wrt)
    wanted = run(specialized, inputs)
    names = argument_names(function)
    wrt = [names[k] for k in wrt_of(function, case.inputs, case.wrt)]
    try:
        made = ModuleOp([gradient(function, wrt)])
    except TileError as error:
        assert "specialize first" in str(error)
        assert case.name in ("rational_max", "default_product")
        return
    made.verify()
    assert_results(made.clone(), inputs, wanted, "the polymorphic gradient")
    read = load(print_tile(made))
    read.verify()
    assert str(load(print_tile(read))) == str(read)
    assert_results(read, inputs, wanted, "the gradient's text")
    assert_results(load(print_tile(specialized)), inputs, wanted, "the specialized one's text")


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_text(case: Case):
    check_text(case)


# -- devices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "rows"), [("uint8", 256), ("int8", 128), ("uint16", 1000)])
def test_gather_by_narrow_indices_from_many_rows(dtype: str, rows: int, device: Any):
    """The gradient numbers all rows, more than u8 and i8 can hold."""
    places = np.array([0, 3, rows - 1, 3], dtype)
    gradient = td.compile("function (A[N, M], I[K]) -> (O) { O = gather(A, I); }", device=device)
    a, ones = np.ones((1000, 2), np.float32), np.ones((4, 2), np.float32)
    expected = np.zeros_like(a)
    np.add.at(expected, places.astype(np.intp), ones)
    np.testing.assert_array_equal(gradient.gradient(wrt="A")(a, places, ones), expected)


@pytest.mark.parametrize(
    ("dtype", "divisors"),
    [("float16", (2e-6, 1.5e-5, 1, 6e4)), ("float32", (4e-38, 1, 1e38, 3e38, np.inf))],
)
def test_quotients_whose_reciprocals_are_out_of_range(
    dtype: str, divisors: tuple[float, ...], device: Any
):
    """The gradients of divisions by what is broadcast are those quotients all the same."""
    source = "function (A[N, M], B[N, 1]) -> (O) { O = A / B; }"
    b = np.array(divisors, dtype)[:, None]
    shares = np.where(np.isfinite(b), b, 1).astype(np.float64) * (0, 0.5, 1)
    cotangent = np.concatenate([shares, np.ones_like(b)], axis=1).astype(dtype)
    with np.errstate(over="ignore"):
        expected = (cotangent.astype(np.float64) / b).astype(dtype)
    found = td.compile(source, device=device).gradient(wrt="A")(cotangent, b, cotangent)
    # On some devices what is below the least normal number is 0.
    atol = float(np.finfo(dtype).tiny)
    np.testing.assert_allclose(found, expected, 4 * np.finfo(dtype).eps, atol)


ON_DEVICES = [
    "pow_3x4_4",
    "max_3x4_3x1",
    "gather_outside",
    "scatter_2d",
    "softmax",
    "crossentropy",
    "conv_of_the_seeds",
    "conv2d_2_1_1",
    "conv_grouped",
    "conv_transposed",
    "max_pool_overlapping",
    "product_pool_with_zeros",
    "max_mul3",
    "min_add",
    "max_conditional",
    "default_max",
    "rational_max",
    "attention",
    "norm",
]


@pytest.mark.parametrize("name", ON_DEVICES)
def test_on_device(name: str, device: Any):
    (case,) = [c for c in CASES if c.name == name]
    inputs = (*case.inputs, *cotangents(run(case.module(), case.inputs)))
    function = find_function(case.module())
    wrt = [argument_names(function)[k] for k in wrt_of(function, case.inputs, case.wrt)]
    wanted = run(differentiated(case.module(), case.wrt), inputs)
    results = td.compile(case.source, device=device).gradient(wrt)(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    for found, expected in zip(results, wanted, strict=True):
        assert_close(found, expected, length=64, ulps=200, scale=LARGEST, what=name)


def test_second_order_on_device(device: Any):
    program = td.compile("function (X[N, M]) -> (O) { O = softmax(X, 1); }", device=device)
    second = program.gradient().gradient()
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((4, 6)) for _ in second.inputs]
    for found, expected in zip(second(*inputs), second.reference(*inputs), strict=True):
        assert_close(found, expected, length=64, ulps=200, scale=LARGEST)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(differentiable())
def test_random_contractions(made: Contraction):
    module, inputs = module_and_inputs(made)
    check_module(module, inputs)


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(differentiable())
def test_random_contractions_on_devices(made: Contraction):
    module, inputs = module_and_inputs(made)
    given = (*inputs, *cotangents(run(module, inputs)))
    wanted = run(differentiated(module), given)
    names = [f"A{k}" for k in wrt_of(find_function(module), inputs, ())]
    for device in td.devices():
        results = td.compile(module, device=device).gradient(names)(*given)
        results = results if isinstance(results, tuple) else (results,)
        for found, expected in zip(results, wanted, strict=True):
            assert_close(found, expected, length=1000, ulps=500, scale=LARGEST, what=str(device))


# -- custom gradients ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", custom.CASES, ids=str)
def test_custom_gradients(case: Case):
    """The gradient function is the one that was asked for, to any order."""
    module = case.module()
    given = (*case.inputs, *cotangents(run(module, case.inputs)))
    made = differentiated(module, case.wrt)
    wanted = load(case.like)
    for found, expected in zip(run(made, given), run(wanted, given), strict=True):
        assert_close(found, expected, ulps=100, scale=LARGEST, what=case.name)
    if case.second:
        check_module(made, given)


def test_custom_gradients_change_no_value(device: Any):
    source = "function (X) -> (Y) { Y = custom_gradient(round(X), X) (D) -> (E) { E = D * X; };}"
    x = np.float32([0.4, 1.6, -2.7])
    f = td.compile(source, device=device)
    assert np.array_equal(f(x), np.float32([0, 2, -3]))
    assert np.array_equal(f.gradient()(x, np.float32([2, 2, 2])), 2 * x)


# -- what is not computed ------------------------------------------------------------------------

LAYERS = """
function (X[N, A], V[A, B], W[B, C]) -> (Y) {
  H[n, b: N, B] = +(X[n, a] * V[a, b]);
  R = exp(H);
  Y[n, c: N, C] = +(R[n, b] * W[b, c]);
}"""
SHAPES = [((20, 30), "f4"), ((30, 40), "f4"), ((40, 50), "f4"), ((20, 50), "f4")]
"""Of so many points that none is computed where elementwise ops take it."""


def kernels(wrt: tuple[str, ...], **options: bool) -> int:
    f = td.compile(LAYERS).gradient(wrt, **options)
    return f.ir("tile-fuse", *SHAPES).count("tile.kernel")


def test_only_what_is_needed():
    # DW needs R. DR, then DV or DX, need one contraction each.
    assert [kernels(w) for w in (("W",), ("V",), ("X",), ("X", "V", "W"))] == [2, 3, 3, 5]


def test_no_value_is_computed_twice():
    assert kernels(("W",), with_outputs=True) == kernels(("W",)) + 1
    source = "function (X) -> (Y) { E = exp(X); Y = sin(E) * E; }"
    module = ModuleOp([gradient(find_function(load(source)), ["X"], with_outputs=True)])
    names = [op.name for op in module.walk()]
    assert names.count("tile.exp") == 1 and names.count("tile.sin") == 1


def test_what_is_not_asked_for_is_not_there():
    function = find_function(load("function (X, W) -> (Y) { Y = sin(X) * cos(W); }"))
    names = [op.name for op in gradient(function, ["W"]).walk()]
    assert sorted(names) == sorted(
        "func.func tile.sin tile.mul tile.sum_to tile.sin tile.mul tile.neg func.return".split()
    )


def test_sizes_are_found_once():
    # Each square asks both operands for its sizes: 2 to the 40th questions without a memory.
    squares = " ".join(f"X{k + 1} = X{k} * X{k};" for k in range(40))
    source = f"function (X0[N, M]) -> (S) {{ {squares} S[i: N] = +(X40[i, j]); }}"
    made = gradient(find_function(load(source)))
    assert [op.name for op in made.walk()].count("tensor.dim") <= 4


def test_outputs_of_mlir_without_names(tmp_path: Path):
    path = tmp_path / "f.mlir"
    path.write_text(
        "func.func @f(%A: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %C = tile.mul %A, %A : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
        "  func.return %C : tensor<3xf32>\n}"
    )
    a = np.arange(3, dtype="f4")
    results = td.compile(path).gradient(with_outputs=True)(a, np.ones(3, "f4"))
    np.testing.assert_array_equal(results.C, a * a)
    np.testing.assert_array_equal(results.DA, 2 * a)


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrt", "said"),
    [
        (("Z",), "there is no input Z to differentiate by; there is A, I"),
        (("A", "A"), "an input to differentiate by is named twice"),
        (("I",), "I holds i32: there is no gradient with respect to integers"),
    ],
)
def test_errors(wrt: tuple[str, ...], said: str):
    f = td.compile("function (A, I) -> (O) { O = A * I; }")
    a, i = np.ones(3, "f4"), np.ones(3, "i4")
    with pytest.raises(TileError, match=f"^{said}"):
        f.gradient(wrt)(a, i, a)


def test_cotangents_must_fit():
    f = td.compile("function (A[N, M]) -> (O) { O[i: N] = +(A[i, j]); }").gradient()
    a = np.ones((3, 4), "f4")
    with pytest.raises(TileError, match="DO must be 3xf32, as O is, not 4xf32"):
        f(a, np.ones(4, "f4"))
    assert f(a, np.ones(3)).dtype == np.float32  # converted


# -- the table of rules --------------------------------------------------------------------------


def test_every_op_has_a_rule():
    constants = {ConstantOp, SizeOp}
    assert set(DERIVATIVES) == {ScanOp, *ELEMENTWISE_OPS, *SPECIAL_OPS} - constants


def test_softmax_needs_no_gradient_of_its_maximum():
    function = find_function(load("function (X[N, M]) -> (Y) { Y = builtin_softmax(X, N, M); }"))
    made = gradient(function)
    made_ops = [op for op in made.walk() if isinstance(op, ContractionOp)]
    # The maximum and the sum of the forward pass, and the sum that the cotangents need.
    assert len(made_ops) == 3
