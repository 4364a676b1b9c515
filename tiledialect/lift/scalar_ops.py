"""The ops that compute with numbers and vectors: constants, arithmetic and conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    TupleType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.lift.types import is_number, is_real
from tiledialect.dialects.tile import element_types as et
from tiledialect.errors import SourceSpan, TileError
from tiledialect.lift.tracing import place

OpType = Callable[..., Operation]

REALS: dict[str, OpType] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "min": arith.MinimumfOp,
    "max": arith.MaximumfOp,
    "pow": math.PowFOp,
    "neg": arith.NegfOp,
    "abs": math.AbsFOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "exp": math.ExpOp,
    "expm1": math.ExpM1Op,
    "log": math.LogOp,
    "log1p": math.Log1pOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
}
INTEGERS: dict[str, OpType] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "floordiv": arith.FloorDivSIOp,
    "min": arith.MinSIOp,
    "max": arith.MaxSIOp,
    "pow": math.IPowIOp,
    "abs": math.AbsIOp,
    "bit_and": arith.AndIOp,
    "bit_or": arith.OrIOp,
}
COMPARISONS = {
    "cmp_eq": ("oeq", "eq"),
    "cmp_ne": ("une", "ne"),
    "cmp_lt": ("olt", "slt"),
    "cmp_le": ("ole", "sle"),
    "cmp_gt": ("ogt", "sgt"),
    "cmp_ge": ("oge", "sge"),
}
"""The predicates for reals and for integers."""

REAL_ONLY = REALS.keys() - INTEGERS.keys() - {"neg"}
"""Functions that are computed in reals, whatever the operands."""


def meeting_type(name: str, types: Sequence[Attribute], where: SourceSpan | None) -> Attribute:
    """The type in which an operation on numbers or vectors is computed."""
    if not any(isinstance(t, VectorType) for t in types):
        found = reduce(et.promote, types)
    elif len(set(types)) == 1:
        found = types[0]
    else:
        kinds = " and ".join(map(str, types))
        raise TileError(f"{name} takes vectors of one type, not {kinds}", where)
    return et.CONCRETE["f32"] if name in REAL_ONLY and not is_real(_scalar(found)) else found


def _scalar(t: Attribute) -> Attribute:
    return t.element_type if isinstance(t, VectorType) else t


def scalar_op(name: str, operands: Sequence[SSAValue]) -> Operation:
    """The op that computes with operands of one type, in which they meet."""
    t = operands[0].type
    real = is_real(_scalar(t))
    if name in COMPARISONS:
        reals, integers = COMPARISONS[name]
        a, b = operands
        return arith.CmpfOp(a, b, reals) if real else arith.CmpiOp(a, b, integers)
    if name == "neg" and not real:
        return arith.SubiOp(constant(0, t).results[0], operands[0])
    if name == "floordiv" and real:
        a, b = operands
        return math.FloorOp(arith.DivfOp(a, b))
    table = REALS if real else INTEGERS
    if name not in table:
        raise TileError(f"{name} takes integers, not {t}", place())
    return table[name](*operands)


# -- constants -----------------------------------------------------------------------------------


def constant(number: float, t: Attribute) -> Operation:
    """The number as a constant of a type."""
    if is_real(t):
        try:
            return arith.ConstantOp(FloatAttr(float(number), cast(AnyFloat, t)))
        except OverflowError:
            text = f"{number:.6g}" if isinstance(number, float) else "the number"
            raise TileError(f"{text} is too large for {t}", place()) from None
    if not et.holds(et.concrete(t) if isinstance(t, IndexType) else t, number):
        hint = ": lift.cast(i, lift.i64) has 64 bits" if isinstance(t, IndexType) else ""
        raise TileError(f"{number} does not fit {et.concrete(t)}{hint}", place())
    return arith.ConstantOp(IntegerAttr(int(number), cast(IntegerType, t)))


def number_type(number: float, like: Attribute | None) -> Attribute:
    """The type of a number of Python's beside something of type ``like``."""
    if isinstance(number, bool) and (like is None or not is_number(like)):
        return i1
    counts = like == i1 and not isinstance(number, bool)
    fits = isinstance(number, int) or is_real(like or i1)
    if like is not None and is_number(like) and fits and not counts:
        return like
    return i32 if isinstance(number, int) else _first_real(like)


def _first_real(t: Attribute | None) -> Attribute:
    found = [t]
    while found:
        t = found.pop(0)
        if t is not None and is_real(t):
            return t
        if isinstance(t, TensorType | VectorType):
            found.append(t.element_type)
        elif isinstance(t, TupleType):
            found += t.types
    return et.CONCRETE["f32"]


# -- conversions ---------------------------------------------------------------------------------


def conversion(source: Attribute, target: Attribute) -> Callable[[SSAValue], Operation] | None:
    """Constructor of the op that converts a number from one type to another; None if they are no
    numbers."""
    if not (is_number(source) and is_number(target)):
        return None
    if IndexType() in (source, target):
        return _through_index(source, target)
    if is_real(source) and is_real(target):
        if {source, target} == set(et.SHORT_FLOATS):
            return lambda v: arith.TruncFOp(arith.ExtFOp(v, et.CONCRETE["f32"]).result, target)
        wider = et.FLOATS.index(target) > et.FLOATS.index(source)
        kind = arith.ExtFOp if wider else arith.TruncFOp
    elif is_real(source):
        kind = arith.FPToSIOp
    elif is_real(target):
        kind = arith.UIToFPOp if source == i1 else arith.SIToFPOp
    elif _width(target) < _width(source):
        kind = arith.TruncIOp
    else:
        kind = arith.ExtUIOp if source == i1 else arith.ExtSIOp
    return lambda v: kind.create(operands=[v], result_types=[target])


def _through_index(source: Attribute, target: Attribute) -> Callable[[SSAValue], Operation] | None:
    """A conversion from or to an index, which has no width: by way of i64."""
    if is_real(source):
        return None
    if not is_real(target):
        return lambda v: arith.IndexCastOp(v, target)
    rest = conversion(i64, target)
    assert rest is not None
    return lambda v: rest(arith.IndexCastOp(v, i64).result)


def _width(t: Attribute) -> int:
    return int(str(t).lstrip("ui"))
