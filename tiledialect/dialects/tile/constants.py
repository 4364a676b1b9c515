"""Numbers among the tile ops: literals and sizes, and the constant behind a value."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, FloatAttr, IndexType, IntegerAttr, TensorType
from xdsl.dialects.builtin import f64 as f64_type
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import AnyTensor, TileOp, make_type, name_of, tensor_type

Number = int | float


def constant_integer(value: SSAValue) -> int | None:
    """The integer that an `arith.constant` makes ``value``; None if none does."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def constant_of(value: SSAValue) -> ConstantOp | None:
    """The `tile.constant` that makes ``value``."""
    return value.owner if isinstance(value.owner, ConstantOp) else None


def check_numbers(operands: Sequence[SSAValue], element_type: Attribute) -> None:
    """Refuse a number among ``operands`` that ``element_type``, which it takes, does not hold."""
    if element_type not in et.CONCRETE.values():
        return
    for value in operands:
        constant = constant_of(value)
        if constant is None or tensor_type(value).element_type != et.index:
            continue
        if not et.holds(element_type, constant.number):
            others = (v for v in operands if not et.is_weak(tensor_type(v).element_type))
            raise VerifyException(misfit(constant.number, element_type, next(others, None)))


def misfit(number: Number, element_type: Attribute, other: SSAValue | None = None) -> str:
    """Message for a number that its type does not hold, with a cast that helps.

    The type is that of ``other``, if there is one.
    """
    small = et.CONCRETE["i32"]
    width = 32 if et.holds(small, number) and et.promote(element_type, small) == small else 64
    name = et.type_name(element_type)
    if other is None:
        return f"{number} does not fit {name}; write as_int({number}, {width})"
    of = name_of(other)
    what = of if other.name_hint else "…"
    return f"{number} does not fit {name}, the type of {of}; write as_int({what}, {width})"


@irdl_op_definition
class ConstantOp(TileOp):
    """A number that its type can hold.

    With element type `index` or `!tile.real` it takes the type that it meets.

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
        number = constant_integer(op.size)
        return None if number is None else (ConstantOp.attribute(number),)


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
