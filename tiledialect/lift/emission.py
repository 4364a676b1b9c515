"""Functions of programs that emit one op when they are applied."""

from __future__ import annotations

from typing import Any

from tiledialect.dialects.lift.attributes import SizeAttr
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.errors import SourceSpan, TileError
from tiledialect.lift.functions import Function
from tiledialect.lift.tracing import emit, place
from tiledialect.lift.values import AnySize, Value, to_size


def checked(value: Any, name: str, where: SourceSpan | None) -> Value:
    """A value of the program; a TileError for anything else."""
    if isinstance(value, Value):
        return value
    raise TileError(f"{name} takes a value of the program, not {value!r}", where)


def plain(kind: type[LiftOp], **properties: Any) -> Function:
    """The pattern of an op without a function."""
    where, name = place(), kind.pattern()

    def apply(value: Any) -> Value:
        operand = checked(value, name, where).ssa
        return Value(emit(lambda: kind.make(operand, **properties), where))

    return Function(name, apply, where)


def size_attributes(**sizes: AnySize) -> dict[str, Any]:
    """Sizes as properties of an op."""
    where = place()
    return {name: SizeAttr(to_size(size, where)) for name, size in sizes.items()}


def simple(kind: type[LiftOp], doc: str) -> Function:
    """The pattern of an op without parameters; an error is where it is applied."""
    name = kind.pattern()

    def apply(value: Any) -> Value:
        where = place()
        operand = checked(value, name, where).ssa
        return Value(emit(lambda: kind.make(operand), where))

    return Function(name, apply, doc=doc)
