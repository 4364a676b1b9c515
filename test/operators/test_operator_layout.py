"""Operators that move elements, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import Array, call, compare_on

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.operators import layout

DTYPES = [
    *map(np.dtype, ("?", "i1", "u1", "i4", "u4", "i8", "f2", "f4", "f8")),
    np.dtype(ml_dtypes.bfloat16),
]
FEW = settings(max_examples=15, deadline=None)
SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)


def numbered(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of other numbers at each place, as far as the type has them."""
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


@st.composite
def arrays(draw: st.DrawFn, least_rank: int = 0) -> Array:
    shape = draw(st.lists(st.integers(0, 4), min_size=least_rank, max_size=3).map(tuple))
    return numbered(shape, draw(st.sampled_from(DTYPES)))


def is_same(got: Array, wanted: Array) -> bool:
    return got.dtype == wanted.dtype and np.array_equal(got, wanted)


@FEW
@given(x=arrays(), data=st.data())
def test_transpose_and_reverse(x: Array, data: st.DataObject):
    order = data.draw(st.permutations(range(x.ndim)))
    axes = [k for k in range(x.ndim) if data.draw(st.booleans())]
    (moved,) = call(lambda b, v: layout.transpose(b, v, order), x)
    assert is_same(moved, np.transpose(x, order))
    (turned,) = call(lambda b, v: layout.reverse(b, v, axes), x)
    assert is_same(turned, np.flip(x, axes))


@FEW
@given(x=arrays(), data=st.data())
def test_broadcast(x: Array, data: st.DataObject):
    rank = x.ndim + data.draw(st.integers(0, 2))
    axes = data.draw(st.permutations(range(rank)))[: x.ndim]
    sizes = [data.draw(st.integers(0, 3)) for _ in range(rank)]
    for axis, n in zip(axes, x.shape, strict=True):
        sizes[axis] = n if n != 1 else data.draw(st.integers(0, 3))
    (got,) = call(lambda b, v: layout.broadcast(b, v, tuple(sizes), axes), x)
    order = np.argsort(axes)
    line = [1] * rank
    for axis, n in zip(axes, x.shape, strict=True):
        line[axis] = n
    assert is_same(got, np.broadcast_to(np.transpose(x, order).reshape(line), sizes))


@FEW
@given(x=arrays(least_rank=1), data=st.data())
def test_slices(x: Array, data: st.DataObject):
    starts = [data.draw(st.integers(0, n)) for n in x.shape]
    stops = [data.draw(st.integers(s, n)) for s, n in zip(starts, x.shape, strict=True)]
    steps = [data.draw(st.integers(1, 3)) for _ in x.shape]
    (got,) = call(lambda b, v: layout.strided_slice(b, v, starts, stops, steps), x)
    assert is_same(got, x[tuple(map(slice, starts, stops, steps))])


@FEW
@given(x=arrays(), data=st.data())
def test_pad(x: Array, data: st.DataObject):
    low, high, interior = (
        [data.draw(st.integers(least, 2)) for _ in x.shape] for least in (-1, -1, 0)
    )
    grown = [
        a + c + n + e * max(0, n - 1)
        for a, c, e, n in zip(low, high, interior, x.shape, strict=True)
    ]
    low = [max(a, a - n) if n < 0 else a for a, n in zip(low, grown, strict=True)]
    value = numbered((), x.dtype) if data.draw(st.booleans()) else np.zeros((), x.dtype)
    (got,) = call(lambda b, v, w: layout.pad(b, v, w, low, high, interior), x, value)
    wanted = np.full(got.shape, value, x.dtype)
    for place in np.ndindex(*x.shape):
        to = [a + (1 + e) * p for a, e, p in zip(low, interior, place, strict=True)]
        if all(0 <= p < n for p, n in zip(to, got.shape, strict=True)):
            wanted[tuple(to)] = x[place]
    shape = [
        a + c + n + e * max(0, n - 1)
        for a, c, e, n in zip(low, high, interior, x.shape, strict=True)
    ]
    assert got.shape == tuple(shape) and is_same(got, wanted)


@FEW
@given(x=arrays(least_rank=1), data=st.data())
def test_concatenate(x: Array, data: st.DataObject):
    axis = data.draw(st.integers(0, x.ndim - 1))
    parts = [x]
    for _ in range(data.draw(st.integers(0, 2))):
        shape = [*x.shape]
        shape[axis] = data.draw(st.integers(0, 3))
        parts.append(numbered(tuple(shape), x.dtype))
    (got,) = call(lambda b, *v: layout.concatenate(b, v, axis), *parts)
    assert is_same(got, np.concatenate(parts, axis))


@FEW
@given(shape=SHAPES.filter(len), dtype=st.sampled_from(DTYPES[1:]), data=st.data())
def test_iota(shape: tuple[int, ...], dtype: np.dtype[Any], data: st.DataObject):
    axis = data.draw(st.integers(0, len(shape) - 1))
    (got,) = call(lambda b: layout.iota(b, shape, axis, ELEMENT_TYPES[dtype]))
    line = [n if k == axis else 1 for k, n in enumerate(shape)]
    wanted = np.arange(shape[axis]).astype(dtype).reshape(line)
    assert is_same(got, np.broadcast_to(wanted, shape))


@FEW
@given(x=arrays(), data=st.data())
def test_reshape_and_constants(x: Array, data: st.DataObject):
    shape = data.draw(st.permutations([*x.shape, 1]))
    (got,) = call(lambda b, v: layout.reshape(b, v, tuple(shape)), x)
    assert is_same(got, x.reshape(shape))
    values = [v.item() if x.dtype.kind in "?biu" else float(v) for v in x.reshape(-1)]
    t = ELEMENT_TYPES[x.dtype]
    (got,) = call(lambda b: layout.dense(b, values, x.shape, t))
    assert is_same(got, x)
    (got,) = call(lambda b: layout.full(b, 1, x.shape, t))
    assert is_same(got, np.ones_like(x))


def test_constants_keep_the_sign_of_zero_and_nan():
    values = [0.0, -0.0, float("nan"), 0.0]
    (got,) = call(lambda b: layout.dense(b, values, (2, 2), ELEMENT_TYPES[np.dtype("f4")]))
    assert list(np.signbit(got).reshape(-1)[:2]) == [False, True]
    assert np.isnan(got[1, 0]) and got[1, 1] == 0


def test_layout_on_devices(device: td.Device):
    x, y, value = numbered((3, 4), DTYPES[7]), numbered((3, 2), DTYPES[7]), DTYPES[7].type(9)
    compare_on(
        device,
        [
            (lambda b, v: layout.reverse(b, layout.transpose(b, v, (1, 0)), [0]), [x]),
            (lambda b, v: layout.broadcast(b, v, (2, 4, 3), (2, 1)), [x]),
            (lambda b, v: layout.strided_slice(b, v, [0, 1], [3, 4], [2, 2]), [x]),
            (lambda b, v, w: layout.pad(b, v, w, [1, -1], [0, 2], [1, 0]), [x, np.array(value)]),
            (lambda b, v, w: layout.concatenate(b, [v, w], 1), [x, y]),
            (lambda b: layout.iota(b, (3, 4), 1, ELEMENT_TYPES[np.dtype("u1")]), []),
        ],
    )
