"""Patterns that lay out arrays, and index functions for the reordering ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tiledialect.dialects.lift import layout
from tiledialect.dialects.lift.attributes import (
    Boundary,
    BoundaryAttr,
    IndexMap,
    IndexMapAttr,
    expression,
)
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.types import sizes_of
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr
from tiledialect.lift.emission import checked, plain, simple, size_attributes
from tiledialect.lift.functions import Function
from tiledialect.lift.tracing import emit, place
from tiledialect.lift.values import AnySize, Value, to_size, to_value

clamp = Boundary.clamp
mirror = Boundary.mirror
wrap = Boundary.wrap


def split(size: AnySize) -> Function:
    """Cuts an array into pieces of ``size`` elements.

    Example: ``x >> lift.split(2)``
    """
    return plain(layout.SplitOp, **size_attributes(size=size))


def slide(size: AnySize, step: AnySize) -> Function:
    """The windows of ``size`` neighbours, ``step`` apart.

    Example: ``x >> lift.slide(3, 1)``
    """
    return plain(layout.SlideOp, **size_attributes(size=size, step=step))


def pad(left: AnySize, right: AnySize, boundary: Boundary) -> Function:
    """More elements at the ends: ``clamp``, ``mirror`` or ``wrap`` says which.

    Example: ``x >> lift.pad(1, 2, lift.mirror)``
    """
    if not isinstance(boundary, Boundary):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(
            f"pad takes lift.clamp, lift.mirror or lift.wrap, not {boundary!r}; "
            "pad_constant takes a value",
            place(),
        )
    return plain(
        layout.PadOp, **size_attributes(left=left, right=right), boundary=BoundaryAttr(boundary)
    )


def pad_constant(left: AnySize, right: AnySize, constant: Any) -> Function:
    """A constant at the ends.

    Example: ``x >> lift.pad_constant(1, 1, 0)``
    """
    where, properties = place(), size_attributes(left=left, right=right)

    def apply(value: Any) -> Value:
        t = checked(value, "pad_constant", where).array_type("pad_constant")
        fill = to_value(constant, t.element_type, where).ssa
        make = layout.PadConstantOp.make
        return Value(emit(lambda: make(value.ssa, fill, **properties), where))

    return Function("pad_constant", apply, where)


def slice(start: AnySize, stop: AnySize) -> Function:
    """The elements from ``start`` up to ``stop``, which is left out; as ``x[start:stop]``.

    Example: ``x >> lift.slice(1, 3)``
    """
    return plain(layout.SliceOp, **size_attributes(start=start, stop=stop))


def as_vector(size: AnySize) -> Function:
    """The numbers of an array as vectors.

    Example: ``x >> lift.as_vector(2) >> lift.map(lift.map_vec(lift.neg)) >> lift.as_scalar``
    """
    return plain(layout.AsVectorOp, **size_attributes(size=size))


def _reordering(kind: type[LiftOp], function: Callable[..., Any]) -> Function:
    where, name = place(), kind.pattern()
    if not callable(function):
        raise TileError(f"{name} takes an index function, not {function!r}", where)
    takes_size = _takes_size(function)

    def apply(value: Any) -> Value:
        t = checked(value, name, where).array_type(name)
        taken = {n for size in sizes_of(t) for n in size.names}
        variable = next(v for v in ("i", "j", "k", "_i") if v not in taken)
        extra = [expression(value.size)] if takes_size else []
        try:
            index_map = IndexMap.of(lambda i: function(i, *extra), variable)
        except (TypeError, ValueError, AttributeError) as error:
            raise TileError(
                f"the index function of {name} computes with +, -, *, // and %: {error}", where
            ) from None
        return Value(emit(lambda: kind.make(value.ssa, map=IndexMapAttr(index_map)), where))

    return Function(name, apply, where)


def _takes_size(function: Callable[..., Any]) -> bool:
    """Whether an index function takes the size of the array, too."""
    try:
        return len(inspect.signature(function).parameters) > 1
    except (TypeError, ValueError):  # of what is built into Python
        return False


def gather(function: Callable[..., Any]) -> Function:
    """Element ``i`` is the element ``function(i)``, or ``function(i, n)`` of ``n``.

    Example: ``x >> lift.gather(lambda i, n: (i + 1) % n)``
    """
    return _reordering(layout.GatherOp, function)


def scatter(function: Callable[..., Any]) -> Function:
    """Element ``i`` becomes the element ``function(i)``, or ``function(i, n)`` of ``n``.

    Example: ``x >> lift.scatter(lambda i, n: (i + 1) % n)``
    """
    return _reordering(layout.ScatterOp, function)


def reverse(i: Expr, n: Expr) -> Expr:
    """The index function that reverses an array.

    Example: ``x >> lift.gather(lift.reverse)``
    """
    return n - 1 - i


def reorder_stride(stride: int) -> Callable[[Expr, Expr], Expr]:
    """The index function that takes every ``stride``-th element first.

    Example: ``x >> lift.gather(lift.reorder_stride(2))``
    """
    return lambda i, n: i // (n // stride) + stride * (i % (n // stride))


def transposition(rows: AnySize, columns: AnySize) -> Callable[[Expr], Expr]:
    """The index function on a joined array of arrays that joins its transpose instead.

    Example: ``A >> lift.join >> lift.gather(lift.transposition(2, 3))``
    """
    m, n = (expression(to_size(size, place())) for size in (rows, columns))
    return lambda i: i // m + n * (i % m)


def concat(*arrays: Value) -> Value:
    """Concatenation of arrays.

    Example: ``lift.concat(x, y)``
    """
    where = place()
    operands = [checked(a, "concat", where).ssa for a in arrays]
    return Value(emit(lambda: layout.ConcatOp.make(*operands), where))


join = simple(
    layout.JoinOp, "The pieces one after the other, as one array.\n\nExample: ``A >> lift.join``"
)
transpose = simple(
    layout.TransposeOp, "The outer two axes exchanged.\n\nExample: ``A >> lift.transpose``"
)
as_scalar = simple(
    layout.AsScalarOp,
    "The numbers of an array of vectors.\n\nExample: ``x >> lift.as_vector(2) >> lift.as_scalar``",
)
