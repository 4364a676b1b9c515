"""Patterns that say in which memory a value is kept."""

from __future__ import annotations

from abc import ABC

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def

from tiledialect.dialects.lift.base import PlainOp, defining_op


class MemoryOp(PlainOp, ABC):
    """The value itself, kept in a certain memory."""

    input = operand_def(AnyAttr())

    def inferred_type(self) -> Attribute:
        """The value's type."""
        return self.input.type

    def existing_value(self) -> SSAValue | None:
        """Operand that the same pattern keeps already."""
        return self.input if defining_op(self.input, type(self)) else None


@irdl_op_definition
class ToGlobalOp(MemoryOp):
    """The value, kept in global memory.

    Example: `%r = lift.to_global %x : (tensor<8xf32>) -> tensor<8xf32>`
    """

    name = "lift.to_global"


@irdl_op_definition
class ToLocalOp(MemoryOp):
    """The value, kept in the local memory of a work-group.

    Example: `%r = lift.to_local %x : (tensor<8xf32>) -> tensor<8xf32>`
    """

    name = "lift.to_local"


@irdl_op_definition
class ToPrivateOp(MemoryOp):
    """The value, kept in the private memory of a work-item.

    Example: `%r = lift.to_private %x : (f32) -> f32`
    """

    name = "lift.to_private"


MEMORY_OPS = (ToGlobalOp, ToLocalOp, ToPrivateOp)
