"""Ends of rows that vectors do not fill: the last vector goes back over what was done before.

A row of 37 elements is two vectors of 16, and one of its last 16, of which 11 have been done. They
are loaded and computed once more, and written with the same values; sums leave them out, while a
maximum does not mind. In vectors that are halved until they fit, the last 5 elements would be 4 and
1, each of which takes as long as a whole vector, and sums would be put together of theirs.

Rows of 1000 begin elsewhere in a vector, and so would their vectors: each would be in two cache
lines, and none could be written past the caches. Of such rows, where they are long, all vectors but
the first and the last ones begin at multiples of themselves in memory.
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
from tiledialect.index.integer import Expr, mod
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.vector_tails import (
    BACK,
    are_digits,
    first_steps,
    let_go_back,
)
from tiledialect.rounding import ceil_div
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import LEAST_SLIDING, Role, ends_in_part

SLIDING = Expr.var(BACK)
"""How far where each row's vectors go elsewhere, and it is not known yet which row it is."""
MOST_VECTORS = 8
"""How many vectors stand one after the other behind the loop over a row, at most."""


@dataclass(frozen=True)
class RowTail(ABC):
    """The end of a row along an index, whose levels reach past it."""

    kernel: KernelNest
    index: str
    levels: tuple[int, ...]
    """The levels of the index, from the largest stride to the lanes."""
    length: int

    @staticmethod
    def of(kernel: KernelNest, rows: Rows) -> RowTail | None:
        """That of the index along which a work-item has vectors; None if these need not go back.

        From now on the index's value depends on how far they do.
        """
        schedule, levels = kernel.schedule, kernel.levels
        if not levels or levels[-1].role is not Role.VECTOR or kernel.local_levels:
            return None
        values, index = kernel.kernel.values, levels[-1].index
        is_staged = any(isinstance(values[s.operand], BlockArgument) for s in schedule.stages)
        if index not in kernel.kernel.reduced or schedule.one_pass or is_staged:
            return None
        own = tuple(k for k, level in enumerate(levels) if level.index == index)
        tail = OverlappingTail(kernel, index, own, kernel.ranges[index].extent)
        tail = AlignedTail.instead_of(tail, rows) or tail
        if not tail.is_possible:
            return None
        let_go_back(kernel, index)
        return tail

    @property
    def is_possible(self) -> bool:
        """Whether the index goes past its end, in digits one inside the other, by few vectors."""
        own = [self.kernel.levels[k] for k in self.levels]
        is_past = prod(level.extent for level in own) > self.length >= self.lanes
        return is_past and are_digits(own) and len(self.ends) <= MOST_VECTORS

    @property
    @abstractmethod
    def whole(self) -> int:
        """How many steps of the outermost level have elements alone that are there."""

    @property
    @abstractmethod
    def ends(self) -> tuple[int, ...]:
        """Where in the row the vectors begin that those steps do not have."""

    @abstractmethod
    def _enter_row(self, inside: Callable[[], None]) -> None:
        """The loop of the outermost level, and the vectors that it does not have."""

    @abstractmethod
    def at_row(self) -> AbstractContextManager[None]:
        """Where the loop's vectors begin, once it is known which row it is."""

    @property
    @abstractmethod
    def _new(self) -> tuple[str, Expr] | None:
        """How the lanes here compare with what that have elements of their own; None if all do."""

    @property
    def outer(self) -> tuple[int, ...]:
        """The levels of the index but for the lanes."""
        return self.levels[:-1]

    @property
    def lanes(self) -> int:
        """How many elements a vector has."""
        return self.kernel.levels[self.levels[-1]].extent

    @property
    def stride(self) -> int:
        """How many elements a step of the outermost level has."""
        return self.kernel.levels[self.levels[0]].stride

    @property
    def done(self) -> int:
        """How many elements the whole steps have."""
        return self.whole * self.stride

    def extent(self, k: int) -> int:
        """How many places what is kept of a row has along a level, of whatever index."""
        level = self.kernel.levels[k]
        if k != self.levels[0]:
            return level.extent
        return max(level.extent, ceil_div(self.done + len(self.ends) * self.lanes, level.stride))

    def enter(self, k: int, inside: Callable[[], None]) -> None:
        """The loop of a level that is not the lanes', and of the outermost one the ends, too."""
        if k == self.levels[0]:
            self._enter_row(inside)
            return
        is_end = step_name(k) in self.kernel.steps
        with nullcontext() if is_end else self.kernel.loops([k]):
            inside()

    def _enter_whole(self, inside: Callable[[], None]) -> None:
        """The loop over the whole steps."""
        if self.whole:
            first_steps(self.kernel, self.levels[0], self.whole, inside)

    def _enter_ends(self, inside: Callable[[], None]) -> None:
        """Each of the vectors that no loop has."""
        for number, position in enumerate(self.ends):
            rest = self.done + number * self.lanes
            steps = {BACK: Expr.const(position - rest)}
            for k in self.outer:
                step, rest = divmod(rest, self.kernel.levels[k].stride)
                steps[step_name(k)] = Expr.const(step)
            with self.kernel.at_steps(steps):
                inside()

    def once(self, op: ContractionOp, accumulator: Accumulator, value: SSAValue) -> SSAValue:
        """What a contraction aggregates here: nothing in lanes that are aggregated elsewhere."""
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
class OverlappingTail(RowTail):
    """That of a row whose last vector goes back over the one before."""

    @property
    @override
    def is_possible(self) -> bool:
        """Whether that is better than halves, quarters… of a vector, too."""
        return super().is_possible and not ends_in_part(self.length, self.lanes)

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
        back = self.kernel.steps[BACK].value
        return ("ge", Expr.const(-back)) if back else None


