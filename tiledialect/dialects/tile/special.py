"""Ops of the tile dialect that move elements about, and the random numbers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    Shape,
    TileOp,
    check_positions,
    declared_wide,
    format_shape,
    make_type,
    name_of,
    shape_of,
    size_of,
    tensor_type,
)
from tiledialect.dialects.tile.constants import check_numbers
from tiledialect.rounding import ceil_div


@irdl_op_definition
class GatherOp(TileOp):
    """The slices of a tensor, along its first axis, that an integer tensor names.

    The result has the indices' axes, then the rest of the tensor's. An index outside the tensor
    takes the nearest slice inside.

    Example: `%r = tile.gather %v, %i : (tensor<9x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>`
    """

    name = "tile.gather"

    tensor = operand_def(AnyAttr())
    indices = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$tensor `,` $indices attr-dict `:` functional-type(operands, results)"

    def inferred_type(self) -> AnyTensor:
        """The indices' shape, then the tensor's without its first axis."""
        tensor, indices = tensor_type(self.tensor), tensor_type(self.indices)
        _check_integers(self.indices, "as indices of gather")
        shape, index_shape = shape_of(tensor), shape_of(indices)
        if shape is None or index_shape is None:
            return make_type(None, tensor.element_type)
        if not shape:
            raise VerifyException(f"gather needs an axis, but {name_of(self.tensor)} is a scalar")
        if shape[0] == 0 and 0 not in index_shape:
            raise VerifyException(f"gather has nothing to take from {name_of(self.tensor)}")
        return make_type((*index_shape, *shape[1:]), tensor.element_type)


@irdl_op_definition
class ScatterOp(TileOp):
    """Adds slices of a tensor into a zero tensor, at the places an integer tensor names.

    The reverse of `tile.gather`: `updates` has the indices' axes, then a slice's axes; the
    result has a first axis of the size of `like`'s and then a slice's axes. Slices for one
    place are summed (bools as integers); an index outside the result is left out. A number as
    `updates`, without axes, is added for each index: so indices are counted. The sums of f16 and
    bf16 may be declared f32.

    With `parts n` the indices, in order, are divided into so many parts of the same number, but
    for the last; the result has another first axis, along which it is that of each part.

    Example:

    ```mlir
    %r = tile.scatter %u, %i, %v
         : (tensor<4x8xf32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
    %s = tile.scatter %u, %i, %v parts 2
         : (tensor<4x8xf32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<2x9x8xf32>
    ```
    """

    name = "tile.scatter"

    updates = operand_def(AnyAttr())
    indices = operand_def(AnyAttr())
    like = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    parts = opt_prop_def(IntegerAttr[IndexType])

    traits = traits_def(Pure())
    assembly_format = (
        "$updates `,` $indices `,` $like (`parts` $parts^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    @property
    def row_axis(self) -> int:
        """The axis of the result that the indices name places of."""
        return 0 if self.parts is None else 1

    @property
    def part_count(self) -> int:
        """Number of parts into which the indices are divided."""
        return 1 if self.parts is None else self.parts.value.data

    @property
    def part_size(self) -> int:
        """Number of indices of a part, but for the last."""
        return ceil_div(size_of(self.indices), self.part_count)

    def inferred_type(self) -> AnyTensor:
        """The parts, the first axis of `like`, the updates' axes that the indices do not have."""
        updates, indices, like = map(shape_of, map(tensor_type, self.operands))
        _check_integers(self.indices, "as indices of scatter")
        element_type = et.concrete(et.as_number(tensor_type(self.updates).element_type))
        if declared_wide(self.result, element_type):
            element_type = et.CONCRETE["f32"]
        if updates is None or indices is None or like is None:
            return make_type(None, element_type)
        if not like:
            raise VerifyException(f"scatter needs an axis, but {name_of(self.like)} is a scalar")
        rank = len(indices) if updates else 0
        if len(updates) < rank or not _agree(updates[:rank], indices[:rank]):
            raise VerifyException(
                f"{name_of(self.updates)} ({format_shape(updates)}) must begin with the axes "
                f"of {name_of(self.indices)} ({format_shape(indices)})"
            )
        if self.part_count < 1:
            raise VerifyException(f"scatter has 1 part at least, not {self.part_count}")
        parts = () if self.parts is None else (self.part_count,)
        return make_type((*parts, like[0], *updates[rank:]), element_type)

    def verify_(self) -> None:
        """Check the shapes, and that a number that is added fits the type that it gets."""
        super().verify_()
        check_numbers([self.updates], tensor_type(self.result).element_type)


