"""A small program for explorations, and an exploration of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import tiledialect as td
from tiledialect.api.exploring import Result
from tiledialect.exploration.explore import Progress

PRODUCT = "function mm(A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"


@dataclass
class Explored:
    """An exploration of the product, and the states that it reported."""

    function: td.Function
    inputs: tuple[npt.NDArray[Any], ...]
    result: Result
    states: list[Progress]


def random_inputs() -> tuple[npt.NDArray[Any], ...]:
    """Matrices that fit."""
    random = np.random.default_rng(0)
    return tuple(random.normal(size=s).astype(np.float32) for s in ((4, 6), (6, 8)))
