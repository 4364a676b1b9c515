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

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd, prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.rows import Rows, shape
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer import Expr, less, minimum, mod
from tiledialect.lowering.nest.accumulators import Accumulator
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.rounding import ceil_div
from tiledialect.schedule.leaves import LEAST_SLIDING, Leaf, Role, ends_in_part
from tiledialect.schedule.tiles import step_name

BACK = "back"
"""The step that says how far a row's vectors go back: 0, or less in the last one."""
ROWS_BACK = "rows_back"
"""The step that says how far rows that are written out together do."""
SLIDING = Expr.var(BACK)
"""How far where each row's vectors go elsewhere, and it is not known yet which row it is."""
MOST_VECTORS = 8
"""How many vectors stand one after the other behind the loop over a row, at most."""


@dataclass(frozen=True)
class RowTail:
    """The end of a row along an index, whose leaves reach past it.

    The vectors of a long row whose successor begins elsewhere in a vector begin, but for the first
    and the last ones, at multiples of themselves in memory, wherever their row does.
    """

    kernel: KernelNest
    index: str
    leaves: tuple[int, ...]
    """The leaves of the index, from the largest stride to the lanes."""
    length: int
    start: IndexExpr | None = None
    """Where a row begins in memory, if its vectors begin at multiples of themselves."""
    least: int = 0
    """How many elements are before the first of these vectors at least."""

    @staticmethod
    def of(kernel: KernelNest, rows: Rows) -> RowTail | None:
        """That of the index along which a work-item has vectors; None if these need not go back.

        From now on the index's value depends on how far they do.
        """
        schedule, leaves = kernel.schedule, kernel.leaves
        if not leaves or leaves[-1].role is not Role.VECTOR:
            return None
        values, index = kernel.kernel.values, leaves[-1].index
        is_staged = any(isinstance(values[s.operand], BlockArgument) for s in schedule.stages)
        if index not in kernel.kernel.reduced or schedule.one_pass or is_staged:
            return None
        own = tuple(k for k, leaf in enumerate(leaves) if leaf.index == index)
        tail = RowTail(kernel, index, own, kernel.ranges[index].extent)
        if tail._may_slide:
            start, least = _start(kernel, rows, index)
            tail = replace(tail, start=start, least=least)
        if kernel.local_leaves or not tail._can_go_back:
            return None
        _let_go_back(kernel, index)
        return tail

    @property
    def _may_slide(self) -> bool:
        """Whether the row is long enough for vectors at its ends that are there twice."""
        outermost = self.kernel.leaves[self.leaves[0]]
        return outermost.role is Role.SERIAL and self.length >= LEAST_SLIDING * self.lanes

    @property
    def _can_go_back(self) -> bool:
        """Whether the index goes past its end, in digits one inside the other, by few vectors."""
        own = [self.kernel.leaves[k] for k in self.leaves]
        is_past = prod(leaf.extent for leaf in own) > self.length >= self.lanes
        goes_back = self.start is not None or not ends_in_part(self.length, self.lanes)
        return is_past and _are_digits(own) and goes_back and len(self.ends) <= MOST_VECTORS

    @property
    def outer(self) -> tuple[int, ...]:
        """The leaves of the index but for the lanes."""
        return self.leaves[:-1]

    @property
    def lanes(self) -> int:
        """How many elements a vector has."""
        return self.kernel.leaves[self.leaves[-1]].extent

    @property
    def whole(self) -> int:
        """How many steps of the outermost leaf have elements alone that are there."""
        beside = 0 if self.start is None else self.lanes
        return (self.length - beside) // self.kernel.leaves[self.leaves[0]].stride

    @property
    def _done(self) -> int:
        """How many elements those steps have."""
        return self.whole * self.kernel.leaves[self.leaves[0]].stride

    @property
    def ends(self) -> tuple[int, ...]:
        """Where in the row the vectors begin that those steps do not have."""
        last = self.length - self.lanes
        if self.start is None:
            return tuple(min(k, last) for k in range(self._done, self.length, self.lanes))
        behind = ceil_div(self.length - self.least - self._done, self.lanes)
        return (0, *(last - k * self.lanes for k in reversed(range(behind))))

    def extent(self, k: int) -> int:
        """How many places what is kept of a row has along a leaf, of whatever index."""
        leaf = self.kernel.leaves[k]
        if k != self.leaves[0]:
            return leaf.extent
        return max(leaf.extent, ceil_div(self._done + len(self.ends) * self.lanes, leaf.stride))

    def enter(self, k: int, inside: Callable[[], None]) -> None:
        """The loop of a leaf that is not the lanes', and behind the outermost one the end.

        Ends that overlap with what the loop writes at multiples of vectors come before it: what
        goes past the caches is not fetched again.
        """
        if k != self.leaves[0]:
            is_end = step_name(k) in self.kernel.steps
            with nullcontext() if is_end else self.kernel.loops([k]):
                inside()
            return
        if self.whole and self.start is None:
            _first_steps(self.kernel, k, self.whole, inside)
        for steps in self._at_ends():
            with self.kernel.at_steps(steps):
                inside()
        if self.whole and self.start is not None:
            with self.kernel.at_steps({BACK: SLIDING}):
                _first_steps(self.kernel, k, self.whole, inside)

    def _at_ends(self) -> Iterator[dict[str, Expr]]:
        """Where the leaves but for the lanes are in each of the vectors that no loop has."""
        for number, position in enumerate(self.ends):
            rest = self._done + number * self.lanes
            found = {BACK: Expr.const(position - rest)}
            for k in self.outer:
                step, rest = divmod(rest, self.kernel.leaves[k].stride)
                found[step_name(k)] = Expr.const(step)
            yield found

    def at_row(self) -> AbstractContextManager[None]:
        """Where the loop's vectors begin, once it is known which row it is."""
        if self.kernel.steps.get(BACK) != SLIDING:
            return nullcontext()
        return self.kernel.at_steps({BACK: self._first})

    @property
    def _first(self) -> Expr:
        """Where in the row the loop's first vector begins: at most a vector behind its head."""
        assert self.start is not None
        return self.lanes - mod(self.kernel.expr(self.start), self.lanes)

    def once(self, op: ContractionOp, accumulator: Accumulator, value: SSAValue) -> SSAValue:
        """What a contraction aggregates here: nothing in lanes that are aggregated elsewhere."""
        is_alone = self.leaves[-1] in accumulator.places.moving
        if is_alone or op.aggregation.data in EXTREMES or (found := self._new) is None:
            return value
        nest, scalars = self.kernel.nest, self.kernel.nest.scalars
        kind, bound = found
        lane = nest.index(self.kernel.steps[step_name(self.leaves[-1])])
        number, limit = (nest.emit(arith.IndexCastOp(v, i32)) for v in (lane, nest.index(bound)))
        is_new = scalars.compare(kind, number, limit, i32)
        neutral = scalars.constant(accumulator.initial, accumulator.type)
        return scalars.select(is_new, value, neutral)

    @property
    def _new(self) -> tuple[str, Expr] | None:
        """How the lanes here compare with what that have elements of their own; None if all do."""
        back = self.kernel.steps[BACK].value
        if self.start is None:
            return ("ge", Expr.const(-back)) if back else None
        if back is None:
            return None
        outer = (self.kernel.steps[step_name(k)] * self.kernel.leaves[k].stride for k in self.outer)
        position = sum(outer, Expr.const(back))
        if not position:
            return "lt", self._first
        return "ge", self._first + self._done - position


