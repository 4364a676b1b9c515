"""Attributes of the nest dialect: roles, index expressions and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tiledialect.dialects.index_syntax import parse_condition, parse_index
from tiledialect.dialects.quoted import parse_quotable, quotable
from tiledialect.dialects.role_syntax import parse_role
from tiledialect.index.integer.expressions import Condition, Expr
from tiledialect.schedule.loops import Role


@dataclass(frozen=True)
class LoopRole:
    """A role, and the axis of the grid or the group where it is parallel."""

    role: Role
    axis: str = ""

    def __str__(self) -> str:
        return f"{self.role}.{self.axis}" if self.axis else str(self.role)


@irdl_attr_definition
class RoleAttr(Data[LoopRole]):
    """`#nest.role<local.x>`: the part of the device that runs the steps of a loop."""

    name = "nest.role"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LoopRole:
        """Parse ``<role>``."""
        with parser.in_angle_brackets():
            return LoopRole(*parse_role(parser))

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<role>``."""
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_attr_definition
class ExprsAttr(Data[tuple[Expr, ...]]):
    """`#nest.exprs<4*d0 + d1, d2 floordiv 3>`: integer expressions of an op's index operands.

    `d0` is the first of them, and so on; the op's own syntax prints the operands.
    """

    name = "nest.exprs"

    def __init__(self, exprs: Sequence[Expr]):
        super().__init__(tuple(exprs))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Expr, ...]:
        """Parse ``<expr, …>``."""
        exprs = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: parse_quotable(parser, parse_index)
        )
        return tuple(exprs)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<expr, …>``; expressions that compare are in quotes."""
        with printer.in_angle_brackets():
            printer.print_list(self.data, lambda e: printer.print_string(quotable(str(e))))


@irdl_attr_definition
class ConditionAttr(Data[Condition]):
    """`#nest.condition<"d0 + 1 < 8">`: a condition on an op's index operands."""

    name = "nest.condition"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Condition:
        """Parse ``<"condition">``; the quotes may be left out."""
        with parser.in_angle_brackets():
            return parse_quotable(parser, parse_condition)

    def print_parameter(self, printer: Printer) -> None:
        """Print ``<"condition">``."""
        with printer.in_angle_brackets():
            printer.print_string(quotable(str(self.data)))
