"""The bases of the elementwise ops: how operand types determine the result's, and the syntax."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.operand_syntax import parse_operands_and_type, print_operands_and_type
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    broadcast_shape,
    make_type,
    name_of,
    tensor_type,
)
from tiledialect.dialects.tile.constants import check_numbers


class ElementwiseOp(TileOp, ABC):
    """An op that takes an element of each operand to one element of the result."""

    traits = traits_def(Pure())

    @staticmethod
    def compute_type(promoted: Attribute, /) -> Attribute:
        """Type in which the op is computed, from the operands' promoted type."""
        return promoted

    @staticmethod
    def result_type(computed: Attribute, /) -> Attribute:
        """Type of the result, from the type in which the op is computed."""
        return computed

    def operand_type(self) -> Attribute:
        """The element type to which operands are converted, and in which the op is computed."""
        promoted = tensor_type(self.values[0]).element_type
        for value in self.values[1:]:
            promoted = et.promote(promoted, tensor_type(value).element_type)
        return self.compute_type(promoted)

    @property
    def values(self) -> Sequence[SSAValue]:
        """The operands that are promoted to one type."""
        return self.operands

    @property
    def res(self) -> SSAValue:
        """The result."""
        return self.results[0]

    def inferred_type(self) -> AnyTensor:
        """The broadcast shape with the promoted element type."""
        element_type = self.result_type(self.operand_type())
        return make_type(broadcast_shape(self.operands), element_type)

    def verify_(self) -> None:
        """Check the types, and that numbers fit the type that they take."""
        super().verify_()
        check_numbers(self.values, self.operand_type())

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%a, %b : (types) -> type`."""
        operands, types, attributes = parse_operands_and_type(parser)
        return cls.create(operands=operands, result_types=types, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Print `%a, %b : (types) -> type`."""
        print_operands_and_type(printer, self)


class UnaryOp(ElementwiseOp, ABC):
    """An elementwise op with one operand."""

    operand = operand_def(AnyAttr())
    result = result_def(AnyAttr())


class BinaryOp(ElementwiseOp, ABC):
    """An elementwise op with two operands, promoted to one type."""

    lhs = operand_def(AnyAttr())
    rhs = operand_def(AnyAttr())
    result = result_def(AnyAttr())


class NumberUnaryOp(UnaryOp, ABC):
    """Arithmetic on one number; a bool counts as an integer."""

    compute_type = staticmethod(et.as_number)


class RealUnaryOp(UnaryOp, ABC):
    """A function of a real number; integers become f32."""

    compute_type = staticmethod(et.as_float)


class NumberBinaryOp(BinaryOp, ABC):
    """Arithmetic on two numbers; bools count as integers."""

    compute_type = staticmethod(et.as_number)


class CompareOp(BinaryOp, ABC):
    """A comparison; its result is a bool."""

    @staticmethod
    def result_type(computed: Attribute, /) -> Attribute:
        """A bool, once the operands' types are known."""
        return computed if computed == et.any_type else et.CONCRETE["i1"]


class BitwiseOp(BinaryOp, ABC):
    """An op on the bits of two integers (or on two bools)."""

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; reals are refused."""
        refuse_reals(self)
        return super().inferred_type()


class IntegerBinaryOp(BitwiseOp, ABC):
    """An op on two integers; a bool counts as an integer."""

    compute_type = staticmethod(et.as_number)


FOR_REALS = {"tile.rem": "; for reals x and y write x - y * floor(x / y)"}
"""Replacements for ops that take integers alone."""


def refuse_reals(op: ElementwiseOp) -> None:
    """Refuse operands that hold reals."""
    for value in op.operands:
        if et.is_float(tensor_type(value).element_type):
            what = op.name.removeprefix("tile.")
            said = f"{what} works on integers, but {name_of(value)} holds reals"
            raise VerifyException(said + FOR_REALS.get(op.name, ""))