@irdl_op_definition
class SumToOp(TileOp):
    """The sum of a tensor over the axes along which another was broadcast to its shape.

    The reverse of NumPy's broadcasting, by which an operand's cotangent follows from the
    result's: axes that `like` lacks, or has with size 1, are summed over (bools as integers).

    Example: `%r = tile.sum_to %g, %a : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>`
    """

    name = "tile.sum_to"

    operand = operand_def(AnyAttr())
    like = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$operand `,` $like attr-dict `:` functional-type(operands, results)"

    def inferred_type(self) -> AnyTensor:
        """The shape of `like` with the operand's element type; sums of bools are integers."""
        shape, like = shape_of(tensor_type(self.operand)), shape_of(tensor_type(self.like))
        t = et.concrete(et.as_number(tensor_type(self.operand).element_type))
        if shape is not None and like is not None:
            pairs = zip(reversed(shape), reversed(like), strict=False)
            fits = all(n == 1 or DYNAMIC_INDEX in (m, n) or m == n for m, n in pairs)
            if len(like) > len(shape) or not fits:
                raise VerifyException(
                    f"{name_of(self.like)} ({format_shape(like)}) does not broadcast to "
                    f"{name_of(self.operand)} ({format_shape(shape)})"
                )
        return make_type(like, t)

    def verify_(self) -> None:
        """Check the shapes, and that a number fits the type that it gets."""
        super().verify_()
        check_numbers([self.operand], tensor_type(self.result).element_type)


class SizedOp(TileOp, ABC):
    """An op with a tensor operand and the sizes of the result, as many as it has open axes."""

    operand = operand_def(AnyAttr())
    sizes = var_operand_def(IndexType())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = (
        "$operand `to` ` ` `[` $sizes `]` attr-dict `:` type($operand) `->` type($result)"
    )

    @classmethod
    def to(cls, operand: SSAValue, sizes: Sequence[SSAValue]):
        """The op with a result of these sizes."""
        t = make_type((DYNAMIC_INDEX,) * len(sizes), cls.element_type(tensor_type(operand)))
        return cls.create(operands=[operand, *sizes], result_types=[t])

    @classmethod
    def of(cls, operand: SSAValue, sizes: Sequence[int | SSAValue]):
        """The op with a result of these sizes, some of them known."""
        shape = tuple(s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes)
        t = make_type(shape, cls.element_type(tensor_type(operand)))
        open_ = [s for s in sizes if isinstance(s, SSAValue)]
        return cls.create(operands=[operand, *open_], result_types=[t])

    @classmethod
    def element_type(cls, operand: AnyTensor) -> Attribute:
        """The result's element type; never a weak one."""
        return et.concrete(operand.element_type)

    def declared_shape(self) -> Shape:
        """The result's shape, which must leave as many axes open as there are sizes."""
        shape = shape_of(tensor_type(self.result))
        if shape is None or shape.count(DYNAMIC_INDEX) != len(self.sizes):
            raise VerifyException(f"the open axes of {name_of(self.result)} must match the sizes")
        return shape

    def inferred_type(self) -> AnyTensor:
        """The declared shape with the op's element type."""
        return make_type(self.declared_shape(), self.element_type(tensor_type(self.operand)))

    def verify_(self) -> None:
        """Check the shape, and that a number fits the type that it gets."""
        super().verify_()
        check_numbers([self.operand], tensor_type(self.result).element_type)


