"""Element types, and the type of a result from its operands' types."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from tiledialect.dialects.tile.attributes import AnyType, RealType
from tiledialect.rounding import ceil_div

any_type = AnyType()
real = RealType()
index = IndexType()
ui8, ui16, ui32, ui64 = (IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64))

CONCRETE: dict[str, Attribute] = {
    str(t): t for t in (f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64)
}
"""The element types that data can have, by their names."""
_CONCRETE = frozenset(CONCRETE.values())
# Compiling asks all the time, and `isinstance` of an attribute takes 20 times as long.
_FLOAT_CLASSES = frozenset((Float16Type, BFloat16Type, Float32Type, Float64Type, RealType))
_CLASSES = _FLOAT_CLASSES | {AnyType, IndexType}

FLOATS = (f16, bf16, f32, f64)
SHORT_FLOATS = (f16, bf16)
"""Floats of 16 bits: neither type holds the other's numbers, and sums of them are kept in f32."""


def type_name(t: Attribute) -> str:
    """Tile's name of an element type: ``u8`` and ``bool``."""
    return "bool" if t == i1 else str(t).removeprefix("!tile.").replace("ui", "u")


def is_float(t: Attribute) -> bool:
    """Whether ``t`` is a floating-point type, of known width or not."""
    return type(t) in _FLOAT_CLASSES


def may_be_float(t: Attribute) -> bool:
    """Whether ``t`` is a floating-point type, or open."""
    return t == any_type or is_float(t)


def is_unsigned(t: Attribute) -> bool:
    """Whether ``t`` is an unsigned integer type."""
    return isinstance(t, IntegerType) and t.signedness.data == Signedness.UNSIGNED


def storage_type(t: Attribute) -> Attribute:
    """The type that values of an element type have at the kernel level: integers are signless."""
    return IntegerType(t.width.data) if isinstance(t, IntegerType) else t


def is_wide(t: Attribute) -> bool:
    """Whether ``t`` is an integer type that holds the positions in all but huge tensors."""
    return isinstance(t, IntegerType) and t.width.data >= 32


def is_weak(t: Attribute) -> bool:
    """Whether ``t`` has no width of its own and takes the width of the types that it meets."""
    return type(t) in (IndexType, RealType)


def is_element_type(t: Attribute) -> bool:
    """Whether tensors of the tile dialect may have elements of type ``t``."""
    return type(t) in _CLASSES or t in _CONCRETE


def holds(t: Attribute, number: int | float) -> bool:
    """Whether ``number`` is in the range of type ``t``, and whole if that is an integer type."""
    if is_float(t):
        return True
    least, greatest = limits(t)
    return isinstance(number, int) and least <= number <= greatest


def limits(t: Attribute) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    low, high = (0, 2 ** _width(t)) if is_unsigned(t) or t == i1 else _signed_range(t)
    return low, high - 1


def _signed_range(t: Attribute) -> tuple[int, int]:
    half = 2 ** (63 if t == index else _width(t) - 1)
    return -half, half


def concrete(t: Attribute) -> Attribute:
    """The type that a weak type stands for by itself."""
    if t == index:
        return i32
    return f32 if t == real else t


def promote(a: Attribute, b: Attribute) -> Attribute:
    """The element type in which values of types ``a`` and ``b`` meet.

    Floating point wins over integers, the wider over the narrower; f16 and bf16 meet as f32. Of a
    signed and an unsigned
    integer the wider wins if it is signed; else the next wider signed one does (at most i64).
    Weak types (`index`, `!tile.real`) take the other's type, except that a real meeting an
    integer is a real by itself (f32), and an integer meeting a bool an integer by itself (i32).
    """
    if a == b:
        return a
    if any_type in (a, b):
        return any_type
    if is_float(a) or is_float(b):
        return _promote_float(a, b)
    return _promote_integer(a, b)


def _promote_float(a: Attribute, b: Attribute) -> Attribute:
    if {a, b} == set(SHORT_FLOATS):
        return f32
    floats = [t for t in (a, b) if is_float(t) and t != real]
    if floats:
        return max(floats, key=FLOATS.index)
    return real if is_weak(a) and is_weak(b) else f32


def _promote_integer(a: Attribute, b: Attribute) -> Attribute:
    strong = [t for t in (a, b) if t != index]
    if len(strong) == 1:
        return concrete(index) if strong[0] == i1 else strong[0]
    wide, narrow = sorted((a, b), key=_width, reverse=True)
    if narrow == i1 or is_unsigned(a) == is_unsigned(b):
        return wide
    if _width(wide) > _width(narrow):
        return wide if not is_unsigned(wide) else _signed(2 * _width(wide))
    return _signed(2 * _width(wide))


def _width(t: Attribute) -> int:
    assert isinstance(t, IntegerType)
    return t.width.data


def _signed(width: int) -> Attribute:
    return IntegerType(min(width, 64))


def element_bytes(t: Attribute) -> int:
    """Bytes of an element in memory: one for a bool, four without a width."""
    return ceil_div(getattr(concrete(t), "bitwidth", 32), 8)


def as_float(t: Attribute) -> Attribute:
    """The type in which a function on real numbers takes an operand of type ``t``."""
    if t == any_type or is_float(t):
        return t
    return real if is_weak(t) else f32


def as_number(t: Attribute) -> Attribute:
    """The type in which arithmetic on ``t`` is done: bools count as integers."""
    return concrete(index) if t == i1 else t
