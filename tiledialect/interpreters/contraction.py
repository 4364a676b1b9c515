"""Meaning of a contraction: visit its points, combine, aggregate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, convert
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.interpreters import matrix_product
from tiledialect.interpreters.agreement import note_terms
from tiledialect.interpreters.points import Block, blocks, located, positions

Array = npt.NDArray[Any]


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


POINTS_AT_ONCE = 1 << 17
"""Bound on the points of a block: its arrays stay in a processor's cache."""

MATRIX_ELEMENTS = 1 << 22
"""Bound on the elements of a matrix of a block."""


REDUCE: dict[Aggregation, np.ufunc] = {
    Aggregation.add: np.add,
    Aggregation.mul: np.multiply,
    Aggregation.max: np.maximum,
    Aggregation.min: np.minimum,
}
"""Brings values together that land on one element; with `assign`, two do not."""


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
    flat = [array.ravel() for array in arrays]
    total = np.full(prod(space.output_shape), neutral(op.aggregation.data, element_type), dtype)
    written = np.zeros(total.shape, np.bool_)
    is_product = matrix_product.is_product(op, arrays)
    count = 0
    for points, (output, *operands) in located(space):
        lengths = [len(axis.values) for axis in points]
        count += prod(lengths)
        note_terms(op, prod(lengths) // max(prod(output.shape), 1))
        shapes = [output.shape, *(operand.shape for operand in operands)]
        by_matrices = is_product and matrix_product.is_long(lengths, shapes)
        for block in _blocks(lengths, shapes, by_matrices):
            where = positions(output, block)
            places = (positions(operand, block) for operand in operands)
            elements = [a.take(p) for a, p in zip(flat, places, strict=True)]
            sizes = [rows.stop - rows.start for rows in block]
            if by_matrices:
                values = matrix_product.multiply(elements, where.shape, sizes)
            else:
                values = _reduced(op, _combine(op, elements).astype(dtype), where.shape, sizes)
            values = np.broadcast_to(values, where.shape).ravel()
            AGGREGATE[op.aggregation.data](total, where.ravel(), values)
            written[where] = True
    # A long sum is done in pieces.
    note_terms(op, count // max(total.size, 1))
    unwritten = np.zeros((), dtype) if default is None else convert(default, element_type).ravel()
    result = np.where(written, total, unwritten).reshape(space.output_shape)
    return convert(result, element_type)


def _blocks(
    lengths: Sequence[int], shapes: Sequence[Sequence[int]], by_matrices: bool
) -> Iterator[Block]:
    """The points in blocks whose arrays are small."""
    if not by_matrices:
        return blocks([lengths], POINTS_AT_ONCE)
    kept, *factors = shapes
    # A factor is repeated along the dimensions that are summed.
    summed = [n if k == 1 else 1 for n, k in zip(lengths, kept, strict=True)]
    matrices = [[max(n, s) for n, s in zip(f, summed, strict=True)] for f in factors]
    return blocks([kept, *matrices], MATRIX_ELEMENTS)


def _reduced(
    op: ContractionOp, values: Array, kept: Sequence[int], lengths: Sequence[int]
) -> Array:
    """Values at points, aggregated along the dimensions where ``kept`` is 1."""
    axes = tuple(d for d, (n, k) in enumerate(zip(lengths, kept, strict=True)) if n != k)
    if axes:
        every = [n if d in axes else values.shape[d] for d, n in enumerate(lengths)]
        values = REDUCE[op.aggregation.data].reduce(
            np.broadcast_to(values, every), axis=axes, dtype=values.dtype, keepdims=True
        )
    return values


def _check(op: ContractionOp, space: IndexSpace) -> None:
    try:
        sets.ranges(space)
    except UnboundedIndexError as error:
        message = f"nothing bounds the index {error.name} of {name_of(op.result)}"
        raise TileError.at(op, message) from None
    if op.aggregation.data == Aggregation.assign and (found := sets.collision(space)):
        place = f"{name_of(op.result)}[{found.element}]"
        raise TileError.at(op, f"{place} is assigned twice: at {found.points}")


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
