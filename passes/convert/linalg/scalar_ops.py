"""Scalar ops of arith and math, in ops of the tile dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as functions
from tiledialect.passes.convert.linalg.elements import Element, Space

Emit = Callable[[Space, Operation, Sequence[Element]], Element]
"""Function of a loop nest, a scalar op and its operands that emits the result."""


def emit(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    """The result of a scalar op, of its type; a TileError if there is no tile op for it."""
    wanted = _scalar(op.results[0].type)
    if op.name not in EMITTERS or len(op.results) != 1:
        raise TileError.at(op, f"{op.name} has no counterpart in the tile dialect")
    result = EMITTERS[op.name](space, op, operands)
    return space.cast(result, wanted) if wanted in et.CONCRETE.values() else result


def _scalar(t: Attribute) -> Attribute:
    return getattr(t, "element_type", t)


def _plain(kind: type[ew.ElementwiseOp]) -> Emit:
    return lambda space, op, operands: space.apply(kind, *operands)


def _of_bools(kind: type[ew.ElementwiseOp], of_bools: type[ew.ElementwiseOp]) -> Emit:
    """An op on integers, and that on bools, which arith takes as integers of one bit."""

    def make(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
        is_bool = operands[0].element_type == i1
        return space.apply(of_bools if is_bool else kind, *operands)

    return make


def _unsigned(kind: type[ew.ElementwiseOp]) -> Emit:
    """An op on integers that are read without a sign."""
    return lambda space, op, operands: space.apply(kind, *(unsigned(space, e) for e in operands))


def unsigned(space: Space, element: Element) -> Element:
    """An integer read without a sign."""
    t = element.element_type
    if not isinstance(t, IntegerType) or t == i1:
        return element
    return space.cast(element, IntegerType(t.width, Signedness.UNSIGNED))


def _cast(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    """A cast, which ``emit`` makes."""
    return operands[0]


def _cast_signed(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    """A cast of a signed integer: one bit is 0 or -1."""
    (a,) = operands
    if a.element_type != i1:
        return a
    return space.apply(ew.NegOp, space.cast(a, et.CONCRETE["i32"]))


def _cast_unsigned(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    return unsigned(space, operands[0])


def _to_unsigned(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    """A cast of a real to an integer without a sign."""
    t = _scalar(op.results[0].type)
    if isinstance(t, IntegerType) and t != i1:
        return space.cast(operands[0], IntegerType(t.width, Signedness.UNSIGNED))
    return operands[0]


def _truncate(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    """A cast to fewer bits; of one, the last."""
    if _scalar(op.results[0].type) == i1:
        return space.apply(ew.BitAndOp, operands[0], 1)
    return operands[0]


def _bitcast(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    if _scalar(op.operands[0].type) != _scalar(op.results[0].type):
        raise TileError.at(op, f"{op.name} of a real has no counterpart in the tile dialect")
    return operands[0]


def _compare(space: Space, kind: str, a: Element, b: Element) -> Element:
    return space.apply(COMPARISONS[kind], a, b)


COMPARISONS: Mapping[str, type[ew.ElementwiseOp]] = {
    "eq": ew.CmpEqOp,
    "ne": ew.CmpNeOp,
    "lt": ew.CmpLtOp,
    "le": ew.CmpLeOp,
    "gt": ew.CmpGtOp,
    "ge": ew.CmpGeOp,
}
INVERSE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def _cmpi(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    assert isinstance(op, arith.CmpiOp)
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if predicate.startswith("u"):
        operands = [unsigned(space, e) for e in operands]
    elif predicate not in COMPARISONS:
        # A bool that is 1 is -1 as an integer of one bit.
        operands = [_cast_signed(space, op, [e]) for e in operands]
    kind = predicate if predicate in COMPARISONS else predicate[1:]
    return _compare(space, kind, *operands)


def _cmpf(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    assert isinstance(op, arith.CmpfOp)
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    a, b = operands
    ordered, kind = predicate[0] == "o", predicate[1:]
    if predicate in ("true", "false"):
        return Element(space.builder.number(int(predicate == "true")))
    if predicate in ("ord", "uno"):
        kind = "eq" if predicate == "ord" else "ne"
        join = ew.BitAndOp if predicate == "ord" else ew.BitOrOp
        return space.apply(join, _compare(space, kind, a, a), _compare(space, kind, b, b))
    if predicate in ("oeq", "une"):
        return _compare(space, kind, a, b)
    if predicate in ("one", "ueq"):
        either = space.apply(ew.BitOrOp, _compare(space, "lt", a, b), _compare(space, "gt", a, b))
        return either if ordered else space.apply(ew.BitNotOp, either)
    if ordered:
        return _compare(space, kind, a, b)
    return space.apply(ew.BitNotOp, _compare(space, INVERSE[kind], a, b))


def is_nan(space: Space, a: Element) -> Element:
    """Whether a real is no number."""
    return space.apply(ew.CmpNeOp, a, a)


def _number(kind: type[ew.ElementwiseOp]) -> Emit:
    """The larger or smaller number, a NaN only if both are."""

    def make(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
        a, b = operands
        if a.element_type == i1:
            return space.apply(kind, a, b)
        either = space.apply(ew.SelectOp, is_nan(space, b), a, space.apply(kind, a, b))
        return space.apply(ew.SelectOp, is_nan(space, a), b, either)

    return make


def _rounded_division(up: bool) -> Emit:
    """A quotient of signed integers, rounded down or up."""

    def make(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
        a, b = operands
        quotient, rest = space.apply(ew.DivOp, a, b), space.apply(ew.RemOp, a, b)
        is_apart = space.apply(
            ew.CmpEqOp if up else ew.CmpNeOp,
            space.apply(ew.CmpLtOp, rest, 0),
            space.apply(ew.CmpLtOp, b, 0),
        )
        moved = space.apply(ew.BitAndOp, space.apply(ew.CmpNeOp, rest, 0), is_apart)
        other = space.apply(ew.AddOp if up else ew.SubOp, quotient, 1)
        return space.apply(ew.SelectOp, moved, other, quotient)

    return make


def _ceildivui(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    a, b = (unsigned(space, e) for e in operands)
    more = space.apply(ew.CmpNeOp, space.apply(ew.RemOp, a, b), 0)
    return space.apply(ew.AddOp, space.apply(ew.DivOp, a, b), space.cast(more, a.element_type))


def _operator(function: Callable[..., SSAValue]) -> Emit:
    """A function of several tile ops on tensors."""

    def make(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
        values, access = space.align(operands)
        return Element(function(space.builder, *values), access)

    return make


def _copysign(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The size of ``x`` with the sign of ``y``."""
    size = b.op(ew.AbsOp, x)
    return b.select(functions.is_negative(b, y), b.neg(size), size)


