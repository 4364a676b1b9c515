"""Names of kernels' functions."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import gpu

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass

TEXT = """
func.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %E = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
    %B = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %B : tensor<8xf32>
  }
  func.return %E : tensor<8xf32>
}
"""


def test_functions_have_the_names_of_the_user() -> None:
    module = parse_mlir(TEXT, "names.mlir")
    (kernel,) = ops_of(module, KernelOp)
    # xDSL hands on hints where it replaces values.
    kernel.outputs[0].name_hint = "another"
    TileToNestPass().apply(Context(), module)
    (function,) = ops_of(module, gpu.FuncOp)
    assert function.sym_name.data == "f_0_E"
