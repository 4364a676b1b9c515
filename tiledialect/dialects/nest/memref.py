"""The memref dialect with the op of upstream's that xDSL lacks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, MemRefType, i1, i32
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

MOST_LOCAL = 3
"""Memory that all caches keep."""


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Has the line of memory that holds an element brought to the cache, to be read or written."""

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    is_write = prop_def(BoolAttr, prop_name="isWrite")
    locality = prop_def(IntegerAttr, prop_name="localityHint")
    is_data = prop_def(BoolAttr, prop_name="isDataCache")

    def __init__(
        self,
        memory: SSAValue,
        indices: Sequence[SSAValue],
        *,
        to_write: bool,
        locality: int = MOST_LOCAL,
        is_data: bool = True,
    ):
        """A request for an element."""
        super().__init__(
            operands=[memory, indices],
            properties={
                "isWrite": IntegerAttr(int(to_write), i1),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": IntegerAttr(int(is_data), i1),
            },
        )

    @property
    def to_write(self) -> bool:
        """Whether the element will be written."""
        return bool(self.is_write.value.data)

    def verify_(self) -> None:
        """Check the number of indices."""
        assert isinstance(self.memref.type, MemRefType)
        rank = len(self.memref.type.get_shape())
        if len(self.indices) != rank:
            raise VerifyException(f"memref.prefetch has {len(self.indices)} indices of {rank}")

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        """Parse `%A[%i, %j], read, locality<3>, data : memref<4x4xf32>`."""
        memory = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        to_write = parser.expect(
            lambda: parser.parse_optional_keyword("read") or parser.parse_optional_keyword("write"),
            "read or write",
        )
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer()
        parser.parse_punctuation(",")
        cache = parser.expect(
            lambda: parser.parse_optional_keyword("data") or parser.parse_optional_keyword("instr"),
            "data or instr",
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        op = cls(
            parser.resolve_operand(memory, t),
            [parser.resolve_operand(index, IndexType()) for index in indices],
            to_write=to_write == "write",
            locality=locality,
            is_data=cache == "data",
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Print the form that is parsed."""
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        kind = "write" if self.to_write else "read"
        cache = "data" if self.is_data.value.data else "instr"
        printer.print_string(f", {kind}, locality<{self.locality.value.data}>, {cache}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)


Memref = Dialect(
    "memref",
    [*memref.MemRef.operations, PrefetchOp],
    list(memref.MemRef.attributes),
)
"""The dialect of xDSL with prefetches."""
