"""Elementwise ops of the tile dialect: one op for each function, broadcasting as NumPy does."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType
from xdsl.dialects.builtin import f64 as f64_type
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder, Pure
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

Number = int | float


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
    def compute_type(promoted: Attribute) -> Attribute:
        """From the promoted operand type to the type in which the op reckons."""
        return promoted

    @staticmethod
    def result_type(reckoning: Attribute) -> Attribute:
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
    def make(cls, *operands: SSAValue, attributes: dict[str, Attribute] | None = None):
        """The op on these operands, with the inferred result type."""
        draft = cls.create(operands=operands, result_types=[et.any_type])
        inferred = draft.inferred_type()
        draft.erase()
        return cls.create(operands=operands, result_types=[inferred], attributes=attributes or {})

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

    result_type = staticmethod(lambda t: t if t == et.any_type else et.CONCRETE["i1"])


class BitwiseOp(BinaryOp, ABC):
    """An op on the bits of two integers (or on two bools)."""

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; reals are refused."""
        _refuse_reals(self)
        return super().inferred_type()


class ShiftOp(BitwiseOp, ABC):
    """A shift of an integer's bits; a bool counts as an integer."""

    compute_type = staticmethod(et.as_number)


def _refuse_reals(op: ElementwiseOp) -> None:
    for value in op.operands:
        if et.is_float(tensor_type(value).element_type):
            what = op.name.removeprefix("tile.")
            raise VerifyException(f"{what} works on integers, but {name_of(value)} holds reals")


@irdl_op_definition
class AbsOp(NumberUnaryOp):
    """The absolute value.

    Example: `%r = tile.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.abs"


@irdl_op_definition
class NegOp(NumberUnaryOp):
    """The value with its sign changed; integers wrap.

    Example: `%r = tile.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.neg"


@irdl_op_definition
class ReluOp(NumberUnaryOp):
    """The value, or 0 if it is negative.

    Example: `%r = tile.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.relu"


@irdl_op_definition
class IdentOp(UnaryOp):
    """The value itself.

    Example: `%r = tile.ident %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.ident"


@irdl_op_definition
class AcosOp(RealUnaryOp):
    """The arc cosine, in radians.

    Example: `%r = tile.acos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.acos"


@irdl_op_definition
class AsinOp(RealUnaryOp):
    """The arc sine, in radians.

    Example: `%r = tile.asin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.asin"


@irdl_op_definition
class AtanOp(RealUnaryOp):
    """The arc tangent, in radians.

    Example: `%r = tile.atan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.atan"


@irdl_op_definition
class CeilOp(RealUnaryOp):
    """The least integer that is not smaller.

    Example: `%r = tile.ceil %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.ceil"


@irdl_op_definition
class CosOp(RealUnaryOp):
    """The cosine of an angle in radians.

    Example: `%r = tile.cos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.cos"


@irdl_op_definition
class CoshOp(RealUnaryOp):
    """The hyperbolic cosine.

    Example: `%r = tile.cosh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.cosh"


@irdl_op_definition
class ErfOp(RealUnaryOp):
    """The error function.

    Example: `%r = tile.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.erf"


@irdl_op_definition
class ExpOp(RealUnaryOp):
    """The exponential function.

    Example: `%r = tile.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.exp"


@irdl_op_definition
class FloorOp(RealUnaryOp):
    """The greatest integer that is not larger.

    Example: `%r = tile.floor %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.floor"


@irdl_op_definition
class LogOp(RealUnaryOp):
    """The natural logarithm.

    Example: `%r = tile.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.log"


@irdl_op_definition
class RecipOp(RealUnaryOp):
    """One over the value.

    Example: `%r = tile.recip %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.recip"


@irdl_op_definition
class RoundOp(RealUnaryOp):
    """The nearest integer; halves go away from zero.

    Example: `%r = tile.round %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.round"


@irdl_op_definition
class SigmoidOp(RealUnaryOp):
    """The logistic function `1 / (1 + exp(-x))`.

    Example: `%r = tile.sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.sigmoid"


@irdl_op_definition
class SinOp(RealUnaryOp):
    """The sine of an angle in radians.

    Example: `%r = tile.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.sin"


@irdl_op_definition
class SinhOp(RealUnaryOp):
    """The hyperbolic sine.

    Example: `%r = tile.sinh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.sinh"


@irdl_op_definition
class SqrtOp(RealUnaryOp):
    """The square root.

    Example: `%r = tile.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.sqrt"


@irdl_op_definition
class TanOp(RealUnaryOp):
    """The tangent of an angle in radians.

    Example: `%r = tile.tan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.tan"


