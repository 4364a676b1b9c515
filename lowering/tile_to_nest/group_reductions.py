"""Group reductions: aggregates that work-items share, combined by shuffles and in local memory."""

from __future__ import annotations

from contextlib import AbstractContextManager
from math import prod
from typing import TypeVar

from xdsl.ir import SSAValue

from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.sub_group import ShuffleOp, can_shuffle
from tiledialect.index.integer.expressions import Condition, Expr, both, equal, floordiv, less, mod
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator
from tiledialect.schedule.loops import Role

T = TypeVar("T")


def reduce(accumulator: Accumulator, *, everywhere: bool = True) -> None:
    """Reduce over the lanes of a vector, and over the work-items that share an element.

    All of these get the result, or the first of them alone. Neighbours in a sub-group exchange
    registers, if the schedule says so; the rest is a tree in local memory, or sub-groups once more
    if one of them can hold all the parts.
    """
    accumulator.reduce_lanes()
    places, kernel = accumulator.places, accumulator.kernel
    if not places.shared:
        return
    lanes = places.lanes_of_sub_group if can_shuffle(accumulator.type) else 1
    _reduce_sub_groups(accumulator, lanes)
    parts = prod(kernel.levels[k].extent for k in places.shared) // lanes
    if parts > 1:
        apart = GroupReduction(accumulator, parts, lanes)
        if lanes % parts == 0:
            apart.exchange()
            _reduce_sub_groups(accumulator, parts)
        else:
            apart.tree(everywhere=everywhere)


def _reduce_sub_groups(accumulator: Accumulator, lanes: int) -> None:
    """Reduce over so many neighbours: each step doubles the number that is reduced."""
    nest, places, kernel = accumulator.nest, accumulator.places, accumulator.kernel
    mask = lanes // 2
    while mask:
        with kernel.loops(places.moving):
            own = accumulator.total()
            other = nest.emit(ShuffleOp(own, mask, kernel.schedule.sub_groups))
            other.name_hint = "other"
            nest.store(accumulator.combine(own, other), accumulator.buffer, places.reduced)
        mask //= 2


class GroupReduction:
    """Reduction over a work-group in local memory, of parts that some neighbours hold alike.

    Neighbouring work-items have neighbouring places there, of a whole vector where aggregates lie
    in vectors: so no two of them meet in a bank.
    """

    def __init__(self, accumulator: Accumulator, parts: int, lanes: int):
        self.accumulator = accumulator
        self.nest, self.kernel = accumulator.nest, accumulator.kernel
        self.places, self.parts = accumulator.places, parts
        shared = self.places.shared
        others = [k for k in self.kernel.local_levels if k not in shared]
        self.rows = prod(self.kernel.levels[k].extent for k in others)
        self.row, item = self.kernel.linear_id(others), self.kernel.linear_id(shared)
        self.own, self.lane = floordiv(item, lanes), mod(item, lanes)
        self.is_first = equal(self.lane, 0)

    def exchange(self) -> None:
        """Distribute the parts to the neighbours that hold the same: each takes one of them."""
        buffer = self._buffer(self.parts)
        self._put(buffer, self.own)
        self._take(buffer, mod(self.lane, self.parts))

    def tree(self, *, everywhere: bool) -> None:
        """Reduce the parts, half by half, and broadcast the result if all are to have it.

        The part of a work-item stays in registers until it is handed over: it is written once, and
        read once. Each step reads the results of the one before and writes elsewhere, so that it
        waits once.
        """
        half, own = 1 << (self.parts - 1).bit_length() >> 1, self.own
        given = self._buffer(half)
        other = self._buffer(max(half // 2, 1)) if half > 1 or everywhere else given
        self._put(given, own - half, less(half - 1, own))
        while half:
            left = half // 2
            with self.nest.when(both(self.is_first, less(own, half))):
                with self.nest.when(less(own + half, self.parts)):
                    self._add(given, own)
                if left or everywhere:
                    self._put(other, own - left, less(left - 1, own))
            half, given, other = left, other, given
        if everywhere:
            self._take(given, Expr())

    def _buffer(self, parts: int) -> SSAValue:
        """Allocate local memory for so many parts of each aggregate."""
        tile = [self.kernel.levels[k].extent for k in self.places.moving]
        size = self._ordered(tile, self.rows, parts)
        return self.nest.buffer(self.accumulator.type, size, LOCAL, "partial")

    def _place(self, part: Expr) -> list[Expr]:
        """Indices of a part of the aggregate of the loops being built."""
        return self._ordered(self.places.reduced[: len(self.places.moving)], self.row, part)

    def _ordered(self, tile: list[T], row: T, part: T) -> list[T]:
        """Axes of local memory, the fastest last."""
        moving, levels = self.places.moving, self.kernel.levels
        is_vector = bool(moving) and levels[moving[-1]].role is Role.VECTOR
        inner = len(tile) - is_vector
        fastest = next(iter(self.kernel.lanes()), None)
        items = [row, part] if fastest in self.places.shared else [part, row]
        return [*tile[:inner], *items, *tile[inner:]]

    def _put(self, buffer: SSAValue, part: Expr, condition: Condition = ALWAYS) -> None:
        """Write the part of a work-item, under a condition; of equal neighbours the first alone."""
        with self.nest.when(both(self.is_first, condition)), self._loops():
            self.nest.store(self.accumulator.total(), buffer, self._place(part))

    def _add(self, buffer: SSAValue, part: Expr) -> None:
        with self._loops():
            other = self.nest.load(buffer, self._place(part))
            total = self.accumulator.combine(self.accumulator.total(), other)
            self.nest.store(total, self.accumulator.buffer, self.places.reduced)

    def _take(self, buffer: SSAValue, part: Expr) -> None:
        with self._loops():
            value = self.nest.load(buffer, self._place(part))
            self.nest.store(value, self.accumulator.buffer, self.places.reduced)

    def _loops(self) -> AbstractContextManager[None]:
        return self.kernel.loops(self.places.moving)
