"""Elementwise operators of ATen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import bits, gamma, layout
from tiledialect.operators import elementwise as fn
from tiledialect.operators.bessel import bessel_i
from tiledialect.operators.layout import element_type, shape
from tiledialect.passes.convert.aten.base import (
    Call,
    Conversion,
    Number,
    Operand,
    common_type,
    in_type,
)

Function = Callable[[TensorBuilder, SSAValue], SSAValue]

UNARY: Mapping[str, type[ew.ElementwiseOp]] = {
    "abs": ew.AbsOp,
    "acos": ew.AcosOp,
    "asin": ew.AsinOp,
    "atan": ew.AtanOp,
    "bitwise_not": ew.BitNotOp,
    "cos": ew.CosOp,
    "cosh": ew.CoshOp,
    "erf": ew.ErfOp,
    "exp": ew.ExpOp,
    "expm1": ew.ExpM1Op,
    "log": ew.LogOp,
    "log1p": ew.Log1pOp,
    "neg": ew.NegOp,
    "reciprocal": ew.RecipOp,
    "relu": ew.ReluOp,
    "sigmoid": ew.SigmoidOp,
    "sin": ew.SinOp,
    "sinh": ew.SinhOp,
    "sqrt": ew.SqrtOp,
    "tan": ew.TanOp,
    "tanh": ew.TanhOp,
}
"""Operators that are one tile op."""


def _sign(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """1, -1, or 0, also of NaN."""
    t = element_type(x)
    if t == i1:
        return x
    own = fn.sign(b, x)
    return b.select(fn.is_nan(b, x), fn.like(b, x, 0), own) if et.is_float(t) else own


def _digamma(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The pole at 0 is infinite, with a sign; the others have no value."""
    found = gamma.digamma(b, x)
    return b.select(b.op(ew.CmpEqOp, x, 0), b.div(-1.0, x), found)


COMPOSED: Mapping[str, Function] = {
    "acosh": fn.acosh,
    "asinh": fn.asinh,
    "atanh": fn.atanh,
    "digamma": _digamma,
    "erfc": fn.erfc,
    "erfinv": fn.erf_inv,
    "exp2": lambda b, x: b.op(ew.ExpOp, b.mul(x, log(2))),
    "i0": lambda b, x: bessel_i(b, x, 0),
    "lgamma": gamma.log_gamma,
    "log10": lambda b, x: b.mul(b.op(ew.LogOp, x), 1 / log(10)),
    "log2": lambda b, x: b.mul(b.op(ew.LogOp, x), 1 / log(2)),
    "rsqrt": fn.rsqrt,
    "sign": _sign,
    "special_i0e": lambda b, x: bessel_i(b, x, 0, is_scaled=True),
    "special_i1": lambda b, x: bessel_i(b, x, 1),
    "special_i1e": lambda b, x: bessel_i(b, x, 1, is_scaled=True),
}
"""Operators that are ones of the library."""

ROUNDED: Mapping[str, Function] = {
    "ceil": lambda b, x: b.op(ew.CeilOp, x),
    "floor": lambda b, x: b.op(ew.FloorOp, x),
    "round": fn.round_to_even,
    "trunc": fn.truncate,
}
"""Operators that leave integers as they are."""

BINARY: Mapping[tuple[str, ...], type[ew.ElementwiseOp]] = {
    ("bitwise_and", "Tensor", "Scalar", "Scalar_Tensor"): ew.BitAndOp,
    ("bitwise_left_shift", "Tensor", "Tensor_Scalar", "Scalar_Tensor"): ew.BitLeftOp,
    ("bitwise_or", "Tensor", "Scalar", "Scalar_Tensor"): ew.BitOrOp,
    ("bitwise_right_shift", "Tensor", "Tensor_Scalar", "Scalar_Tensor"): ew.BitRightOp,
    ("bitwise_xor", "Tensor", "Scalar", "Scalar_Tensor"): ew.BitXorOp,
    ("__lshift__", "Tensor", "Scalar"): ew.BitLeftOp,
    ("__rshift__", "Tensor", "Scalar"): ew.BitRightOp,
    ("maximum", "default"): ew.MaxOp,
    ("minimum", "default"): ew.MinOp,
    ("mul", "Tensor", "Scalar"): ew.MulOp,
}
"""Operators on two operands, in the type of their result, by name and overloads."""

COMPARED: Mapping[str, type[ew.ElementwiseOp]] = {
    "eq": ew.CmpEqOp,
    "ge": ew.CmpGeOp,
    "gt": ew.CmpGtOp,
    "le": ew.CmpLeOp,
    "lt": ew.CmpLtOp,
    "ne": ew.CmpNeOp,
}

LOGICAL: Mapping[str, type[ew.ElementwiseOp]] = {
    "logical_and": ew.BitAndOp,
    "logical_or": ew.BitOrOp,
    "logical_xor": ew.BitXorOp,
}


