"""Groups of values that are computed of constants, each by a function of its own.

While one is computed, no constants but its own need be in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.ir.host_memory import nbytes
from tiledialect.lazy import lazy

SMALL = 1 << 16
"""Bytes of a constant up to which it may be read by several groups."""
LARGE = 1 << 20
"""Bytes of constants and results from which on a group is not joined with others."""
JOINED = 4 * LARGE
"""Bytes up to which groups are joined: there are few kinds of large ones, and many of small."""

Place = tuple[int, int]
"""Numbers of an op of a function, and of one of its results."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Places of values, and the arguments that they are computed of."""

    places: tuple[Place, ...]
    arguments: frozenset[BlockArgument]
    results: int
    """Bytes of the values."""

    @lazy
    def nbytes(self) -> int:
        """Bytes that its function reads and writes."""
        return self.results + sum(map(_bytes, self.arguments))

    @lazy
    def large(self) -> frozenset[BlockArgument]:
        """The arguments that no other group reads."""
        return frozenset(a for a in self.arguments if _bytes(a) > SMALL)

    def __or__(self, other: _Group) -> _Group:
        places = tuple(sorted((*self.places, *other.places)))
        return _Group(places, self.arguments | other.arguments, self.results + other.results)


def grouped(whole: func.FuncOp, places: Sequence[Place]) -> list[tuple[Place, ...]]:
    """Places of values of a function in groups that share no large argument; the one of the most
    bytes is the first."""
    ops = list(whole.body.block.ops)
    arguments: dict[SSAValue, frozenset[BlockArgument]] = {}
    for op in ops:
        own = [v for inner in op.walk() for v in inner.operands]
        read = frozenset[BlockArgument]().union(
            *(arguments.get(v, frozenset()) for v in own),
            (v for v in own if isinstance(v, BlockArgument) and v.block is whole.body.block),
        )
        arguments |= dict.fromkeys(op.results, read)
    groups: dict[_Group, None] = {}
    readers: dict[BlockArgument, _Group] = {}
    for op, k in places:
        value = ops[op].results[k]
        group = _Group(((op, k),), arguments[value], _bytes(value))
        for other in {readers[a] for a in group.large if a in readers}:
            del groups[other]
            group |= other
        groups[group] = None
        readers |= dict.fromkeys(group.large, group)
    by_size = sorted(_joined([*groups]), key=lambda group: -group.nbytes)
    return [group.places for group in by_size]


def _joined(groups: Sequence[_Group]) -> list[_Group]:
    """The groups, of which small ones are joined, and those without an argument."""
    large: list[_Group] = []
    small: list[_Group] = []
    for group in groups:
        if not group.arguments:
            continue
        if group.nbytes >= LARGE:
            large.append(group)
        elif small and small[-1].nbytes + group.nbytes <= JOINED:
            small[-1] |= group
        else:
            small.append(group)
    without = [group for group in groups if not group.arguments]
    return [*large, *small, *([reduce(or_, without)] if without else [])]


def _bytes(value: SSAValue) -> int:
    return nbytes(value.type) if isinstance(value.type, TensorType) else 0