def _start(kernel: KernelNest, rows: Rows, index: str) -> tuple[IndexExpr | None, int]:
    """Where rows of the first result along an index begin in memory.

    None if all begin at multiples of a vector, or no result lies along the index. And how far the
    next multiple is at least.
    """
    lanes = kernel.leaves[-1].extent
    for value in kernel.kernel.yield_op.values:
        along, sizes = rows.maps[value], shape(value)
        if along and along[-1] == index:
            strides = [prod(sizes[k + 1 :]) for k in range(len(sizes) - 1)]
            outer = [(a, n) for a, n in zip(along[:-1], strides, strict=True) if a is not None]
            start = sum((IndexExpr.of(a) * n for a, n in outer), IndexExpr.of(0))
            least = gcd(lanes, *(n for _, n in outer))
            return (start.substitute(kernel.values) if least < lanes else None), least
    return None, 0


@dataclass(frozen=True)
class LastColumns:
    """The last step of a loop over columns, which goes back so that its vectors are whole.

    The columns that it has in common with the step before are aggregated and written once more.
    """

    kernel: KernelNest
    leaf: int
    """The loop, which stands outside the one over what is aggregated."""
    length: int

    @staticmethod
    def of(kernel: KernelNest, op: ContractionOp) -> LastColumns | None:
        """That of an aggregate of one tensor; None if its columns fill vectors, or nearly.

        From now on the index's value depends on how far the step goes back.
        """
        leaves = kernel.leaves
        is_plain = op.combination.data is Combination.none and not kernel.kernel.parts
        if op.aggregation.data is Aggregation.assign or kernel.schedule.stages or not is_plain:
            return None
        if not leaves or leaves[-1].role is not Role.VECTOR or kernel.local_leaves:
            return None
        index = leaves[-1].index
        own = [k for k, leaf in enumerate(leaves) if leaf.index == index]
        last = LastColumns(kernel, own[0], kernel.ranges[index].extent)
        outputs = {name for e in op.output.data for name in e.names}
        is_outside = all(leaf.index in outputs for leaf in leaves[: own[0]])
        between = {leaf.index for leaf in leaves[own[0] : own[-1]]} - outputs
        in_order = _are_digits([leaves[k] for k in own])
        lanes = leaves[-1].extent
        fills = last.length % lanes == 0 or ends_in_part(last.length, lanes)
        is_serial = is_outside and leaves[own[0]].role is Role.SERIAL and last.whole > 0
        if index not in outputs or not (between and in_order and is_serial) or fills:
            return None
        _let_go_back(kernel, index)
        return last

    @property
    def index(self) -> str:
        """The columns' index."""
        return self.kernel.leaves[self.leaf].index

    @property
    def whole(self) -> int:
        """How many steps need not go back."""
        return self.length // self.kernel.leaves[self.leaf].stride

    def enter(self, inside: Callable[[], None]) -> None:
        """The loop over the other steps, and then the last one."""
        _first_steps(self.kernel, self.leaf, self.whole, inside)
        back = self.length - (self.whole + 1) * self.kernel.leaves[self.leaf].stride
        last = {step_name(self.leaf): Expr.const(self.whole), BACK: Expr.const(back)}
        with self.kernel.at_steps(last):
            inside()


