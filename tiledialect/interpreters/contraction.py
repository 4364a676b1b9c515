"""Meaning of a contraction: visit its points, combine, aggregate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import neutral
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import name_of, tensor_type
from tiledialect.dialects.tile.combinations import COMPARED, PRODUCTS, compared_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.numeric import NUMPY_TYPES, convert
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.expr import Constraint, IndexExpr

Array = npt.NDArray[Any]

POINTS_AT_ONCE = 1 << 21
"""Number of points held in memory at a time, about."""


def _combine(op: ContractionOp, arrays: Sequence[Array]) -> Array:
    """The value at each point, from the inputs' elements there."""
    combination = op.combination.data
    together = np.multiply if combination in PRODUCTS else np.add
    compared = COMPARED.get(combination, 0)
    if not compared:
        return reduce(together, arrays)
    # Compared elements are rounded first, as the other side was.
    left = reduce(together, arrays[: compared - 1])
    t = NUMPY_TYPES[compared_type(combination, list(op.inputs))]
    equal = left.astype(t) == arrays[compared - 1].astype(t)
    if compared == len(arrays):
        return equal
    value = reduce(np.multiply, arrays[compared:])
    return np.where(equal, value, value.dtype.type(0))


def _assign(total: Array, where: Array, values: Array) -> None:
    total[where] = values


AGGREGATE: dict[Aggregation, Callable[[Array, Array, Array], None]] = {
    Aggregation.add: np.add.at,
    Aggregation.mul: np.multiply.at,
    Aggregation.max: np.maximum.at,
    Aggregation.min: np.minimum.at,
    Aggregation.assign: _assign,
}
"""Brings the values into the elements they land on."""


def contract(op: ContractionOp, inputs: Sequence[Array], space: IndexSpace, default: Array | None):
    """The result of ``op`` on ``inputs``, of element type as the op declares.

    Floating-point values are combined and aggregated in float64 and rounded once, at the end;
    integers wrap at their own width. Raises a TileError if ``space`` has an index that nothing
    bounds, or if ``assign`` has two values for an element.
    """
    _check(op, space)
    element_type = tensor_type(op.result).element_type
    dtype = _working_type(element_type)
    arrays = _promoted(op, inputs)
    total = np.full(prod(space.output_shape), neutral(op.aggregation.data, element_type), dtype)
    written = np.zeros(total.shape, np.bool_)
    for points in chunks(space):
        elements = [
            array.ravel()[_positions(points, space, access, array.shape)]
            for array, access in zip(arrays, space.inputs, strict=True)
        ]
        values = _combine(op, elements)
        where = _positions(points, space, space.output, space.output_shape)
        AGGREGATE[op.aggregation.data](total, where, values.astype(dtype))
        written[where] = True
    unwritten = np.zeros((), dtype) if default is None else convert(default, element_type).ravel()
    result = np.where(written, total, unwritten).reshape(space.output_shape)
    return convert(result, element_type)


def _check(op: ContractionOp, space: IndexSpace) -> None:
    try:
        sets.ranges(space)
    except UnboundedIndexError as error:
        message = f"nothing bounds the index {error.name} of {name_of(op.result)}"
        raise TileError.at(op, message) from None
    if op.aggregation.data == Aggregation.assign and (found := sets.collision(space)):
        element = ", ".join(map(str, found.output))
        points = " and ".join(
            ", ".join(f"{name} = {value}" for name, value in point.items())
            for point in (found.first, found.second)
        )
        message = f"{name_of(op.result)}[{element}] is assigned twice: at {points}"
        raise TileError.at(op, message)


def _working_type(element_type: Attribute) -> np.dtype[Any]:
    """The type to compute in: float64 stands for the reals, integers are themselves."""
    return np.dtype(np.float64) if et.is_float(element_type) else NUMPY_TYPES[element_type]


def _promoted(op: ContractionOp, inputs: Sequence[Array]) -> list[Array]:
    """The inputs in the types in which they are combined.

    It is the result's; compared elements have a common type of their own.
    """
    combination, values = op.combination.data, list(op.inputs)
    count = COMPARED.get(combination, 0)
    types = [compared_type(combination, values)] * count if count else []
    types += [tensor_type(op.result).element_type] * (len(values) - count)
    return [
        convert(array, t).astype(_working_type(t)) for array, t in zip(inputs, types, strict=True)
    ]


def _positions(
    points: Array, space: IndexSpace, access: Sequence[IndexExpr], shape: Sequence[int]
) -> Array:
    """For each point, the position in row-major order of the element that it touches."""
    position = np.zeros(len(points), np.int64)
    for expr, size in zip(access, shape, strict=True):
        position = position * size + _evaluate(expr, points, space.variables)
    return position


def _evaluate(expr: IndexExpr, points: Array, names: Sequence[str]) -> Array:
    """The value of ``expr``, which is an integer, at each point."""
    divisor = expr.denominator
    value = np.full(len(points), int(expr.constant * divisor), points.dtype)
    for name in expr.names:
        value = value + int(expr.coefficient(name) * divisor) * points[:, names.index(name)]
    return (value // divisor).astype(np.int64)


def chunks(space: IndexSpace) -> Iterator[Array]:
    """All points of ``space``, some at a time."""
    box = sets.ranges(space)
    widest = max(box, key=lambda name: box[name].extent, default=None)
    volume = prod(r.extent for r in box.values())
    if widest is None or volume <= POINTS_AT_ONCE or box[widest].extent == 1:
        yield sets.points(space)
        return
    lower, upper = box[widest].lower, box[widest].upper
    middle = (lower + upper) // 2
    for start, stop in ((lower, middle), (middle, upper)):
        part = Constraint(IndexExpr.of(widest) - start, IndexExpr.of(stop - start))
        yield from chunks(replace(space, constraints=(*space.constraints, part)))
