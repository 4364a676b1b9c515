"""Vector tails of rows: remainders of a row that its vectors do not fill, in overlapping vectors.

A row of 37 elements is two vectors of 16, and one of its last 16, of which 11 overlap with the
second: it is shifted inwards. They are loaded and computed once more, and written with the same
values; sums leave them out, while a maximum does not mind. In vectors that are halved until they
fit, the last 5 elements would be 4 and 1, each of which takes as long as a whole vector, and sums
would be put together from both.

Rows of 1000 begin elsewhere in a vector, and so would their vectors: each would be in two cache
lines, and none could be written by non-temporal stores. Of such rows, where they are long, all
vectors but the first and the last ones are aligned in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import gcd, prod

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.tile.attributes import EXTREMES
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.row_axes import Rows, shape
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Expr, mod
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.vector_tails import (
    SHIFT,
    allow_shift,
    are_digits,
    whole_steps,
)
from tiledialect.rounding import ceil_div
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import LEAST_ALIGNED_ROW, Role, ends_in_power_of_two

UNKNOWN_SHIFT = Expr.var(SHIFT)
"""Shift of aligned vectors in a row that is not known yet."""
MAX_TAIL_VECTORS = 8
"""Maximum number of unrolled vectors behind the loop over a row."""


@dataclass(frozen=True)
class RowTail(ABC):
    """Tail of a row along an index, whose levels reach past its end."""

    kernel: KernelNest
    index: str
    levels: tuple[int, ...]
    """Levels of the index, from the largest stride to the lanes."""
    length: int

    @staticmethod
    def of(kernel: KernelNest, rows: Rows) -> RowTail | None:
        """Build the tail of the index that a work-item has in vectors; None if nothing is shifted.

        Adds the shift to the index's value.
        """
        schedule, levels = kernel.schedule, kernel.levels
        if not levels or levels[-1].role is not Role.VECTOR or kernel.local_levels:
            return None
        values, index = kernel.kernel.values, levels[-1].index
        is_staged = any(isinstance(values[s.operand], BlockArgument) for s in schedule.stages)
        if index not in kernel.kernel.reduced or schedule.one_pass or is_staged:
            return None
        own = tuple(k for k, level in enumerate(levels) if level.index == index)
        tail = ShiftedTail(kernel, index, own, kernel.ranges[index].extent)
        tail = AlignedTail.of_long_row(tail, rows) or tail
        if not tail.is_possible:
            return None
        allow_shift(kernel, index)
        return tail

    @property
    def is_possible(self) -> bool:
        """Whether the levels pass the row's end, in nested digits, by few vectors."""
        own = [self.kernel.levels[k] for k in self.levels]
        is_past = prod(level.extent for level in own) > self.length >= self.lanes
        return is_past and are_digits(own) and len(self.ends) <= MAX_TAIL_VECTORS

    @property
    @abstractmethod
    def whole(self) -> int:
        """Number of steps of the outermost level whose elements are all in the row."""

    @property
    @abstractmethod
    def ends(self) -> tuple[int, ...]:
        """Start in the row of each vector that the whole steps do not cover."""

    @abstractmethod
    def _enter_row(self, inside: Callable[[], None]) -> None:
        """Build the loop of the outermost level, and the tail vectors."""

    @abstractmethod
    def at_row(self) -> AbstractContextManager[None]:
        """Bind the shift of the loop's vectors, once the row is known."""

    @property
    @abstractmethod
    def _new(self) -> tuple[str, Expr] | None:
        """Comparison of the lanes here by which their elements are new; None if all are."""

    @property
    def outer(self) -> tuple[int, ...]:
        """Levels of the index but for the lanes."""
        return self.levels[:-1]

    @property
    def lanes(self) -> int:
        """Number of elements of a vector."""
        return self.kernel.levels[self.levels[-1]].extent

    @property
    def stride(self) -> int:
        """Number of elements of a step of the outermost level."""
        return self.kernel.levels[self.levels[0]].stride

    @property
    def done(self) -> int:
        """Number of elements of the whole steps."""
        return self.whole * self.stride

    def extent(self, k: int) -> int:
        """Extent of a kept value of a row along a level, of whatever index."""
        level = self.kernel.levels[k]
        if k != self.levels[0]:
            return level.extent
        return max(level.extent, ceil_div(self.done + len(self.ends) * self.lanes, level.stride))

    def enter(self, k: int, inside: Callable[[], None]) -> None:
        """Build the loop of a level that is not the lanes'; after the outermost one's, the tail."""
        if k == self.levels[0]:
            self._enter_row(inside)
            return
        is_end = step_name(k) in self.kernel.steps
        with nullcontext() if is_end else self.kernel.loops([k]):
            inside()

    def _enter_whole(self, inside: Callable[[], None]) -> None:
        """Build the loop over the whole steps."""
        if self.whole:
            whole_steps(self.kernel, self.levels[0], self.whole, inside)

    def _enter_ends(self, inside: Callable[[], None]) -> None:
        """Build the tail vectors."""
        for number, position in enumerate(self.ends):
            rest = self.done + number * self.lanes
            steps = {SHIFT: Expr.const(position - rest)}
            for k in self.outer:
                step, rest = divmod(rest, self.kernel.levels[k].stride)
                steps[step_name(k)] = Expr.const(step)
            with self.kernel.at_steps(steps):
                inside()

    def without_overlap(
        self, op: ContractionOp, accumulator: Accumulator, value: SSAValue
    ) -> SSAValue:
        """Select the summand here: neutral in lanes that another vector aggregates."""
        is_alone = self.levels[-1] in accumulator.places.moving
        if is_alone or op.aggregation.data in EXTREMES or (found := self._new) is None:
            return value
        nest, scalars = self.kernel.nest, self.kernel.nest.scalars
        kind, bound = found
        lane = nest.index(self.kernel.steps[step_name(self.levels[-1])])
        number, limit = (nest.emit(arith.IndexCastOp(v, i32)) for v in (lane, nest.index(bound)))
        is_new = scalars.compare(kind, number, limit, i32)
        neutral = scalars.constant(accumulator.initial, accumulator.type)
        return scalars.select(is_new, value, neutral)


