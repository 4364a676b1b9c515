"""Elementwise ops of the tile dialect: one op for each function, broadcasting as NumPy does."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition

from tiledialect.dialects.tile.constants import ConstantOp, SizeOp
from tiledialect.dialects.tile.constants import Number as Number
from tiledialect.dialects.tile.elementwise.base import (
    BinaryOp,
    IntegerBinaryOp,
    NumberBinaryOp,
    NumberUnaryOp,
    RealUnaryOp,
    UnaryOp,
)
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp as ElementwiseOp
from tiledialect.dialects.tile.elementwise.logic import (
    BitAndOp,
    BitLeftOp,
    BitNotOp,
    BitOrOp,
    BitRightOp,
    BitXorOp,
    CmpEqOp,
    CmpGeOp,
    CmpGtOp,
    CmpLeOp,
    CmpLtOp,
    CmpNeOp,
)
from tiledialect.dialects.tile.elementwise.special import CastOp, IndexOp, SelectOp


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
class ExpM1Op(RealUnaryOp):
    """e to the power of the operand, less 1; exact near 0, where `tile.exp` rounds to 1.

    Example: `%r = tile.expm1 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.expm1"


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
class Log1pOp(RealUnaryOp):
    """The natural logarithm of 1 and the operand; exact near 0, where a sum with 1 rounds.

    Example: `%r = tile.log1p %a : (tensor<4x8xf32>) -> tensor<4x8xf32>`
    """

    name = "tile.log1p"


@irdl_op_definition
class RecipOp(RealUnaryOp):
    """Reciprocal of the value.

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
class RemOp(IntegerBinaryOp):
    """The remainder of `tile.div`, with the first integer's sign; the first integer where the
    second is 0.

    Example: `%r = tile.rem %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>`
    """

    name = "tile.rem"


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
    ExpM1Op,
    FloorOp,
    LogOp,
    Log1pOp,
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
    RemOp,
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
"""All elementwise ops."""
