"""Values without a name described by the ops that compute them, and sizes by their arithmetic."""

from __future__ import annotations

from xdsl.dialects import func

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.diagnostics.value_text import (
    described,
    described_contraction,
    described_size,
)

FUNCTION = """func.func @f(%X: tensor<?x4xf32>, %Y: tensor<?x4xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %0 = tensor.dim %X, %zero : tensor<?x4xf32>
  %1 = arith.constant 2 : index
  %2 = arith.subi %0, %1 : index
  %3 = tile.exp %X : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %4 = tile.sub %Y, %3 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = tile.mul %X, %4 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %6 = tile.contraction add(%5[i, k]) -> [i : %2] : (tensor<?x4xf32>) -> tensor<?xf32>
  func.return %6 : tensor<?xf32>
}"""


def function() -> func.FuncOp:
    (found,) = ops_of(parse_mlir(FUNCTION, "f.mlir"), func.FuncOp)
    return found


def test_the_depth_of_a_description_is_bounded():
    (op,) = ops_of(function(), ContractionOp)
    (product,) = op.inputs
    assert described(product) == "X * (Y - exp(X))"
    assert described(product, 2) == "X * (Y - …)"
    assert described(product, 0) == "…"


def test_a_contraction_is_described_as_in_tile():
    (op,) = ops_of(function(), ContractionOp)
    assert described_contraction(op) == "result[i] = +((X * (Y - exp(X)))[i, k])"


def test_a_size_is_described_by_its_arithmetic():
    (op,) = ops_of(function(), ContractionOp)
    assert described_size(op.sizes[0]) == "dim(X, 0) - 2"