@irdl_op_definition
class TanhOp(RealUnaryOp):
    """The hyperbolic tangent.

    Example: `%r = tile.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.tanh"


@irdl_op_definition
class BitNotOp(UnaryOp):
    """The integer with all bits flipped; for a bool, the other one.

    Example: `%r = tile.bit_not %a : (tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_not"

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; reals are refused."""
        _refuse_reals(self)
        return super().inferred_type()


@irdl_op_definition
class AddOp(NumberBinaryOp):
    """The sum; integers wrap.

    Example: `%r = tile.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.add"


@irdl_op_definition
class SubOp(NumberBinaryOp):
    """The difference; integers wrap.

    Example: `%r = tile.sub %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.sub"


@irdl_op_definition
class MulOp(NumberBinaryOp):
    """The product; integers wrap.

    Example: `%r = tile.mul %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.mul"


@irdl_op_definition
class DivOp(NumberBinaryOp):
    """The quotient; of integers, rounded toward zero (and 0 where the divisor is 0).

    Example: `%r = tile.div %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.div"


@irdl_op_definition
class MaxOp(BinaryOp):
    """The larger of two values; NaN if either is.

    Example: `%r = tile.max %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.max"


@irdl_op_definition
class MinOp(BinaryOp):
    """The smaller of two values; NaN if either is.

    Example: `%r = tile.min %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.min"


@irdl_op_definition
class PowOp(NumberBinaryOp):
    """The first value to the power of the second.

    Example: `%r = tile.pow %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.pow"


@irdl_op_definition
class CmpEqOp(CompareOp):
    """Whether two values are equal.

    Example: `%r = tile.cmp_eq %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_eq"


@irdl_op_definition
class CmpNeOp(CompareOp):
    """Whether two values differ.

    Example: `%r = tile.cmp_ne %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_ne"


@irdl_op_definition
class CmpLtOp(CompareOp):
    """Whether the first value is smaller than the second.

    Example: `%r = tile.cmp_lt %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_lt"


@irdl_op_definition
class CmpGtOp(CompareOp):
    """Whether the first value is larger than the second.

    Example: `%r = tile.cmp_gt %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_gt"


@irdl_op_definition
class CmpLeOp(CompareOp):
    """Whether the first value is smaller than the second or equal.

    Example: `%r = tile.cmp_le %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_le"


@irdl_op_definition
class CmpGeOp(CompareOp):
    """Whether the first value is larger than the second or equal.

    Example: `%r = tile.cmp_ge %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>`
    """

    name = "tile.cmp_ge"


@irdl_op_definition
class BitAndOp(BitwiseOp):
    """The bits set in both integers.

    Example: `%r = tile.bit_and %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_and"


@irdl_op_definition
class BitOrOp(BitwiseOp):
    """The bits set in either integer.

    Example: `%r = tile.bit_or %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_or"


@irdl_op_definition
class BitXorOp(BitwiseOp):
    """The bits set in one integer but not the other.

    Example: `%r = tile.bit_xor %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_xor"


@irdl_op_definition
class BitLeftOp(ShiftOp):
    """The first integer shifted left by the second; 0 once all bits are out.

    Example: `%r = tile.bit_left %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_left"


@irdl_op_definition
class BitRightOp(ShiftOp):
    """The first integer shifted right by the second, keeping its sign.

    Example: `%r = tile.bit_right %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_right"


@irdl_op_definition
class SelectOp(ElementwiseOp):
    """The second value where the first is not zero, else the third.

    Example: `%r = tile.select %c, %a, %b
    : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>`
    """

    name = "tile.select"

    condition = operand_def(AnyAttr())
    lhs = operand_def(AnyAttr())
    rhs = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    @property
    def values(self) -> Sequence[SSAValue]:
        """The two values to choose from; the condition keeps its own type."""
        return self.operands[1:]


@irdl_op_definition
class CastOp(ElementwiseOp):
    """The value in another element type.

    Reals become integers by cutting off the fraction; integers wrap; anything but 0 is the bool 1.

    Example: `%r = tile.cast %a : (tensor<4x8xi32>) -> tensor<4x8xf32>`
    """

    name = "tile.cast"

    operand = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    @classmethod
    def to(cls, operand: SSAValue, element_type: Attribute):
        """The cast of ``operand`` to ``element_type``."""
        result_type = make_type(broadcast([operand]), element_type)
        return cls.create(operands=[operand], result_types=[result_type])

    def reckoning_type(self) -> Attribute:
        """The operand's own type."""
        return tensor_type(self.operand).element_type

    def inferred_type(self) -> AnyTensor:
        """The operand's shape with the declared element type."""
        return make_type(broadcast(self.operands), tensor_type(self.result).element_type)


