"""Patterns over arrays of two and three dimensions, made of those over one."""

from __future__ import annotations

from typing import Any

from tiledialect.dialects.lift.attributes import Boundary
from tiledialect.errors import TileError
from tiledialect.lift.functions import Function, compose
from tiledialect.lift.layouts import pad, pad_constant, slide, transpose
from tiledialect.lift.patterns import AnyFunction, map, zip
from tiledialect.lift.tracing import place
from tiledialect.lift.values import AnySize, Value


def map2(function: AnyFunction) -> Function:
    """Applies a function to every element of an array of arrays.

    Example: ``A >> lift.map2(lift.neg)``
    """
    return map(map(function))


def map3(function: AnyFunction) -> Function:
    """Applies a function to every element of an array of arrays of arrays.

    Example: ``A >> lift.split(1) >> lift.map3(lift.neg)``
    """
    return map(map2(function))


def pad2(top: AnySize, bottom: AnySize, *rest: Any) -> Function:
    """Pads both axes: ``pad2(1, 1, clamp)``, or ``pad2(top, bottom, left, right, clamp)``.

    Example: ``A >> lift.pad2(1, 0, lift.clamp)``
    """
    if len(rest) not in (1, 3):
        how = "pad2(1, 1, boundary) or pad2(top, bottom, left, right, boundary)"
        raise TileError(f"give {how}, not {2 + len(rest)} arguments", place())
    *ends, boundary = rest
    left, right = ends or (top, bottom)
    return compose(map(pad(left, right, boundary)), pad(top, bottom, boundary))


def pad3(before: AnySize, after: AnySize, boundary: Boundary) -> Function:
    """Pads all three axes.

    Example: ``A >> lift.split(1) >> lift.pad3(0, 1, lift.wrap)``
    """
    return compose(map(pad2(before, after, boundary)), pad(before, after, boundary))


def pad_constant2(before: AnySize, after: AnySize, constant: Any) -> Function:
    """Pads both axes with a constant.

    Example: ``A >> lift.pad_constant2(0, 1, 0)``
    """
    inner = map(pad_constant(before, after, constant))
    return compose(inner, pad_constant(before, after, constant))


def pad_constant3(before: AnySize, after: AnySize, constant: Any) -> Function:
    """Pads all three axes with a constant.

    Example: ``A >> lift.split(1) >> lift.pad_constant3(0, 1, 0)``
    """
    inner = map(pad_constant2(before, after, constant))
    return compose(inner, pad_constant(before, after, constant))


def slide2(size: AnySize, step: AnySize, *columns: AnySize) -> Function:
    """The windows of rows and columns: of one size, or ``slide2(rows, step, columns, step)``.

    Example: ``A >> lift.slide2(2, 1)``
    """
    if len(columns) not in (0, 2):
        how = "slide2(size, step) or slide2(rows, step, columns, step)"
        raise TileError(f"give {how}, not {2 + len(columns)} arguments", place())
    across = slide(*(columns or (size, step)))
    return compose(map(transpose), slide(size, step), map(across))


def slide3(size: AnySize, step: AnySize) -> Function:
    """The windows along all three axes.

    Example: ``A >> lift.split(1) >> lift.slide3(1, 1)``
    """
    order = map(compose(map(transpose), transpose))
    return compose(order, slide(size, step), map(slide2(size, step)))


def zip2(*arrays: Value) -> Value:
    """Arrays of arrays of the same sizes as one of tuples.

    Example: ``lift.zip2(A, A) >> lift.map2(lift.mul)``
    """
    return zip(*arrays) >> map(Function("zip", zip, None, len(arrays)))


def zip3(*arrays: Value) -> Value:
    """Arrays of arrays of arrays of the same sizes as one of tuples.

    Example: ``lift.zip3(A >> lift.split(1), A >> lift.split(1)) >> lift.map3(lift.add)``
    """
    return zip(*arrays) >> map(Function("zip2", zip2, None, len(arrays)))
