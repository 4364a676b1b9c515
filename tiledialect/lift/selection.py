"""Choice between values by a condition."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, TupleType

from tiledialect.dialects.lift.types import is_number
from tiledialect.dialects.tile import element_types as et
from tiledialect.errors import SourceSpan, TileError
from tiledialect.lift.tracing import emit, place
from tiledialect.lift.values import (
    Value,
    converted,
    elementwise,
    is_number_like,
    number_of,
    to_value,
)


def where(condition: Value, yes: Any, no: Any) -> Value:
    """``yes`` where the condition holds, else ``no``.

    Example: ``lift.where(x < 3, 0, x)``
    """
    at = place()
    if not isinstance(condition, Value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"where takes a condition of the program, not {condition!r}", at)
    like = number_of(yes if isinstance(yes, Value) else no)
    a, b = (to_value(v, like if is_number_like(v) else None, at) for v in (yes, no))
    if any(isinstance(v.type, TensorType) for v in (condition, a, b)):
        return elementwise("select", (condition, a, b), at)
    if is_number(a.type) and is_number(b.type):
        meeting = et.promote(a.type, b.type)
        a, b = converted(a, meeting, at), converted(b, meeting, at)
    if isinstance(a.type, TupleType) and a.type == b.type:
        parts = [where_part(condition, x, y, at) for x, y in zip(a, b, strict=True)]
        return to_value(parts, None, at)
    return where_part(condition, a, b, at)


def where_part(condition: Value, yes: Value, no: Value, at: SourceSpan | None) -> Value:
    """The choice between two values of one type."""
    if yes.type != no.type or isinstance(yes.type, TensorType):
        raise TileError(f"where chooses between numbers, not {yes.type} and {no.type}", at)
    return Value(emit(lambda: arith.SelectOp(condition.ssa, yes.ssa, no.ssa), at))
