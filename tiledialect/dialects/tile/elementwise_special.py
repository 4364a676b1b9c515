"""Elementwise ops with a rule of their own, and the scalars: choice, casts, positions, numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, FloatAttr, IndexType, IntegerAttr, TensorType
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
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    broadcast,
    make_type,
    name_of,
    shape_of,
    tensor_type,
)
from tiledialect.dialects.tile.elementwise_base import ElementwiseOp

Number = int | float


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

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; a condition of known width makes numbers so, too."""
        inferred = super().inferred_type()
        if et.is_weak(tensor_type(self.condition).element_type):
            return inferred
        return make_type(shape_of(inferred), et.concrete(inferred.element_type))


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
        element_type = tensor_type(self.result).element_type
        if element_type not in et.CONCRETE.values():
            raise VerifyException(f"nothing can be cast to {element_type}")
        return make_type(broadcast(self.operands), element_type)


@irdl_op_definition
class IndexOp(ElementwiseOp):
    """Each element's own position along an axis of the operand, as i32.

    Example: `%r = tile.index %a axis 1 : (tensor<4x8xf32>) -> tensor<4x8xi32>`
    """

    name = "tile.index"

    operand = operand_def(AnyAttr())
    axis = prop_def(IntegerAttr[IndexType])
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
    """A number that its type can hold.

    With element type `index` or `!tile.real` it takes the type of what it meets.

    Example: `%r = tile.constant 2.5 : tensor<!tile.real>`
    """

    name = "tile.constant"

    value = prop_def(IntegerAttr[IndexType] | FloatAttr[Float64Type])
    result = result_def(AnyAttr())

    traits = traits_def(Pure(), ConstantLike())

    @staticmethod
    def attribute(value: Number) -> IntegerAttr[IndexType] | FloatAttr[Float64Type]:
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
        if element_type == et.any_type or not et.holds(element_type, self.number):
            raise VerifyException(f"{self.number} is not of type {element_type}")
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
        printer.print_string(f" {format_number(self.number)}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


def format_number(number: Number) -> str:
    """The shortest text that MLIR reads as ``number``; a real's has a point before an exponent."""
    mantissa, e, exponent = repr(number).partition("e")
    return mantissa + (".0" if e and "." not in mantissa else "") + e + exponent


class FoldSize(HasFolder):
    """A size that is known is a number."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        """The number, if an `arith.constant` makes the size."""
        assert isinstance(op, SizeOp)
        if isinstance(op.size.owner, arith.ConstantOp):
            return (op.size.owner.value,)
        return None


@irdl_op_definition
class SizeOp(TileOp):
    """A size as a number that elementwise ops can take.

    Example: `%r = tile.size %N : tensor<index>`
    """

    name = "tile.size"

    size = operand_def(IndexType())
    result = result_def(TensorType(IndexType(), ()))

    traits = traits_def(Pure(), FoldSize())
    assembly_format = "$size attr-dict `:` type($result)"

    @classmethod
    def of(cls, size: SSAValue):
        """The number that ``size`` is."""
        return cls.create(operands=[size], result_types=[TensorType(IndexType(), ())])

    def inferred_type(self) -> AnyTensor:
        """A weak integer scalar."""
        return make_type((), et.index)
