"""Types and attributes of the tile dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import auto
from fractions import Fraction

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from tiledialect.dialects.quoted import parse_quotable, quotable
from tiledialect.dialects.role_syntax import parse_role
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.schedule.loops import GlobalStage, LoopLevel, Placement, Schedule, Stage


@irdl_attr_definition
class AnyType(ParametrizedAttribute, TypeAttribute):
    """`!tile.any`: an element type that is not known yet.

    A function read from Tile text has tensors of `!tile.any` until `tile-specialize` binds them.
    """

    name = "tile.any"


@irdl_attr_definition
class RealType(ParametrizedAttribute, TypeAttribute):
    """`!tile.real`: a real number of no particular width, the type of literals such as `0.5`.

    It takes the floating-point type that it meets, and is `f32` by itself. (`index` plays the
    same part for integer literals and dimensions.)
    """

    name = "tile.real"


class Aggregation(StrEnum):
    """Aggregation of the values of one output element to one value."""

    add = auto()
    mul = auto()
    max = auto()
    min = auto()
    assign = auto()


EXTREMES = (Aggregation.max, Aggregation.min)


class Combination(StrEnum):
    """Combination of the elements read at one point to one value."""

    none = auto()
    add = auto()
    mul = auto()
    eq = auto()
    cond = auto()
    add_eq = auto()
    mul_eq = auto()
    add_cond = auto()
    mul_cond = auto()


@irdl_attr_definition
class AggregationAttr(EnumAttribute[Aggregation], SpacedOpaqueSyntaxAttribute):
    """`#tile<aggregation add>`: one of `add`, `mul`, `max`, `min`, `assign`."""

    name = "tile.aggregation"


@irdl_attr_definition
class CombinationAttr(EnumAttribute[Combination], SpacedOpaqueSyntaxAttribute):
    """`#tile<combination mul>`: one of `none`, `add`, `mul`, `eq`, `cond`."""

    name = "tile.combination"


_SYMBOL = re.compile(r"symbol\((\d+)\)")

SymbolParser = Callable[[], str | None]
"""Parses a symbol, if one comes next, and returns its name in the expression."""


def symbol(number: int) -> str:
    """The name, in index expressions, of the symbol operand with this number."""
    return f"symbol({number})"


def symbol_number(name: str) -> int | None:
    """Number of the symbol operand ``name``; None if the name is an index."""
    match = _SYMBOL.fullmatch(name)
    return int(match[1]) if match else None


def parse_expr(parser: AttrParser, parse_symbol: SymbolParser = lambda: None) -> IndexExpr:
    """Parse a sum of products of numbers, names and symbols."""
    total = IndexExpr()
    sign = -1 if parser.parse_optional_punctuation("-") else 1
    while True:
        total += sign * _parse_product(parser, parse_symbol)
        if parser.parse_optional_punctuation("+"):
            sign = 1
        elif parser.parse_optional_punctuation("-"):
            sign = -1
        else:
            return total


def _parse_product(parser: AttrParser, parse_symbol: SymbolParser) -> IndexExpr:
    product = _parse_factor(parser, parse_symbol)
    while True:
        if parser.parse_optional_punctuation("*"):
            product *= _parse_factor(parser, parse_symbol)
        elif parser.parse_optional_punctuation("/"):
            divisor = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if not divisor:
                parser.raise_error("division by zero in an index expression")
            product /= divisor
        else:
            return product


def _parse_factor(parser: AttrParser, parse_symbol: SymbolParser) -> IndexExpr:
    if parser.parse_optional_punctuation("("):
        inner = parse_expr(parser, parse_symbol)
        parser.parse_punctuation(")")
        return inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if number is not None:
        return IndexExpr.of(Fraction(number))
    if (name := parse_symbol()) is not None:
        return IndexExpr.of(name)
    name = parser.parse_identifier(" of an index")
    if name == "symbol" and parser.parse_optional_punctuation("("):
        name = symbol(parser.parse_integer(allow_boolean=False, allow_negative=False))
        parser.parse_punctuation(")")
    return IndexExpr.of(name)


def parse_constraint(parser: AttrParser, parse_symbol: SymbolParser = lambda: None) -> Constraint:
    """Parse ``0 <= expr < bound``."""
    if parser.parse_integer(allow_boolean=False) != 0:
        parser.raise_error("a constraint is written 0 <= expression < bound")
    parser.parse_punctuation("<")
    parser.parse_punctuation("=")
    expr = parse_expr(parser, parse_symbol)
    parser.parse_punctuation("<")
    return Constraint(expr, parse_expr(parser, parse_symbol))


@irdl_attr_definition
class AccessAttr(Data[tuple[IndexExpr, ...]]):
    """`#tile.access<n, 3*y + 2*j, ci>`: which element of a tensor a point touches.

    An index expression for each axis, affine in the index names with rational coefficients.
    `symbol(0)` is the contraction's symbol operand 0; the op's own syntax prints the operand.
    """

    name = "tile.access"

    def __init__(self, exprs: Sequence[IndexExpr]):
        super().__init__(tuple(exprs))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[IndexExpr, ...]:
        """Parse ``<expr, …>``."""
        exprs = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: parse_expr(parser)
        )
        return tuple(exprs)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<expr, …>``."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda e: printer.print_string(str(e)))


@irdl_attr_definition
class ConstraintAttr(Data[Constraint]):
    """`#tile.constraint<"0 <= i - k < 5">`: points where this does not hold are left out."""

    name = "tile.constraint"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Constraint:
        """Parse ``<"0 <= expr < bound">``; the quotes may be left out."""
        with parser.in_angle_brackets():
            return parse_quotable(parser, parse_constraint)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<"0 <= expr < bound">``."""
        with printer.in_angle_brackets():
            printer.print_string(quotable(str(self.data)))