@irdl_op_definition
class ReshapeOp(SizedOp):
    """The same elements, in the same order, with other axes.

    Example: `%r = tile.reshape %a to [] : tensor<4x8xf32> -> tensor<32xf32>`
    """

    name = "tile.reshape"

    traits = traits_def(Pure())

    def inferred_type(self) -> AnyTensor:
        """As declared; the number of elements must stay."""
        inferred = super().inferred_type()
        old, new = shape_of(tensor_type(self.operand)), self.declared_shape()
        if old is None or DYNAMIC_INDEX in (*old, *new):
            return inferred
        if prod(old) != prod(new):
            raise VerifyException(
                f"{name_of(self.operand)} ({format_shape(old)}) cannot be reshaped to "
                f"{format_shape(new)}: {prod(old)} elements are not {prod(new)}"
            )
        return inferred


@irdl_op_definition
class ShapeOp(TileOp):
    """The sizes of a tensor's axes, as a vector of i32.

    Example: `%r = tile.shape %a : (tensor<4x8xf32>) -> tensor<2xi32>`
    """

    name = "tile.shape"

    operand = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$operand attr-dict `:` functional-type(operands, results)"

    def inferred_type(self) -> AnyTensor:
        """A vector with an element for each axis."""
        shape = shape_of(tensor_type(self.operand))
        check_positions(self.operand, shape)
        return make_type((DYNAMIC_INDEX if shape is None else len(shape),), et.CONCRETE["i32"])


@irdl_op_definition
class PrngValueOp(SizedOp):
    """Random numbers from [0, 1), a pure function of the state.

    The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
    SC 2011). The state is a ui32 tensor of at least four elements, of which the first two, in
    row-major order, are the key and the next two the low and high word of a counter. Element
    number k of the result takes word k mod 4 of block counter + k div 4, and is that word's upper
    24 bits times 2^-24, as f32.

    Example: `%r = tile.prng_value %s to [] : tensor<4xui32> -> tensor<4x8xf32>`
    """

    name = "tile.prng_value"

    @classmethod
    def element_type(cls, operand: AnyTensor) -> Attribute:
        """Random numbers are f32."""
        return et.CONCRETE["f32"]

    def inferred_type(self) -> AnyTensor:
        """The declared shape of f32."""
        check_prng_state(self.operand)
        return super().inferred_type()


@irdl_op_definition
class PrngStateOp(TileOp):
    """The state after the random numbers of a tensor have been drawn.

    The counter (see `tile.prng_value`) grows by the number of blocks that `drawn` took.

    Example: `%r = tile.prng_state %s, %drawn : (tensor<4xui32>, tensor<4x8xf32>) -> tensor<4xui32>`
    """

    name = "tile.prng_state"

    state = operand_def(AnyAttr())
    drawn = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$state `,` $drawn attr-dict `:` functional-type(operands, results)"

    def inferred_type(self) -> AnyTensor:
        """The state's own type."""
        check_prng_state(self.state)
        return tensor_type(self.state)


def check_prng_state(state: SSAValue) -> None:
    """Refuse a state that is not a ui32 tensor of at least four elements."""
    t = tensor_type(state)
    if t.element_type not in (et.any_type, et.CONCRETE["ui32"]):
        raise VerifyException(f"the random state {name_of(state)} must be of type u32")
    shape = shape_of(t)
    if shape is not None and DYNAMIC_INDEX not in shape and prod(shape) < 4:
        raise VerifyException(f"the random state {name_of(state)} needs at least 4 elements")


def _check_integers(value: SSAValue, purpose: str) -> None:
    t = tensor_type(value).element_type
    if et.is_float(t):
        raise VerifyException(f"{name_of(value)} holds reals, which cannot serve {purpose}")


def _agree(a: Shape, b: Shape) -> bool:
    return all(DYNAMIC_INDEX in (m, n) or m == n for m, n in zip(a, b, strict=True))


def before_reshapes(value: SSAValue) -> SSAValue:
    """Source of a value before reshapes; the value itself if there are none."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.operand
    return value


SPECIAL_OPS: tuple[type[Operation], ...] = (
    GatherOp,
    ScatterOp,
    SumToOp,
    ReshapeOp,
    ShapeOp,
    PrngValueOp,
    PrngStateOp,
)
"""All ops of this file."""
