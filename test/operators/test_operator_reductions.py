"""Reductions along axes and over windows, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import Array, call, compare_on, same
from xdsl.ir import SSAValue

import tiledialect as td
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import reductions
from tiledialect.operators.linear import Window

FEW = settings(max_examples=15, deadline=None)
MEANINGS: dict[Aggregation, Any] = {
    Aggregation.add: np.add,
    Aggregation.mul: np.multiply,
    Aggregation.max: np.maximum,
    Aggregation.min: np.minimum,
}
DTYPES = [*map(np.dtype, ("f4", "f8", "i1", "u1", "i4", "i8"))]


def whole(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Small whole numbers, whose sums and products are exact or wrap."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return rng.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)


@FEW
@given(data=st.data(), dtype=st.sampled_from(DTYPES), kind=st.sampled_from([*MEANINGS]))
def test_reduce(data: st.DataObject, dtype: np.dtype[Any], kind: Aggregation):
    shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    axes = [k for k in range(len(shape)) if data.draw(st.booleans())]
    x, start = whole(data.draw, shape, dtype), whole(data.draw, (), dtype)
    (got,) = call(lambda b, v, s: reductions.reduce(b, v, s, kind, axes), x, start)
    wanted = MEANINGS[kind].reduce(x, axis=tuple(axes), initial=start, dtype=dtype)
    same(got, np.asarray(wanted, dtype))


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Window], tuple[int, ...]]:
    """Sizes of a tensor, windows over its axes, and the sizes of the result."""
    sizes, found, results = list[int](), list[Window](), list[int]()
    for _ in range(draw(st.integers(1, 2))):
        n, size = draw(st.integers(1, 5)), draw(st.integers(1, 3))
        stride, base, dilation = (draw(st.integers(1, 2)) for _ in range(3))
        low, high = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        reach = low + high + (n - 1) * base + 1 - (size - 1) * dilation - 1
        sizes.append(n)
        found.append(Window(size, stride, low, base, dilation))
        results.append(max(0, reach // stride + 1))
    return tuple(sizes), found, tuple(results)


def window_places(
    place: tuple[int, ...], shape: tuple[int, ...], found: list[Window]
) -> Iterator[tuple[int, ...]]:
    """The places of the elements of a window, in order."""
    for offsets in product(*(range(w.size) for w in found)):
        at = [
            w.stride * p + w.dilation * o - w.low
            for w, p, o in zip(found, place, offsets, strict=True)
        ]
        whole_at = tuple(a // w.base_dilation for a, w in zip(at, found, strict=True))
        if all(
            a % w.base_dilation == 0 and 0 <= p < n
            for a, w, p, n in zip(at, found, whole_at, shape, strict=True)
        ):
            yield whole_at


Case = tuple[tuple[int, ...], list[Window], tuple[int, ...]]


@FEW
@given(
    data=st.data(), case=windows(), dtype=st.sampled_from(DTYPES), kind=st.sampled_from([*MEANINGS])
)
def test_reduce_window(data: st.DataObject, case: Case, dtype: np.dtype[Any], kind: Aggregation):
    shape, found, sizes = case
    x, start = whole(data.draw, shape, dtype), whole(data.draw, (), dtype)
    (got,) = call(lambda b, v, s: reductions.reduce_window(b, v, s, kind, found, sizes), x, start)
    wanted = np.full(sizes, start, dtype)
    for place in np.ndindex(*sizes):
        for at in window_places(place, shape, found):
            wanted[place] = MEANINGS[kind](wanted[place], x[at])
    same(got, wanted)


def argmax(b: TensorBuilder, left: Any, right: Any) -> list[SSAValue]:
    """The larger value with its place, of equal ones the first."""
    (x, i), (y, j) = left, right
    from tiledialect.dialects.tile.elementwise import ops as ew

    takes = b.op(ew.CmpGeOp, x, y)
    return [b.select(takes, x, y), b.select(takes, i, j)]


@FEW
@given(data=st.data())
def test_fold(data: st.DataObject):
    shape = tuple(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=2)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = whole(data.draw, shape, np.dtype("f4"))
    line = [n if k == axis else 1 for k, n in enumerate(shape)]
    places = np.broadcast_to(np.arange(shape[axis], dtype="i4").reshape(line), shape).copy()
    starts = np.float32(-math.inf), np.int32(-1)
    values, found = call(
        lambda b, v, p, s, t: reductions.fold(
            b, [v, p], [s, t], lambda left, right: argmax(b, left, right), [axis]
        ),
        *(x, places, np.array(starts[0]), np.array(starts[1])),
    )
    if shape[axis]:
        same(values, x.max(axis))
        same(found, x.argmax(axis).astype("i4"))
    else:
        assert (values == -math.inf).all() and (found == -1).all()


@FEW
@given(data=st.data(), case=windows())
def test_fold_windows(data: st.DataObject, case: Case):
    shape, found, sizes = case
    if 0 in sizes:
        return
    x, start = whole(data.draw, shape, np.dtype("i4")), np.array(0, "i4")
    (got,) = call(
        lambda b, v, s: reductions.fold_windows(
            *(b, [v], [s]),
            lambda left, right: [b.add(left[0], right[0])],
            *(found, sizes),
        ),
        *(x, start),
    )
    wanted = np.zeros(sizes, "i4")
    for place in np.ndindex(*sizes):
        for at in window_places(place, shape, found):
            wanted[place] += x[at]
    same(got, wanted)


@FEW
@given(data=st.data(), case=windows(), is_max=st.booleans(), is_first=st.booleans())
def test_select_and_scatter(data: st.DataObject, case: Case, is_max: bool, is_first: bool):
    shape, found, sizes = case
    found = [Window(w.size, w.stride, min(w.low, w.size - 1)) for w in found]
    sizes = tuple(
        max(1, min(m, (n + w.low - 1) // w.stride + 1))
        for m, n, w in zip(sizes, shape, found, strict=True)
    )
    x, source = (whole(data.draw, s, np.dtype("f4")) for s in (shape, sizes))
    kind = Aggregation.max if is_max else Aggregation.min
    (got,) = call(
        lambda b, v, s: reductions.select_and_scatter(b, v, s, kind, found, is_first=is_first),
        *(x, source),
    )
    better: Callable[[Any, Any], bool] = np.greater if is_max else np.less
    wanted = np.zeros(shape, "f4")
    for place in np.ndindex(*sizes):
        chosen = None
        for at in window_places(place, shape, found):
            if chosen is None or better(x[at], x[chosen]) or (x[at] == x[chosen] and not is_first):
                chosen = at
        if chosen is not None:
            wanted[chosen] += source[place]
    same(got, wanted)


def test_reductions_on_devices(device: td.Device):
    rng = np.random.default_rng(0)
    x, zero = rng.normal(size=(4, 6)).astype("f"), np.array(0, "f")
    source = rng.normal(size=(2, 3)).astype("f")
    boxes = [Window(2, 2), Window(3, 2, 1)]
    compare_on(
        device,
        [
            (lambda b, v, s: reductions.reduce(b, v, s, Aggregation.add, [1]), [x, zero]),
            (
                lambda b, v, s: reductions.reduce_window(
                    b, v, s, Aggregation.max, [Window(2, 1, 1, 2), Window(3, 2, 1)], (8, 3)
                ),
                [x, zero],
            ),
            (
                lambda b, v, s: reductions.fold(
                    b, [v], [s], lambda p, q: [b.add(p[0], q[0])], [0, 1]
                ),
                [x, zero],
            ),
            (
                lambda b, v, s: reductions.fold_windows(
                    b, [v], [s], lambda p, q: [b.mul(p[0], q[0])], boxes, (2, 3)
                ),
                [x, np.array(1, "f")],
            ),
            (
                lambda b, v, s: reductions.select_and_scatter(
                    b, v, s, Aggregation.max, boxes, is_first=True
                ),
                [x, source],
            ),
        ],
    )
