"""Attributes of linalg that xDSL lacks: words in angle brackets."""

from __future__ import annotations

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class WordAttr(Data[str]):
    """A word."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Parse `<exp>`."""
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        """Print `<exp>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data)


@irdl_attr_definition
class ElementwiseKindAttr(WordAttr):
    """The function of a `linalg.elementwise`, such as `exp`."""

    name = "linalg.elementwise_kind"


@irdl_attr_definition
class TypeFnAttr(WordAttr):
    """Kind of the casts of a named op: `cast_signed` or `cast_unsigned`."""

    name = "linalg.type_fn"
