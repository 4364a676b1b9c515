"""The form that most ops have: operands, attributes, and the types of a function."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


def print_operands_and_type(printer: Printer, op: Operation) -> None:
    """Print `%a, %b {attributes} : (types) -> type`."""
    if op.operands:
        printer.print_string(" ")
        printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(FunctionType.from_lists(list(op.operand_types), list(op.result_types)))


def parse_operands_and_type(
    parser: Parser,
) -> tuple[list[SSAValue], list[Attribute], dict[str, Attribute]]:
    """Parse the form that `print_operands_and_type` prints: operands, result types, attributes."""
    position = parser.pos
    unresolved = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    t = parser.parse_function_type()
    operands = parser.resolve_operands(unresolved or [], t.inputs.data, position)
    return list(operands), list(t.outputs.data), attributes
