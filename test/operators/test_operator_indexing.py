"""Operators at computed places, against loops over the windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from operator_calls import Array, call, compare_on, same

import tiledialect as td
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.operators import indexing, layout
from tiledialect.operators.indexing import Places

FEW = settings(max_examples=15, deadline=None)
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 4, 8)]


@dataclass(frozen=True)
class Windows:
    """Windows at random places in a tensor; some leave it."""

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    batch: tuple[int, ...]
    starts: dict[int, Array]

    def fits(self, place: tuple[int, ...]) -> bool:
        return all(
            0 <= int(s[place]) <= self.shape[axis] - self.sizes[axis]
            for axis, s in self.starts.items()
        )

    def slices(self, place: tuple[int, ...]) -> tuple[slice, ...]:
        """The window of a batch place, moved inside."""
        first = [0] * len(self.shape)
        for axis, s in self.starts.items():
            first[axis] = min(max(int(s[place]), 0), self.shape[axis] - self.sizes[axis])
        return tuple(slice(f, f + n) for f, n in zip(first, self.sizes, strict=True))

    def places(self) -> Iterator[tuple[int, ...]]:
        return iter(np.ndindex(*self.batch))

    @property
    def inputs(self) -> list[Array]:
        return [self.starts[axis] for axis in sorted(self.starts)]

    def given(self, values: Any) -> Places:
        return Places(dict(zip(sorted(self.starts), values, strict=True)), self.sizes, self.batch)


@st.composite
def windows(draw: st.DrawFn, *, is_whole: bool = False) -> Windows:
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 4)) for _ in range(rank))
    axes = [k for k in range(rank) if draw(st.booleans())]
    sizes = tuple(
        draw(st.integers(0 if k in axes else 1, n)) if k in axes or not is_whole else n
        for k, n in enumerate(shape)
    )
    batch = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    dtype = draw(st.sampled_from(INTEGERS))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    low = 0 if dtype.kind == "u" else -2
    starts = {k: rng.integers(low, 6, batch).astype(dtype) for k in axes}
    return Windows(shape, sizes, batch, starts)


def numbered(shape: tuple[int, ...]) -> Array:
    return np.arange(1, 1 + int(np.prod(shape)), dtype="f").reshape(shape)


@FEW
@given(case=windows())
def test_gather(case: Windows):
    x = numbered(case.shape)
    (got,) = call(lambda b, v, *s: indexing.gather(b, v, case.given(s)), x, *case.inputs)
    wanted = np.zeros((*case.batch, *case.sizes), "f")
    for place in case.places():
        wanted[place] = x[case.slices(place)]
    same(got, wanted)


def test_places_of_a_short_type_in_a_long_axis():
    x, at = numbered((300,)), np.array([-5, 0, 127], "i1")
    (got,) = call(lambda b, v, s: indexing.gather(b, v, Places({0: s}, (1,), (3,))), x, at)
    assert got.reshape(-1).tolist() == [1, 1, 128]
    (got,) = call(
        lambda b, v, s: indexing.scatter(b, v, Places({0: s}, (1,), (3,)), (300,)), x[:3, None], at
    )
    assert np.flatnonzero(got).tolist() == [0, 127]


@FEW
@given(case=windows(is_whole=True))
def test_scatter(case: Windows):
    updates = numbered((*case.batch, *case.sizes))
    got, extreme, replaced = call(
        lambda b, v, x, *s: (
            indexing.scatter(b, v, case.given(s), case.shape),
            indexing.scatter_extreme(b, v, case.given(s), case.shape, Aggregation.max, 0),
            indexing.scatter_replacing(b, x, v, case.given(s), is_unique=False),
        ),
        *(updates, -numbered(case.shape), *case.inputs),
    )
    total, most, latest = (
        np.zeros(case.shape, "f"),
        np.zeros(case.shape, "f"),
        -numbered(case.shape),
    )
    for place in filter(case.fits, case.places()):
        at = case.slices(place)
        total[at] += updates[place]
        most[at] = np.maximum(most[at], updates[place])
        latest[at] = updates[place]
    same(got, total)
    same(extreme, most)
    same(replaced, latest)


def test_unique_windows_replace():
    x, updates = -numbered((5, 2)), numbered((2, 1, 2))
    at = np.array([3, 9], "i4")
    (got,) = call(
        lambda b, v, u, s: indexing.scatter_replacing(
            b, v, u, Places({0: s}, (1, 2), (2,)), is_unique=True
        ),
        *(x, updates, at),
    )
    wanted = x.copy()
    wanted[3] = updates[0, 0]
    same(got, wanted)


@FEW
@given(data=st.data())
@example(data=None)
def test_update_slice(data: st.DataObject | None):
    if data is None:
        shape, part, starts = (300,), (2,), [np.array(127, "i1")]
    else:
        shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
        part = tuple(data.draw(st.integers(0, n)) for n in shape)
        dtype = data.draw(st.sampled_from(INTEGERS))
        low = 0 if dtype.kind == "u" else -2
        starts = [np.array(data.draw(st.integers(low, 5)), dtype) for _ in shape]
    x, update = -numbered(shape), numbered(part)
    (got,) = call(lambda b, v, u, *s: indexing.update_slice(b, v, u, s), x, update, *starts)
    first = [min(max(int(s), 0), n - m) for s, n, m in zip(starts, shape, part, strict=True)]
    wanted = x.copy()
    wanted[tuple(slice(f, f + m) for f, m in zip(first, part, strict=True))] = update
    same(got, wanted)


@FEW
@given(data=st.data())
def test_sort_places(data: st.DataObject):
    rows, count = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.integers(0, 4, (rows, count)).astype("i4")

    def sort(b: Any, v: Any) -> Any:
        along = layout.reshape(b, v, (rows, count, 1))
        across = layout.reshape(b, v, (rows, 1, count))
        before, after = b.op(ew.CmpLtOp, along, across), b.op(ew.CmpLtOp, across, along)
        places = indexing.sort_places(b, before, after)
        return places, indexing.take_along(b, v, places)

    places, values = call(sort, x)
    same(places, np.argsort(x, 1, kind="stable").astype("i4"))
    same(values, np.sort(x, 1))


def test_indexing_on_devices(device: td.Device):
    x, updates = numbered((4, 5)), numbered((3, 2, 5))
    at, first = np.array([2, -1, 1], "i4"), np.array(3, "i4")
    compare_on(
        device,
        [
            (lambda b, v, s: indexing.gather(b, v, Places({0: s}, (2, 3), (3,))), [x, at]),
            (
                lambda b, u, s: indexing.scatter(b, u, Places({0: s}, (2, 5), (3,)), (4, 5)),
                [updates, at],
            ),
            (
                lambda b, v, u, s: indexing.scatter_replacing(
                    b, v, u, Places({0: s}, (2, 5), (3,)), is_unique=False
                ),
                [x, updates, at],
            ),
            (lambda b, v, u, s: indexing.update_slice(b, v, u, [s, s]), [x, -x[:2, :3], first]),
        ],
    )
