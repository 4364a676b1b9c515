"""Ops of CHLO, which JAX writes for functions that StableHLO lacks."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, AnyFloatConstr, IntegerAttr, TensorType
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


class UnaryOp(IRDLOperation, ABC):
    """A function of one tensor."""

    operand = operand_def(TensorType[AnyFloat])
    result = result_def(TensorType)

    assembly_format = "$operand attr-dict `:` type($operand) `->` type($result)"


@irdl_op_definition
class ErfOp(UnaryOp):
    """The error function."""

    name = "chlo.erf"


@irdl_op_definition
class ErfcOp(UnaryOp):
    """1 less the error function."""

    name = "chlo.erfc"


@irdl_op_definition
class ErfInvOp(UnaryOp):
    """The inverse of the error function."""

    name = "chlo.erf_inv"


@irdl_op_definition
class SquareOp(UnaryOp):
    """The square."""

    name = "chlo.square"


@irdl_op_definition
class SinhOp(UnaryOp):
    """The hyperbolic sine."""

    name = "chlo.sinh"


@irdl_op_definition
class CoshOp(UnaryOp):
    """The hyperbolic cosine."""

    name = "chlo.cosh"


@irdl_op_definition
class AsinOp(UnaryOp):
    """The arc sine."""

    name = "chlo.asin"


@irdl_op_definition
class AcosOp(UnaryOp):
    """The arc cosine."""

    name = "chlo.acos"


@irdl_op_definition
class AtanOp(UnaryOp):
    """The arc tangent."""

    name = "chlo.atan"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """The inverse of the hyperbolic sine."""

    name = "chlo.asinh"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """The inverse of the hyperbolic cosine."""

    name = "chlo.acosh"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """The inverse of the hyperbolic tangent."""

    name = "chlo.atanh"


@irdl_op_definition
class IsInfOp(UnaryOp):
    """Whether a number is infinite."""

    name = "chlo.is_inf"


@irdl_op_definition
class LgammaOp(UnaryOp):
    """The logarithm of the gamma function's absolute value."""

    name = "chlo.lgamma"


@irdl_op_definition
class DigammaOp(UnaryOp):
    """The derivative of the logarithm of the gamma function."""

    name = "chlo.digamma"


@irdl_op_definition
class NextAfterOp(IRDLOperation):
    """The number next to one towards another."""

    T: ClassVar = VarConstraint("T", TensorType.constr(AnyFloatConstr))

    name = "chlo.next_after"

    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    assembly_format = "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type($result)"


@irdl_op_definition
class TopKOp(IRDLOperation):
    """The greatest elements along the last axis, in order, and their places."""

    name = "chlo.top_k"

    operand = operand_def(TensorType)
    k = prop_def(IntegerAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(%x, k = 3) : type -> (type, type)`."""
        with parser.in_parens():
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            parser.parse_characters("k")
            parser.parse_punctuation("=")
            count = IntegerAttr(parser.parse_integer(), 64)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        t = parser.parse_type()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[parser.resolve_operand(operand, t)],
            result_types=parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            ),
            properties={"k": count},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `(%x, k = 3) : type -> (type, type)`."""
        with printer.in_parens():
            printer.print_ssa_value(self.operand)
            printer.print_string(f", k = {self.k.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.result_types, printer.print_attribute)


CHLO_OPS: tuple[type[IRDLOperation], ...] = (
    *(ErfOp, ErfcOp, ErfInvOp, SquareOp, SinhOp, CoshOp, AsinOp, AcosOp, AtanOp),
    *(AsinhOp, AcoshOp, AtanhOp, IsInfOp, LgammaOp, DigammaOp, NextAfterOp, TopKOp),
)
