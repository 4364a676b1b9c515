"""What the families share: splitting indices into digits, and the grid that leaves make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from tiledialect.schedule.leaves import Leaf, Role

MAX_GROUPS = {"x": 2**31 - 1, "y": 2**16 - 1, "z": 2**16 - 1}
"""How many work-groups every GPU takes along an axis of the grid."""

Digit = tuple[int, Role, str]
"""How many steps a leaf has, its role, and its axis."""


def digits(index: str, inner: Sequence[Digit]) -> tuple[int, list[Leaf]]:
    """The leaves of an index from the innermost on, and how many values they reach."""
    reach, found = 1, list[Leaf]()
    for extent, role, axis in inner:
        found.append(Leaf(index, reach, extent, role, axis))
        reach *= extent
    return reach, found


def on_grid(wanted: Iterable[tuple[str, int, int]]) -> Iterator[Leaf]:
    """Leaves of role group for indices, strides and counts, the one along x last.

    The last is along x, the one before along y, others along z, as far as the grid has room.
    """
    blocks = [(index, stride, count) for index, stride, count in wanted if count > 1]
    size = dict.fromkeys("xyz", 1)
    axes: list[str] = []
    for position, (_, _, count) in enumerate(reversed(blocks)):
        axis = "xyz"[min(position, 2)]
        axis = axis if size[axis] * count <= MAX_GROUPS[axis] else "x"
        size[axis] *= count
        axes.insert(0, axis)
    for (index, stride, count), axis in zip(blocks, axes, strict=True):
        yield Leaf(index, stride, count, Role.GROUP, axis)


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)


def kept(leaves: Iterable[Leaf]) -> tuple[Leaf, ...]:
    """The leaves that have more than one step."""
    return tuple(leaf for leaf in leaves if leaf.extent > 1)


def reach(leaves: Iterable[Leaf]) -> int:
    """How many values leaves of one index have together."""
    return prod(leaf.extent for leaf in leaves)
