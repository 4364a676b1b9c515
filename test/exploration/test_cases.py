"""Random inputs like the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tiledialect.errors import TileError
from tiledialect.exploration.cases import LARGE, OTHERS, agreeing, cases_of, like

RANDOM = np.random.default_rng(0)
Array = npt.NDArray[Any]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("given", "low", "high"),
    [([1.0] * 9, 0.5, 1.5), ([0.0] * 9, 0.0, 1.0), ([-2.0, np.nan] * 4, -3.0, -1.0)],
    ids=["ones", "zeros", "nans"],
)
def test_reals_are_others_of_the_same_range(
    dtype: str, given: list[float], low: float, high: float
):
    array = np.array(given).astype(dtype)
    made = like(array, RANDOM)
    assert (made.shape, made.dtype) == (array.shape, array.dtype)
    values = made.astype(np.float64)
    assert low <= values.min() and values.max() <= high and len({*values.tolist()}) > 4


@pytest.mark.parametrize("dtype", ["int64", "float16", "bfloat16", "float32"])
def test_whole_numbers_are_at_other_places(dtype: str):
    """Of indices there are no others, also as reals, and each is there as often."""
    array = np.arange(12).reshape(3, 4).astype(dtype)
    made = like(array, RANDOM)
    assert made.dtype == array.dtype and sorted(made.reshape(-1)) == [*range(12)]
    assert not np.array_equal(made, array)


@pytest.mark.parametrize(
    "array",
    [np.zeros(4, np.int32), np.zeros((0, 4), np.float32), np.full(3, np.inf), np.zeros(0, bool)],
    ids=str,
)
def test_arrays_without_others(array: Array):
    assert like(array, RANDOM) is array


def test_cases_have_results():
    def reference(arrays: Sequence[Array]) -> list[Array]:
        return [arrays[0] * 2]

    array = np.ones(8, np.float32)
    own, *others = cases_of([array], reference)
    assert own.arrays[0] is array and len(others) == OTHERS
    assert all(np.array_equal(c.expected[0], c.arrays[0] * 2) for c in (own, *others))
    assert not np.array_equal(others[0].arrays[0], others[1].arrays[0])
    assert len(cases_of([np.zeros(LARGE // 4, np.float32)], lambda arrays: [])) == 2


def test_inputs_that_are_errors_are_left_out():
    count = 0

    def reference(arrays: Sequence[Array]) -> list[Array]:
        nonlocal count
        count += 1
        if count > 1:
            raise TileError("two points write one element")
        return []

    assert len(cases_of([np.ones(8, np.float32)], reference)) == 1
    assert len(cases_of([np.zeros(8, np.int32)], lambda arrays: [])) == 1


def test_programs_that_are_right_for_certain_numbers_alone():
    """A default that differs for random inputs is compared for the given ones."""
    own, *others = cases_of([np.ones(8, np.float32)], lambda arrays: [arrays[0] * 2])
    said: list[str] = []

    def default(array: Array) -> Array:
        return np.full(8, 2, np.float32)

    found = agreeing([own, *others], default, said.extend)
    assert [*map(id, found)] == [id(own)]
    assert len(said) == OTHERS and "as the program differs from the reference" in said[0]
    assert agreeing([own, *others], lambda a: (a * 2,), said.extend) == [own, *others]
    assert len(said) == OTHERS
