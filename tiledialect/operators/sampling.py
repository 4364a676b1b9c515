"""Operators that sample a tensor at computed places between its elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp, ScatterOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.reductions import reduced

MODES = ("nearest", "linear", "cubic")
BORDERS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""Slope of cubic weights at distance 1."""

Taps = list[tuple[SSAValue, SSAValue]]
"""Whole places along an axis as reals, and their weights."""


def sample(
    b: TensorBuilder,
    x: SSAValue,
    grid: SSAValue,
    mode: str,
    border: str,
    *,
    aligns_corners: bool,
) -> SSAValue:
    """Values of ``x`` at the points of a grid, by interpolation between its elements.

    ``x`` has a batch, features and spatial axes; ``grid`` a batch, axes of its own, and as its
    last axis the coordinates from -1 to 1, those of the last spatial axis first.
    """
    places = _places(b, x, grid, mode, border, aligns_corners)
    return sample_at(b, x, [p for p, _ in places], mode, border, aligns_corners=aligns_corners)


def sample_at(
    b: TensorBuilder,
    x: SSAValue,
    places: Sequence[SSAValue],
    mode: str,
    border: str,
    *,
    aligns_corners: bool = False,
    batch: SSAValue | None = None,
) -> SSAValue:
    """Values of ``x`` at places along each of its spatial axes, in elements from 0.

    The first axis of the places is that of the batch, or ``batch`` has the numbers of the elements
    of the batch, in their shape. The result has the axes of the places, with the features second.
    """
    return _features_second(
        b, reduce(b.add, _shares(b, x, places, mode, border, aligns_corners, batch))
    )


def shares_at(
    b: TensorBuilder,
    x: SSAValue,
    places: Sequence[SSAValue],
    *,
    batch: SSAValue | None,
) -> list[SSAValue]:
    """Shares of elements of ``x`` in a linear ``sample_at`` up to its border: their sum."""
    shares = _shares(b, x, places, "linear", "border", False, batch)
    return [_features_second(b, share) for share in shares]


def _shares(
    b: TensorBuilder,
    x: SSAValue,
    places: Sequence[SSAValue],
    mode: str,
    border: str,
    aligns_corners: bool,
    batch: SSAValue | None,
) -> list[SSAValue]:
    """Shares of elements, with the features last."""
    table, shares = _rows(b, x), list[SSAValue]()
    for chosen in product(*(_taps(b, place, mode) for place in places)):
        number, inside = _number(b, x, [p for p, _ in chosen], border, aligns_corners, batch)
        weight = _weight(b, [w for _, w in chosen], inside)
        shares.append(b.mul(b.insert(GatherOp.make(table, number)), _column(b, weight, x)))
    return shares


