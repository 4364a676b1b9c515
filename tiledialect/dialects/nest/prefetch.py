"""Asking for memory before it is used."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.indexed import (
    IndexedOp,
    Names,
    Syntax,
    bind,
    parse_place,
    print_place,
)
from tiledialect.index.integer.expressions import Expr


@irdl_op_definition
class PrefetchOp(IndexedOp):
    """Has the line of memory that holds an element brought to the cache, to be read or written.

    It changes no value, and the place may lie outside of the array. It becomes a `memref.prefetch`.

    Example:

    ```mlir
    nest.prefetch %A[%i + 1, 16*%j] : memref<64x512xf32>
    nest.prefetch to_write %A[%i, 16*%j] : memref<64x512xf32>
    ```
    """

    name = "nest.prefetch"

    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    access = prop_def(ExprsAttr)
    to_write = opt_prop_def(UnitAttr)

    def __init__(
        self, names: Names, memory: SSAValue, access: Sequence[Expr], *, to_write: bool = False
    ):
        """A request for the element at expressions of ``names``."""
        operands, exprs, _ = bind(names, access)
        super().__init__(
            operands=[memory, operands],
            properties={
                "access": ExprsAttr(exprs),
                "to_write": UnitAttr() if to_write else None,
            },
        )

    def verify_(self) -> None:
        """Check the number of indices."""
        self.verify_names(self.access)
        assert isinstance(self.memory.type, MemRefType)
        self.verify_rank(self.memory.type, self.access)

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" to_write " if self.to_write is not None else " ")
        print_place(printer, self, self.memory, self.access)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        """Parse the form shown in the class's example."""
        to_write = parser.parse_optional_keyword("to_write") is not None
        syntax = Syntax(parser)
        memory, access, attributes = parse_place(parser, syntax, cls.name)
        op = cls.build(
            operands=[memory, syntax.indices],
            properties={"access": access, "to_write": UnitAttr() if to_write else None},
        )
        op.attributes.update(attributes)
        return op
