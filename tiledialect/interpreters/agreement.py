"""Agreement of a device's results with those of the reference semantics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TOLERANCES = {"bfloat16": 5e-2, "float16": 1e-2, "float32": 1e-4, "float64": 1e-10}
"""Tolerances for reals, as shares of the largest value of the output: sums in another order are
off by some units in the last place of the largest summand."""


def distance(actual: Array, expected: Array) -> float:
    """Largest difference of reals, as a share of the largest finite value; infinities and NaNs must
    be in the same places."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    a, e = np.where(same, 0, a), np.where(same, 0, e)
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    scale = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    return float(np.max(np.abs(a - e), initial=0)) / scale


def disagreement(actual: Array, expected: Array) -> str:
    """Difference of a result from the expected one; empty if they agree."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{actual.shape} is no {expected.dtype}{expected.shape}"
    allowed = TOLERANCES.get(actual.dtype.name)
    if allowed is None:
        count = int((actual != expected).sum())
        return f"{count} elements differ" if count else ""
    off = distance(actual, expected)
    # A NaN is no number within the tolerance.
    return "" if off <= allowed else f"off by {off:.1e} of the largest value"


def wrong(outputs: Sequence[Array], expected: Sequence[Array]) -> str:
    """Difference of results from the expected ones; empty if they agree."""
    for number, (a, b) in enumerate(zip(outputs, expected, strict=True)):
        if text := disagreement(np.asarray(a), b):
            return f"result {number}: {text}"
    return ""
