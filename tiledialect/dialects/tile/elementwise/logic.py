"""Elementwise comparisons and operations on bits of the tile dialect."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from tiledialect.dialects.tile.base import AnyTensor
from tiledialect.dialects.tile.elementwise.base import (
    BitwiseOp,
    CompareOp,
    IntegerBinaryOp,
    UnaryOp,
    refuse_reals,
)


@irdl_op_definition
class BitNotOp(UnaryOp):
    """The integer with all bits flipped; for a bool, the other one.

    Example: `%r = tile.bit_not %a : (tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_not"

    def inferred_type(self) -> AnyTensor:
        """As for every elementwise op; reals are refused."""
        refuse_reals(self)
        return super().inferred_type()


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
class BitLeftOp(IntegerBinaryOp):
    """The first integer shifted left by the second; 0 once all bits are out.

    Example: `%r = tile.bit_left %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_left"


@irdl_op_definition
class BitRightOp(IntegerBinaryOp):
    """The first integer shifted right by the second, keeping its sign.

    Example: `%r = tile.bit_right %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.bit_right"