def _fma(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    a, b, c = operands
    return space.apply(ew.AddOp, space.apply(ew.MulOp, a, b), c)


def _logarithm(base: float) -> Emit:
    def make(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
        return space.apply(ew.MulOp, space.apply(ew.LogOp, operands[0]), 1 / log(base))

    return make


def _exp2(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    return space.apply(ew.PowOp, 2.0, operands[0])


def _power_of_integer(space: Space, op: Operation, operands: Sequence[Element]) -> Element:
    a, b = operands
    return space.apply(ew.PowOp, a, space.cast(b, a.element_type))


EMITTERS: Mapping[str, Emit] = {
    "arith.addf": _plain(ew.AddOp),
    "arith.subf": _plain(ew.SubOp),
    "arith.mulf": _plain(ew.MulOp),
    "arith.divf": _plain(ew.DivOp),
    "arith.remf": _operator(functions.remainder),
    "arith.negf": _plain(ew.NegOp),
    "arith.maximumf": _plain(ew.MaxOp),
    "arith.minimumf": _plain(ew.MinOp),
    "arith.maxnumf": _number(ew.MaxOp),
    "arith.minnumf": _number(ew.MinOp),
    "arith.addi": _of_bools(ew.AddOp, ew.CmpNeOp),
    "arith.subi": _of_bools(ew.SubOp, ew.CmpNeOp),
    "arith.muli": _of_bools(ew.MulOp, ew.BitAndOp),
    "arith.divsi": _plain(ew.DivOp),
    "arith.divui": _unsigned(ew.DivOp),
    "arith.remsi": _plain(ew.RemOp),
    "arith.remui": _unsigned(ew.RemOp),
    "arith.floordivsi": _rounded_division(up=False),
    "arith.ceildivsi": _rounded_division(up=True),
    "arith.ceildivui": _ceildivui,
    "arith.maxsi": _of_bools(ew.MaxOp, ew.BitAndOp),
    "arith.minsi": _of_bools(ew.MinOp, ew.BitOrOp),
    "arith.maxui": _unsigned(ew.MaxOp),
    "arith.minui": _unsigned(ew.MinOp),
    "arith.andi": _plain(ew.BitAndOp),
    "arith.ori": _plain(ew.BitOrOp),
    "arith.xori": _plain(ew.BitXorOp),
    "arith.shli": _plain(ew.BitLeftOp),
    "arith.shrsi": _plain(ew.BitRightOp),
    "arith.shrui": _unsigned(ew.BitRightOp),
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _plain(ew.SelectOp),
    "arith.extf": _cast,
    "arith.truncf": _cast,
    "arith.extsi": _cast_signed,
    "arith.extui": _cast_unsigned,
    "arith.trunci": _truncate,
    "arith.sitofp": _cast_signed,
    "arith.uitofp": _cast_unsigned,
    "arith.fptosi": _cast,
    "arith.fptoui": _to_unsigned,
    "arith.index_cast": _cast_signed,
    "arith.index_castui": _cast_unsigned,
    "arith.bitcast": _bitcast,
    "math.absf": _plain(ew.AbsOp),
    "math.absi": _plain(ew.AbsOp),
    "math.acos": _plain(ew.AcosOp),
    "math.acosh": _operator(functions.acosh),
    "math.asin": _plain(ew.AsinOp),
    "math.asinh": _operator(functions.asinh),
    "math.atan": _plain(ew.AtanOp),
    "math.atanh": _operator(functions.atanh),
    "math.atan2": _operator(functions.atan2),
    "math.cbrt": _operator(functions.cbrt),
    "math.ceil": _plain(ew.CeilOp),
    "math.copysign": _operator(_copysign),
    "math.cos": _plain(ew.CosOp),
    "math.cosh": _plain(ew.CoshOp),
    "math.erf": _plain(ew.ErfOp),
    "math.exp": _plain(ew.ExpOp),
    "math.exp2": _exp2,
    "math.ctlz": _operator(functions.count_leading_zeros),
    "math.ctpop": _operator(functions.count_ones),
    "math.expm1": _plain(ew.ExpM1Op),
    "math.floor": _plain(ew.FloorOp),
    "math.fma": _fma,
    "math.fpowi": _power_of_integer,
    "math.ipowi": _plain(ew.PowOp),
    "math.log": _plain(ew.LogOp),
    "math.log10": _logarithm(10),
    "math.log1p": _plain(ew.Log1pOp),
    "math.log2": _logarithm(2),
    "math.powf": _plain(ew.PowOp),
    "math.round": _plain(ew.RoundOp),
    "math.roundeven": _operator(functions.round_to_even),
    "math.rsqrt": _operator(functions.rsqrt),
    "math.sin": _plain(ew.SinOp),
    "math.sinh": _plain(ew.SinhOp),
    "math.sqrt": _plain(ew.SqrtOp),
    "math.tan": _plain(ew.TanOp),
    "math.tanh": _plain(ew.TanhOp),
    "math.trunc": _operator(functions.truncate),
}
"""Emitter of each op."""