@dataclass(frozen=True)
class ShiftedTail(RowTail):
    """Tail whose last vector is shifted inwards, over the one before."""

    @property
    @override
    def is_possible(self) -> bool:
        """Whether the tail is also better than halves, quarters… of a vector."""
        return super().is_possible and not ends_in_power_of_two(self.length, self.lanes)

    @property
    @override
    def whole(self) -> int:
        return self.length // self.stride

    @property
    @override
    def ends(self) -> tuple[int, ...]:
        last = self.length - self.lanes
        return tuple(min(k, last) for k in range(self.done, self.length, self.lanes))

    @override
    def _enter_row(self, inside: Callable[[], None]) -> None:
        self._enter_whole(inside)
        self._enter_ends(inside)

    @override
    def at_row(self) -> AbstractContextManager[None]:
        return nullcontext()

    @property
    @override
    def _new(self) -> tuple[str, Expr] | None:
        shift = self.kernel.steps[SHIFT].value
        return ("ge", Expr.const(-shift)) if shift else None


@dataclass(frozen=True)
class AlignedTail(RowTail):
    """Tail of a row whose vectors are aligned in memory, wherever the row begins.

    The first one and the last ones are not, and overlap with these.
    """

    start: IndexExpr
    """Start of a row in memory."""
    min_head: int
    """Minimum number of elements before the first aligned vector."""

    @staticmethod
    def of_long_row(tail: RowTail, rows: Rows) -> AlignedTail | None:
        """Aligned tail of a long row whose successor is aligned differently; else None."""
        kernel, index = tail.kernel, tail.index
        is_loop = kernel.levels[tail.levels[0]].role is Role.SERIAL
        if not is_loop or tail.length < LEAST_ALIGNED_ROW:
            return None
        found = _start(kernel, rows, index)
        return AlignedTail(kernel, index, tail.levels, tail.length, *found) if found else None

    @property
    @override
    def whole(self) -> int:
        return (self.length - self.lanes) // self.stride

    @property
    @override
    def ends(self) -> tuple[int, ...]:
        last, behind = self.length - self.lanes, self.length - self.min_head - self.done
        return (0, *(last - k * self.lanes for k in reversed(range(ceil_div(behind, self.lanes)))))

    @override
    def _enter_row(self, inside: Callable[[], None]) -> None:
        # The tail comes first: lines that the loop writes past the caches are not fetched again.
        self._enter_ends(inside)
        with self.kernel.at_steps({SHIFT: UNKNOWN_SHIFT}):
            self._enter_whole(inside)

    @override
    def at_row(self) -> AbstractContextManager[None]:
        if self.kernel.steps.get(SHIFT) != UNKNOWN_SHIFT:
            return nullcontext()
        return self.kernel.at_steps({SHIFT: self._first})

    @property
    def _first(self) -> Expr:
        """Start in the row of the loop's first vector: at most a vector behind the row's."""
        return self.lanes - mod(self.kernel.expr(self.start), self.lanes)

    @property
    @override
    def _new(self) -> tuple[str, Expr] | None:
        shift = self.kernel.steps[SHIFT].value
        if shift is None:
            return None
        outer = (self.kernel.steps[step_name(k)] * self.kernel.levels[k].stride for k in self.outer)
        position = sum(outer, Expr.const(shift))
        if not position:
            return "lt", self._first
        return "ge", self._first + self.done - position


def _start(kernel: KernelNest, rows: Rows, index: str) -> tuple[IndexExpr, int] | None:
    """Start in memory of the rows of the first result along an index.

    And the minimum distance to the next multiple of a vector. None if all begin at such multiples,
    or no result lies along the index.
    """
    lanes = kernel.levels[-1].extent
    for value in kernel.kernel.yield_op.values:
        along, sizes = rows.maps[value], shape(value)
        if along and along[-1] == index:
            strides = [prod(sizes[k + 1 :]) for k in range(len(sizes) - 1)]
            outer = [(a, n) for a, n in zip(along[:-1], strides, strict=True) if a is not None]
            start = sum((IndexExpr.of(a) * n for a, n in outer), IndexExpr.of(0))
            min_head = gcd(lanes, *(n for _, n in outer))
            return (start.substitute(kernel.values), min_head) if min_head < lanes else None
    return None
