"""Points of a contraction as products of lists, for NumPy's broadcasting.

An axis is a part of the points that is independent of the others: values of one index, or of
several that are tied together. Arrays over the points have a dimension for each axis, of length 1
where they are the same along it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect import caches
from tiledialect.index import domain
from tiledialect.index.component import Component, ConstraintRow, PlacedComponent
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import IndexExpr

Array = npt.NDArray[Any]

AXIS_POINTS = 1 << 20
"""Bound on the points of an axis."""

MOST_PRODUCTS = 16
"""Bound on the products that the points of an axis fall apart into."""


KEPT_POINTS = 1 << 14
"""Bound on the points of components of a space whose points are kept."""


@dataclass(frozen=True)
class Axis:
    """An independent part of points: a row for each of them, a column for each of ``names``."""

    names: tuple[str, ...]
    values: Array


Points = tuple[Axis, ...]
"""Points: any row of each axis."""

Block = tuple[slice, ...]
"""Rows of each axis."""


@dataclass(frozen=True)
class Touched:
    """Positions in row-major order of the elements of a tensor that points touch.

    That of a point is ``first`` plus an element of each of ``steps``, which has the dimension of
    its axis, of length 1 if the axis makes no difference.
    """

    first: int
    steps: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions of an array of the elements."""
        return tuple(step.size for step in self.steps)


# -- points --------------------------------------------------------------------------------------


def products(space: IndexSpace) -> Iterator[Points]:
    """All points of ``space``: disjoint sets of them, each with no axis empty."""
    parts = sorted(space.components, key=lambda part: -_volume(part.component))
    yield from _combined(parts)


def _combined(parts: Sequence[PlacedComponent]) -> Iterator[Points]:
    if not parts:
        yield ()
        return
    for axes in _axes(parts[0]):
        for more in _combined(parts[1:]):
            yield (*axes, *more)


def _axes(part: PlacedComponent) -> Iterator[Points]:
    """The points of a component: each index an axis where they are few products, else one axis."""
    for component in _pieces(part.component):
        if domain.is_box(component):
            factors = [domain.box_values(component)]
        else:
            points = domain.points(component)
            factors = _factors(points)
            if factors is None:
                yield (Axis(part.names, points),)
        for columns in factors or ():
            pairs = zip(part.names, columns, strict=True)
            yield tuple(Axis((name,), values[:, None]) for name, values in pairs)


def _volume(component: Component) -> int:
    return prod(upper - lower for lower, upper in domain.bounding_box(component))


def _pieces(component: Component) -> Iterator[Component]:
    """Disjoint parts of a component that are boxes of short axes, or few points; none empty."""
    if domain.is_empty(component):
        return
    box = domain.bounding_box(component)
    extents = [upper - lower for lower, upper in box]
    short_box = domain.is_box(component) and max(extents, default=0) <= AXIS_POINTS
    if prod(extents) <= AXIS_POINTS or max(extents) == 1 or short_box:
        yield component
        return
    widest = extents.index(max(extents))
    lower, upper = box[widest]
    middle = (lower + upper) // 2
    unit = tuple(int(n == widest) for n in range(component.size))
    for start, stop in ((lower, middle), (middle, upper)):
        row = ConstraintRow(unit, -start, 1, stop - start)
        yield from _pieces(replace(component, rows=(*component.rows, row)))


def _factors(points: Array) -> list[list[Array]] | None:
    """Disjoint products of a list for each column that make up ``points``; None if many do."""
    if points.dtype == object or not points.shape[1]:
        return None
    if points.shape[1] == 1:
        return [[points[:, 0]]]
    lowest, extents = (np.array([f(c) for c in points.T]) for f in (np.min, np.ptp))
    least = int(extents.argmin())
    if extents[least] >= MOST_PRODUCTS:
        return None
    rest = np.delete(points, least, axis=1)
    alike: dict[bytes, tuple[list[int], Array]] = {}
    for value in range(lowest[least], lowest[least] + extents[least] + 1):
        part = rest[points[:, least] == value]
        if len(part):
            alike.setdefault(part.tobytes(), ([], part))[0].append(value)
    found: list[list[Array]] = []
    for those, part in alike.values():
        factors = _factors(part)
        if factors is None:
            return None
        column = np.array(those, points.dtype)
        found += [[*f[:least], column, *f[least:]] for f in factors]
    return found if len(found) <= MOST_PRODUCTS else None


