"""Patterns that change the layout of an array: views, which cost nothing once compiled."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import BoundaryAttr, IndexMapAttr, SizeAttr
from tiledialect.dialects.lift.base import (
    ArrayOp,
    PlainOp,
    defining_op,
    exact,
    not_negative,
    positive,
)
from tiledialect.dialects.lift.types import (
    array,
    as_array,
    describe,
    element_of,
    is_number,
    leading,
    sizes_of,
)
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.size import Size


@irdl_op_definition
class SplitOp(ArrayOp):
    """The array cut into pieces of a size that divides its own.

    Example: `%r = lift.split(4) %x : (tensor<8xf32>) -> tensor<2x4xf32>`
    """

    name = "lift.split"

    size = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """An array of pieces."""
        t, size = as_array(self.input, "split"), self.size.data
        positive(size, "the size of the pieces of split")
        pieces = exact(
            leading(t),
            size,
            f"split({size}) needs {size} to divide the size of {describe(self.input)}, "
            f"which is {leading(t)}",
        )
        return array([pieces, size], element_of(t))

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, JoinOp)
        return inner.input if inner and inner.input.type == self.result.type else None


@irdl_op_definition
class JoinOp(ArrayOp):
    """The pieces of an array of arrays one after the other, as one array.

    Example: `%r = lift.join %x : (tensor<2x4xf32>) -> tensor<8xf32>`
    """

    name = "lift.join"

    def inferred_type(self) -> Attribute:
        """An array with one axis less."""
        t = as_array(self.input, "join")
        outer, inner = _two_axes(self.input, "join")
        return array([outer * inner, *sizes_of(t)[2:]], t.element_type)

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, SplitOp)
        return inner.input if inner else None


@irdl_op_definition
class TransposeOp(ArrayOp):
    """The array with its two outer axes exchanged.

    Example: `%r = lift.transpose %x : (tensor<2x4xf32>) -> tensor<4x2xf32>`
    """

    name = "lift.transpose"

    def inferred_type(self) -> Attribute:
        """The sizes, with the outer two exchanged."""
        t = as_array(self.input, "transpose")
        outer, inner = _two_axes(self.input, "transpose")
        return array([inner, outer, *sizes_of(t)[2:]], t.element_type)

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, TransposeOp)
        return inner.input if inner else None


@irdl_op_definition
class SlideOp(ArrayOp):
    """The windows of `size` neighbours that begin at every `step`-th element.

    The last window must end where the array ends.

    Example: `%r = lift.slide(3, 1) %x : (tensor<8xf32>) -> tensor<6x3xf32>`
    """

    name = "lift.slide"

    size = prop_def(SizeAttr)
    step = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """An array of windows."""
        t = as_array(self.input, "slide")
        count = windows(self.input, self.size.data, self.step.data)
        return array([count, self.size.data], element_of(t))


def windows(value: SSAValue, size: Size, step: Size) -> Size:
    """Number of windows of ``size`` elements in an array, ``step`` apart."""
    positive(size, "the size of the windows of slide")
    positive(step, "the step of slide")
    total = leading(as_array(value, "slide"))
    if (space := (total - size).number) is not None and space < 0:
        raise VerifyException(
            f"the windows of slide({size}, {step}) are larger than {describe(value)}, "
            f"which has {total} elements"
        )
    return 1 + exact(
        total - size,
        step,
        f"the windows of slide({size}, {step}) do not end where {describe(value)} ends, "
        f"which has {total} elements: slice it first",
    )


@irdl_op_definition
class PadOp(ArrayOp):
    """The array with `left` elements more before its first and `right` more after its last.

    They are the outermost element (`clamp`), the array backwards (`mirror`), or the array's other
    end (`wrap`), however many there are.

    Example: `%r = lift.pad(1, 1, clamp) %x : (tensor<8xf32>) -> tensor<10xf32>`
    """

    name = "lift.pad"

    left = prop_def(SizeAttr)
    right = prop_def(SizeAttr)
    boundary = prop_def(BoundaryAttr)

    def inferred_type(self) -> Attribute:
        """A longer array."""
        t = as_array(self.input, "pad")
        left, right = self.left.data, self.right.data
        if leading(t).value == 0 and left + right != Size():
            raise VerifyException(
                f"{describe(self.input)} has no elements: pad has nothing to repeat"
            )
        return array([_padded(leading(t), left, right)], element_of(t))

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.input if self.left.data == self.right.data == Size() else None


@irdl_op_definition
class PadConstantOp(PlainOp):
    """The array with a value `left` times before its first element and `right` times at its end.

    The value is an element of the array, or the number of which all of that element is made.

    Example: `%r = lift.pad_constant(1, 1) %x, %zero : (tensor<8xf32>, f32) -> tensor<10xf32>`
    """

    name = "lift.pad_constant"

    input = operand_def(AnyAttr())
    value = operand_def(AnyAttr())
    left = prop_def(SizeAttr)
    right = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """A longer array."""
        t = as_array(self.input, "pad_constant")
        if self.value.type not in (element_of(t), t.element_type):
            raise VerifyException(
                f"pad_constant puts elements of {describe(self.input)}, which are "
                f"{element_of(t)}, not {self.value.type}"
            )
        return array([_padded(leading(t), self.left.data, self.right.data)], element_of(t))

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.input if self.left.data == self.right.data == Size() else None


def _padded(size: Size, left: Size, right: Size) -> Size:
    not_negative(left, "the padding on the left")
    not_negative(right, "the padding on the right")
    return left + size + right


class ReorderOp(ArrayOp, ABC):
    """An op with a map of indices."""

    map = prop_def(IndexMapAttr)

    PERMUTES: ClassVar[bool] = False
    """Whether the map must be a permutation."""

    def inferred_type(self) -> Attribute:
        """The operand's type, if the map fits its size as far as that is known."""
        t, index_map = as_array(self.input, self.pattern()), self.map.data
        size = leading(t).value
        if size is not None and {*index_map.expr.names} <= {index_map.variable}:
            fault = index_map.fault(size, permutes=self.PERMUTES)
            if fault is not None:
                raise VerifyException(f"{self.pattern()}({index_map}) {fault}")
        return t

    def reordered_value(self, inverse: type[ReorderOp]) -> SSAValue | None:
        """Operand of an identity map, or of the op with the inverse map: scatters permute."""
        if self.map.data.expr == Expr.var(self.map.data.variable):
            return self.input
        inner = defining_op(self.input, inverse)
        return inner.input if inner and inner.map == self.map else None