def as_bool(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether elements are not 0."""
    return x if element_type(x) == i1 else b.op(ew.CmpNeOp, x, fn.like(b, x, 0))


def converted(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    """A tensor in an element type; a bool says whether a number is not 0."""
    return as_bool(b, x) if t == i1 else layout.cast(b, x, t)


def _unary(function: Function) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
        return _result(b, call, function(b, in_type(b, x, call.type)))

    return convert


def _one(op: type[ew.ElementwiseOp]) -> Function:
    return lambda b, x: b.op(op, x)


def _rounded(function: Function) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
        return function(b, x) if et.is_float(call.type) else x

    return convert


def _binary(op: type[ew.ElementwiseOp]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: Operand, y: Operand) -> SSAValue:
        t = call.type
        return _result(b, call, b.op(op, in_type(b, x, t), in_type(b, y, t)))

    return convert


def _result(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    """A result in the type of the call."""
    return converted(b, x, call.type)


def _compared(op: type[ew.ElementwiseOp]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: Operand, y: Operand) -> SSAValue:
        t = common_type(x, y)
        return b.op(op, in_type(b, x, t), in_type(b, y, t))

    return convert


def _logical(op: type[ew.ElementwiseOp]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
        return b.op(op, as_bool(b, x), as_bool(b, y))

    return convert


def _logical_not(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    return b.op(ew.BitNotOp, as_bool(b, x))


def _sum(sign: int) -> Conversion:
    """``x + alpha * y``, or the difference."""

    def convert(
        b: TensorBuilder, call: Call, x: Operand, y: Operand, alpha: Number = 1
    ) -> SSAValue:
        t = call.type
        left, right = in_type(b, x, t), in_type(b, y, t)
        if alpha != 1:
            right = b.mul(right, in_type(b, alpha, t))
        return _result(b, call, (b.add if sign > 0 else b.sub)(left, right))

    return convert


def _div(b: TensorBuilder, call: Call, x: Operand, y: Operand, mode: str | None = None) -> SSAValue:
    t = call.type
    left, right = in_type(b, x, t), in_type(b, y, t)
    if mode == "floor":
        return fn.floor_divide(b, left, right)
    quotient = b.div(left, right)
    return fn.truncate(b, quotient) if mode == "trunc" and et.is_float(t) else quotient


def _fmod(b: TensorBuilder, call: Call, x: Operand, y: Operand) -> SSAValue:
    return fn.remainder(b, in_type(b, x, call.type), in_type(b, y, call.type))


def _remainder(b: TensorBuilder, call: Call, x: Operand, y: Operand) -> SSAValue:
    divisor = in_type(b, y, call.type)
    return fn.with_sign_of(b, fn.remainder(b, in_type(b, x, call.type), divisor), divisor)


def _pow(b: TensorBuilder, call: Call, x: Operand, exponent: Operand) -> SSAValue:
    base = in_type(b, x, call.type)
    if isinstance(exponent, SSAValue):
        return _result(b, call, b.op(ew.PowOp, base, in_type(b, exponent, call.type)))
    match float(exponent):
        case 0.0:
            return layout.full(b, 1, shape(base), call.type)
        case 0.5:
            return b.op(ew.SqrtOp, base)
        case -0.5:
            return fn.rsqrt(b, base)
        case _:
            return b.op(ew.PowOp, base, in_type(b, exponent, call.type))


def _polygamma(b: TensorBuilder, call: Call, order: int, x: SSAValue) -> SSAValue:
    own = in_type(b, x, call.type)
    return _result(b, call, gamma.polygamma(b, own, order) if order else _digamma(b, own))


def _multiplied_and_added(
    b: TensorBuilder, call: Call, x: Operand, y: Operand, z: Operand
) -> SSAValue:
    first, second, third = (in_type(b, v, call.type) for v in (x, y, z))
    return b.add(b.mul(first, second), third)


def _of_integers(function: Callable[[TensorBuilder, SSAValue, SSAValue], SSAValue]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
        return _result(b, call, function(b, in_type(b, x, call.type), in_type(b, y, call.type)))

    return convert


def _atan2(b: TensorBuilder, call: Call, y: SSAValue, x: SSAValue) -> SSAValue:
    return fn.atan2(b, in_type(b, y, call.type), in_type(b, x, call.type))


def _hypot(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
    return fn.hypot(b, in_type(b, x, call.type), in_type(b, y, call.type))


def _copy_sign(b: TensorBuilder, call: Call, x: SSAValue, y: Operand) -> SSAValue:
    size = b.op(ew.AbsOp, in_type(b, x, call.type))
    return b.select(fn.is_negative(b, in_type(b, y, call.type)), b.neg(size), size)


def _number_of(op: type[ew.ElementwiseOp]) -> Conversion:
    """The greater or the less of two numbers, of which NaN is none."""

    def convert(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
        left, right = in_type(b, x, call.type), in_type(b, y, call.type)
        best = b.op(op, left, right)
        if not et.is_float(call.type):
            return best
        return b.select(fn.is_nan(b, left), right, b.select(fn.is_nan(b, right), left, best))

    return convert


def _sign_bit(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    if element_type(x) == i1:
        return layout.full(b, 0, shape(x), i1)
    return fn.is_negative(b, x) if et.is_float(element_type(x)) else fn.is_less(b, x, 0)


def _angle(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    own = in_type(b, x, call.type)
    angle = b.select(fn.is_less(b, own, 0), fn.like(b, own, pi), fn.like(b, own, 0))
    return b.select(fn.is_nan(b, own), own, angle)


def _next_after(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
    return bits.next_after(b, in_type(b, x, call.type), in_type(b, y, call.type))


def _clamp(
    b: TensorBuilder, call: Call, x: SSAValue, low: Operand | None, high: Operand | None
) -> SSAValue:
    result = in_type(b, x, call.type)
    for bound, op in ((low, ew.MaxOp), (high, ew.MinOp)):
        if bound is not None:
            result = b.op(op, result, in_type(b, bound, call.type))
    return result


def _elu(
    b: TensorBuilder, call: Call, x: SSAValue, alpha: Number, scale: Number, inner: Number
) -> SSAValue:
    below = b.op(ew.ExpM1Op, b.mul(x, float(inner)))
    above = b.mul(x, float(scale)) if scale != 1 else x
    return fn.sloped(b, above, b.mul(below, float(alpha) * float(scale)))


def _leaky_relu(b: TensorBuilder, call: Call, x: SSAValue, slope: Number) -> SSAValue:
    return fn.sloped(b, x, b.mul(x, float(slope)))


def _gelu(b: TensorBuilder, call: Call, x: SSAValue, approximate: str) -> SSAValue:
    return fn.gelu(b, x, is_tanh=approximate == "tanh")


def _is_infinite(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    if not et.is_float(element_type(x)):
        return layout.full(b, 0, shape(x), i1)
    return fn.is_infinite(b, x)


def _is_nan(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    return fn.is_nan(b, x)


def _where(b: TensorBuilder, call: Call, condition: SSAValue, x: Operand, y: Operand) -> SSAValue:
    t = call.type
    return b.select(as_bool(b, condition), in_type(b, x, t), in_type(b, y, t))


def _to_copy(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> SSAValue:
    return _result(b, call, x)


def _view_dtype(b: TensorBuilder, call: Call, x: SSAValue, t: Attribute) -> SSAValue:
    if bits.width(element_type(x)) != bits.width(t) or bits.width(t) <= 1:
        raise call.refusal("views as elements of another width are not supported")
    return bits.bitcast(b, x, t)


def _same(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> SSAValue:
    return x


def _overloads(name: str, conversion: Conversion, *overloads: str) -> dict[str, Conversion]:
    return {f"aten.{name}.{overload}": conversion for overload in overloads}


ELEMENTWISE: dict[str, Conversion] = {
    **{f"aten.{name}.default": _unary(_one(op)) for name, op in UNARY.items()},
    **{f"aten.{name}.default": _unary(function) for name, function in COMPOSED.items()},
    **{f"aten.{name}.default": _rounded(function) for name, function in ROUNDED.items()},
    **{f"aten.{n[0]}.{o}": _binary(op) for n, op in BINARY.items() for o in n[1:]},
    **{f"aten.{n}.{o}": _compared(op) for n, op in COMPARED.items() for o in ("Tensor", "Scalar")},
    **{f"aten.{name}.default": _logical(op) for name, op in LOGICAL.items()},
    **_overloads("add", _sum(1), "Tensor", "Scalar"),
    **_overloads("sub", _sum(-1), "Tensor", "Scalar"),
    **_overloads("div", _div, "Tensor", "Scalar", "Tensor_mode", "Scalar_mode"),
    **_overloads("fmod", _fmod, "Tensor", "Scalar"),
    **_overloads("remainder", _remainder, "Tensor", "Scalar", "Scalar_Tensor"),
    **_overloads("pow", _pow, "Tensor_Tensor", "Tensor_Scalar", "Scalar"),
    **_overloads("clamp", _clamp, "default", "Tensor"),
    **_overloads("where", _where, "self"),
    "aten._to_copy.default": _to_copy,
    "aten.alias.default": _same,
    "aten.angle.default": _angle,
    "aten.atan2.default": _atan2,
    "aten.clone.default": _same,
    "aten.copysign.Scalar": _copy_sign,
    "aten.copysign.Tensor": _copy_sign,
    "aten.detach.default": _same,
    "aten.elu.default": _elu,
    "aten.fmax.default": _number_of(ew.MaxOp),
    "aten.fmin.default": _number_of(ew.MinOp),
    "aten.gcd.default": _of_integers(fn.common_divisor),
    "aten.gelu.default": _gelu,
    "aten.hardtanh.default": _clamp,
    "aten.hypot.default": _hypot,
    "aten.isinf.default": _is_infinite,
    "aten.isnan.default": _is_nan,
    "aten.lcm.default": _of_integers(fn.common_multiple),
    "aten.leaky_relu.default": _leaky_relu,
    "aten.lift_fresh_copy.default": _same,
    "aten.logical_not.default": _logical_not,
    "aten.nextafter.default": _next_after,
    "aten.polygamma.default": _polygamma,
    "aten.signbit.default": _sign_bit,
    "aten.view.dtype": _view_dtype,
    "prims.convert_element_type.default": _to_copy,
    "prims.fma.default": _multiplied_and_added,
}
