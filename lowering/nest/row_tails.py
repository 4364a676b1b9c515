"""Ends of rows that vectors do not fill: the last vector goes back over what was done before.

A row of 37 elements is two vectors of 16, and one of its last 16, of which 11 have been done. They
are loaded and computed once more, and written with the same values; sums leave them out, while a
maximum does not mind. In vectors that are halved until they fit, the last 5 elements would be 4 and
1, each of which takes as long as a whole vector, and sums would be put together of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer import Expr
from tiledialect.lowering.nest.accumulators import Accumulator
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.rounding import ceil_div
from tiledialect.schedule.leaves import Leaf, Role, ends_in_part
from tiledialect.schedule.tiles import step_name

BACK = "back"
"""The step that says how far a row's vectors go back: 0, or less in the last one."""
MOST_VECTORS = 8
"""How many vectors stand one after the other behind the loop over a row, at most."""


@dataclass(frozen=True)
class RowTail:
    """The end of a row along an index, whose leaves reach past it."""

    kernel: KernelNest
    index: str
    leaves: tuple[int, ...]
    """The leaves of the index, from the largest stride to the lanes."""
    length: int

    @staticmethod
    def of(kernel: KernelNest) -> RowTail | None:
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
        if kernel.local_leaves or not tail._can_go_back:
            return None
        _let_go_back(kernel, index)
        return tail

    @property
    def _can_go_back(self) -> bool:
        """Whether the index goes past its end, in digits one inside the other, by few vectors."""
        own = [self.kernel.leaves[k] for k in self.leaves]
        is_past = prod(leaf.extent for leaf in own) > self.length >= self.lanes
        goes_back = not ends_in_part(self.length, self.lanes)
        return is_past and _are_digits(own) and goes_back and self._vectors <= MOST_VECTORS

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
        return self.length // self.kernel.leaves[self.leaves[0]].stride

    @property
    def _vectors(self) -> int:
        """How many vectors come after those steps."""
        done = self.whole * self.kernel.leaves[self.leaves[0]].stride
        return ceil_div(self.length - done, self.lanes)

    def enter(self, k: int, inside: Callable[[], None]) -> None:
        """The loop of a leaf that is not the lanes', and behind the outermost one the end."""
        if k != self.leaves[0]:
            is_behind = step_name(k) in self.kernel.steps
            with nullcontext() if is_behind else self.kernel.loops([k]):
                inside()
            return
        if self.whole:
            _first_steps(self.kernel, k, self.whole, inside)
        for steps in self._behind():
            with self.kernel.at_steps(steps):
                inside()

    def _behind(self) -> Iterator[dict[str, Expr]]:
        """Where the leaves but for the lanes are in each of the vectors behind the loop."""
        first = self.whole * self.kernel.leaves[self.leaves[0]].stride
        for start in range(first, self.length, self.lanes):
            found, rest = {BACK: Expr.const(min(0, self.length - self.lanes - start))}, start
            for k in self.outer:
                step, rest = divmod(rest, self.kernel.leaves[k].stride)
                found[step_name(k)] = Expr.const(step)
            yield found

    def once(self, op: ContractionOp, accumulator: Accumulator, value: SSAValue) -> SSAValue:
        """What a contraction aggregates here: nothing in lanes that it has aggregated before."""
        done = -(self.kernel.steps[BACK].value or 0)
        is_alone = self.leaves[-1] in accumulator.places.moving
        if not done or is_alone or op.aggregation.data in EXTREMES:
            return value
        nest, scalars = self.kernel.nest, self.kernel.nest.scalars
        lane = nest.index(self.kernel.steps[step_name(self.leaves[-1])])
        number = nest.emit(arith.IndexCastOp(lane, i32))
        is_new = scalars.compare("ge", number, scalars.constant(done, i32), i32)
        neutral = scalars.constant(accumulator.initial, accumulator.type)
        return scalars.select(is_new, value, neutral)


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


def _let_go_back(kernel: KernelNest, index: str) -> None:
    """From now on the index's value depends on how far its vectors go back."""
    kernel.values[index] += IndexExpr.of(BACK)
    kernel.steps[BACK] = Expr()


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
