"""Programs of linalg from end to end: called on arrays, differentiated, given to upstream."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import upstream
from generic_cases import GENERICS
from linalg_cases import CONVOLUTIONS, OTHERS, PRODUCTS, random_array
from tensor_cases import TENSORS

import tiledialect as td
from tiledialect.api.reference import run_function
from tiledialect.ir.mlir_text import all_dialects, parse_mlir, print_module
from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.passes.convert.convert_linalg_to_tile import ConvertLinalgToTilePass
from tiledialect.passes.gradient.tile_gradient import TileGradientPass

CONTROL = """
func.func @control(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = tensor.dim %x, %0 : tensor<4xf32>
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = scf.for %i = %0 to %n step %1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %m = arith.addi %i, %1 : index
    %q = scf.for %j = %0 to %m step %1 iter_args(%b = %a) -> (tensor<4xf32>) {
      %z = arith.addf %b, %k : tensor<4xf32>
      scf.yield %z : tensor<4xf32>
    }
    scf.yield %q : tensor<4xf32>
  }
  %t = scf.if %c -> (tensor<4xf32>) {
    %e = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  } else {
    scf.yield %r : tensor<4xf32>
  }
  func.return %r, %t : tensor<4xf32>, tensor<4xf32>
}
"""
LAYER = "examples/linalg_layer.mlir"

CALLS = """
func.func @scale(%a: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%a : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.mul ins(%f, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}
func.func @shifted(%A: tensor<?x?xf32>, %B: tensor<?x8xf32>) -> (tensor<?x8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %A, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %C = linalg.matmul ins(%A, %B : tensor<?x?xf32>, tensor<?x8xf32>)
       outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  %row = tensor.extract_slice %C[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  %d = tensor.cast %row : tensor<8xf32> to tensor<?xf32>
  %s = func.call @scale(%two, %d) : (f32, tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.cast %s : tensor<?xf32> to tensor<8xf32>
  %R = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%C, %g : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
   ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  %first = tensor.extract %R[%c0, %c0] : tensor<?x8xf32>
  func.return %R, %first : tensor<?x8xf32>, f32
}
"""


MOVED = """
func.func @moved(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x2x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 7.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %p = tensor.pad %x low[%c1, 0] high[0, %c2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %c = tensor.concat dim(0) %p, %y :
       (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %h = affine.apply affine_map<()[s] -> (s ceildiv 2)>()[%m]
  %e = tensor.expand_shape %x [[0, 1], [2]] output_shape [%h, 2, %n] :
       tensor<?x?xf32> into tensor<?x2x?xf32>
  %k = arith.subi %n, %c1 : index
  %s = tensor.extract_slice %x[0, %c1] [%m, %k] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %w = tensor.insert_slice %s into %x[0, 0] [%m, %k] [1, 1] :
       tensor<?x?xf32> into tensor<?x?xf32>
  func.return %c, %flat, %e, %w :
    tensor<?x?xf32>, tensor<?xf32>, tensor<?x2x?xf32>, tensor<?x?xf32>
}
"""


def test_calls_scalars_and_open_sizes():
    shifted = td.compile(parse_mlir(CALLS, "calls.mlir"), name="shifted")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 6)).astype("f"), rng.normal(size=(6, 8)).astype("f")
    result, first = shifted(a, b)
    wanted = a @ b
    wanted += 2 * wanted[0]
    # Sums of 6 products.
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    assert first.shape == ()
    assert first == result[0, 0]


def test_outputs_read_one_another():
    text = """
func.func @swap(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%a, %b : tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %y, %x : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  func.return %r#0, %r#1 : tensor<3xf32>, tensor<3xf32>
}"""
    module = parse_mlir(text, "swap.mlir")
    ConvertLinalgToTilePass().apply(all_dialects(), module)
    verify(module)
    a, b = np.arange(3, dtype="f"), np.ones(3, "f")
    x, y = run_function(module, "swap", [a, b])
    assert np.array_equal(x, b) and np.array_equal(y, a)


def test_upstream_runs_a_gradient():
    module = parse_mlir(Path(LAYER).read_text(), LAYER)
    for made in (ConvertLinalgToTilePass(), TileGradientPass(), ConvertTileToLinalgPass()):
        made.apply(all_dialects(), module)
    rng = np.random.default_rng(0)
    x, w, b, d = (rng.normal(size=shape).astype("f") for shape in ((4, 8), (8, 3), (3,), (4, 3)))
    dx, dw, db = upstream.run_f32(
        print_module(module), "layer_gradient", [x, w, b, d], [x.shape, w.shape, b.shape]
    )
    ds = np.where(x @ w + b > 0, d, 0)
    # Numbers are printed with six digits.
    for result, wanted in ((dx, ds @ w.T), (dw, x.T @ ds), (db, ds.sum(0))):
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)


def test_tensor_ops_of_open_sizes():
    module = parse_mlir(MOVED, "moved.mlir")
    ConvertLinalgToTilePass().apply(all_dialects(), module)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 3)).astype("f"), rng.normal(size=(2, 5)).astype("f")
    joined, flat, parted, moved = run_function(module, "moved", [x, y])
    padded = np.pad(x, ((1, 0), (0, 2)), constant_values=7)
    assert np.array_equal(joined, np.concatenate([padded, y]))
    assert np.array_equal(flat, x.reshape(-1))
    assert np.array_equal(parted, x.reshape(2, 2, 3))
    assert np.array_equal(moved, np.concatenate([x[:, 1:], x[:, 2:]], 1))


OPEN = (
    *("matmul", "conv_2d_nhwc_hwcf", "pooling_nchw_max", "softmax", "reduce", "broadcast"),
    *("generic_bias", "generic_exp_product", "generic_positions", "generic_gathered"),
)


def test_ops_of_open_sizes():
    cases = [c for c in (*PRODUCTS, *CONVOLUTIONS, *OTHERS, *GENERICS) if c.name in OPEN]
    assert len(cases) == len(OPEN)
    rng = np.random.default_rng(0)
    for case in cases:
        types = find_function(parse_mlir(case.text, "case.mlir")).function_type.inputs
        module = parse_mlir(re.sub(r"(?<=tensor<)((\d+x)+)(?!i64)", _open, case.text), "open.mlir")
        ConvertLinalgToTilePass().apply(all_dialects(), module)
        arrays = [random_array(t, rng) for t in types]
        (result,) = run_function(module, case.name, arrays)
        # Sums of up to 20 products.
        np.testing.assert_allclose(result, case.meaning(*arrays), rtol=1e-5, atol=1e-5)


def _open(shape: re.Match[str]) -> str:
    return "?x" * shape[0].count("x")


OLD = ("matmul_transpose_a", "matmul_transpose_b", "batch_matmul_transpose_b")
"""Ops of earlier versions of upstream."""


@pytest.mark.parametrize("options", [(), ("-mlir-print-op-generic",)], ids=["custom", "generic"])
def test_texts_of_upstream_convert(options: tuple[str, ...]):
    cases = (*PRODUCTS, *CONVOLUTIONS, *OTHERS, *GENERICS, *TENSORS)
    # The segments of linalg.map's operands are not in its generic form.
    left_out = (*OLD, "map") if options else OLD
    texts = "".join(case.text for case in cases if case.name not in left_out)
    module = parse_mlir(upstream.mlir_opt(texts, *options), "upstream.mlir")
    verify(module)
    ConvertLinalgToTilePass().apply(all_dialects(), module)
    verify(module)
    assert "linalg." not in print_module(module)


def test_loops_and_branches(device: td.Device) -> None:
    f = td.compile(parse_mlir(CONTROL, "control.mlir"), device=device)
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    for c in (True, False):
        r, t = f(x, c)
        # Sums of five small integers, and an exponential.
        np.testing.assert_allclose(r, x + 10 * np.arange(1, 5), 1e-6)
        np.testing.assert_allclose(t, np.exp(x) if c else r, 1e-6)
