"""Parts of the syntax of linalg ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, StringAttr, i64
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse_operands(parser: Parser, keyword: str) -> list[SSAValue]:
    """Parse `ins(%a, %b : type, type)`, or nothing."""
    position = parser.pos
    if parser.parse_optional_characters(keyword) is None:
        return []
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")") is not None:
        return []
    values = parser.parse_comma_separated_list(
        Parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return list(parser.resolve_operands(values, types, position))


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """Parse `-> type` or `-> (type, type)`, or nothing."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    several = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return (parser.parse_type(),) if several is None else several


def parse_dimensions(parser: Parser, keyword: str) -> DenseArrayBase[IntegerType]:
    """Parse `dimensions = [0, 1]`."""
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    numbers = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, numbers)


def parse_short_body(parser: Parser) -> Callable[[Sequence[Attribute]], Region] | None:
    """Parse `{ arith.addf }`: an op on the block's arguments that is the whole body."""
    if parser.parse_optional_punctuation("{") is None:
        return None
    position = parser.pos
    name = parser.parse_identifier()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    op = parser.ctx.get_optional_op(name)
    if op is None:
        parser.raise_error(f"there is no op {name}", position, parser.pos)

    def body(types: Sequence[Attribute]) -> Region:
        block = Block(arg_types=types)
        keys = op.get_irdl_definition().properties if issubclass(op, IRDLOperation) else ()
        made = op.create(
            operands=list(block.args),
            result_types=[types[-1]],
            properties={k: v for k, v in attributes.items() if k in keys},
            attributes={k: v for k, v in attributes.items() if k not in keys},
        )
        block.add_ops([made, YieldOp(made.results[0])])
        return Region(block)

    return body


def parse_body(parser: Parser) -> Region:
    """Parse `(%a: type, %b: type) { … }`."""
    arguments = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(arguments)


def print_operands(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    """Print `ins(%a, %b : type, type)`, or nothing."""
    if not values:
        return
    printer.print_string(f" {keyword}(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list(values, lambda v: printer.print_attribute(v.type))
    printer.print_string(")")


def print_body(printer: Printer, region: Region) -> None:
    """Print `(%a: type, %b: type) { … }`."""
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(region.block.args, printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False)


def print_dimensions(
    printer: Printer, keyword: str, dimensions: DenseArrayBase[IntegerType]
) -> None:
    """Print `dimensions = [0, 1]`."""
    printer.print_string(f" {keyword} = ")
    with printer.in_square_brackets():
        printer.print_list(dimensions.get_values(), printer.print_int)


def print_results(printer: Printer, op: Operation) -> None:
    """Print `-> type` or `-> (type, type)`, or nothing."""
    if not op.results:
        return
    printer.print_string(" -> ")
    if len(op.results) == 1:
        return printer.print_attribute(op.results[0].type)
    with printer.in_parens():
        printer.print_list(op.results, lambda r: printer.print_attribute(r.type))


def iterators(written: Sequence[bool]) -> ArrayAttr[IteratorTypeAttr]:
    """Iterator types of loops: parallel ones, and reductions."""
    kinds = (IteratorType.PARALLEL if w else IteratorType.REDUCTION for w in written)
    return ArrayAttr([IteratorTypeAttr(kind) for kind in kinds])


def iterator_types(given: Attribute) -> ArrayAttr[IteratorTypeAttr] | None:
    """Iterator types that are given as attributes or as strings; None if they are neither."""
    if not isinstance(given, ArrayAttr):
        return None
    found: list[IteratorTypeAttr] = []
    kinds = {str(kind.value): kind for kind in IteratorType}
    for entry in given:
        if isinstance(entry, StringAttr) and entry.data in kinds:
            entry = IteratorTypeAttr(kinds[entry.data])
        if not isinstance(entry, IteratorTypeAttr):
            return None
        found.append(entry)
    return ArrayAttr(found)
