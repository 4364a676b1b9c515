"""Places of memrefs in OpenCL C: buffers, and addresses of elements in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.lowering.opencl.types import (
    ADD,
    UNARY,
    CType,
    Expr,
    Scope,
    binary,
    int_literal,
    reads,
)

GLOBAL, LOCAL, PRIVATE = "__global", "__local", "__private"


SPACES = {0: GLOBAL, 1: GLOBAL, 3: LOCAL, 5: PRIVATE}


@dataclass(frozen=True)
class Address:
    """A number of elements: a constant and a sum of terms."""

    constant: int = 0
    terms: tuple[Expr, ...] = ()

    def plus(self, factor: Expr, stride: Expr) -> Address:
        """The address ``factor * stride`` elements further."""
        if isinstance(factor.value, int) and isinstance(stride.value, int):
            return Address(self.constant + factor.value * stride.value, self.terms)
        if stride.value == 1:
            term = factor
        elif factor.value == 1:
            term = stride
        elif 0 in (factor.value, stride.value):
            return self
        else:
            term = binary("*", factor, stride)
        return Address(self.constant, (*self.terms, term))

    @property
    def expr(self) -> Expr:
        """The sum in C."""
        if not self.terms:
            return int_literal(self.constant, 64)
        text = " + ".join(t.at(ADD) for t in self.terms)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        alone = len(self.terms) == 1 and not self.constant
        first = self.terms[0]
        if alone:
            return Expr(text, first.precedence, reads(first), compound=first.compound)
        return Expr(text, ADD, reads(*self.terms))


@dataclass(frozen=True)
class Buffer:
    """A memref: a pointer, and the places of the elements."""

    base: str
    space: str
    type: CType
    """The C type of an element."""
    strides: tuple[Expr, ...]
    offset: Address = Address()


class MemoryScope(Scope):
    """A scope that knows buffers and can print statements."""

    is_lone: bool
    """Whether the function is a kernel whose groups have a work-item each, as on CPUs."""

    @abstractmethod
    def buffer(self, value: SSAValue) -> Buffer:
        """Buffer and place of a memref."""

    @abstractmethod
    def line(self, text: str) -> None:
        """Print a line."""

    @abstractmethod
    def define(self, value: SSAValue, e: Expr) -> None:
        """Declare a variable for a result, if it is used."""


def layout(scope: Scope, type: Attribute) -> tuple[Address | None, tuple[Expr, ...]]:
    """Offset (None if it is not in the type) and strides of a memref type."""
    if not isinstance(type, MemRefType):
        raise scope.error(f"no buffer of type {type}")
    strides = type.get_strides()
    if strides is None or any(s is None for s in strides):
        raise scope.error(f"the strides of {type} are not known")
    offset = type.get_offset()
    return (
        None if offset is None else Address(offset),
        tuple(int_literal(s, 64) for s in strides if s is not None),
    )


def space_of(scope: Scope, type: Attribute, default: str) -> str:
    """The address space of a memref type."""
    space = type.memory_space if isinstance(type, MemRefType) else NoneAttr()
    if isinstance(space, NoneAttr):
        return default
    number = space.value.data if isinstance(space, IntegerAttr) else None
    if number not in SPACES:
        raise scope.error(f"no memory space {space}; it has 1 (global), 3 (local), 5 (private)")
    return default if number == 0 else SPACES[number]


def element_type(scope: Scope, type: Attribute) -> CType:
    """The C type of the elements of a memref type."""
    if not isinstance(type, MemRefType):
        raise scope.error(f"no buffer of type {type}")
    result = scope.ctype(type.element_type)
    if result.is_vector:
        raise scope.error(f"no buffer of vectors: {type}")
    return result


def address(scope: MemoryScope, buffer: Buffer, indices: Sequence[SSAValue]) -> Expr:
    """The number of elements from the base to an element."""
    result = buffer.offset
    for index, stride in zip(indices, buffer.strides, strict=True):
        result = result.plus(scope.expr(index), stride)
    return result.expr


def pointer(buffer: Buffer, offset: Expr) -> Expr:
    """The pointer to the element at an address."""
    base = half_pointer(buffer)
    return (
        base if offset.value == 0 else Expr(f"{base.text} + {offset.at(ADD)}", ADD, reads(offset))
    )


def half_pointer(buffer: Buffer) -> Expr:
    """The base. Arrays of halves are declared as ushort, since not every device has half."""
    if buffer.type.kind == "half" and buffer.space != GLOBAL:
        return Expr(f"({buffer.space} half *){buffer.base}", UNARY)
    return Expr(buffer.base)


Load = Callable[[MemoryScope, Operation], Expr]
"""Emitter of the value of an op on memory or vectors."""

Write = Callable[[MemoryScope, Operation], None]
"""Printer of an op that writes memory."""
