"""Names of new indices."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import count


def numbered_names(base: str, taken: Container[str], first: int = 0) -> Iterator[str]:
    """Names `base_0`, `base_1`, …, from a number on, that are not taken."""
    return (name for k in count(first) if (name := f"{base}_{k}") not in taken)
