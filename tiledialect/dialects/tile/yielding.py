"""The end of the bodies that tile ops have."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException


class EndsInYield(OpTrait):
    """Of an op with a body of one block, which a `tile.yield` ends."""

    def verify(self, op: Operation) -> None:
        """Check that it does."""
        if not isinstance(op.regions[0].block.last_op, YieldOp):
            raise VerifyException(f"the body of a {op.name} ends in a tile.yield")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a `tile.kernel` or `tile.custom_gradient` with its results.

    Example: `tile.yield %e : tensor<8xf32>`
    """

    name = "tile.yield"

    values = var_operand_def(AnyAttr())

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        """Yield ``values``."""
        super().__init__(operands=[values])

    def verify_(self) -> None:
        """Check that this is the end of such a body."""
        parent = self.parent_op()
        if parent is not None and not parent.has_trait(EndsInYield):
            raise VerifyException("a tile.yield ends the body of a tile.kernel or custom gradient")
