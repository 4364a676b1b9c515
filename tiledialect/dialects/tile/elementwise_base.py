"""The bases of the elementwise ops: how operand types determine the result's, and the syntax."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, HasFolder, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    broadcast,
    make_type,
    name_of,
    parse_operands_and_type,
    print_operands_and_type,
    tensor_type,
)


class FoldElementwise(HasFolder):
    """Folds ops on constants, and those that change nothing."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        """The operand or the constant that an elementwise op comes to."""
        from tiledialect.dialects.tile.folding import fold_elementwise

        assert isinstance(op, ElementwiseOp)
        return fold_elementwise(op)


class CanonicalizeElementwise(HasCanonicalizationPatternsTrait):
    """The canonicalization patterns of the elementwise ops."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """The patterns, from their own file."""
        from tiledialect.dialects.tile.canonicalization import ELEMENTWISE_PATTERNS

        return ELEMENTWISE_PATTERNS


class ElementwiseOp(TileOp, ABC):
    """An op that takes an element of each operand to one element of the result."""

    traits = traits_def(Pure(), FoldElementwise(), CanonicalizeElementwise())

    @staticmethod
    def compute_type(promoted: Attribute, /) -> Attribute:
        """From the promoted operand type to the type in which the op reckons."""
        return promoted

    @staticmethod
    def result_type(reckoning: Attribute, /) -> Attribute:
        """From the type in which the op reckons to the result's."""
        return reckoning

    def reckoning_type(self) -> Attribute:
        """The element type to which operands are converted before the op is done."""
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
        element_type = self.result_type(self.reckoning_type())
        return make_type(broadcast(self.operands), element_type)

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
    def result_type(reckoning: Attribute, /) -> Attribute:
        """A bool, once the operands' types are known."""
        return reckoning if reckoning == et.any_type else et.CONCRETE["i1"]


class BitwiseOp(BinaryOp, ABC):
    """An op on the bits of two integers (or on two bools)."""

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; reals are refused."""
        refuse_reals(self)
        return super().inferred_type()


class ShiftOp(BitwiseOp, ABC):
    """A shift of an integer's bits; a bool counts as an integer."""

    compute_type = staticmethod(et.as_number)


def refuse_reals(op: ElementwiseOp) -> None:
    """Refuse operands that hold reals."""
    for value in op.operands:
        if et.is_float(tensor_type(value).element_type):
            what = op.name.removeprefix("tile.")
            raise VerifyException(f"{what} works on integers, but {name_of(value)} holds reals")
