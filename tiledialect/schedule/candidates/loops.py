"""What the families share: splitting indices into digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tiledialect.schedule.leaves import Leaf, Role

Digit = tuple[int, Role, str]
"""How many steps a leaf has, its role, and its axis."""


def digits(index: str, inner: Sequence[Digit]) -> tuple[int, list[Leaf]]:
    """The leaves of an index from the innermost on, and how many values they reach."""
    reach, found = 1, list[Leaf]()
    for extent, role, axis in inner:
        found.append(Leaf(index, reach, extent, role, axis))
        reach *= extent
    return reach, found


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)


def kept(leaves: Iterable[Leaf]) -> tuple[Leaf, ...]:
    """The leaves that have more than one step."""
    return tuple(leaf for leaf in leaves if leaf.extent > 1)
