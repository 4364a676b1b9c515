"""Comparisons, choices and conversions of arith on vectors, which xDSL has on scalars alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, Block, Dialect, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.nest.lanes import vector_of


class LanewiseOp(IRDLOperation):
    """An op of upstream's arith on the lanes of vectors; on scalars it is xDSL's op."""

    scalar: ClassVar[type[Operation]]

    @classmethod
    def create(cls, **given: Any) -> Any:
        """The op of these operands: xDSL's where these are scalars."""
        # Clones get their operands later.
        first, result = [v.type for v in given.get("operands", ())[:1]], given["result_types"][:1]
        are_vectors = all(isinstance(t, VectorType) for t in (*first, *result))
        return super().create(**given) if are_vectors else cls.scalar.create(**given)

    def verify_(self) -> None:
        """Check that there is the same op on scalars."""
        types = [v.type for v in (*self.operands, *self.results)]
        vectors = [t for t in types if isinstance(t, VectorType)]
        if len(vectors) != len(types) or len({t.shape for t in vectors}) != 1:
            raise VerifyException(f"{self.name} takes and gives vectors of as many lanes")
        *lanes, result = (t.element_type for t in vectors)
        scalar = self.scalar.create(
            operands=Block(arg_types=lanes).args, result_types=[result], properties=self.properties
        )
        scalar.verify()


class ComparisonOp(LanewiseOp):
    """A comparison."""

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Parse `olt, %a, %b : vector<4xf32>`."""
        parsed = super().parse(parser)
        operands, properties = list(parsed.operands), dict(parsed.properties)
        # It would stay a user of the operands.
        parsed.erase()
        t = operands[0].type
        result = vector_of(i1, t.get_shape()[0]) if isinstance(t, VectorType) else i1
        return cls.create(operands=operands, result_types=[result], properties=properties)


class ConversionOp(LanewiseOp):
    """A conversion."""

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Parse `%a : vector<4xi8> to vector<4xi32>`."""
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        target = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[target],
            attributes=attributes,
        )


class CmpiOp(ComparisonOp, arith.CmpiOp):
    """Comparison of integers."""

    scalar = arith.CmpiOp


class CmpfOp(ComparisonOp, arith.CmpfOp):
    """Comparison of reals."""

    scalar = arith.CmpfOp


class SelectOp(LanewiseOp, arith.SelectOp):
    """Choice between two values."""

    scalar = arith.SelectOp

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Parse `%mask, %a, %b : vector<4xi1>, vector<4xf32>`, or with one type and a scalar."""
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types: list[Attribute] = [i1, parser.parse_type()]
        if parser.parse_optional_punctuation(",") is not None:
            types = [types[1], parser.parse_type()]
        values = parser.resolve_operands(operands, [*types, types[1]], parser.pos)
        return cls.create(operands=values, result_types=types[1:], attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Print the form that is parsed."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([self.cond.type, self.result.type], printer.print_attribute)


class ExtSIOp(ConversionOp, arith.ExtSIOp):
    """Integers with more bits, by their sign."""

    scalar = arith.ExtSIOp


class ExtUIOp(ConversionOp, arith.ExtUIOp):
    """Integers with more bits, which are 0."""

    scalar = arith.ExtUIOp


class TruncIOp(ConversionOp, arith.TruncIOp):
    """Integers with fewer bits."""

    scalar = arith.TruncIOp


class SIToFPOp(ConversionOp, arith.SIToFPOp):
    """Signed integers as reals."""

    scalar = arith.SIToFPOp


class UIToFPOp(ConversionOp, arith.UIToFPOp):
    """Integers without a sign as reals."""

    scalar = arith.UIToFPOp


class FPToSIOp(ConversionOp, arith.FPToSIOp):
    """Reals as signed integers."""

    scalar = arith.FPToSIOp


class FPToUIOp(ConversionOp, arith.FPToUIOp):
    """Reals as integers without a sign."""

    scalar = arith.FPToUIOp


LANEWISE: Mapping[type[Operation], type[LanewiseOp]] = {
    op.scalar: op
    for op in (
        *(CmpiOp, CmpfOp, SelectOp, ExtSIOp, ExtUIOp, TruncIOp),
        *(SIToFPOp, UIToFPOp, FPToSIOp, FPToUIOp),
    )
}
"""The op on vectors of each op on scalars."""


def scalar_op(op: Operation) -> type[Operation]:
    """The op of xDSL that an op applies, on vectors or not."""
    return op.scalar if isinstance(op, LanewiseOp) else type(op)


Arith = Dialect(
    "arith",
    [LANEWISE.get(op, op) for op in arith.Arith.operations],
    list(arith.Arith.attributes),
)
"""The dialect of xDSL, whose ops take vectors, too."""
