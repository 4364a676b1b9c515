"""Exchange through registers between the work-items of a sub-group."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """The value that another work-item of the sub-group has.

    Sub-groups are of so many neighbours along x, a power of two; all of them execute it. A
    work-item gets the value of the one whose number in the sub-group differs from its own in the
    bits that are given: with `xor 1` neighbours exchange theirs.

    Example:

    ```mlir
    %y = nest.shuffle %x xor 4 in 32 : f32
    ```
    """

    name = "nest.shuffle"

    value = operand_def(AnyAttr())
    mask = prop_def(IntegerAttr)
    size = prop_def(IntegerAttr)
    result = result_def(AnyAttr())

    def __init__(self, value: SSAValue, mask: int, size: int):
        """The value of the item that differs by ``mask`` in a sub-group of ``size``."""
        super().__init__(
            operands=[value],
            properties={"mask": IntegerAttr(mask, i64), "size": IntegerAttr(size, i64)},
            result_types=[value.type],
        )

    def verify_(self) -> None:
        """Check the numbers and the type."""
        mask, size = self.mask.value.data, self.size.value.data
        if size < 2 or size & (size - 1):
            raise VerifyException(f"a sub-group has a power of two of work-items, not {size}")
        if not 0 < mask < size:
            raise VerifyException(f"no two of {size} work-items differ by {mask}")
        if not can_shuffle(self.value.type) or self.result.type != self.value.type:
            raise VerifyException(f"nest.shuffle exchanges numbers, not {self.value.type}")

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" xor {self.mask.value.data} in {self.size.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        """Parse the form shown in the class's example."""
        value = parser.parse_unresolved_operand()
        parser.parse_keyword("xor")
        mask = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("in")
        size = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(value, parser.parse_type()), mask, size)
        op.attributes.update(attributes)
        return op


def can_shuffle(t: Attribute) -> bool:
    """Whether work-items can exchange values of a type: numbers of 8 to 64 bits."""
    return isinstance(t, AnyFloat | IntegerType) and 8 <= t.bitwidth <= 64
