"""Kernels that consist of others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def, var_operand_def
from xdsl.traits import SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from tiledialect.ir.kernels import sizes_of


class CallsKernel(SymbolUserOpInterface):
    """Of an op that calls a kernel of the same module."""

    def verify(self, op: Operation) -> None:
        """Check that there is such a kernel, for these arguments and work-groups."""
        assert isinstance(op, CallOp)
        caller, kernel = op.parent_op(), op.kernel
        if not isinstance(caller, gpu.FuncOp):
            raise VerifyException("a nest.call stands in a kernel")
        wanted, given = [*kernel.function_type.inputs], [*op.arguments.types]
        if wanted != given:
            texts = (", ".join(map(str, types)) for types in (wanted, given))
            raise VerifyException("{} takes ({}), not ({})".format(op.callee, *texts))
        if calls_of(kernel):
            raise VerifyException(f"{op.callee} calls kernels itself")
        calls, name = calls_of(caller), caller.sym_name.data
        if len(calls) + 1 != len(caller.body.block.ops):
            raise VerifyException(f"@{name} calls kernels, but has other ops, too")
        _verify_sizes(op, kernel, caller)
        if op is calls[0] and sum(_items(call.kernel) for call in calls) != _items(caller):
            raise VerifyException(f"@{name} has not the work-groups of the kernels that it calls")


def _verify_sizes(op: CallOp, kernel: gpu.FuncOp, caller: gpu.FuncOp) -> None:
    """Check that the work-groups of a called kernel make whole ones of its caller."""
    own, whole = (prod(sizes_of(f)[1]) for f in (kernel, caller))
    if not _items(kernel) or not whole or whole % own or _items(kernel) % whole:
        raise VerifyException(
            f"the work-groups of {op.callee} do not make whole ones of @{caller.sym_name.data}"
        )


def _items(kernel: gpu.FuncOp) -> int:
    """Number of work-items of a kernel; 0 if it is not known."""
    return prod(map(prod, sizes_of(kernel)))


@irdl_op_definition
class CallOp(IRDLOperation):
    """Computes a kernel of the same module, by work-groups of its own.

    A kernel of such ops has no others, and as many work-groups as the kernels that it calls have
    together: the first ones are those of the first call. Kernels with smaller work-groups have
    several in one. None of them writes what another one accesses, or calls kernels itself.

    Example:

    ```mlir
    "gpu.module"() <{sym_name = "kernels"}> ({
      "gpu.func"() <{function_type = (memref<8xf32>) -> (), kernel}> ({
      ^bb0(%A: memref<8xf32>):
        nest.call @own(%A) : memref<8xf32>
        "gpu.return"() : () -> ()
      }) {
        sym_name = "all", gpu.known_block_size = array<i32: 4>, gpu.known_grid_size = array<i32: 3>
      } : () -> ()
      "gpu.func"() <{function_type = (memref<8xf32>) -> (), kernel}> ({
      ^bb0(%A: memref<8xf32>):
        "gpu.return"() : () -> ()
      }) {
        sym_name = "own", gpu.known_block_size = array<i32: 2>, gpu.known_grid_size = array<i32: 6>
      } : () -> ()
    }) : () -> ()
    ```
    """

    name = "nest.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()

    traits = traits_def(CallsKernel())

    assembly_format = "$callee `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue]):
        """A call of the kernel of that name."""
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)})

    @property
    def kernel(self) -> gpu.FuncOp:
        """The kernel that is called; a VerifyException if there is none."""
        found = SymbolTable.lookup_symbol(self, self.callee)
        if not isinstance(found, gpu.FuncOp):
            raise VerifyException(f"there is no kernel {self.callee}")
        return found


def calls_of(kernel: gpu.FuncOp) -> list[CallOp]:
    """Calls of other kernels that a kernel consists of; none if it has ops of its own."""
    return [op for op in kernel.body.block.ops if isinstance(op, CallOp)]