def _features_second(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """A tensor whose last axis becomes the second one."""
    last = len(shape(x)) - 1
    return layout.transpose(b, x, [0, last, *range(1, last)])


def sample_gradients(
    b: TensorBuilder,
    cotangent: SSAValue,
    x: SSAValue,
    grid: SSAValue,
    mode: str,
    border: str,
    *,
    aligns_corners: bool,
) -> tuple[SSAValue, SSAValue]:
    """Gradients of ``sample`` by the tensor and by the grid."""
    places = _places(b, x, grid, mode, border, aligns_corners)
    by_x, by_place = sample_at_gradients(
        b, cotangent, x, [p for p, _ in places], mode, border, aligns_corners=aligns_corners
    )
    columns = [
        layout.reshape(b, b.mul(own, factor), (*shape(grid)[:-1], 1))
        for own, (_, factor) in zip(by_place, places, strict=True)
    ]
    return by_x, layout.concatenate(b, columns[::-1], len(shape(grid)) - 1)


def sample_at_gradients(
    b: TensorBuilder,
    cotangent: SSAValue,
    x: SSAValue,
    places: Sequence[SSAValue],
    mode: str,
    border: str,
    *,
    aligns_corners: bool = False,
    batch: SSAValue | None = None,
) -> tuple[SSAValue, list[SSAValue]]:
    """Gradients of ``sample_at`` by the tensor, and by the places along each axis."""
    rank, last = len(places), len(shape(places[0]))
    cotangent = layout.transpose(b, cotangent, [0, *range(2, last + 1), 1])
    axes = [
        [(*tap, slope) for tap, slope in zip(_taps(b, p, mode), _slopes(b, p, mode), strict=True)]
        for p in places
    ]
    table = _rows(b, x)
    like = layout.full(b, 0, shape(table), element_type(x))
    by_rows, by_place = like, [fn.like(b, places[0], 0) for _ in range(rank)]
    for chosen in product(*axes):
        number, inside = _number(b, x, [p for p, _, _ in chosen], border, aligns_corners, batch)
        weights, slopes = [w for _, w, _ in chosen], [s for _, _, s in chosen]
        share = b.mul(cotangent, _column(b, _weight(b, weights, inside), x))
        by_rows = b.add(by_rows, b.insert(ScatterOp.make(share, number, like)))
        found = b.mul(b.insert(GatherOp.make(table, number)), cotangent)
        total = reduced(b, found, Aggregation.add, [last], keeps=False)
        for k in range(rank):
            others = [slopes[k] if j == k else w for j, w in enumerate(weights)]
            by_place[k] = b.add(by_place[k], b.mul(total, _weight(b, others, inside)))
    sizes = (shape(x)[0], *shape(x)[2:], shape(x)[1])
    by_x = layout.transpose(
        b, layout.reshape(b, by_rows, sizes), [0, rank + 1, *range(1, rank + 1)]
    )
    return by_x, by_place


def _places(
    b: TensorBuilder, x: SSAValue, grid: SSAValue, mode: str, border: str, aligns_corners: bool
) -> list[tuple[SSAValue, SSAValue]]:
    """Places of the points of a grid along each spatial axis, and their derivatives by the grid."""
    sizes, own = shape(x)[2:], tuple(shape(grid)[:-1])
    result: list[tuple[SSAValue, SSAValue]] = []
    for k, size in enumerate(sizes):
        at = len(sizes) - 1 - k
        place = layout.reshape(b, layout.section(b, grid, len(own), at, at + 1), own)
        place = _in_elements(b, place, size, aligns_corners=aligns_corners)
        factor = fn.like(b, place, (size - 1 if aligns_corners else size) / 2)
        if border != "zeros" and mode != "cubic":
            turn = _turn(b, place, size, border, aligns_corners=aligns_corners)
            place = _moved_inside(b, place, size, border, aligns_corners=aligns_corners)
            last = float(size - 1)
            is_moving = b.op(ew.BitAndOp, b.op(ew.CmpGtOp, place, 0.0), fn.is_less(b, place, last))
            factor = b.select(is_moving, b.mul(turn, factor), 0.0)
        result.append((place, factor))
    return result


def _in_elements(b: TensorBuilder, place: SSAValue, size: int, *, aligns_corners: bool) -> SSAValue:
    """Coordinates from -1 to 1 as places of elements, from 0."""
    if aligns_corners:
        return b.mul(b.add(place, 1.0), (size - 1) / 2)
    return b.sub(b.mul(b.add(place, 1.0), size / 2), 0.5)


def _turn(
    b: TensorBuilder, place: SSAValue, size: int, border: str, *, aligns_corners: bool
) -> SSAValue:
    """1, or -1 where a place moves backwards, reflected at the border."""
    low, span = _reflected_span(size, aligns_corners)
    if border != "reflection" or span <= 0:
        return fn.like(b, place, 1)
    away = b.sub(place, low)
    _, is_even = _turns(b, b.op(ew.AbsOp, away), span)
    forward = b.op(ew.BitXorOp, is_even, fn.is_less(b, away, 0.0))
    return b.select(forward, fn.like(b, place, 1), fn.like(b, place, -1))


def _reflected_span(size: int, aligns_corners: bool) -> tuple[float, float]:
    """First place at which places are reflected, and the distance to the last one."""
    return (0.0, size - 1.0) if aligns_corners else (-0.5, float(size))


def _turns(b: TensorBuilder, distance: SSAValue, span: float) -> tuple[SSAValue, SSAValue]:
    """Number of reflections on a distance, and whether it is even."""
    turns = b.op(ew.FloorOp, b.mul(distance, 1 / span))
    half = b.mul(turns, 0.5)
    return turns, b.op(ew.CmpEqOp, half, b.op(ew.FloorOp, half))


def _moved_inside(
    b: TensorBuilder, place: SSAValue, size: int, border: str, *, aligns_corners: bool
) -> SSAValue:
    """Places beyond the border, moved to it or reflected at it."""
    if border == "reflection":
        low, span = _reflected_span(size, aligns_corners)
        if span > 0:
            distance = b.op(ew.AbsOp, b.sub(place, low))
            turns, is_even = _turns(b, distance, span)
            rest = b.sub(distance, b.mul(turns, span))
            place = b.add(b.select(is_even, rest, b.sub(span, rest)), low)
    return b.op(ew.MinOp, b.op(ew.MaxOp, place, 0.0), float(size - 1))


def _taps(b: TensorBuilder, place: SSAValue, mode: str) -> Taps:
    """Elements near places, and their weights."""
    if mode == "nearest":
        return [(fn.round_to_even(b, place), fn.like(b, place, 1))]
    first = b.op(ew.FloorOp, place)
    rest = b.sub(place, first)
    if mode == "linear":
        return [(first, b.sub(1.0, rest)), (b.add(first, 1.0), rest)]
    return [
        (b.add(first, float(k)), _cubic(b, b.op(ew.AbsOp, b.sub(rest, float(k)))))
        for k in (-1, 0, 1, 2)
    ]


def _slopes(b: TensorBuilder, place: SSAValue, mode: str) -> list[SSAValue]:
    """Derivatives of the weights of the elements near places."""
    if mode == "nearest":
        return [fn.like(b, place, 0)]
    if mode == "linear":
        return [fn.like(b, place, -1), fn.like(b, place, 1)]
    rest = b.sub(place, b.op(ew.FloorOp, place))
    distances = [b.sub(rest, float(k)) for k in (-1, 0, 1, 2)]
    return [
        b.select(fn.is_less(b, d, 0.0), b.neg(slope), slope)
        for d in distances
        for slope in [_cubic_slope(b, b.op(ew.AbsOp, d))]
    ]


def _cubic(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Weight of an element at a distance (R. Keys, "Cubic convolution interpolation", 1981)."""
    near = b.add(b.mul(b.mul(b.sub(b.mul(x, CUBIC + 2), CUBIC + 3), x), x), 1.0)
    far = b.sub(b.mul(b.add(b.mul(b.sub(b.mul(x, CUBIC), 5 * CUBIC), x), 8 * CUBIC), x), 4 * CUBIC)
    return b.select(b.op(ew.CmpLeOp, x, 1.0), near, far)


def _cubic_slope(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Derivative of the weight of an element at a distance."""
    near = b.mul(b.sub(b.mul(x, 3 * (CUBIC + 2)), 2 * (CUBIC + 3)), x)
    far = b.add(b.mul(b.sub(b.mul(x, 3 * CUBIC), 10 * CUBIC), x), 8 * CUBIC)
    return b.select(b.op(ew.CmpLeOp, x, 1.0), near, far)


def _rows(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Features of each element of each batch as a row."""
    sizes = shape(x)
    moved = layout.transpose(b, x, [0, *range(2, len(sizes)), 1])
    return layout.reshape(b, moved, (sizes[0] * prod(sizes[2:]), sizes[1]))


def _number(
    b: TensorBuilder,
    x: SSAValue,
    places: Sequence[SSAValue],
    border: str,
    aligns_corners: bool,
    batch: SSAValue | None,
) -> tuple[SSAValue, SSAValue | None]:
    """Row of the element at whole places, and whether it is inside, if it may not be."""
    sizes = shape(x)[2:]
    number, inside = None, None
    for place, size in zip(places, sizes, strict=True):
        if border == "zeros":
            fits = b.op(
                ew.BitAndOp, b.op(ew.CmpGeOp, place, 0.0), b.op(ew.CmpLeOp, place, float(size - 1))
            )
            inside = fits if inside is None else b.op(ew.BitAndOp, inside, fits)
            place = b.op(ew.MinOp, b.op(ew.MaxOp, place, 0.0), float(size - 1))
        else:
            place = _moved_inside(b, place, size, border, aligns_corners=aligns_corners)
        place = cast(b, place, i32)
        number = place if number is None else b.add(b.mul(number, size), place)
    assert number is not None
    if shape(x)[0] > 1:
        own = layout.iota(b, shape(number), 0, i32) if batch is None else batch
        number = b.add(number, b.mul(own, prod(sizes)))
    return number, inside


def _weight(b: TensorBuilder, factors: Sequence[SSAValue], inside: SSAValue | None) -> SSAValue:
    """Product of weights; 0 outside."""
    result = reduce(b.mul, factors)
    return result if inside is None else b.select(inside, result, fn.like(b, result, 0))


def _column(b: TensorBuilder, weight: SSAValue, x: SSAValue) -> SSAValue:
    """Weights in the type of ``x``, for all features."""
    return layout.reshape(b, cast(b, weight, element_type(x)), (*shape(weight), 1))
