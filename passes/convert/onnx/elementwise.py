"""Elementwise operators of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import inf

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import bits, layout
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, type_of

Values = Sequence[Value]

PLAIN: Mapping[str, type[ew.ElementwiseOp]] = {
    "Abs": ew.AbsOp,
    "Acos": ew.AcosOp,
    "Asin": ew.AsinOp,
    "Atan": ew.AtanOp,
    "BitwiseNot": ew.BitNotOp,
    "Ceil": ew.CeilOp,
    "Cos": ew.CosOp,
    "Cosh": ew.CoshOp,
    "Erf": ew.ErfOp,
    "Exp": ew.ExpOp,
    "Floor": ew.FloorOp,
    "Log": ew.LogOp,
    "Neg": ew.NegOp,
    "Not": ew.BitNotOp,
    "Reciprocal": ew.RecipOp,
    "Relu": ew.ReluOp,
    "Sigmoid": ew.SigmoidOp,
    "Sin": ew.SinOp,
    "Sinh": ew.SinhOp,
    "Sqrt": ew.SqrtOp,
    "Tan": ew.TanOp,
    "Tanh": ew.TanhOp,
    "Add": ew.AddOp,
    "Sub": ew.SubOp,
    "Mul": ew.MulOp,
    "Div": ew.DivOp,
    "And": ew.BitAndOp,
    "Or": ew.BitOrOp,
    "Xor": ew.BitXorOp,
    "BitwiseAnd": ew.BitAndOp,
    "BitwiseOr": ew.BitOrOp,
    "BitwiseXor": ew.BitXorOp,
    "Equal": ew.CmpEqOp,
    "Less": ew.CmpLtOp,
    "LessOrEqual": ew.CmpLeOp,
    "Greater": ew.CmpGtOp,
    "GreaterOrEqual": ew.CmpGeOp,
    "Where": ew.SelectOp,
}
"""Operators that are one tile op."""

COMPOSED: Mapping[str, Callable[..., SSAValue]] = {
    "Acosh": fn.acosh,
    "Asinh": fn.asinh,
    "Atanh": fn.atanh,
    "IsNaN": fn.is_nan,
    "Round": fn.round_to_even,
    "Sign": fn.sign,
    "Softplus": fn.softplus,
}
"""Operators that are ones of the library."""

FOLDED: Mapping[str, type[ew.ElementwiseOp]] = {
    "Max": ew.MaxOp,
    "Mean": ew.AddOp,
    "Min": ew.MinOp,
    "Sum": ew.AddOp,
}
"""Operators on any number of tensors."""


def _plain(op: type[ew.ElementwiseOp]) -> Conversion:
    return lambda b, node: [b.op(op, *node.tensors)]


def _composed(function: Callable[..., SSAValue]) -> Conversion:
    return lambda b, node: [function(b, *node.tensors)]


def _folded(op: type[ew.ElementwiseOp]) -> Conversion:
    return lambda b, node: [reduce(lambda x, y: b.op(op, x, y), node.tensors)]


def _mean(b: TensorBuilder, node: Node) -> Values:
    (total,) = _folded(ew.AddOp)(b, node)
    assert isinstance(total, SSAValue)
    return [b.div(total, float(len(node.tensors)))]


def _pow(b: TensorBuilder, node: Node) -> Values:
    x, exponent = node.tensor(0), node.tensor(1)
    t = element_type(x)
    if et.is_float(t):
        return [b.op(ew.PowOp, x, cast(b, exponent, t))]
    if et.is_float(element_type(exponent)):
        wide = element_type(exponent)
        return [cast(b, b.op(ew.PowOp, cast(b, x, wide), exponent), t)]
    return [b.op(ew.PowOp, x, cast(b, exponent, t))]


def _mod(b: TensorBuilder, node: Node) -> Values:
    x, y = node.tensor(0), node.tensor(1)
    rest = fn.remainder(b, x, y)
    if node.attribute("fmod", 0):
        return [rest]
    return [fn.with_sign_of(b, rest, y)]


def _shift(b: TensorBuilder, node: Node) -> Values:
    is_left = node.attribute("direction", "") == "LEFT"
    return [b.op(ew.BitLeftOp if is_left else ew.BitRightOp, node.tensor(0), node.tensor(1))]


def _is_infinite(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    wanted = [
        b.op(ew.CmpEqOp, x, fn.like(b, x, sign * inf))
        for sign, name in ((-1, "detect_negative"), (1, "detect_positive"))
        if node.attribute(name, 1)
    ]
    if not wanted:
        return [layout.full(b, 0, shape(x), i1)]
    return [reduce(lambda p, q: b.op(ew.BitOrOp, p, q), wanted)]


def _clip(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    for k, name, op in ((1, "min", ew.MaxOp), (2, "max", ew.MinOp)):
        if name in node.attributes:
            x = b.op(op, x, fn.like(b, x, node.attributes[name]))
        elif (bound := node.optional(k)) is not None:
            x = b.op(op, x, layout.reshape(b, bound, ()))
    return [x]


def _cast(b: TensorBuilder, node: Node) -> Values:
    return [_converted(b, node.tensor(0), type_of(node, node.attributes["to"]))]


def _cast_like(b: TensorBuilder, node: Node) -> Values:
    return [_converted(b, node.tensor(0), element_type(node.tensor(1)))]


def _converted(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    if t == i1 and element_type(x) != i1:
        return b.op(ew.CmpNeOp, x, fn.like(b, x, 0))
    return cast(b, x, t)


def _bit_cast(b: TensorBuilder, node: Node) -> Values:
    return [bits.bitcast(b, node.tensor(0), type_of(node, node.attributes["to"]))]


def _leaky_relu(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    return [fn.sloped(b, x, b.mul(x, float(node.attribute("alpha", 0.01))))]


def _p_relu(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    return [fn.sloped(b, x, b.mul(x, node.tensor(1)))]


def _gelu(b: TensorBuilder, node: Node) -> Values:
    return [fn.gelu(b, node.tensor(0), is_tanh=node.attribute("approximate", "none") == "tanh")]


def _quantize(b: TensorBuilder, node: Node) -> Values:
    x, scale = node.tensor(0), node.tensor(1)
    zero = node.optional(2)
    number = node.attribute("output_dtype", 0)
    t = type_of(node, number or 2) if zero is None else element_type(zero)
    if et.is_float(t):
        raise node.refusal("quantization to floating-point numbers is not supported")
    scale, zero = (_spread(b, node, v, x) for v in (scale, zero))
    assert scale is not None
    scaled = fn.round_to_even(b, b.div(cast(b, x, f32), cast(b, scale, f32)))
    if zero is not None:
        scaled = b.add(scaled, cast(b, zero, f32))
    return [fn.saturated(b, scaled, t)]


def _dequantize(b: TensorBuilder, node: Node) -> Values:
    x, scale = node.tensor(0), node.tensor(1)
    zero = node.optional(2)
    t = element_type(scale)
    scale, zero = (_spread(b, node, v, x) for v in (scale, zero))
    assert scale is not None
    number = cast(b, x, f32)
    if zero is not None:
        number = b.sub(number, cast(b, zero, f32))
    return [cast(b, b.mul(number, cast(b, scale, f32)), t)]


def _spread(b: TensorBuilder, node: Node, value: SSAValue | None, x: SSAValue) -> SSAValue | None:
    """Scale or zero point in the shape of ``x``: of all, of an axis, of blocks along it."""
    if value is None or shape(value) in ((), (1,)):
        return None if value is None else layout.reshape(b, value, ())
    axis = node.attribute("axis", 1) % len(shape(x))
    if len(shape(value)) == 1 and len(shape(x)) != 1:
        return layout.broadcast(b, value, shape(x), [axis])
    size = node.attribute("block_size", 0) or -(-shape(x)[axis] // shape(value)[axis])
    repeated = layout.repeat(b, value, axis, size)
    return layout.section(b, repeated, axis, 0, shape(x)[axis])


def _binarizer(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    is_above = b.op(ew.CmpGtOp, x, fn.like(b, x, node.attribute("threshold", 0.0)))
    return [cast(b, is_above, element_type(x))]


ELEMENTWISE: dict[str, Conversion] = {
    **{name: _plain(op) for name, op in PLAIN.items()},
    **{name: _composed(function) for name, function in COMPOSED.items()},
    **{name: _folded(op) for name, op in FOLDED.items()},
    "BitCast": _bit_cast,
    "BitShift": _shift,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Clip": _clip,
    "DequantizeLinear": _dequantize,
    "Gelu": _gelu,
    "IsInf": _is_infinite,
    "LeakyRelu": _leaky_relu,
    "Mean": _mean,
    "Mod": _mod,
    "Pow": _pow,
    "PRelu": _p_relu,
    "QuantizeLinear": _quantize,
    "ai.onnx.ml.Binarizer": _binarizer,
}