@irdl_attr_definition
class DomainAttr(Data[tuple[tuple[str, Range], ...]]):
    """`#tile.domain<n = 0 to 2, y = 0 to 3>`: each index's range, upper end excluded.

    A box that holds all of the contraction's points; its loops run through it and test what is
    no point. `tile-bounds` finds the smallest one. `tile-fuse` widens it where the loops can
    visit every element of the output, also elements without points.
    """

    name = "tile.domain"

    @property
    def ranges(self) -> dict[str, Range]:
        """The range of each index."""
        return dict(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, Range], ...]:
        """Parse ``<name = lower to upper, …>``."""

        def parse_range() -> tuple[str, Range]:
            name = parser.parse_identifier(" of an index")
            parser.parse_punctuation("=")
            lower = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("to")
            return name, Range(lower, parser.parse_integer(allow_boolean=False))

        ranges = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_range)
        return tuple(ranges)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<name = lower to upper, …>``."""
        with printer.in_angle_brackets():
            printer.print_list(
                self.data,
                lambda item: printer.print_string(
                    f"{item[0]} = {item[1].lower} to {item[1].upper}"
                ),
            )


StageOperand = Callable[[], int | None]
"""Parses the name of a kernel's input, if one comes next, and returns its number."""


def parse_schedule(parser: AttrParser, parse_operand: StageOperand = lambda: None) -> Schedule:
    """Parse ``<role stride*index : extent, …>``, then sub-groups, an instruction and stages."""
    levels = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _parse_level(parser))
    sub_groups = 0
    if parser.parse_optional_keyword("sub_groups"):
        sub_groups = parser.parse_integer(allow_boolean=False, allow_negative=False)
    one_pass = parser.parse_optional_keyword("one_pass") is not None
    instruction = None
    if parser.parse_optional_keyword("instruction"):
        name = parser.parse_identifier(" of an instruction")
        steps = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: _parse_step(parser)
        )
        instruction = Placement(name, tuple(steps))
    stages: list[Stage | GlobalStage] = []
    if parser.parse_optional_keyword("stage"):
        stages = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: _parse_stage(parser, parse_operand)
        )
    return Schedule(
        tuple(levels),
        tuple(s for s in stages if isinstance(s, Stage)),
        instruction,
        sub_groups,
        tuple(s for s in stages if isinstance(s, GlobalStage)),
        one_pass,
    )


def _parse_level(parser: AttrParser) -> LoopLevel:
    role, axis = parse_role(parser)
    index, stride = _parse_step(parser)
    parser.parse_punctuation(":")
    extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return LoopLevel(index, stride, extent, role, axis)


