"""Elementwise ops of `tile` for the ops of `arith` and `math` on numbers."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.interpreters.scalars import INTEGER_PREDICATES
from tiledialect.ir.tensor_builder import TensorBuilder

Make = Callable[[TensorBuilder, Any, Sequence[SSAValue]], SSAValue]
"""Function that makes tensor ops of an op on numbers, for tensors in place of its operands."""


def _same(op: type[ElementwiseOp]) -> Make:
    return lambda b, _, v: b.op(op, *v)


def _cast(b: TensorBuilder, op: Operation, v: Sequence[SSAValue]) -> SSAValue:
    return b.insert(ew.CastOp.to(v[0], stored(op.results[0].type)))


def _extended(b: TensorBuilder, op: Operation, v: Sequence[SSAValue]) -> SSAValue:
    """Extend with the sign: a bool that holds becomes -1."""
    found = _cast(b, op, v)
    return b.neg(found) if tensor_type(v[0]).element_type == et.CONCRETE["i1"] else found


def _floor_quotient(b: TensorBuilder, op: Operation, v: Sequence[SSAValue]) -> SSAValue:
    """Quotient rounded down, from one that is rounded toward zero; 0 where the divisor is 0."""
    rest = b.op(ew.RemOp, *v)
    apart = b.op(ew.CmpNeOp, b.op(ew.CmpLtOp, rest, 0), b.op(ew.CmpLtOp, v[1], 0))
    inexact = b.op(ew.BitAndOp, b.op(ew.CmpNeOp, rest, 0), b.op(ew.CmpNeOp, v[1], 0))
    one = b.insert(ew.CastOp.to(b.op(ew.BitAndOp, apart, inexact), tensor_type(v[0]).element_type))
    return b.sub(b.op(ew.DivOp, *v), one)


REALS_COMPARED = {
    1: ew.CmpEqOp,
    2: ew.CmpGtOp,
    3: ew.CmpGeOp,
    4: ew.CmpLtOp,
    5: ew.CmpLeOp,
    13: ew.CmpNeOp,
}
"""Comparisons by the number of the predicate. As in C, on NaN only `!=` holds."""

INTEGERS_COMPARED = {
    "eq": ew.CmpEqOp,
    "ne": ew.CmpNeOp,
    "slt": ew.CmpLtOp,
    "sle": ew.CmpLeOp,
    "sgt": ew.CmpGtOp,
    "sge": ew.CmpGeOp,
}
MAKES: dict[type[Operation], Make] = {
    arith.AddfOp: _same(ew.AddOp),
    arith.AddiOp: _same(ew.AddOp),
    arith.SubfOp: _same(ew.SubOp),
    arith.SubiOp: _same(ew.SubOp),
    arith.MulfOp: _same(ew.MulOp),
    arith.MuliOp: _same(ew.MulOp),
    arith.DivfOp: _same(ew.DivOp),
    arith.DivSIOp: _same(ew.DivOp),
    arith.FloorDivSIOp: _floor_quotient,
    arith.RemSIOp: _same(ew.RemOp),
    arith.MinimumfOp: _same(ew.MinOp),
    arith.MaximumfOp: _same(ew.MaxOp),
    arith.MinSIOp: _same(ew.MinOp),
    arith.MaxSIOp: _same(ew.MaxOp),
    arith.NegfOp: _same(ew.NegOp),
    arith.AndIOp: _same(ew.BitAndOp),
    arith.OrIOp: _same(ew.BitOrOp),
    arith.XOrIOp: _same(ew.BitXorOp),
    arith.ShLIOp: _same(ew.BitLeftOp),
    arith.ShRSIOp: _same(ew.BitRightOp),
    arith.SelectOp: _same(ew.SelectOp),
    arith.SIToFPOp: _cast,
    arith.UIToFPOp: _cast,
    arith.FPToSIOp: _cast,
    arith.ExtFOp: _cast,
    arith.TruncFOp: _cast,
    arith.ExtSIOp: _extended,
    arith.ExtUIOp: _cast,
    arith.TruncIOp: _cast,
    arith.IndexCastOp: _cast,
    math.AbsFOp: _same(ew.AbsOp),
    math.AbsIOp: _same(ew.AbsOp),
    math.AcosOp: _same(ew.AcosOp),
    math.AsinOp: _same(ew.AsinOp),
    math.AtanOp: _same(ew.AtanOp),
    math.CeilOp: _same(ew.CeilOp),
    math.CosOp: _same(ew.CosOp),
    math.CoshOp: _same(ew.CoshOp),
    math.ErfOp: _same(ew.ErfOp),
    math.ExpOp: _same(ew.ExpOp),
    math.ExpM1Op: _same(ew.ExpM1Op),
    math.FloorOp: _same(ew.FloorOp),
    math.FmaOp: lambda b, _, v: b.add(b.mul(v[0], v[1]), v[2]),
    math.IPowIOp: _same(ew.PowOp),
    math.LogOp: _same(ew.LogOp),
    math.Log1pOp: _same(ew.Log1pOp),
    math.PowFOp: _same(ew.PowOp),
    math.RoundOp: _same(ew.RoundOp),
    math.RsqrtOp: lambda b, _, v: b.op(ew.RecipOp, b.op(ew.SqrtOp, v[0])),
    math.SinOp: _same(ew.SinOp),
    math.SinhOp: _same(ew.SinhOp),
    math.SqrtOp: _same(ew.SqrtOp),
    math.TanOp: _same(ew.TanOp),
    math.TanhOp: _same(ew.TanhOp),
}
"""Tensor ops of each op on numbers but constants and comparisons."""


def maker(op: Operation) -> Make | None:
    """Function that makes the tensor ops of an op on numbers; None if there are none."""
    if isinstance(op, arith.CmpiOp):
        compare = INTEGERS_COMPARED.get(INTEGER_PREDICATES[op.predicate.value.data])
    elif isinstance(op, arith.CmpfOp):
        compare = REALS_COMPARED.get(op.predicate.value.data)
    else:
        return MAKES.get(type(op))
    return None if compare is None else _same(compare)


def constant(op: arith.ConstantOp) -> ew.ConstantOp | None:
    """Constant as a tensor without axes; None if it is no number."""
    t = op.result.type
    match op.value:
        case FloatAttr():
            return ew.ConstantOp.of(op.value.value.data, t)
        case IntegerAttr():
            number = op.value.value.data
            return ew.ConstantOp.of(abs(number) if t == et.CONCRETE["i1"] else number, stored(t))
        case _:
            return None


def stored(t: Attribute) -> Attribute:
    """Element type of a tensor of numbers of a type: an index, which has no width, is i64."""
    return i64 if isinstance(t, IndexType) else t
