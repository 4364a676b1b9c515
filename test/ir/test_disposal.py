"""IR that is taken apart needs no garbage collector."""

from __future__ import annotations

import gc
from weakref import ref

from xdsl.dialects.builtin import ModuleOp

from tiledialect.ir.disposal import dispose
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_in

LOOP = """
func.func @f(%n: index, %x: memref<8xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  scf.for %i = %0 to %n step %1 {
    %a = memref.load %x[%i] : memref<8xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %x[%i] : memref<8xf32>
  }
  func.return
}
"""


def test_ops_go_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        module = parse_mlir(LOOP, "loop.mlir")
        ops = [*map(ref, ops_in(module)[1:])]
        dispose(module)
        assert [op() for op in ops] == [None] * 9
    finally:
        gc.enable()
    assert not ops_in(module)[1:]
    assert isinstance(module, ModuleOp)
