"""What the ops of nests have in common: expressions of their index operands, and their syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Region, SSAValue
from xdsl.irdl import IRDLOperation, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.index_syntax import parse_condition, parse_index
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr
from tiledialect.index.integer import Condition, Expr, Truth, expressions_of, map_expressions

ALWAYS = Truth(True)

Names = Mapping[str, SSAValue]
"""The index value behind each name of an expression."""


class IndexedOp(IRDLOperation):
    """An op with expressions of its index operands."""

    indices = var_operand_def(IndexType())

    def exprs_of(self, values: Mapping[SSAValue, Expr], attr: ExprsAttr) -> tuple[Expr, ...]:
        """The expressions, with what each index operand is."""
        numbered = {f"d{k}": values[v] for k, v in enumerate(self.indices)}
        return tuple(e.substitute(numbered) for e in attr.data)

    def condition_of(
        self, values: Mapping[SSAValue, Expr], attr: ConditionAttr | None
    ) -> Condition:
        """A condition, with what each index operand is."""
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
    """Parse what ``print_access`` prints."""
    memory = parser.parse_unresolved_operand()
    access = syntax.exprs(parser.Delimiter.SQUARE)
    condition = syntax.condition() if parser.parse_optional_keyword("if") else None
    return memory, access, condition
