"""Elementwise ops with a rule of their own: choice, casts, positions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    broadcast_shape,
    check_positions,
    make_type,
    name_of,
    tensor_type,
)
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp


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

    def operand_type(self) -> Attribute:
        """The values' common type; a condition of known width gives numbers a width, too."""
        promoted = super().operand_type()
        is_known = not et.is_weak(tensor_type(self.condition).element_type)
        return et.concrete(promoted) if is_known else promoted


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
        result_type = make_type(broadcast_shape([operand]), element_type)
        return cls.create(operands=[operand], result_types=[result_type])

    def operand_type(self) -> Attribute:
        """The operand's own type."""
        return tensor_type(self.operand).element_type

    def inferred_type(self) -> AnyTensor:
        """The operand's shape with the declared element type."""
        element_type = tensor_type(self.result).element_type
        if element_type not in et.CONCRETE.values():
            raise VerifyException(f"there is no cast to {element_type}")
        return make_type(broadcast_shape(self.operands), element_type)


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
        result_type = make_type(broadcast_shape([operand]), et.CONCRETE["i32"])
        return cls.create(
            operands=[operand],
            result_types=[result_type],
            properties={"axis": IntegerAttr(axis, IndexType())},
        )

    def inferred_type(self) -> AnyTensor:
        """The operand's shape with elements of type i32."""
        shape = broadcast_shape(self.operands)
        axis = self.axis.value.data
        if axis < 0 or (shape is not None and axis >= len(shape)):
            raise VerifyException(f"{name_of(self.operand)} has no axis {axis}")
        check_positions(self.operand, shape)
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
