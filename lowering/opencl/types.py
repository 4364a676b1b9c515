"""Types, names and expressions of OpenCL C, and the printer's interface for emitters of ops."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from tiledialect import caches
from tiledialect.errors import TileError

VECTOR_LENGTHS = (2, 3, 4, 8, 16)
INTEGER_NAMES = {8: "char", 16: "short", 32: "int", 64: "long"}


class OpenCLError(TileError):
    """A kernel holds something that OpenCL C cannot express or the printer does not know."""


Kind = Literal["int", "bool", "float", "half"]


@dataclass(frozen=True)
class CType:
    """The type of an SSA value in OpenCL C.

    A half is held in a ``float``, a bf16 as its bits; the lanes of a vector of i1 are ints, -1 or
    0, as OpenCL's own comparisons give.
    """

    base: str
    """The C name of one lane: ``float``, ``int``, ``bool``…"""
    bits: int
    """The width of one lane in C."""
    kind: Kind
    lanes: int = 1

    @property
    def name(self) -> str:
        """The C name: ``float4``."""
        return self.base if self.lanes == 1 else f"{self.base}{self.lanes}"

    @property
    def unsigned(self) -> str:
        """The C name of the unsigned type of the same width."""
        return "u" + self.name

    @property
    def is_float(self) -> bool:
        """Whether values are held in a floating point type."""
        return self.kind in ("float", "half")

    @property
    def is_vector(self) -> bool:
        """Whether the type has more than one lane."""
        return self.lanes > 1

    @property
    def promoted(self) -> bool:
        """Whether C computes a scalar of this type in ``int``."""
        return self.kind == "int" and self.bits < 32 and not self.is_vector

    @property
    def memory(self) -> str:
        """The C name of an element in a buffer."""
        return {"half": "half", "bool": "uchar"}.get(self.kind, self.base)

    @property
    def storage(self) -> str:
        """The C name of an element of a declared array: an array of half would need
        cl_khr_fp16."""
        return {"half": "ushort", "bool": "uchar"}.get(self.kind, self.base)

    @property
    def storage_bytes(self) -> int:
        """The size of an element in memory."""
        return {"half": 2, "bool": 1}.get(self.kind, self.bits // 8)

    @property
    def lane(self) -> CType:
        """The type of one lane."""
        if self.kind == "bool":
            return BOOL
        return replace(self, lanes=1)


BOOL = CType("bool", 32, "bool")
FLOATS: dict[type[Attribute], CType] = {
    Float16Type: CType("float", 32, "half"),
    Float32Type: CType("float", 32, "float"),
    Float64Type: CType("double", 64, "float"),
    BFloat16Type: CType("short", 16, "int"),
}


@caches.C_TYPES
def c_type(type: Attribute, index_bits: int) -> CType | None:
    """The C type of a scalar or vector type, None if OpenCL C has none."""
    if isinstance(type, VectorType):
        lane = c_type(type.get_element_type(), index_bits)
        shape = type.get_shape()
        if lane is None or len(shape) != 1 or shape[0] not in VECTOR_LENGTHS:
            return None
        return replace(lane, base="int" if lane.kind == "bool" else lane.base, lanes=shape[0])
    if isinstance(type, IndexType):
        return CType(INTEGER_NAMES[index_bits], index_bits, "int")
    if isinstance(type, IntegerType) and type.signedness.data == Signedness.SIGNLESS:
        if type.width.data == 1:
            return BOOL
        base = INTEGER_NAMES.get(type.width.data)
        return CType(base, type.width.data, "int") if base else None
    for cls, result in FLOATS.items():
        if isinstance(type, cls):
            return result
    return None


# Precedences of C's operators; a higher one binds tighter.
PRIMARY, UNARY, MUL, ADD, SHIFT, RELATION, EQUALITY, BAND, BXOR, BOR, LAND, LOR, TERNARY = range(
    13, 0, -1
)
PRECEDENCE = {
    "*": MUL, "/": MUL, "%": MUL, "+": ADD, "-": ADD, "<<": SHIFT, ">>": SHIFT,
    "<": RELATION, "<=": RELATION, ">": RELATION, ">=": RELATION, "==": EQUALITY, "!=": EQUALITY,
    "&": BAND, "^": BXOR, "|": BOR, "&&": LAND, "||": LOR,
}  # fmt: skip

# Of floats too, even where one is NaN.
COMPLEMENTS = {"==": "!=", "!=": "=="}


class Expr(NamedTuple):
    """A C expression without side effects; a tuple, as there is one for each op."""

    text: str
    precedence: int = PRIMARY
    reads: frozenset[str] = frozenset()
    """Variables that the expression reads."""
    value: int | float | bool | None = None
    """Value of a literal."""
    typed: str | None = None
    """A literal written so that its type is right wherever it stands (``5L``)."""
    unsigned: Expr | None = None
    """The same bits in the unsigned type, where that is simpler."""
    converts: bool = False
    """Whether C converts the unsigned form in an assignment."""
    splat: Expr | None = None
    """The scalar in every lane of a vector."""
    unrounded: Expr | None = None
    """Value of a half before rounding: a float, or a double."""
    was_double: bool = False
    """Whether this was a double, which stores take, but conversions to bits do not."""
    bits: Expr | None = None
    """Bits of a half as a short, where they are known."""
    compound: tuple[str, Expr, Expr] | None = None
    """Operator and operands, so that an assignment can be ``+=``."""

    @property
    def unrounded_float(self) -> Expr | None:
        """A half before it was rounded, if that was a float."""
        return None if self.was_double else self.unrounded

    def at(self, precedence: int) -> str:
        """The text as an operand of an operator of this precedence."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    @property
    def alone(self) -> str:
        """The text where C infers nothing from the context: an argument of a function."""
        return self.typed or self.text

    @property
    def assigned(self) -> str:
        """The text on the right of an assignment, which converts to the signed type."""
        return self.unsigned.text if self.unsigned and self.converts else self.text


