"""Elementwise ops of StableHLO and CHLO, and functions whose bodies are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl_jax.dialects.stablehlo.attributes import ComparisonDirection, ComparisonType

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import chlo
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import gamma, layout
from tiledialect.operators.bits import bitcast, next_after, width
from tiledialect.operators.layout import cast, constant, element_type, shape
from tiledialect.passes.convert.stablehlo.base import Conversion, converted, evaluate, refusal

Values = Sequence[SSAValue]

PLAIN: Mapping[type[Operation], type[ew.ElementwiseOp]] = {
    hlo.AbsOp: ew.AbsOp,
    hlo.NegateOp: ew.NegOp,
    hlo.CeilOp: ew.CeilOp,
    hlo.FloorOp: ew.FloorOp,
    hlo.RoundNearestAfzOp: ew.RoundOp,
    hlo.CosineOp: ew.CosOp,
    hlo.SineOp: ew.SinOp,
    hlo.TanOp: ew.TanOp,
    hlo.TanhOp: ew.TanhOp,
    hlo.ExponentialOp: ew.ExpOp,
    hlo.ExponentialMinusOneOp: ew.ExpM1Op,
    hlo.LogOp: ew.LogOp,
    hlo.LogPlusOneOp: ew.Log1pOp,
    hlo.LogisticOp: ew.SigmoidOp,
    hlo.SqrtOp: ew.SqrtOp,
    hlo.NotOp: ew.BitNotOp,
    hlo.AddOp: ew.AddOp,
    hlo.SubtractOp: ew.SubOp,
    hlo.MultiplyOp: ew.MulOp,
    hlo.DivideOp: ew.DivOp,
    hlo.MaximumOp: ew.MaxOp,
    hlo.MinimumOp: ew.MinOp,
    hlo.PowerOp: ew.PowOp,
    hlo.AndOp: ew.BitAndOp,
    hlo.OrOp: ew.BitOrOp,
    hlo.XorOp: ew.BitXorOp,
    hlo.ShiftLeftOp: ew.BitLeftOp,
    hlo.ShiftRightArithmeticOp: ew.BitRightOp,
    hlo.SelectOp: ew.SelectOp,
    chlo.ErfOp: ew.ErfOp,
    chlo.SinhOp: ew.SinhOp,
    chlo.CoshOp: ew.CoshOp,
    chlo.AsinOp: ew.AsinOp,
    chlo.AcosOp: ew.AcosOp,
    chlo.AtanOp: ew.AtanOp,
}
"""Ops that are one tile op."""

COMPOSED: Mapping[type[Operation], Callable[..., SSAValue]] = {
    hlo.SignOp: fn.sign,
    hlo.RsqrtOp: fn.rsqrt,
    hlo.CbrtOp: fn.cbrt,
    hlo.IsFiniteOp: fn.is_finite,
    hlo.RoundNearestEvenOp: fn.round_to_even,
    hlo.RemainderOp: fn.remainder,
    hlo.Atan2Op: fn.atan2,
    hlo.ShiftRightLogicalOp: fn.shift_right_logical,
    hlo.PopcntOp: fn.count_ones,
    hlo.CountLeadingZerosOp: fn.count_leading_zeros,
    hlo.ClampOp: fn.clamp,
    chlo.ErfcOp: fn.erfc,
    chlo.ErfInvOp: fn.erf_inv,
    chlo.SquareOp: fn.square,
    chlo.AsinhOp: fn.asinh,
    chlo.AcoshOp: fn.acosh,
    chlo.AtanhOp: fn.atanh,
    chlo.IsInfOp: fn.is_infinite,
    chlo.LgammaOp: gamma.log_gamma,
    chlo.DigammaOp: gamma.digamma,
    chlo.NextAfterOp: next_after,
}
"""Ops that are operators of the library."""

COMPARISONS = {
    ComparisonDirection.EQ: ew.CmpEqOp,
    ComparisonDirection.NE: ew.CmpNeOp,
    ComparisonDirection.LT: ew.CmpLtOp,
    ComparisonDirection.GT: ew.CmpGtOp,
    ComparisonDirection.LE: ew.CmpLeOp,
    ComparisonDirection.GE: ew.CmpGeOp,
}

PRECISIONS = {(5, 10): f16, (8, 7): bf16, (8, 23): f32, (11, 52): f64}
"""Element types by the bits of their exponents and mantissas."""


def _plain(op: type[ew.ElementwiseOp]) -> Conversion:
    return lambda b, _, operands: [b.op(op, *operands)]


def _composed(function: Callable[..., SSAValue]) -> Conversion:
    return lambda b, _, operands: [function(b, *operands)]


def on_scalars(conversion: Conversion) -> Conversion:
    """Conversion of an elementwise op that takes scalars as they are, not broadcast."""

    def convert(b: TensorBuilder, op: Operation, operands: Values) -> Values:
        scalars = [layout.repeated_scalar(v) for v in operands]
        if None not in scalars:
            results = converted(conversion, b, op, [v for v in scalars if v is not None])
            return [layout.broadcast(b, v, shape(op.results[0]), ()) for v in results]
        return conversion(b, op, [s or v for s, v in zip(scalars, operands, strict=True)])

    return convert


def _compare(b: TensorBuilder, op: added.CompareOp, operands: Values) -> Values:
    kind = op.compare_type
    direction = op.comparison_direction.data
    is_float = et.is_float(element_type(op.lhs))
    if is_float and kind is not None and kind.data == ComparisonType.TOTALORDER:
        return [_in_total_order(b, op, *operands)]
    return [b.op(COMPARISONS[direction], *operands)]


def _in_total_order(b: TensorBuilder, op: added.CompareOp, x: SSAValue, y: SSAValue) -> SSAValue:
    match op.comparison_direction.data:
        case ComparisonDirection.LT:
            return fn.is_before(b, x, y)
        case ComparisonDirection.GT:
            return fn.is_before(b, y, x)
        case ComparisonDirection.LE:
            return b.op(ew.BitNotOp, fn.is_before(b, y, x))
        case ComparisonDirection.GE:
            return b.op(ew.BitNotOp, fn.is_before(b, x, y))
        case other:
            raise refusal(op, f"{other} of reals in their total order compares their bits")


def _convert(b: TensorBuilder, op: hlo.ConvertOp, operands: Values) -> Values:
    return [cast(b, operands[0], element_type(op.result))]


def _reduce_precision(b: TensorBuilder, op: hlo.ReducePrecisionOp, operands: Values) -> Values:
    bits = op.exponent_bits.value.data, op.mantissa_bits.value.data
    if (t := PRECISIONS.get(bits)) is None:
        raise refusal(op, f"there is no type of {bits[0]} and {bits[1]} bits")
    own = element_type(op.operand)
    if et.FLOATS.index(own) < et.FLOATS.index(t):
        return [operands[0]]
    return [cast(b, cast(b, operands[0], t), own)]


def _bitcast(b: TensorBuilder, op: hlo.BitcastConvertOp, operands: Values) -> Values:
    old, new = element_type(op.input), element_type(op.result)
    if width(old) != width(new) or 1 in (width(old), width(new)):
        raise refusal(op, f"{old} and {new} are not of the same width")
    return [bitcast(b, operands[0], new)]


def _map(b: TensorBuilder, op: hlo.MapOp, operands: Values) -> Values:
    return apply(b, op.computation[0], operands)


def _number(b: TensorBuilder, op: hlo.ConstantOp, _: Values) -> Values:
    values = op.value.get_values()
    t = element_type(op.output)
    return [constant(b, to_number(values[0], t), t)]


def _same(b: TensorBuilder, op: Operation, operands: Values) -> Values:
    return [operands[0]]


def to_number(value: Any, t: Attribute) -> int | float:
    """A number of a dense attribute, in the range of its element type."""
    if et.is_float(t):
        return float(value)
    least, greatest = et.limits(t)
    return (int(value) - least) % (greatest - least + 1) + least


_FUNCTIONS: dict[type[Operation], Conversion] = (
    {op: _plain(made) for op, made in PLAIN.items()}
    | {op: _composed(function) for op, function in COMPOSED.items()}
    | {
        added.CompareOp: _compare,
        hlo.ConvertOp: _convert,
        hlo.ReducePrecisionOp: _reduce_precision,
        hlo.BitcastConvertOp: _bitcast,
        hlo.MapOp: _map,
    }
)

ELEMENTWISE = {op: on_scalars(conversion) for op, conversion in _FUNCTIONS.items()}

SCALAR: dict[type[Operation], Conversion] = _FUNCTIONS | {
    hlo.ConstantOp: _number,
    hlo.BroadcastInDimOp: _same,
    hlo.ReshapeOp: _same,
}
"""Conversions of the ops on scalars in the bodies of functions."""


def body_of(region: Region) -> Block:
    """The one block of a region."""
    return region.blocks[0]


def apply(b: TensorBuilder, region: Region, operands: Values) -> list[SSAValue]:
    """Results of a function of scalars for each element of tensors."""
    for op in body_of(region).ops:
        if any(shape(v) for v in op.results):
            raise refusal(op, "it makes a tensor within a function of scalars")
    return evaluate(b, body_of(region), operands, SCALAR)