@dataclass(frozen=True)
class LastRows:
    """Rows that are written out together: the last of them go back over what the ones before did.

    They are computed and written once more, with the same values, by the same work-item.
    """

    kernel: KernelNest
    index: str
    leaf: int
    """The loop over so many rows at a time."""
    together: int
    length: int

    @staticmethod
    def of(kernel: KernelNest, first: int) -> LastRows | None:
        """Those along an index all of whose loops are outside leaf ``first``; None if all fit.

        From now on the index's value depends on how far they go back.
        """
        values = kernel.kernel.values
        if any(isinstance(values[s.operand], BlockArgument) for s in kernel.schedule.stages):
            return None
        for index in dict.fromkeys(leaf.index for leaf in kernel.leaves[:first]):
            last = LastRows._along(kernel, index, first)
            if last is not None and not kernel.local_leaves:
                _let_go_back(kernel, index, ROWS_BACK)
                return last
        return None

    @staticmethod
    def _along(kernel: KernelNest, index: str, first: int) -> LastRows | None:
        """Those along an index."""
        leaves, length = kernel.leaves, kernel.ranges[index].extent
        own = [k for k, leaf in enumerate(leaves) if leaf.index == index]
        if index in kernel.kernel.reduced or len(own) < 2 or not own[-2] < first <= own[-1]:
            return None
        digits = [leaves[k] for k in own]
        together = digits[-1].extent
        is_past = prod(leaf.extent for leaf in digits) > length >= together
        # What a group has alone must not be done by another one.
        group = prod(leaf.extent for leaf in digits if leaf.role is not Role.GROUP)
        rest = length % group if group < length else together
        is_own = leaves[own[-2]].role is Role.SERIAL and not 0 < rest < together
        written_out = digits[-1].role is Role.UNROLL and digits[-1].stride == 1
        if not (is_past and is_own and written_out and _are_digits(digits)):
            return None
        return LastRows(kernel, index, own[-2], together, length)

    def enter(self, inside: Callable[[], None]) -> None:
        """The loop, where there are rows, of which the last step's go back."""
        own = (k for k in range(self.leaf + 1) if self.kernel.leaves[k].index == self.index)
        with self.kernel.loops([self.leaf]):
            steps = ((self.kernel.steps[step_name(k)], self.kernel.leaves[k].stride) for k in own)
            begin = sum((step * stride for step, stride in steps), Expr())
            back = minimum(0, self.length - self.together - begin)
            is_there = self.kernel.nest.when(less(begin, self.length))
            with is_there, self.kernel.at_steps({ROWS_BACK: back}):
                inside()


def _let_go_back(kernel: KernelNest, index: str, step: str = BACK) -> None:
    """From now on the index's value depends on how far its vectors, or rows, go back."""
    kernel.values[index] += IndexExpr.of(step)
    kernel.steps[step] = Expr()


def _are_digits(leaves: Sequence[Leaf]) -> bool:
    """Whether leaves of an index are digits of it, one inside the other."""
    return all(a.stride == b.stride * b.extent for a, b in pairwise(leaves))


def _first_steps(kernel: KernelNest, k: int, count: int, inside: Callable[[], None]) -> None:
    """The loop over so many steps of a leaf, none of which goes back."""
    leaf = kernel.leaves[k]
    with (
        kernel.nest.loop(LoopRole(leaf.role), count, leaf.index) as step,
        kernel.at_steps({step_name(k): step}),
    ):
        inside()