def reads(*operands: Expr) -> frozenset[str]:
    """Variables that the operands read."""
    found = frozenset[str]()
    for e in operands:
        found = found | e.reads if found else e.reads
    return found


def operand(e: Expr, operator: str, *, right: bool = False) -> str:
    """An operand with parentheses where C needs them or its compilers warn without them."""
    p = PRECEDENCE[operator]
    chained = e.compound is not None and e.compound[0] == operator
    if chained and (p in (LAND, LOR) or (not right and p not in (RELATION, EQUALITY))):
        return e.text
    if p in (SHIFT, BAND, BXOR, BOR):
        return e.at(UNARY)
    if p in (LAND, LOR):
        return e.at(BOR if e.precedence in (LAND, LOR) else EQUALITY)
    if p in (RELATION, EQUALITY):
        return e.at(ADD)
    return e.at(p + 1 if right else p)


def binary(operator: str, a: Expr, b: Expr, *, wide: bool = False) -> Expr:
    """``a operator b``. ``wide``: of 64 bits, so two int literals must not meet."""
    if wide and a.typed and b.typed:
        a = a._replace(text=a.typed)
    text = f"{operand(a, operator)} {operator} {operand(b, operator, right=True)}"
    return Expr(text, PRECEDENCE[operator], reads(a, b), compound=(operator, a, b))


def call(name: str, *arguments: Expr) -> Expr:
    """A call of a function whose overload depends on its arguments' types."""
    return Expr(f"{name}({', '.join(a.alone for a in arguments)})", reads=reads(*arguments))


def cast(type: str, e: Expr) -> Expr:
    """``(type)e``."""
    return Expr(f"({type}){e.at(UNARY)}", UNARY, reads(e))


def negative(e: Expr) -> Expr:
    """``-e``."""
    text = e.at(UNARY)
    return Expr(f"-({text})" if text.startswith("-") else f"-{text}", UNARY, reads(e))


def negation(e: Expr) -> Expr:
    """``!e``."""
    if e.compound and e.compound[0] in COMPLEMENTS:
        return binary(COMPLEMENTS[e.compound[0]], *e.compound[1:])
    if e.text.startswith("!") and e.precedence == UNARY:
        return Expr(e.text[1:], UNARY, reads(e))
    return Expr(f"!{e.at(UNARY)}", UNARY, reads(e))


