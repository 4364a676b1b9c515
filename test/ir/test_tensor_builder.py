"""Ops built one after another, and the sizes of axes found through ops and headers."""

from __future__ import annotations

from xdsl.dialects import func, tensor
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.special import SumToOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.tensor_builder import Origins, TensorBuilder

HEADER = """func.func @f(%X: tensor<?x?xf32> {tile.name = "X", tile.dims = ["N", "M"]},
    %Y: tensor<?xf32> {tile.name = "Y", tile.dims = ["M"]}, %Z: tensor<4x1xf32>)
    -> tensor<?x?xf32> {
  %E = tile.exp %X : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %S = tile.add %E, %Y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  func.return %S : tensor<?x?xf32>
}"""


def _function() -> func.FuncOp:
    (found,) = ops_of(parse_mlir(HEADER, "f.mlir"), func.FuncOp)
    return found


def test_sizes_come_from_the_first_input_of_the_header():
    function, origins = _function(), Origins()
    x, y, z = function.body.block.args
    exp, total, _ = function.body.block.ops
    assert origins.of(y, 0) == (x, 1)
    assert origins.of(exp.results[0], 0) == (x, 0)
    assert origins.of(total.results[0], 1) == (x, 1)
    assert origins.of(z, 0) == 4


def test_a_size_is_computed_once():
    function = _function()
    x, y, _ = function.body.block.args
    last = function.body.block.last_op
    assert last is not None
    build = TensorBuilder(last)
    first, second = build.size(x, 1), build.size(y, 0)
    assert isinstance(first, SSAValue) and first is second
    assert len(list(ops_of(function, tensor.DimOp))) == 1


def test_equal_shapes_need_no_op():
    function = _function()
    *_, z = function.body.block.args
    last = function.body.block.last_op
    assert last is not None
    build = TensorBuilder(last)
    count = len(list(ops_of(function, ElementwiseOp, SumToOp)))
    assert build.like(z, z) is z and build.sum_to(z, z) is z
    assert len(list(ops_of(function, ElementwiseOp, SumToOp))) == count
    row = build.sum_to(function.body.block.args[0], z)
    assert isinstance(row.owner, SumToOp)
