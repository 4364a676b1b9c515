"""Patterns about single values: tuples, elements of arrays, generated arrays, sizes, let."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, TensorType, TupleType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import OrdinalAttr, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, PlainOp, defining_op, not_negative
from tiledialect.dialects.lift.types import (
    array,
    as_array,
    describe,
    element_of,
    is_integer,
    leading,
    sizes_of,
    tuple_of,
)


@irdl_op_definition
class ZipOp(PlainOp):
    """Arrays of the same size as one array of tuples.

    Example: `%r = lift.zip %x, %y : (tensor<8xf32>, tensor<8x3xi32>)
    -> tensor<8xtuple<f32, tensor<3xi32>>>`
    """

    name = "lift.zip"

    inputs = var_operand_def(AnyAttr())

    def inferred_type(self) -> Attribute:
        """An array of tuples of the arrays' elements."""
        if len(self.inputs) < 2:
            raise VerifyException("zip takes at least two arrays")
        types = [as_array(value, "zip") for value in self.inputs]
        for value, t in zip(self.inputs, types, strict=True):
            if leading(t) != leading(types[0]):
                raise VerifyException(
                    f"zip takes arrays of the same size, but {describe(self.inputs[0])} has "
                    f"{leading(types[0])} elements and {describe(value)} has {leading(t)}"
                )
        return array([leading(types[0])], tuple_of(map(element_of, types)))


@irdl_op_definition
class TupleOp(PlainOp):
    """Some values as one tuple.

    Example: `%r = lift.tuple %a, %b : (f32, i32) -> tuple<f32, i32>`
    """

    name = "lift.tuple"

    components = var_operand_def(AnyAttr())

    def inferred_type(self) -> Attribute:
        """The tuple of the operands' types."""
        return tuple_of(self.operand_types)


@irdl_op_definition
class GetOp(PlainOp):
    """A component of a tuple, counted from 0.

    Example: `%r = lift.get(1) %p : (tuple<f32, i32>) -> i32`
    """

    name = "lift.get"

    input = operand_def(AnyAttr())
    index = prop_def(OrdinalAttr)

    def inferred_type(self) -> Attribute:
        """The type of the component."""
        t, index = self.input.type, self.index.data
        if not isinstance(t, TupleType):
            raise VerifyException(f"get takes a tuple, but {describe(self.input)} is {t}")
        if not 0 <= index < len(t.types):
            raise VerifyException(
                f"{describe(self.input)} has {len(t.types)} components: there is no get({index})"
            )
        return t.types.data[index]

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, TupleOp)
        return inner.components[self.index.data] if inner else None


@irdl_op_definition
class AtOp(PlainOp):
    """The element of an array at an index, which is brought into the array's range.

    An index that is a size, as a number is, must lie in it.

    Example: `%r = lift.at %x, %i : (tensor<8x3xf32>, index) -> tensor<3xf32>`
    """

    name = "lift.at"

    input = operand_def(AnyAttr())
    index = operand_def(AnyAttr())

    def inferred_type(self) -> Attribute:
        """The type of an element."""
        if not is_integer(self.index.type):
            raise VerifyException(f"the index of at is {self.index.type}, which is no integer")
        t = as_array(self.input, "at")
        if leading(t).value == 0:
            raise VerifyException(f"{describe(self.input)} has no elements")
        index = self.index.owner
        given = index.size.data.value if isinstance(index, SizeOp) else None
        known = leading(t).value
        if given is not None and known is not None and given >= known:
            raise VerifyException(
                f"{describe(self.input)} has {known} elements: there is no place {given}"
            )
        return element_of(t)


@irdl_op_definition
class SizeOp(PlainOp):
    """A size as an integer.

    Example: `%n = lift.size(N + 2) : () -> index`
    """

    name = "lift.size"

    size = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """An index."""
        not_negative(self.size.data, "a size or a place from the end")
        return IndexType()


@irdl_op_definition
class GenerateOp(FunctionOp):
    """The array of the function's results for its indices.

    The function has as many arguments as the array has axes around its result.

    Example:

    ```mlir
    %r = lift.generate(%i, %j) : () -> tensor<4x?xindex, #lift.sizes<N>> {
      %y = arith.addi %i, %j : index
      lift.yield %y : index
    }
    ```
    """

    name = "lift.generate"

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """Indices, of which there may be any number."""
        return ()

    @classmethod
    def of(cls, t: TensorType[Attribute], body: Region):
        """The op that generates an array of this type."""
        return cls.create(result_types=[t], regions=[body])

    def inferred_type(self) -> Attribute:
        """An array of the function's results."""
        t = self.result.type
        axes = len(self.block.args)
        if not isinstance(t, TensorType) or len(t.get_shape()) < max(1, axes):
            raise VerifyException(f"generate gives an array with {axes} axes or more, not {t}")
        return array(sizes_of(t)[:axes], self.yielded.type)

    def verify_(self) -> None:
        """Check the function's arguments."""
        if not self.block.args:
            raise VerifyException("the function of generate takes at least one index")
        for t in self.block.arg_types:
            if t != IndexType():
                raise VerifyException(f"the function of generate takes indices, not {t}")
        inferred = self.inferred_type()
        if inferred != self.result.type:
            raise VerifyException(f"generate gives {inferred} here, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `(%index, …) : () -> type {…}`."""
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation(":")
        t = parser.parse_function_type()
        return cls.parse_body(parser, names, [IndexType()] * len(names), [], t, {})

    def print_arguments(self, printer: Printer) -> None:
        """Print `%index, …`."""
        printer.print_list(self.block.args, printer.print_ssa_value)


@irdl_op_definition
class LetOp(FunctionOp):
    """The function's result for a value that is computed once, before.

    Example:

    ```mlir
    %r = lift.let(%x be %a) : (f32) -> f32 {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.let"

    value = operand_def(AnyAttr())
    KEYWORDS: ClassVar = ("be",)

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """The value."""
        return (operands[0].type,)

    def inferred_type(self) -> Attribute:
        """The function's result."""
        return self.yielded.type


VALUE_OPS = (ZipOp, TupleOp, GetOp, AtOp, SizeOp, GenerateOp, LetOp)