def ternary(condition: Expr, a: Expr, b: Expr) -> Expr:
    """Conditional ``condition ? a : b``."""
    text = f"{condition.at(LOR)} ? {a.at(LOR)} : {b.at(TERNARY)}"
    return Expr(text, TERNARY, reads(condition, a, b))


def variable(name: str) -> Expr:
    """A variable."""
    return Expr(name, reads=frozenset([name]))


def bool_literal(value: bool) -> Expr:
    """``true`` or ``false``."""
    return Expr("true" if value else "false", value=value)


def int_literal(value: int, bits: int) -> Expr:
    """A signed integer literal of a width."""
    lowest = -(1 << (bits - 1))
    value = (value - lowest) % (1 << bits) + lowest
    if value == lowest and bits >= 32:
        name = "INT_MIN" if bits == 32 else "LONG_MIN"
        return Expr(name, value=value, typed=name)
    suffix = "L" if bits == 64 else ""
    text = str(value) if -(2**31) < value < 2**31 else f"{value}{suffix}"
    typed = (
        f"(char){value}" if bits == 8 else f"(short){value}" if bits == 16 else f"{value}{suffix}"
    )
    return Expr(text, UNARY if value < 0 else PRIMARY, value=value, typed=typed)


def float_literal(value: float, type: CType) -> Expr:
    """A floating point literal that reads back as exactly this value."""
    single = type.bits == 32
    if math.isnan(value) or math.isinf(value):
        text = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        typed = text if single else f"(double){text}"
    else:
        text = typed = f"{np.float32(value)!s}f" if single else repr(float(value))
    precedence = UNARY if text.startswith("-") else PRIMARY
    return Expr(text, precedence, value=value, typed=typed)


def literal(value: float, type: CType) -> Expr:
    """A literal of any scalar type, or with the same value in every lane of a vector."""
    if type.is_vector:
        lane = type.lane if type.kind != "bool" else CType("int", 32, "int")
        return splat(literal(-int(bool(value)) if type.kind == "bool" else value, lane), type)
    if type.kind == "bool":
        return bool_literal(bool(value))
    if type.kind == "int":
        return int_literal(int(value), type.bits)
    return float_literal(value, type)


def splat(e: Expr, type: CType) -> Expr:
    """A vector with a scalar in every lane."""
    return Expr(f"({type.name})({e.text})", UNARY, reads(e), splat=e)


def unsigned(e: Expr, type: CType) -> Expr:
    """The bits of a signed integer in the unsigned type."""
    if e.unsigned:
        return e.unsigned
    if type.is_vector:
        return Expr(f"as_{type.unsigned}({e.alone})", reads=reads(e))
    if isinstance(e.value, int) and type.bits >= 32:
        text = f"{e.value % (1 << type.bits)}{'u' if type.bits == 32 else 'UL'}"
        return Expr(text, value=e.value)
    return cast(type.unsigned, e)


def signed(e: Expr, type: CType) -> Expr:
    """The bits of an unsigned integer in the signed type."""
    if type.is_vector:
        return Expr(f"as_{type.name}({e.text})", reads=reads(e), unsigned=e)
    return cast(type.name, e)._replace(unsigned=e, converts=True)


def narrow(e: Expr, type: CType) -> Expr:
    """C computed in int: back to the value's own type."""
    return cast(type.name, e) if type.promoted else e


class Scope(ABC):
    """Interface of the printer for emitters of ops."""

    @abstractmethod
    def expr(self, value: SSAValue) -> Expr:
        """The C expression of a scalar or vector value."""

    @abstractmethod
    def ctype(self, type: Attribute) -> CType:
        """The C type; raises OpenCLError if there is none."""

    @abstractmethod
    def helper(self, name: str, text: str) -> str:
        """Print this function before the kernels, once. Returns its name."""

    @abstractmethod
    def error(self, reason: str) -> OpenCLError:
        """An error that names the op being printed and its place."""