@irdl_op_definition
class GatherOp(ReorderOp):
    """The array whose element `i` is the operand's element at the index that `map` gives for `i`.

    The map must stay inside the array.

    Example: `%r = lift.gather(i -> 7 - i) %x : (tensor<8xf32>) -> tensor<8xf32>`
    """

    name = "lift.gather"

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.reordered_value(ScatterOp)


@irdl_op_definition
class ScatterOp(ReorderOp):
    """The array whose element at the index that `map` gives for `i` is the operand's element `i`.

    The map must be a permutation, so that every element is written once.

    Example: `%r = lift.scatter(i -> 7 - i) %x : (tensor<8xf32>) -> tensor<8xf32>`
    """

    name = "lift.scatter"

    PERMUTES: ClassVar[bool] = True

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.reordered_value(GatherOp)


@irdl_op_definition
class SliceOp(ArrayOp):
    """The elements from `start` on, without the elements from `stop` on.

    Example: `%r = lift.slice(1, 7) %x : (tensor<8xf32>) -> tensor<6xf32>`
    """

    name = "lift.slice"

    start = prop_def(SizeAttr)
    stop = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """An array of `stop - start` elements."""
        t = as_array(self.input, "slice")
        start, stop = self.start.data, self.stop.data
        not_negative(start, "the start of a slice")
        ends = (
            (stop - start, "ends before it begins"),
            (leading(t) - stop, f"is not inside {describe(self.input)}, which has {leading(t)}"),
        )
        for size, wrong in ends:
            if size.number is not None and size.number < 0:
                raise VerifyException(f"slice({start}, {stop}) {wrong}")
        return array([stop - start], element_of(t))

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        is_whole = self.stop.data == leading(as_array(self.input, "slice"))
        return self.input if is_whole and self.start.data == Size() else None


