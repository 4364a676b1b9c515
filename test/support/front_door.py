"""Two functions, and what they are called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

PRODUCT = "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
TWO = "function two(A[N], B[]) -> (S, D') { S = A + B; D' = A - B; }"

Array = npt.NDArray[Any]


def random(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(len(shape)).integers(-9, 10, shape).astype(dtype)


A, B = random(3, 4), random(4, 5)