@irdl_op_definition
class IndexOp(ElementwiseOp):
    """Each element's own position along an axis of the operand, as i32.

    Example: `%r = tile.index %a axis 1 : (tensor<4x8xf32>) -> tensor<4x8xi32>`
    """

    name = "tile.index"

    operand = operand_def(AnyAttr())
    axis = prop_def(IntegerAttr)
    result = result_def(AnyAttr())

    @classmethod
    def along(cls, operand: SSAValue, axis: int):
        """The positions along ``axis`` of ``operand``."""
        result_type = make_type(broadcast([operand]), et.CONCRETE["i32"])
        return cls.create(
            operands=[operand],
            result_types=[result_type],
            properties={"axis": IntegerAttr(axis, IndexType())},
        )

    def inferred_type(self) -> AnyTensor:
        """The operand's shape with elements of type i32."""
        shape = broadcast(self.operands)
        axis = self.axis.value.data
        if axis < 0 or (shape is not None and axis >= len(shape)):
            raise VerifyException(f"{name_of(self.operand)} has no axis {axis}")
        return make_type(shape, et.CONCRETE["i32"])

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `%a axis n : (type) -> type`."""
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("axis")
        axis = IntegerAttr(parser.parse_integer(allow_boolean=False), IndexType())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        t = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands([operand], t.inputs.data, position),
            result_types=list(t.outputs.data),
            properties={"axis": axis},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%a axis n : (type) -> type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_string(f" axis {self.axis.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


@irdl_op_definition
class ConstantOp(TileOp):
    """A number. With element type `index` or `!tile.real` it takes the type of what it meets.

    Example: `%r = tile.constant 2.5 : tensor<!tile.real>`
    """

    name = "tile.constant"

    value = prop_def(IntegerAttr | FloatAttr)
    result = result_def(AnyAttr())

    traits = traits_def(Pure(), ConstantLike())

    @staticmethod
    def attribute(value: Number) -> IntegerAttr | FloatAttr:
        """The attribute that holds a number."""
        if isinstance(value, float):
            return FloatAttr(value, f64_type)
        return IntegerAttr(int(value), IndexType())

    @classmethod
    def of(cls, value: Number, element_type: Attribute | None = None):
        """The constant ``value``; of a weak type unless one is given."""
        weak = et.real if isinstance(value, float) else et.index
        return cls.create(
            result_types=[TensorType(element_type or weak, ())],
            properties={"value": cls.attribute(value)},
        )

    @property
    def number(self) -> Number:
        """The number as a Python value."""
        return self.value.value.data

    def inferred_type(self) -> AnyTensor:
        """A scalar of the declared element type."""
        element_type = tensor_type(self.result).element_type
        if isinstance(self.value, FloatAttr) and not et.is_float(element_type):
            raise VerifyException(f"{self.value.value.data} is not an {element_type}")
        return make_type((), element_type)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `number : type`."""
        value = cls.attribute(cls._parse_number(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties={"value": value}, attributes=attributes
        )

    @staticmethod
    def _parse_number(parser: Parser) -> Number:
        sign = -1 if parser.parse_optional_punctuation("-") else 1
        if word := parser.parse_optional_keyword_in(("inf", "nan")):
            return sign * float(word)
        return sign * parser.parse_number(allow_boolean=False)

    def print(self, printer: Printer) -> None:
        """Print `number : type`."""
        printer.print_string(f" {self.number}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class SizeOp(TileOp):
    """A size as a number that elementwise ops can take.

    Example: `%r = tile.size %N : tensor<index>`
    """

    name = "tile.size"

    size = operand_def(IndexType())
    result = result_def(TensorType(IndexType(), ()))

    traits = traits_def(Pure())
    assembly_format = "$size attr-dict `:` type($result)"

    @classmethod
    def of(cls, size: SSAValue):
        """The number that ``size`` is."""
        return cls.create(operands=[size], result_types=[TensorType(IndexType(), ())])

    def inferred_type(self) -> AnyTensor:
        """A weak integer scalar."""
        return make_type((), et.index)


ELEMENTWISE_OPS: tuple[type[Operation], ...] = (
    AbsOp,
    NegOp,
    ReluOp,
    IdentOp,
    AcosOp,
    AsinOp,
    AtanOp,
    CeilOp,
    CosOp,
    CoshOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogOp,
    RecipOp,
    RoundOp,
    SigmoidOp,
    SinOp,
    SinhOp,
    SqrtOp,
    TanOp,
    TanhOp,
    BitNotOp,
    AddOp,
    SubOp,
    MulOp,
    DivOp,
    MaxOp,
    MinOp,
    PowOp,
    CmpEqOp,
    CmpNeOp,
    CmpLtOp,
    CmpGtOp,
    CmpLeOp,
    CmpGeOp,
    BitAndOp,
    BitOrOp,
    BitXorOp,
    BitLeftOp,
    BitRightOp,
    SelectOp,
    CastOp,
    IndexOp,
    ConstantOp,
    SizeOp,
)
"""All ops of this file."""
