"""Merged products, by the reference semantics before and after the pass."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.algebra.tile_merge_products import TileMergeProductsPass

PROGRAM = """
module attributes {{dlti.target_system_spec = #dlti.target_system_spec<
    "GPU" = #dlti.target_device_spec<"type" = "gpu", "compute_units" = 132 : i64,
                                     "max_work_group_size" = 1024 : i64>>}} {{
  func.func @f(%X: tensor<64x128xf64> {{tile.name = "X"}}, %V: tensor<{v}xf64> {{tile.name = "V"}},
      %W: tensor<{w}xf64> {{tile.name = "W"}}, %B: tensor<{b}xf64> {{tile.name = "B"}},
      %C: tensor<{c}xf64> {{tile.name = "C"}}) -> (tensor<{p}xf64>, tensor<{q}xf64>) {{
    %h = tile.constant 0.5 : tensor<f64>
    %P = tile.contraction add(%X[i, k] mul %V[{at}]) -> [{to}]
      : (tensor<64x128xf64>, tensor<{v}xf64>) -> tensor<{p}xf64>
    %Q = tile.contraction add(%X[i, k] mul %W[{at}]) -> [{to}]
      : (tensor<64x128xf64>, tensor<{w}xf64>) -> tensor<{q}xf64>
    %R = tile.mul %h, %P : (tensor<f64>, tensor<{p}xf64>) -> tensor<{p}xf64>
    %S = tile.mul %h, %Q : (tensor<f64>, tensor<{q}xf64>) -> tensor<{q}xf64>
    %T = tile.add %R, %B : (tensor<{p}xf64>, tensor<{b}xf64>) -> tensor<{p}xf64>
    %U = tile.{last} %S, %C : (tensor<{q}xf64>, tensor<{c}xf64>) -> tensor<{q}xf64>
    func.return %T, %U : tensor<{p}xf64>, tensor<{q}xf64>
  }}
}}
"""
COLUMNS = {"v": "128x32", "w": "128x48", "p": "64x32", "q": "64x48", "at": "k, j", "to": "i, j"}
ROWS = {"v": "32x128", "w": "48x128", "p": "32x64", "q": "48x64", "at": "j, k", "to": "j, i"}
CASES = {
    "columns": (COLUMNS | {"b": "32", "c": "48", "last": "add"}, 80),
    "rows": (ROWS | {"b": "32x1", "c": "48x1", "last": "add"}, 80),
    "one number for a row": (COLUMNS | {"b": "64x1", "c": "64x1", "last": "add"}, 80),
    "other ops": (COLUMNS | {"b": "32", "c": "48", "last": "sub"}, 80),
}


@pytest.mark.parametrize("case", CASES)
def test_merged_products(case: str):
    sizes, width = CASES[case]
    module = parse_mlir(PROGRAM.format(**sizes), case)
    f = td.compile(module)
    rng = np.random.default_rng(1)
    given = [
        rng.random(tuple(map(int, sizes[k].split("x")))) for k in ("v", "w", "b", "c") if sizes[k]
    ]
    inputs = [rng.random((64, 128)), *given]
    expected = f.reference(*inputs)
    merged = module.clone()
    assert TileMergeProductsPass(("V", "W", "B", "C")).merge(merged)
    merged.verify()
    products = [op for op in ops_of(merged, ContractionOp) if len(op.inputs) == 2]
    assert [width in op.result.type.get_shape() for op in products] == [True]
    # The same sums, of the same products.
    for a, b in zip(td.compile(merged).reference(*inputs), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_products_by_arguments_that_vary():
    module = parse_mlir(PROGRAM.format(**CASES["columns"][0]), "varying")
    assert not TileMergeProductsPass(("V", "B", "C")).merge(module)
    assert not TileMergeProductsPass().merge(module)
