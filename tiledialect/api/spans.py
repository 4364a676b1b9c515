"""Memory of arrays, and which of them have some in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

Span = tuple[int, int, int]
"""First address of an array's memory, that behind it, and the array's number."""


def overlapping(spans: Iterable[Span], changed: Collection[int]) -> tuple[int, int] | None:
    """Numbers of two arrays that have memory in common, of which one is changed."""
    end, owner = 0, -1
    for start, stop, number in sorted(spans):
        if start < min(end, stop) and (number in changed or owner in changed):
            return owner, number
        if stop > end:
            end, owner = stop, number
    return None


def span_of(array: Any, number: int) -> Span:
    """Memory of an array without gaps; of one on a device, whose addresses nobody knows, the
    handle of its buffer."""
    if isinstance(array, np.ndarray):
        start: int = array.__array_interface__["data"][0]
        return start, start + array.nbytes, number
    buffer = array.base_data
    handle = getattr(buffer, "int_ptr", None) or getattr(buffer, "svm_ptr", 0)
    return handle, handle + min(1, array.nbytes), number