# -- elements ------------------------------------------------------------------------------------


def touched(points: Points, space: IndexSpace) -> list[Touched]:
    """The elements of the output, then of each input, that are touched at ``points``."""
    accesses = (
        (space.output, space.output_shape),
        *zip(space.inputs, space.input_shapes, strict=True),
    )
    return [_touched(points, access, shape) for access, shape in accesses]


def _touched(points: Points, access: Sequence[IndexExpr], shape: Sequence[int]) -> Touched:
    columns = {
        name: (number, axis.values[:, column])
        for number, axis in enumerate(points)
        for column, name in enumerate(axis.names)
    }
    first, steps = 0, [np.zeros(1, np.int64) for _ in points]
    for expr, size in zip(access, shape, strict=True):
        scale = expr.denominator
        value = int(expr.constant * scale)
        along: dict[int, Array] = {}
        for monomial, coefficient in expr:
            for name in monomial:
                number, values = columns[name]
                along[number] = int(coefficient * scale) * values + along.get(number, 0)
        steps = [step * size for step in steps]
        for number, values in along.items():
            value += int(values[0])
            # From one point to another, an index moves by an integer.
            moved = ((values - values[0]) // scale).astype(np.int64)
            steps[number] = steps[number] + moved
        first = first * size + value // scale
    used = (step if step.any() else step[:1] for step in steps)
    ones = (1,) * len(points)
    return Touched(
        first, tuple(s.reshape(*ones[:k], -1, *ones[k + 1 :]) for k, s in enumerate(used))
    )


def positions(elements: Touched, block: Block) -> Array:
    """The positions of the elements that the points of a block touch."""
    found = np.full((1,) * len(block), elements.first, np.int64)
    for number, (step, rows) in enumerate(zip(elements.steps, block, strict=True)):
        if step.size > 1:
            found = found + step[(slice(None),) * number + (rows,)]
    return found


def located(space: IndexSpace) -> Iterable[tuple[Points, list[Touched]]]:
    """All points of ``space`` as ``products`` has them, with the elements touched at each."""
    if sum(_volume(part.component) for part in space.components) <= KEPT_POINTS:
        return _located(space)
    return ((points, touched(points, space)) for points in products(space))


@caches.POINTS
def _located(space: IndexSpace) -> Iterable[tuple[Points, list[Touched]]]:
    return [(points, touched(points, space)) for points in products(space)]


# -- blocks --------------------------------------------------------------------------------------


def blocks(arrays: Sequence[Sequence[int]], most: int) -> Iterator[Block]:
    """Blocks of points for which none of some arrays over them has more than ``most`` elements.

    The arrays' dimensions for all points are given.
    """
    lengths = [max(dimensions) for dimensions in zip(*arrays, strict=True)]
    yield from _halved(tuple(slice(0, n) for n in lengths), arrays, most)


def _halved(block: Block, arrays: Sequence[Sequence[int]], most: int) -> Iterator[Block]:
    shapes = [
        [rows.stop - rows.start if n > 1 else 1 for n, rows in zip(array, block, strict=True)]
        for array in arrays
    ]
    largest = max(shapes, key=prod)
    if prod(largest) <= most:
        yield block
        return
    longest = largest.index(max(largest))
    start, stop = block[longest].start, block[longest].stop
    middle = (start + stop) // 2
    for rows in (slice(start, middle), slice(middle, stop)):
        yield from _halved((*block[:longest], rows, *block[longest + 1 :]), arrays, most)
