"""Base of the nest ops: expressions of their index operands, and their syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.index_syntax import parse_condition, parse_index
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr
from tiledialect.errors import count
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    Truth,
    expressions_of,
    map_expressions,
)

ALWAYS = Truth(True)

Names = Mapping[str, SSAValue]
"""The index value behind each name of an expression."""


class IndexedOp(IRDLOperation):
    """An op with expressions of its index operands."""

    indices = var_operand_def(IndexType())

    def exprs_of(self, values: Mapping[SSAValue, Expr], attr: ExprsAttr) -> tuple[Expr, ...]:
        """Expressions with the index operands substituted."""
        numbered = {f"d{k}": values[v] for k, v in enumerate(self.indices)}
        return tuple(e.substitute(numbered) for e in attr.data)

    def condition_of(
        self, values: Mapping[SSAValue, Expr], attr: ConditionAttr | None
    ) -> Condition:
        """Condition with the index operands substituted."""
        if attr is None:
            return ALWAYS
        numbered = {f"d{k}": values[v] for k, v in enumerate(self.indices)}
        return map_expressions(attr.data, lambda e: e.substitute(numbered))

    def verify_names(self, *attrs: ExprsAttr | ConditionAttr | None) -> None:
        """Check that expressions name nothing but the operands."""
        for attr in attrs:
            exprs: Sequence[Expr] = ()
            if isinstance(attr, ExprsAttr):
                exprs = attr.data
            elif attr is not None:
                exprs = expressions_of(attr.data)
            for name in (name for e in exprs for name in e.names):
                if name not in {f"d{k}" for k in range(len(self.indices))}:
                    raise VerifyException(
                        f"{name} is none of the {len(self.indices)} index operands"
                    )

    def verify_rank(self, memory: MemRefType[Attribute], access: ExprsAttr) -> None:
        """Check that there are as many indices as the memory has axes."""
        rank = memory.get_num_dims()
        if len(access.data) != rank:
            indices = count(len(access.data), "index", "indices")
            raise VerifyException(f"{self.name} has {indices} for a memref of rank {rank}")


def bind(
    names: Names, exprs: Sequence[Expr], condition: Condition = ALWAYS
) -> tuple[list[SSAValue], tuple[Expr, ...], Condition]:
    """The operands that expressions of names need, and the expressions of those operands."""
    used = dict.fromkeys(n for e in (*exprs, *expressions_of(condition)) for n in e.names)
    numbered = {name: Expr.var(f"d{k}") for k, name in enumerate(used)}
    return (
        [names[name] for name in used],
        tuple(e.substitute(numbered) for e in exprs),
        map_expressions(condition, lambda e: e.substitute(numbered)),
    )


class Syntax:
    """Prints and parses expressions with the names of operands."""

    @staticmethod
    def print(printer: Printer, op: IndexedOp, text: object) -> None:
        """Print a text with the names of an op's operands in the places of `d0`, `d1`, …."""
        for part in re.split(r"\b(d\d+)\b", str(text)):
            if re.fullmatch(r"d\d+", part):
                printer.print_ssa_value(op.indices[int(part[1:])])
            else:
                printer.print_string(part)

    @staticmethod
    def print_body(printer: Printer, body: Region) -> None:
        """Print the body of a loop or branch."""
        printer.print_region(
            body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=False,
        )

    def __init__(self, parser: Parser):
        self.parser = parser
        self.indices: list[SSAValue] = []

    def name(self) -> str | None:
        """Parse an index value, if one comes next; how expressions call it."""
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        value = self.parser.resolve_operand(operand, IndexType())
        if value not in self.indices:
            self.indices.append(value)
        return f"d{self.indices.index(value)}"

    def expr(self) -> Expr:
        """Parse an expression."""
        return parse_index(self.parser, self.name)

    def exprs(self, delimiter: Parser.Delimiter) -> ExprsAttr:
        """Parse a list of expressions."""
        return ExprsAttr(self.parser.parse_comma_separated_list(delimiter, self.expr))

    def condition(self) -> ConditionAttr:
        """Parse a condition."""
        return ConditionAttr(parse_condition(self.parser, self.name))


def print_access(
    printer: Printer,
    op: IndexedOp,
    memory: SSAValue,
    access: ExprsAttr,
    condition: ConditionAttr | None,
) -> None:
    """Print ``%A[8*%i, %j] if %j < 4``."""
    printer.print_ssa_value(memory)
    with printer.in_square_brackets():
        printer.print_list(access.data, lambda e: Syntax.print(printer, op, e))
    if condition is not None:
        printer.print_string(" if ")
        Syntax.print(printer, op, condition.data)


def parse_access(
    parser: Parser, syntax: Syntax
) -> tuple[UnresolvedOperand, ExprsAttr, ConditionAttr | None]:
    """Parse the form that ``print_access`` prints."""
    memory = parser.parse_unresolved_operand()
    access = syntax.exprs(parser.Delimiter.SQUARE)
    condition = syntax.condition() if parser.parse_optional_keyword("if") else None
    return memory, access, condition


def print_place(printer: Printer, op: IndexedOp, memory: SSAValue, access: ExprsAttr) -> None:
    """Print the end of an op without a condition: ``%A[8*%i, %j] {…} : memref<64x8xf32>``."""
    print_access(printer, op, memory, access, None)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(memory.type)


def parse_place(
    parser: Parser, syntax: Syntax, op: str
) -> tuple[SSAValue, ExprsAttr, dict[str, Attribute]]:
    """Parse the form that ``print_place`` prints at the end of an ``op``: memory, access,
    attributes."""
    position = parser.pos
    memory, access, condition = parse_access(parser, syntax)
    if condition is not None:
        parser.raise_error(f"a {op} has no condition", position, parser.pos)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return parser.resolve_operand(memory, parser.parse_type()), access, attributes


@irdl_op_definition
class IndexOp(IndexedOp):
    """The value of an index expression, for arithmetic on data.

    Example: `%p = nest.index 8*%i + %j`
    """

    name = "nest.index"

    expr = prop_def(ExprsAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    def __init__(self, names: Names, expr: Expr):
        """The value of an expression of ``names``."""
        operands, exprs, _ = bind(names, [expr])
        super().__init__(
            operands=[operands],
            properties={"expr": ExprsAttr(exprs)},
            result_types=[IndexType()],
        )

    def verify_(self) -> None:
        """Check the expression."""
        self.verify_names(self.expr)

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""
        printer.print_string(" ")
        Syntax.print(printer, self, self.expr.data[0])
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        """Parse the form shown in the class's example."""
        syntax = Syntax(parser)
        expr = ExprsAttr([syntax.expr()])
        op = cls.build(
            operands=[syntax.indices], properties={"expr": expr}, result_types=[IndexType()]
        )
        op.attributes.update(parser.parse_optional_attr_dict())
        return op
