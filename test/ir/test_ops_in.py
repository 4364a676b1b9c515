"""Ops in ops are those that xDSL walks over."""

from xdsl.dialects import arith, func, scf

from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_in, ops_of

TEXT = """
func.func @f(%n: index) {
  %c = arith.constant 1 : index
  scf.for %i = %c to %n step %c {
    %d = arith.addi %i, %c : index
    scf.for %j = %d to %n step %c {
      %e = arith.muli %j, %c : index
    }
  }
  func.return
}
"""


def test_ops_come_as_they_stand() -> None:
    """All of them, in a module and in a block, those around others first."""
    module = parse_mlir(TEXT, "f")
    assert ops_in(module) == [*module.walk()]
    assert ops_in(module.body.block) == [*module.body.block.walk()]


def test_kinds_are_chosen() -> None:
    """Several kinds, and kinds that others are made from."""
    module = parse_mlir(TEXT, "f")
    (outer, inner) = ops_of(module, scf.ForOp)
    assert ops_of(outer.body.block, scf.ForOp) == [inner]
    assert len(ops_of(module, arith.AddiOp, arith.MuliOp)) == 2
    assert len(ops_of(module, arith.SignlessIntegerBinaryOperation)) == 2
    assert not ops_of(inner, func.FuncOp)