def _parse_step(parser: AttrParser) -> tuple[str, int]:
    """Parse ``32*i``."""
    stride = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if stride is not None:
        parser.parse_punctuation("*")
    if stride == 0:
        parser.raise_error("a step of a schedule moves its index by at least 1")
    return parser.parse_identifier(" of an index"), 1 if stride is None else stride


def _parse_stage(parser: AttrParser, parse_operand: StageOperand) -> Stage | GlobalStage:
    operand = parse_operand()
    if operand is None:
        parser.parse_keyword("input")
        operand = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if parser.parse_optional_keyword("global"):
        parser.parse_keyword("order")
        order, pad = _parse_order(parser), 0
        if parser.parse_optional_keyword("pad"):
            pad = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return GlobalStage(operand, order, pad)
    local = parser.parse_optional_keyword("local") is not None
    if not local and parser.parse_optional_keyword("private") is None:
        parser.raise_error("expected local, private or global")
    at = _parse_step(parser) if parser.parse_optional_keyword("at") else None
    asynchronous = parser.parse_optional_keyword("async") is not None
    numbers, given = {"copies": 1, "pad": 0, "rotate": 0, "vector": 1}, set[str]()
    while (
        word := next((w for w in numbers if parser.parse_optional_keyword(w)), None)
    ) is not None:
        if word in given:
            parser.raise_error(f"{word} stands twice in a stage")
        given.add(word)
        numbers[word] = parser.parse_integer(allow_boolean=False, allow_negative=False)
    order = _parse_order(parser) if parser.parse_optional_keyword("order") else ()
    return Stage(operand, local, at, asynchronous=asynchronous, order=order, **numbers)


def _parse_order(parser: AttrParser) -> tuple[int, ...]:
    """Parse ``(1, 0)``."""
    numbers = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: parser.parse_integer(allow_boolean=False, allow_negative=False),
    )
    return tuple(numbers)


def print_schedule(
    printer: Printer, schedule: Schedule, print_operand: Callable[[int], object]
) -> None:
    """Print the form that ``parse_schedule`` parses."""

    def print_stage(stage: Stage | GlobalStage) -> None:
        print_operand(stage.operand)
        printer.print_string(f" {stage}")

    with printer.in_angle_brackets():
        printer.print_list(schedule.levels, lambda level: printer.print_string(str(level)))
    if schedule.sub_groups:
        printer.print_string(f" sub_groups {schedule.sub_groups}")
    if schedule.one_pass:
        printer.print_string(" one_pass")
    if schedule.instruction is not None:
        printer.print_string(f" instruction {schedule.instruction}")
    if stages := (*schedule.global_stages, *schedule.stages):
        printer.print_string(" stage ")
        with printer.in_angle_brackets():
            printer.print_list(stages, print_stage)


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """`#tile.schedule<<group.x 32*x : 4, local.x x : 32, serial k : 7> stage <input 0 local>>`.

    How a kernel runs: the levels of the loop nest, outermost first, each with its role, the index
    it moves and by how much, and its number of steps; then, where they are given, the size of the
    sub-groups that join what their work-items share (`sub_groups 32`), whether means are guessed
    while rows are read (`one_pass`), and the instruction that computes the innermost box, with the
    index along each of its axes (`instruction mma_m16n8k8_tf32 <i, j, k>`); then the operands that
    are staged, first those of which `tile-loop-tiling` makes copies in global memory
    (`input 1 global order (1, 0)`). The kernel op's own syntax names the operands.
    """

    name = "tile.schedule"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        """Parse the form in the class's example."""
        with parser.in_angle_brackets():
            return parse_schedule(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print the form in the class's example."""
        with printer.in_angle_brackets():
            print_schedule(printer, self.data, lambda k: printer.print_string(f"input {k}"))


def print_expr(printer: Printer, text: str, print_symbol: Callable[[int], None]) -> None:
    """Print the text of an expression, with each symbol as ``print_symbol`` does."""
    for part in re.split(r"(symbol\(\d+\))", text):
        number = symbol_number(part)
        if number is None:
            printer.print_string(part)
        else:
            print_symbol(number)
