"""Data for the operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile.elementwise.numeric import kind_of

Array = npt.NDArray[Any]

_random = np.random.default_rng(1)


def reals(*shape: int, dtype: str = "float32") -> Array:
    """Normally distributed numbers."""
    return np.asarray(_random.normal(size=shape)).astype(dtype)


def positive(*shape: int, dtype: str = "float32") -> Array:
    """Numbers from 0.1 to 2."""
    return np.asarray(_random.uniform(0.1, 2, size=shape)).astype(dtype)


def integers(*shape: int, dtype: str = "int32", low: int = -9, high: int = 9) -> Array:
    """Integers from ``low`` to ``high``, or as near as the element type comes."""
    if np.dtype(dtype).kind == "u":
        low = max(low, 0)
    return np.asarray(_random.integers(low, high, shape, endpoint=True)).astype(dtype)


def values(*shape: int, dtype: str) -> Array:
    """Small numbers of any element type."""
    kind = kind_of(np.dtype(dtype))
    if kind == "f":
        return reals(*shape, dtype=dtype)
    return integers(*shape, dtype=dtype, **({"low": 0, "high": 1} if kind == "b" else {}))
