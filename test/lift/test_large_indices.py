"""Indices that are computed from large numbers: kernels compute them in 64 bits, or they are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift

N = 1000
X = np.arange(N, dtype=np.float32)
I = np.arange(N)  # noqa: E741
SCATTERED = np.empty_like(X)
SCATTERED[I * 9999991 % N] = X

PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "gather": (lambda x: x >> lift.gather(lambda i, n: i * i * 9973 % n), X[I * I * 9973 % N]),
    "factor": (lambda x: x >> lift.gather(lambda i, n: i * 2**24 % n), X[I * 2**24 % N]),
    "scatter": (lambda x: x >> lift.scatter(lambda i, n: i * 9999991 % n), SCATTERED),
    "generate": (lambda x: lift.generate("N", lambda i: x[i * i * 9973 % 1000]), X[I * I * 9973 % N]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_beyond_32_bits(name: str, device: td.Device):
    program, expected = PROGRAMS[name]
    f = td.compile(lift.fun(lift.array("N"), program), device=device)
    np.testing.assert_array_equal(f(X), expected)
    np.testing.assert_array_equal(f.reference(X), expected)


def test_the_width_is_that_of_the_largest_number():
    """The same program takes 32 bits where that is enough for the sizes."""
    program, _ = PROGRAMS["gather"]
    f = td.compile(lift.fun(lift.array("N"), program))
    assert ["long" in f.opencl(f"{n}xf32") for n in (10, N)] == [False, True]


def test_indices_of_64_bits(device: td.Device):
    """Indices are brought into range as they are."""
    places = np.array([0, 3, -1, 2**31, 2**32 + 5, 2**40, -(2**40), 2**63 - 1, -(2**63)])
    program = lift.fun(
        lift.array("N"),
        lift.array("M", lift.i64),
        lambda x, places: places >> lift.map(lambda place: x[place]),
    )
    f = td.compile(program, device=device)
    np.testing.assert_array_equal(f(X, places), X[places.clip(0, N - 1)])


@pytest.mark.parametrize("place", [N, 2**31, 2**40])
def test_numbers_beyond_an_array_are_refused(place: int):
    array = lift.array("N")
    for program in (lambda x: x[place], lambda x: x >> lift.map(lambda e: e + x[place])):
        f = td.compile(lift.fun(array, program))
        for run in (f, f.reference):
            with pytest.raises(
                td.TileError, match=f"x has 1000 elements: there is no place {place}"
            ):
                run(X)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: x[2**63], "a size is 9223372036854775808, which does not fit 64 bits"),
        (
            lambda x: x >> lift.gather(lambda i, n: i * 2**60 % n),
            "is computed from numbers of up to 1152921504606846977000, which do not fit 64 bits",
        ),
        (
            lambda x: x >> lift.gather(lambda i, n: i * i * i * i * i * 9973 % n),
            "which do not fit 64 bits",
        ),
    ],
)
def test_numbers_beyond_64_bits_are_refused(program: Callable[[Any], Any], message: str):
    for run in (lambda f: f(X), lambda f: f.reference(X)):
        with pytest.raises(td.TileError, match=message):
            run(td.compile(lift.fun(lift.array("N"), program)))
