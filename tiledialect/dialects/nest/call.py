"""Kernels that consist of others."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, SymbolRefAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, var_operand_def


@irdl_op_definition
class CallOp(IRDLOperation):
    """Computes a kernel of the same module, by work-groups of its own.

    A kernel of such ops has as many work-groups as the kernels that it calls have together: the
    first ones are those of the first call. Kernels with smaller work-groups have several in one.
    None of them writes what another one accesses.

    Example:

    ```mlir
    nest.call @first(%A, %B) : memref<64xf32>, memref<64xf32>
    ```
    """

    name = "nest.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()

    assembly_format = "$callee `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue]):
        """A call of the kernel of that name."""
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)})
