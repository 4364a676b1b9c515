"""Operators that sample a tensor at computed places between its elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, shape

MODES = ("nearest", "linear", "cubic")
BORDERS = ("zeros", "border", "reflection")

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
    sizes = shape(x)[2:]
    own = tuple(shape(grid)[:-1])
    axes: list[Taps] = []
    for k, size in enumerate(sizes):
        at = len(sizes) - 1 - k
        place = layout.reshape(b, layout.section(b, grid, len(own), at, at + 1), own)
        place = _in_elements(b, place, size, aligns_corners=aligns_corners)
        if border != "zeros" and mode != "cubic":
            place = _moved_inside(b, place, size, border, aligns_corners=aligns_corners)
        axes.append(_taps(b, place, mode))
    total: SSAValue | None = None
    for chosen in product(*axes):
        part = _at(b, x, chosen, border, aligns_corners=aligns_corners)
        total = part if total is None else b.add(total, part)
    assert total is not None
    # The batch, the axes of the grid, then the features, which come second.
    last = len(own)
    return layout.transpose(b, total, [0, last, *range(1, last)])


def _in_elements(b: TensorBuilder, place: SSAValue, size: int, *, aligns_corners: bool) -> SSAValue:
    """Coordinates from -1 to 1 as places of elements, from 0."""
    if aligns_corners:
        return b.mul(b.add(place, 1.0), (size - 1) / 2)
    return b.sub(b.mul(b.add(place, 1.0), size / 2), 0.5)


def _moved_inside(
    b: TensorBuilder, place: SSAValue, size: int, border: str, *, aligns_corners: bool
) -> SSAValue:
    """Places beyond the border, moved to it or reflected at it."""
    if border == "reflection":
        low, span = (0.0, size - 1.0) if aligns_corners else (-0.5, float(size))
        if span > 0:
            distance = b.op(ew.AbsOp, b.sub(place, low))
            turns = b.op(ew.FloorOp, b.mul(distance, 1 / span))
            rest = b.sub(distance, b.mul(turns, span))
            half = b.mul(turns, 0.5)
            is_even = b.op(ew.CmpEqOp, half, b.op(ew.FloorOp, half))
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


def _cubic(b: TensorBuilder, x: SSAValue, a: float = -0.75) -> SSAValue:
    """Weight of an element at a distance (R. Keys, "Cubic convolution interpolation", 1981)."""
    near = b.add(b.mul(b.mul(b.sub(b.mul(x, a + 2), a + 3), x), x), 1.0)
    far = b.sub(b.mul(b.add(b.mul(b.sub(b.mul(x, a), 5 * a), x), 8 * a), x), 4 * a)
    return b.select(b.op(ew.CmpLeOp, x, 1.0), near, far)


def _at(
    b: TensorBuilder,
    x: SSAValue,
    taps: Sequence[tuple[SSAValue, SSAValue]],
    border: str,
    *,
    aligns_corners: bool,
) -> SSAValue:
    """Weighted elements at whole places; the features are the last axis."""
    sizes, batch = shape(x)[2:], shape(x)[0]
    number, weight, inside = None, None, None
    for (place, own), size in zip(taps, sizes, strict=True):
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
        weight = own if weight is None else b.mul(weight, own)
    assert number is not None and weight is not None
    if batch > 1:
        number = b.add(number, b.mul(layout.iota(b, shape(number), 0, i32), prod(sizes)))
    rows = layout.transpose(b, x, [0, *range(2, len(shape(x))), 1])
    table = layout.reshape(b, rows, (batch * prod(sizes), shape(x)[1]))
    found = b.insert(GatherOp.make(table, number))
    if inside is not None:
        weight = b.select(inside, weight, fn.like(b, weight, 0))
    factor = layout.reshape(b, cast(b, weight, element_type(x)), (*shape(weight), 1))
    return b.mul(found, factor)
