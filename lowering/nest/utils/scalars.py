"""Elementwise ops on scalars: tile's semantics in the ops of arith and math."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerType, f32, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.constants import Number, constant_integer
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.lowering.nest.utils.constants import constant


@dataclass(frozen=True)
class Kind:
    """Kind of arithmetic of an element type."""

    is_float: bool
    is_signed: bool
    width: int


def kind_of(t: Attribute) -> Kind:
    """Kind of a concrete element type."""
    if isinstance(t, IntegerType):
        return Kind(False, not et.is_unsigned(t) and t != i1, t.width.data)
    return Kind(True, True, getattr(t, "bitwidth"))  # noqa: B009


class Scalars:
    """Emits scalar ops at a builder's place.

    Every method takes and gives values of the kernel level; the tile element type gives the
    signedness where it matters.
    """

    def __init__(self, builder: Builder):
        self.builder = builder

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op with one result."""
        return self.builder.insert(op).results[0]

    # -- constants and conversions ---------------------------------------------------------

    def constant(self, value: Number, t: Attribute) -> SSAValue:
        """Constant of element type ``t``; integers wrap."""
        if isinstance(t, IndexType):
            return self.emit(arith.ConstantOp.from_int_and_width(int(value), t))
        kind, storage = kind_of(t), et.storage_type(t)
        if kind.is_float:
            # A number too large for the type is an infinity.
            rounded = float(numeric.number(value, t))
            return self.emit(constant(rounded, storage))
        if t == i1:
            return self.emit(constant(value != 0, i1))
        wrapped = int(value) % 2**kind.width
        if wrapped >= 2 ** (kind.width - 1):
            wrapped -= 2**kind.width
        return self.emit(constant(wrapped, storage))

    def convert(self, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """Convert a value of element type ``source`` to ``target``."""
        if source == target:
            return value
        a, b, storage = kind_of(source), kind_of(target), et.storage_type(target)
        if target == i1:
            return self.compare("ne", value, self.constant(0, source), source)
        if a.is_float and b.is_float:
            if a.width == b.width:
                # Neither type of 16 bits holds the numbers of the other.
                value = self.emit(arith.ExtFOp(value, f32))
            return self.emit(
                (arith.ExtFOp if b.width > a.width else arith.TruncFOp)(value, storage)
            )
        if a.is_float:
            return self._cut_off(value, source, b)
        if b.is_float:
            cast = arith.SIToFPOp if a.is_signed else arith.UIToFPOp
        elif a.width == b.width:
            return value
        elif a.width > b.width:
            cast = arith.TruncIOp
        else:
            cast = arith.ExtSIOp if a.is_signed else arith.ExtUIOp
        return self.emit(cast(value, storage))  # pyright: ignore[reportArgumentType]

    def _cut_off(self, value: SSAValue, source: Attribute, target: Kind) -> SSAValue:
        """Truncate a real number; it wraps as an integer of 64 bits does."""
        signed = self.emit(arith.FPToSIOp(value, i64))
        if target.width < 64:
            return self.emit(arith.TruncIOp(signed, IntegerType(target.width)))
        if target.is_signed:
            return signed
        is_negative = self.compare("lt", value, self.constant(0, source), source)
        return self.select(is_negative, signed, self.emit(arith.FPToUIOp(value, i64)))

    # -- building blocks -------------------------------------------------------------------

    def compare(self, predicate: str, a: SSAValue, b: SSAValue, t: Attribute) -> SSAValue:
        """Compare (`eq ne lt le gt ge`) two values of element type ``t``."""
        kind = kind_of(t)
        if kind.is_float:
            return self.emit(arith.CmpfOp(a, b, "une" if predicate == "ne" else f"o{predicate}"))
        if predicate not in ("eq", "ne"):
            predicate = ("s" if kind.is_signed else "u") + predicate
        return self.emit(arith.CmpiOp(a, b, predicate))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Select ``a`` where the condition holds, else ``b``."""
        return self.emit(arith.SelectOp(condition, a, b))

    def apply(self, name: str, values: Sequence[SSAValue], t: Attribute) -> SSAValue:
        """Apply the elementwise op ``name`` to values in its computation type ``t``."""
        return FUNCTIONS[name](self, t, *values)


Function = Callable[..., SSAValue]
"""Function of `Scalars`, the compute type and the operands that emits the result."""


def _op(
    for_float: type[Operation] | None = None,
    for_signed: type[Operation] | None = None,
    for_unsigned: type[Operation] | None = None,
    for_bool: type[Operation] | None = None,
) -> Function:
    """Op of a kind of type; unsigned as signed, bools as unsigned unless given."""

    def build(s: Scalars, t: Attribute, *values: SSAValue) -> SSAValue:
        kind = kind_of(t)
        if kind.is_float:
            op = for_float
        elif kind.is_signed:
            op = for_signed
        else:
            op = for_unsigned or for_signed
            if t == i1:
                op = for_bool or op
        assert op is not None
        return s.emit(op(*values))

    return build


def _by_kind(for_float: Function, for_integer: Function) -> Function:
    def build(s: Scalars, t: Attribute, *values: SSAValue) -> SSAValue:
        return (for_float if kind_of(t).is_float else for_integer)(s, t, *values)

    return build


def _compare(predicate: str) -> Function:
    def build(s: Scalars, t: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
        return s.compare(predicate, a, b, t)

    return build


def _same(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    return a


def _negate_integer(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    return s.emit(arith.SubiOp(s.constant(0, t), a))


def _relu(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    zero = s.constant(0, t)
    return s.select(s.compare("lt", a, zero, t), zero, a)


def _absolute_integer(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    return s.emit(math.AbsIOp(a)) if kind_of(t).is_signed else a


def _flip(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    return s.emit(arith.XOrIOp(a, s.constant(1 if t == i1 else -1, t)))


def _reciprocal(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    return s.emit(arith.DivfOp(s.constant(1, t), a))


def _sigmoid(s: Scalars, t: Attribute, a: SSAValue) -> SSAValue:
    exponential = s.emit(math.ExpOp(s.emit(arith.NegfOp(a))))
    return _reciprocal(s, t, s.emit(arith.AddfOp(s.constant(1, t), exponential)))


def _divide_integers(s: Scalars, t: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
    """Divide integers, where C leaves x/0 and INT_MIN/-1 open: 0, and INT_MIN."""
    kind = kind_of(t)
    divide = arith.DivSIOp if kind.is_signed else arith.DivUIOp
    if constant_integer(b) not in (None, 0, -1):
        return s.emit(divide(a, b))
    zero, one = s.constant(0, t), s.constant(1, t)
    unsafe = s.compare("eq", b, zero, t)
    special = zero
    if kind.is_signed:
        is_minus_one = s.compare("eq", b, s.constant(-1, t), t)
        special = s.select(is_minus_one, _negate_integer(s, t, a), zero)
        unsafe = s.emit(arith.OrIOp(unsafe, is_minus_one))
    return s.select(unsafe, special, s.emit(divide(a, s.select(unsafe, one, b))))


def _remainder(s: Scalars, t: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
    """Remainder of integers, where C leaves x%0 and INT_MIN%-1 open: x, and 0."""
    kind = kind_of(t)
    remainder = arith.RemSIOp if kind.is_signed else arith.RemUIOp
    if constant_integer(b) not in (None, 0, -1):
        return s.emit(remainder(a, b))
    zero, one = s.constant(0, t), s.constant(1, t)
    by_zero = unsafe = s.compare("eq", b, zero, t)
    if kind.is_signed:
        unsafe = s.emit(arith.OrIOp(unsafe, s.compare("eq", b, s.constant(-1, t), t)))
    rest = s.emit(remainder(a, s.select(unsafe, one, b)))
    return s.select(by_zero, a, rest)


def _power_of_integers(s: Scalars, t: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
    if kind_of(t).is_signed:
        return s.emit(math.IPowIOp(a, b))
    # math.ipowi is signed: halve the exponent, so that it is never negative.
    one = s.constant(1, t)
    half = s.emit(arith.ShRUIOp(b, one))
    even = s.emit(math.IPowIOp(s.emit(arith.MuliOp(a, a)), half))
    odd = s.compare("ne", s.emit(arith.AndIOp(b, one)), s.constant(0, t), t)
    return s.emit(arith.MuliOp(even, s.select(odd, a, one)))


def _shift(left: bool) -> Function:
    def build(s: Scalars, t: Attribute, a: SSAValue, b: SSAValue) -> SSAValue:
        kind = kind_of(t)
        zero = s.constant(0, t)
        # A negative amount is a large one when read as unsigned.
        inside = s.emit(arith.CmpiOp(b, s.constant(kind.width, t), "ult"))
        amount = s.select(inside, b, zero)
        if left:
            return s.select(inside, s.emit(arith.ShLIOp(a, amount)), zero)
        if not kind.is_signed:
            return s.select(inside, s.emit(arith.ShRUIOp(a, amount)), zero)
        last = s.select(inside, b, s.constant(kind.width - 1, t))
        return s.emit(arith.ShRSIOp(a, last))

    return build


def _real(op: type[Operation]) -> Function:
    return _op(for_float=op)


FUNCTIONS: dict[str, Function] = {
    "tile.abs": _by_kind(_real(math.AbsFOp), _absolute_integer),
    "tile.neg": _by_kind(_real(arith.NegfOp), _negate_integer),
    "tile.relu": _relu,
    "tile.ident": _same,
    "tile.acos": _real(math.AcosOp),
    "tile.asin": _real(math.AsinOp),
    "tile.atan": _real(math.AtanOp),
    "tile.ceil": _real(math.CeilOp),
    "tile.cos": _real(math.CosOp),
    "tile.cosh": _real(math.CoshOp),
    "tile.erf": _real(math.ErfOp),
    "tile.exp": _real(math.ExpOp),
    "tile.expm1": _real(math.ExpM1Op),
    "tile.floor": _real(math.FloorOp),
    "tile.log": _real(math.LogOp),
    "tile.log1p": _real(math.Log1pOp),
    "tile.recip": _reciprocal,
    "tile.round": _real(math.RoundOp),
    "tile.sigmoid": _sigmoid,
    "tile.sin": _real(math.SinOp),
    "tile.sinh": _real(math.SinhOp),
    "tile.sqrt": _real(math.SqrtOp),
    "tile.tan": _real(math.TanOp),
    "tile.tanh": _real(math.TanhOp),
    "tile.bit_not": _flip,
    "tile.add": _op(arith.AddfOp, arith.AddiOp),
    "tile.sub": _op(arith.SubfOp, arith.SubiOp),
    "tile.mul": _op(arith.MulfOp, arith.MuliOp),
    "tile.div": _by_kind(_real(arith.DivfOp), _divide_integers),
    "tile.rem": _remainder,
    "tile.max": _op(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp, arith.OrIOp),
    "tile.min": _op(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp, arith.AndIOp),
    "tile.pow": _by_kind(_real(math.PowFOp), _power_of_integers),
    "tile.cmp_eq": _compare("eq"),
    "tile.cmp_ne": _compare("ne"),
    "tile.cmp_lt": _compare("lt"),
    "tile.cmp_gt": _compare("gt"),
    "tile.cmp_le": _compare("le"),
    "tile.cmp_ge": _compare("ge"),
    "tile.bit_and": _op(None, arith.AndIOp),
    "tile.bit_or": _op(None, arith.OrIOp),
    "tile.bit_xor": _op(None, arith.XOrIOp),
    "tile.bit_left": _shift(left=True),
    "tile.bit_right": _shift(left=False),
}
"""Scalar implementation of each op whose operands are promoted to one type."""
