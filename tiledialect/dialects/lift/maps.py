"""Maps: a function applied to every element of an array, by mappings to work-items."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.lift.attributes import OrdinalAttr, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, defining_op
from tiledialect.dialects.lift.layout import windows
from tiledialect.dialects.lift.types import (
    array,
    as_array,
    describe,
    element_of,
    is_number,
    leading,
)
from tiledialect.dialects.lift.values import GetOp, ZipOp


class MapBase(FunctionOp, ABC):
    """Applies the function to every element; the results are the elements of an array."""

    input = operand_def(AnyAttr())

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """An element of the array."""
        return (element_of(as_array(operands[0], cls.pattern())),)

    def inferred_type(self) -> Attribute:
        """An array of the function's results."""
        t = as_array(self.input, self.pattern())
        return array([leading(t)], self.yielded.type)


@irdl_op_definition
class MapOp(MapBase):
    """Applies the function to every element; the mapping to work-items is open.

    Example:

    ```mlir
    %r = lift.map(%x in %xs) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map"

    def existing_value(self) -> SSAValue | None:
        """Operand of an identity function, or the zipped array of which it takes the component."""
        (argument,) = self.block.args
        if self.yielded == argument:
            return self.input
        get, arrays = defining_op(self.yielded, GetOp), defining_op(self.input, ZipOp)
        return arrays.inputs[get.index.data] if get and arrays and get.input == argument else None


class DimensionMap(MapBase, ABC):
    """A map whose elements are shared out along a dimension of the NDRange."""

    dim = prop_def(OrdinalAttr)

    def inferred_type(self) -> Attribute:
        """An array of the function's results."""
        if self.dim.data not in (0, 1, 2):
            raise VerifyException(
                f"{self.pattern()}({self.dim.data}): the dimensions of an NDRange are 0, 1 and 2"
            )
        return super().inferred_type()


@irdl_op_definition
class MapGlbOp(DimensionMap):
    """A map whose elements are shared out among all work-items, along dimension 0, 1 or 2.

    Example:

    ```mlir
    %r = lift.map_glb(0)(%x in %xs) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_glb"


@irdl_op_definition
class MapWrgOp(DimensionMap):
    """A map whose elements are shared out among the work-groups, along dimension 0, 1 or 2.

    Example:

    ```mlir
    %r = lift.map_wrg(0)(%tile in %xs) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
      %y = lift.map_lcl(0)(%x in %tile) : (tensor<4xf32>) -> tensor<4xf32> {
        %z = arith.mulf %x, %x : f32
        lift.yield %z : f32
      }
      lift.yield %y : tensor<4xf32>
    }
    ```
    """

    name = "lift.map_wrg"


@irdl_op_definition
class MapLclOp(DimensionMap):
    """A map whose elements are shared out among the work-items of a group, along one dimension.

    Example:

    ```mlir
    %r = lift.map_lcl(1)(%x in %xs) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_lcl"


@irdl_op_definition
class MapWarpOp(MapBase):
    """A map whose elements are shared out among the warps of a group.

    Example:

    ```mlir
    %r = lift.map_warp(%part in %xs) : (tensor<2x32xf32>) -> tensor<2x32xf32> {
      %y = lift.map_lane(%x in %part) : (tensor<32xf32>) -> tensor<32xf32> {
        %z = arith.mulf %x, %x : f32
        lift.yield %z : f32
      }
      lift.yield %y : tensor<32xf32>
    }
    ```
    """

    name = "lift.map_warp"


@irdl_op_definition
class MapLaneOp(MapBase):
    """A map whose elements are shared out among the lanes of a warp.

    Example:

    ```mlir
    %r = lift.map_lane(%x in %xs) : (tensor<32xf32>) -> tensor<32xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_lane"


@irdl_op_definition
class MapSeqOp(MapBase):
    """A map that one work-item does in a loop.

    Example:

    ```mlir
    %r = lift.map_seq(%x in %xs) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_seq"


@irdl_op_definition
class MapSeqUnrollOp(MapBase):
    """A map that one work-item does without a loop.

    Example:

    ```mlir
    %r = lift.map_seq_unroll(%x in %xs) : (tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_seq_unroll"


@irdl_op_definition
class MapVecOp(MapBase):
    """Applies the function to every number of a vector.

    Example:

    ```mlir
    %r = lift.map_vec(%x in %v) : (vector<4xf32>) -> vector<4xf32> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_vec"

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """A number of the vector."""
        return (_vector(operands[0]).element_type,)

    def inferred_type(self) -> Attribute:
        """A vector of the function's results."""
        if not is_number(self.yielded.type):
            raise VerifyException(f"the function of map_vec gives {self.yielded.type}, no number")
        return VectorType(self.yielded.type, _vector(self.input).get_shape())


def _vector(value: SSAValue) -> VectorType[Attribute]:
    if isinstance(value.type, VectorType):
        return cast(VectorType[Attribute], value.type)
    raise VerifyException(f"map_vec takes a vector, but {describe(value)} is {value.type}")


@irdl_op_definition
class MapSeqSlideOp(MapBase):
    """Applies the function to the windows of an array, one after the other.

    The windows are as of `lift.slide(size, step)`. One work-item keeps the window in registers
    and loads only the new elements of each. If a `lift.map` makes the elements in local memory, a
    work-group keeps the window there, and makes each element when it is new.

    Example:

    ```mlir
    %r = lift.map_seq_slide(3, 1)(%w in %xs) : (tensor<8xf32>) -> tensor<6xf32> {
      %i = arith.constant 1 : index
      %y = lift.at %w, %i : (tensor<3xf32>, index) -> f32
      lift.yield %y : f32
    }
    ```
    """

    name = "lift.map_seq_slide"

    size = prop_def(SizeAttr)
    step = prop_def(SizeAttr)

    @classmethod
    def argument_types(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> tuple[Attribute, ...]:
        """A window of the array."""
        size = properties["size"]
        assert isinstance(size, SizeAttr)
        return (array([size.data], element_of(as_array(operands[0], "map_seq_slide"))),)

    def inferred_type(self) -> Attribute:
        """An array of the function's results."""
        return array([windows(self.input, self.size.data, self.step.data)], self.yielded.type)


MAP_OPS: tuple[type[Operation], ...] = (
    MapOp,
    MapGlbOp,
    MapWrgOp,
    MapLclOp,
    MapWarpOp,
    MapLaneOp,
    MapSeqOp,
    MapSeqUnrollOp,
    MapVecOp,
    MapSeqSlideOp,
)
