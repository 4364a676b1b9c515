"""Agreement of a device's results with those of the reference semantics."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from tiledialect.ir.ancestors import ancestors

Array = npt.NDArray[Any]

TOLERANCES = {"bfloat16": 5e-2, "float16": 1e-2, "float32": 1e-4, "float64": 1e-10}
"""Tolerances for reals, as shares of the largest value of the output: sums in another order are
off by some units in the last place of the largest summand."""

ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}
"""Relative error of a rounding."""
CONFIDENCE = 8.0
"""Factor of the square root in the bound of a sum's error: it holds with a probability of nearly 1.
"""


def tolerance(dtype: str, terms: int = 1) -> float | None:
    """Tolerance for a result that sums so many terms, as a share of the largest value; None for
    types that are exact.

    For n terms and the roundoff u it is c sqrt(n) u + (n u)^2 / 9. The first part is the
    probabilistic bound of Higham and Mary (2019), for independent errors. They are not independent
    where a sum is so large that its neighbours are about as far apart as a term is large, and
    small terms vanish. The mean error of a term is then up to 1/12 of the square of that distance
    over the term, (2 k u)^2 / 12 after k terms; the second part is the mean of these. The certain
    bound, n u / (1 - n u), is 1 for 2^23 terms: results of 0 would pass.
    """
    allowed, u = TOLERANCES.get(dtype), ROUNDOFF.get(dtype)
    if allowed is None or u is None:
        return allowed
    return max(allowed, CONFIDENCE * sqrt(terms) * u + (terms * u) ** 2 / 9)


class Terms:
    """Numbers of terms of the reductions of a program."""

    def __init__(self):
        self._counts: dict[Operation, int] = {}

    def note(self, op: Operation, count: int) -> None:
        """Note a reduction of so many terms."""
        self._counts[op] = max(count, self._counts.get(op, 1))

    @property
    def most(self) -> int:
        """Most terms that an element of a result can have: one reduction after the other, and
        those inside of another as often as its terms."""
        return sum(map(self._with_outer, self._counts)) or 1

    def _with_outer(self, op: Operation) -> int:
        count = self._counts[op]
        for outer in ancestors(op):
            count *= self._counts.get(outer, 1)
        return count


_terms: ContextVar[Terms | None] = ContextVar("terms", default=None)


@contextmanager
def counted_terms() -> Generator[Terms]:
    """Count the terms of the reductions that the reference semantics executes."""
    terms = Terms()
    token = _terms.set(terms)
    try:
        yield terms
    finally:
        _terms.reset(token)


def note_terms(op: Operation, count: int) -> None:
    """Note a reduction that is executed."""
    if (terms := _terms.get()) is not None:
        terms.note(op, count)


ELEMENTS_AT_ONCE = 1 << 15
"""Elements that are compared at once: copies of them stay in a processor's cache."""


def distance(actual: Array, expected: Array) -> float:
    """Largest difference of reals, as a share of the largest finite value; infinities and NaNs must
    be in the same places."""
    whole, other = (np.ascontiguousarray(x).reshape(-1) for x in (actual, expected))
    found, largest = 0.0, 0.0
    for first in range(0, whole.size, ELEMENTS_AT_ONCE):
        a, e = (x[first : first + ELEMENTS_AT_ONCE].astype(np.float64) for x in (whole, other))
        largest = max(largest, float(np.max(np.abs(e), where=np.isfinite(e), initial=0)))
        same = (a == e) | (np.isnan(a) & np.isnan(e))
        if not same.all():
            own = np.max(np.abs(a[~same] - e[~same]))
            # A NaN stays, as in NumPy's maximum.
            found = float(np.maximum(found, own))
    return found / (largest or 1.0)


def disagreement(actual: Array, expected: Array, terms: int = 1) -> str:
    """Difference of a result, a sum of so many terms, from the expected one; empty if none."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{actual.shape} is no {expected.dtype}{expected.shape}"
    allowed = tolerance(actual.dtype.name, terms)
    if allowed is None:
        count = int((actual != expected).sum())
        return f"{count} elements differ" if count else ""
    off = distance(actual, expected)
    # A NaN is no number within the tolerance.
    return "" if off <= allowed else f"off by {off:.1e} of the largest value"


def wrong(outputs: Sequence[Array], expected: Sequence[Array], terms: int = 1) -> str:
    """Difference of results, sums of so many terms, from the expected ones; empty if none."""
    for number, (a, b) in enumerate(zip(outputs, expected, strict=True)):
        if text := disagreement(np.asarray(a), b, terms):
            return f"result {number}: {text}"
    return ""
