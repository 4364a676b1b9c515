"""Tests of epilogue fission that is undone."""

from __future__ import annotations

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.fuse.rules.epilogue_fission import split_results

TEXT = """
func.func @f(%A: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0, %E = tile.kernel(%a = %A : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %1 = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %2 = tile.neg %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
  func.return %0, %E : tensor<8xf32>, tensor<8xf32>
}
"""


def test_undone_fission_leaves_no_names() -> None:
    (kernel,) = ops_of(parse_mlir(TEXT, "undone.mlir"), KernelOp)
    parted = split_results(kernel, kernel.yield_op.values[:1])
    assert parted is not None
    assert given_name(parted.outputs[0]) == "E_part"
    parted.undo()
    assert [given_name(v) for v in kernel.outputs] == [None, "E"]
    assert [v.name_hint for v in kernel.outputs] == [None, "E"]