@dataclass(frozen=True)
class AlignedTail(RowTail):
    """Those of a row whose vectors begin at multiples of themselves in memory, wherever it does.

    The first one and the last ones do not, and overlap with these.
    """

    start: IndexExpr
    """Where a row begins in memory."""
    least: int
    """How many elements are before the first of these vectors at least."""

    @staticmethod
    def instead_of(tail: RowTail, rows: Rows) -> AlignedTail | None:
        """That of a long row whose successor begins elsewhere in a vector; None of another one."""
        kernel, index = tail.kernel, tail.index
        is_loop = kernel.levels[tail.levels[0]].role is Role.SERIAL
        if not is_loop or tail.length < LEAST_SLIDING:
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
        last, behind = self.length - self.lanes, self.length - self.least - self.done
        return (0, *(last - k * self.lanes for k in reversed(range(ceil_div(behind, self.lanes)))))

    @override
    def _enter_row(self, inside: Callable[[], None]) -> None:
        # The ends come first: what the loop writes past the caches is not fetched again.
        self._enter_ends(inside)
        with self.kernel.at_steps({BACK: SLIDING}):
            self._enter_whole(inside)

    @override
    def at_row(self) -> AbstractContextManager[None]:
        if self.kernel.steps.get(BACK) != SLIDING:
            return nullcontext()
        return self.kernel.at_steps({BACK: self._first})

    @property
    def _first(self) -> Expr:
        """Where in the row the loop's first vector begins: at most a vector behind its head."""
        return self.lanes - mod(self.kernel.expr(self.start), self.lanes)

    @property
    @override
    def _new(self) -> tuple[str, Expr] | None:
        back = self.kernel.steps[BACK].value
        if back is None:
            return None
        outer = (self.kernel.steps[step_name(k)] * self.kernel.levels[k].stride for k in self.outer)
        position = sum(outer, Expr.const(back))
        if not position:
            return "lt", self._first
        return "ge", self._first + self.done - position


def _start(kernel: KernelNest, rows: Rows, index: str) -> tuple[IndexExpr, int] | None:
    """Where rows of the first result along an index begin in memory.

    And how far the next multiple of a vector is at least. None if all begin at such multiples, or
    no result lies along the index.
    """
    lanes = kernel.levels[-1].extent
    for value in kernel.kernel.yield_op.values:
        along, sizes = rows.maps[value], shape(value)
        if along and along[-1] == index:
            strides = [prod(sizes[k + 1 :]) for k in range(len(sizes) - 1)]
            outer = [(a, n) for a, n in zip(along[:-1], strides, strict=True) if a is not None]
            start = sum((IndexExpr.of(a) * n for a, n in outer), IndexExpr.of(0))
            least = gcd(lanes, *(n for _, n in outer))
            return (start.substitute(kernel.values), least) if least < lanes else None
    return None