@irdl_op_definition
class ConcatOp(PlainOp):
    """The elements of some arrays of the same kind, one array after the other.

    Example: `%r = lift.concat %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>`
    """

    name = "lift.concat"

    inputs = var_operand_def(AnyAttr())

    def inferred_type(self) -> Attribute:
        """An array with the sum of the sizes."""
        if not self.inputs:
            raise VerifyException("concat takes at least one array")
        types = [as_array(value, "concat") for value in self.inputs]
        first = element_of(types[0])
        for value, t in zip(self.inputs, types, strict=True):
            if element_of(t) != first:
                raise VerifyException(
                    f"concat takes arrays of the same kind, but {describe(self.inputs[0])} holds "
                    f"{first} and {describe(value)} {element_of(t)}"
                )
        return array([sum(map(leading, types), Size())], first)

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        return self.inputs[0] if len(self.inputs) == 1 else None


@irdl_op_definition
class AsVectorOp(ArrayOp):
    """The numbers of an array as vectors of some of them.

    Example: `%r = lift.as_vector(4) %x : (tensor<8xf32>) -> tensor<2xvector<4xf32>>`
    """

    name = "lift.as_vector"

    size = prop_def(SizeAttr)

    def inferred_type(self) -> Attribute:
        """An array of vectors."""
        t, size = as_array(self.input, "as_vector"), self.size.data
        element = element_of(t)
        width = size.value
        if width is None or width < 1:
            raise VerifyException(f"the width of a vector is a number, not {size}")
        if not is_number(element):
            raise VerifyException(f"as_vector takes an array of numbers, not of {element}")
        count = exact(
            leading(t),
            size,
            f"as_vector({size}) needs {size} to divide the size of {describe(self.input)}, "
            f"which is {leading(t)}",
        )
        return array([count], VectorType(element, [width]))

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, AsScalarOp)
        return inner.input if inner and inner.input.type == self.result.type else None


@irdl_op_definition
class AsScalarOp(ArrayOp):
    """The numbers in an array of vectors.

    Example: `%r = lift.as_scalar %x : (tensor<2xvector<4xf32>>) -> tensor<8xf32>`
    """

    name = "lift.as_scalar"

    def inferred_type(self) -> Attribute:
        """An array of numbers."""
        t = as_array(self.input, "as_scalar")
        element = element_of(t)
        if not isinstance(element, VectorType):
            raise VerifyException(f"as_scalar takes an array of vectors, not of {element}")
        (width,) = element.get_shape()
        return array([leading(t) * width], element.element_type)

    def existing_value(self) -> SSAValue | None:
        """Operand or inner value that equals the result."""
        inner = defining_op(self.input, AsVectorOp)
        return inner.input if inner else None


def _two_axes(value: SSAValue, what: str) -> tuple[Size, Size]:
    t = as_array(value, what)
    if isinstance(element_of(t), TensorType):
        outer, inner, *_ = sizes_of(t)
        return outer, inner
    raise VerifyException(
        f"{what} takes an array of arrays, but {describe(value)} holds {element_of(t)}"
    )


LAYOUT_OPS = (
    SplitOp,
    JoinOp,
    TransposeOp,
    SlideOp,
    PadOp,
    PadConstantOp,
    GatherOp,
    ScatterOp,
    SliceOp,
    ConcatOp,
    AsVectorOp,
    AsScalarOp,
)
