"""Copies to local memory that go on by themselves, and waiting for them."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.schedule.loops import COPIED_BYTES


@irdl_op_definition
class CommitOp(IRDLOperation):
    """Ends a group: the copies that this work-item started since the last one.

    Example: `nest.commit`
    """

    name = "nest.commit"

    assembly_format = "attr-dict"


@irdl_op_definition
class WaitOp(IRDLOperation):
    """Waits for all copies of this work-item but the last groups', of such a number.

    Copies of other work-items are there after a barrier that they reach after their own wait.

    Example: `nest.wait 1`
    """

    name = "nest.wait"

    groups = prop_def(IntegerAttr)

    def __init__(self, groups: int):
        """A wait for all groups but so many."""
        super().__init__(properties={"groups": IntegerAttr(groups, i64)})

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(f" {self.groups.value.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> WaitOp:
        """Parse the form shown in the class's example."""
        op = cls(parser.parse_integer(allow_boolean=False, allow_negative=False))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Starts to copy neighbours from one array to another, at the kernel level.

    They are there after the `nest.wait` for the group that it is in. With a condition that does
    not hold nothing is read, and they are zeros.

    Example:

    ```mlir
    nest.copy 4 %A[%i] to %tile[%j] : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
    nest.copy 4 %A[%i] to %tile[%j] if %b : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
    ```
    """

    name = "nest.copy"

    source = operand_def(MemRefType)
    source_index = operand_def(IndexType())
    target = operand_def(MemRefType)
    target_index = operand_def(IndexType())
    inside = opt_operand_def(i1)
    lanes = prop_def(IntegerAttr)

    def __init__(
        self,
        lanes: int,
        source: SSAValue,
        source_index: SSAValue,
        target: SSAValue,
        target_index: SSAValue,
        inside: SSAValue | None = None,
    ):
        """A copy of so many elements from an index of one array to an index of another."""
        super().__init__(
            operands=[source, source_index, target, target_index, inside],
            properties={"lanes": IntegerAttr(lanes, i64)},
        )

    @property
    def bytes(self) -> int:
        """Number of bytes copied."""
        assert isinstance(self.target.type, MemRefType)
        return self.lanes.value.data * element_bytes(self.target.type.element_type)

    def verify_(self) -> None:
        """Check the number of bytes."""
        if self.bytes not in COPIED_BYTES:
            raise VerifyException(f"nest.copy copies 4, 8 or 16 bytes, not {self.bytes}")

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(f" {self.lanes.value.data} ")
        printer.print_ssa_value(self.source)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.source_index)
        printer.print_string(" to ")
        printer.print_ssa_value(self.target)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.target_index)
        if self.inside is not None:
            printer.print_string(" if ")
            printer.print_ssa_value(self.inside)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(", ")
        printer.print_attribute(self.target.type)

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        """Parse the form shown in the class's example."""
        lanes = parser.parse_integer(allow_boolean=False, allow_negative=False)
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            source_index = _parse_index(parser)
        parser.parse_keyword("to")
        target = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            target_index = _parse_index(parser)
        inside = None
        if parser.parse_optional_keyword("if"):
            inside = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        from_type = parser.parse_type()
        parser.parse_punctuation(",")
        to_type = parser.parse_type()
        op = cls(
            lanes,
            parser.resolve_operand(source, from_type),
            source_index,
            parser.resolve_operand(target, to_type),
            target_index,
            inside,
        )
        op.attributes.update(attributes)
        return op


def _parse_index(parser: Parser) -> SSAValue:
    return parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
