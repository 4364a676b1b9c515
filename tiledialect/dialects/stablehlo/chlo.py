"""Elementwise ops of CHLO, which JAX writes for functions that StableHLO lacks."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def


class UnaryOp(IRDLOperation, ABC):
    """A function of one tensor."""

    operand = operand_def(TensorType[AnyFloat])
    result = result_def(TensorType)

    assembly_format = "$operand attr-dict `:` type($operand) `->` type($result)"


@irdl_op_definition
class ErfOp(UnaryOp):
    """The error function."""

    name = "chlo.erf"


@irdl_op_definition
class ErfcOp(UnaryOp):
    """1 less the error function."""

    name = "chlo.erfc"


@irdl_op_definition
class ErfInvOp(UnaryOp):
    """The inverse of the error function."""

    name = "chlo.erf_inv"


@irdl_op_definition
class SquareOp(UnaryOp):
    """The square."""

    name = "chlo.square"


@irdl_op_definition
class SinhOp(UnaryOp):
    """The hyperbolic sine."""

    name = "chlo.sinh"


@irdl_op_definition
class CoshOp(UnaryOp):
    """The hyperbolic cosine."""

    name = "chlo.cosh"


@irdl_op_definition
class AsinOp(UnaryOp):
    """The arc sine."""

    name = "chlo.asin"


@irdl_op_definition
class AcosOp(UnaryOp):
    """The arc cosine."""

    name = "chlo.acos"


@irdl_op_definition
class AtanOp(UnaryOp):
    """The arc tangent."""

    name = "chlo.atan"


@irdl_op_definition
class AsinhOp(UnaryOp):
    """The inverse of the hyperbolic sine."""

    name = "chlo.asinh"


@irdl_op_definition
class AcoshOp(UnaryOp):
    """The inverse of the hyperbolic cosine."""

    name = "chlo.acosh"


@irdl_op_definition
class AtanhOp(UnaryOp):
    """The inverse of the hyperbolic tangent."""

    name = "chlo.atanh"


@irdl_op_definition
class IsInfOp(UnaryOp):
    """Whether a number is infinite."""

    name = "chlo.is_inf"


CHLO_OPS: tuple[type[UnaryOp], ...] = (
    *(ErfOp, ErfcOp, ErfInvOp, SquareOp, SinhOp, CoshOp, AsinOp, AcosOp, AtanOp),
    *(AsinhOp, AcoshOp, AtanhOp, IsInfOp),
)
