"""A value with a gradient of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import (
    AnyTensor,
    TileOp,
    format_shape,
    make_type,
    name_of,
    shape_of,
    tensor_type,
)
from tiledialect.dialects.tile.constants import check_numbers
from tiledialect.dialects.tile.yielding import EndsInYield, YieldOp
from tiledialect.errors import count


@irdl_op_definition
class CustomGradientOp(TileOp):
    """A value, to be differentiated as the body says.

    The op is its first operand. When it is differentiated, its cotangent is the body's argument,
    and the yielded values are the cotangents of the tensors after `wrt`, of their shapes or
    scalars that count for each element. Nothing else gets a cotangent from it, neither the value
    nor the values that the body uses from outside; a gradient of the gradient differentiates the
    body as any other ops.

    Example:

    ```mlir
    %r = tile.round %x : (tensor<8xf32>) -> tensor<8xf32>
    %y = tile.custom_gradient %r wrt(%x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%dy: tensor<8xf32>):
      tile.yield %dy : tensor<8xf32>
    }
    ```
    """

    name = "tile.custom_gradient"

    value = operand_def(AnyAttr())
    inputs = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())
    body = region_def("single_block")

    traits = traits_def(Pure(), EndsInYield())
    assembly_format = (
        "$value `wrt` `(` $inputs `)` `:` functional-type(operands, results) attr-dict-with-keyword"
        " $body"
    )

    @classmethod
    def of(cls, value: SSAValue, inputs: Sequence[SSAValue]):
        """The op with a body that has its argument, and is to be filled and ended by a yield."""
        t = tensor_type(value)
        result = make_type(shape_of(t), et.concrete(t.element_type))
        body = Region(Block(arg_types=[result]))
        return cls.create(operands=[value, *inputs], result_types=[result], regions=[body])

    @property
    def cotangent(self) -> SSAValue:
        """The body's argument, which stands for the cotangent of the result."""
        return self.body.block.args[0]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The cotangents of the inputs."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values

    def inferred_type(self) -> AnyTensor:
        """The value's type."""
        t = tensor_type(self.value)
        return make_type(shape_of(t), et.concrete(t.element_type))

    def verify_(self) -> None:
        """Check the body's argument, and that it yields something that fits each input."""
        super().verify_()
        check_numbers([self.value], tensor_type(self.result).element_type)
        block = self.body.block
        if block.arg_types != (self.result.type,):
            raise VerifyException(
                "the body of a custom gradient has one argument, of the result's type "
                f"{self.result.type}"
            )
        if len(self.yielded) != len(self.inputs):
            raise VerifyException(
                f"a custom gradient by {count(len(self.inputs), 'tensor', 'tensors')} "
                f"gives {count(len(self.yielded), 'cotangent', 'cotangents')}"
            )
        for tensor, cotangent in zip(self.inputs, self.yielded, strict=True):
            _check_cotangent(tensor, cotangent)


def _check_cotangent(tensor: SSAValue, cotangent: SSAValue) -> None:
    t = tensor_type(tensor)
    if t.element_type != et.any_type and not et.is_float(t.element_type):
        raise VerifyException(
            f"{name_of(tensor)} holds {et.type_name(t.element_type)}: "
            "there is no gradient with respect to integers"
        )
    shape, found = shape_of(t), shape_of(tensor_type(cotangent))
    if shape is None or found is None or found == ():
        return
    if len(shape) != len(found) or any(
        DYNAMIC_INDEX not in (m, n) and m != n for m, n in zip(shape, found, strict=True)
    ):
        raise VerifyException(
            f"{name_of(cotangent)} ({format_shape(found)}) must have the shape of "
            f"{name_of(tensor)} ({format_shape(shape)}), of which it is the cotangent"
        )
