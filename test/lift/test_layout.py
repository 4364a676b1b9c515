"""Random compositions of layout patterns against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import tiledialect as td
from tiledialect import lift

MODES = {lift.clamp: "edge", lift.mirror: "symmetric", lift.wrap: "wrap"}
MAX_RANK, MAX_SIZE = 4, 400


@dataclass(frozen=True)
class Step:
    """A pattern on an axis, and what NumPy does instead."""

    pattern: Any
    numpy: Callable[[np.ndarray], np.ndarray]


def split(draw, shape, axis):
    size = draw(st.sampled_from([n for n in range(1, shape[axis] + 1) if shape[axis] % n == 0]))
    new = (*shape[:axis], shape[axis] // size, size, *shape[axis + 1 :])
    return Step(lift.split(size), lambda a: a.reshape(new))


def join(draw, shape, axis):
    new = (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
    return Step(lift.join, lambda a: a.reshape(new))


def transpose(draw, shape, axis):
    return Step(lift.transpose, lambda a: np.swapaxes(a, axis, axis + 1))


def slide(draw, shape, axis):
    size = draw(st.integers(1, min(3, shape[axis])))
    step = draw(st.sampled_from([s for s in (1, 2, 3) if (shape[axis] - size) % s == 0]))

    def windows(a):
        every = sliding_window_view(a, size, axis)
        index = [slice(None)] * every.ndim
        index[axis] = slice(None, None, step)
        return np.moveaxis(every[tuple(index)], -1, axis + 1)

    return Step(lift.slide(size, step), windows)


def padding(axis, rank, left, right):
    return [(left, right) if k == axis else (0, 0) for k in range(rank)]


def pad(draw, shape, axis):
    left, right = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    boundary = draw(st.sampled_from(list(MODES)))
    width = padding(axis, len(shape), left, right)
    return Step(lift.pad(left, right, boundary), lambda a: np.pad(a, width, MODES[boundary]))


def pad_constant(draw, shape, axis):
    left, right = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    width = padding(axis, len(shape), left, right)
    return Step(lift.pad_constant(left, right, 7), lambda a: np.pad(a, width, constant_values=7))


def gather(draw, shape, axis):
    return Step(lift.gather(lift.reverse), lambda a: np.flip(a, axis))


def scatter(draw, shape, axis):
    by = draw(st.integers(0, 3))
    return Step(lift.scatter(lambda i, n: (i + by) % n), lambda a: np.roll(a, by, axis))


def part(draw, shape, axis):
    start = draw(st.integers(0, shape[axis] - 1))
    stop = draw(st.integers(start + 1, shape[axis]))
    return Step(lift.slice(start, stop), lambda a: np.take(a, range(start, stop), axis))


def concat(draw, shape, axis):
    return Step(lambda v: lift.concat(v, v), lambda a: np.concatenate([a, a], axis))


GROWING = (split, slide)
PAIRS = (join, transpose)
OTHERS = (pad, pad_constant, gather, scatter, part, concat)


@st.composite
def programs(draw):
    """A shape, steps with their depths, and the result for an array of that shape."""
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    result, steps = array, []
    for _ in range(draw(st.integers(1, 6))):
        axis = draw(st.integers(0, result.ndim - 1))
        kinds = [*OTHERS]
        if result.ndim < MAX_RANK:
            kinds += GROWING
        if axis + 1 < result.ndim:
            kinds += PAIRS
        step = draw(st.sampled_from(kinds))(draw, result.shape, axis)
        found = step.numpy(result)
        if found.size > MAX_SIZE:
            break
        steps.append((axis, step.pattern))
        result = found
    return array, steps, result


Case = tuple[np.ndarray, list[tuple[int, Any]], np.ndarray]


def compiled(case: Case, symbolic: bool, device: td.Device | None = None) -> td.Function:
    """The program of some steps."""
    array, steps, _ = case
    sizes = [f"N{k}" for k in range(array.ndim)] if symbolic else array.shape

    def body(x):
        for depth, pattern in steps:
            for _ in range(depth):
                pattern = lift.map(pattern)
            x = x >> pattern
        return x

    return td.compile(lift.fun(lift.array(*sizes, lift.i32), body), device=device)


@pytest.mark.parametrize("symbolic", [False, True])
@settings(max_examples=30, deadline=None)
@given(programs())
def test_compositions(symbolic, case):
    array, _, expected = case
    result = compiled(case, symbolic).reference(array)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)


def agrees(case: Case, symbolic: bool, device: td.Device) -> td.Function:
    """A device gives what NumPy gives."""
    array, _, expected = case
    f = compiled(case, symbolic, device)
    np.testing.assert_array_equal(f(array), expected)
    return f


def devices_agree(case: Case) -> None:
    """The reference and all devices give what NumPy gives."""
    array, _, expected = case
    for symbolic in (False, True):
        np.testing.assert_array_equal(compiled(case, symbolic).reference(array), expected)
        for device in td.devices():
            agrees(case, symbolic, device)


@pytest.mark.parametrize("symbolic", [False, True])
def test_compositions_on_devices(symbolic, device):
    @settings(max_examples=4, deadline=None, phases=[Phase.generate])
    @given(programs())
    def check(case):
        f = agrees(case, symbolic, device)
        # One kernel, whatever the patterns are.
        assert f.opencl(case[0]).count("__kernel ") <= 1

    check()
