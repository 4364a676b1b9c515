"""Vector tails of columns, and tails of unrolled rows, that are shifted inwards.

Remainders that vectors, or rows that are computed together, do not divide end in a step that begins
earlier: its overlap with the step before is computed once more, and written with the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.ir import BlockArgument

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Expr, less, minimum
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import LoopLevel, Role, ends_in_power_of_two, is_last_group_short

SHIFT = "shift"
"""Step of an index that shifts a row's vectors inwards: 0, or less in the last one."""
ROW_SHIFT = "shift_of_rows"
"""Step of an index that shifts unrolled rows inwards."""


@dataclass(frozen=True)
class ColumnTail:
    """Tail of a loop over columns: the last step is shifted inwards so that its vectors are whole.

    The columns that it has in common with the step before are aggregated and written once more.
    """

    kernel: KernelNest
    level: int
    """The loop, which stands outside the one over the summed indices."""
    length: int

    @staticmethod
    def of(kernel: KernelNest, op: ContractionOp) -> ColumnTail | None:
        """Build the tail of an aggregate of one tensor; None if its columns nearly fill vectors.

        Adds the shift to the index's value.
        """
        levels = kernel.levels
        is_plain = op.combination.data is Combination.none and not kernel.kernel.parts
        if op.aggregation.data is Aggregation.assign or kernel.schedule.stages or not is_plain:
            return None
        if not levels or levels[-1].role is not Role.VECTOR or kernel.local_levels:
            return None
        index = levels[-1].index
        own = [k for k, level in enumerate(levels) if level.index == index]
        tail = ColumnTail(kernel, own[0], kernel.ranges[index].extent)
        outputs = {name for e in op.output.data for name in e.names}
        is_outside = all(level.index in outputs for level in levels[: own[0]])
        between = {level.index for level in levels[own[0] : own[-1]]} - outputs
        in_order = are_digits([levels[k] for k in own])
        lanes = levels[-1].extent
        fills = tail.length % lanes == 0 or ends_in_power_of_two(tail.length, lanes)
        is_serial = is_outside and levels[own[0]].role is Role.SERIAL and tail.whole > 0
        if index not in outputs or not (between and in_order and is_serial) or fills:
            return None
        allow_shift(kernel, index)
        return tail

    @property
    def index(self) -> str:
        """Index of the columns."""
        return self.kernel.levels[self.level].index

    @property
    def whole(self) -> int:
        """Number of steps that are not shifted."""
        return self.length // self.kernel.levels[self.level].stride

    def enter(self, inside: Callable[[], None]) -> None:
        """Build the loop over the whole steps, and then the last one."""
        whole_steps(self.kernel, self.level, self.whole, inside)
        shift = self.length - (self.whole + 1) * self.kernel.levels[self.level].stride
        last = {step_name(self.level): Expr.const(self.whole), SHIFT: Expr.const(shift)}
        with self.kernel.at_steps(last):
            inside()


@dataclass(frozen=True)
class UnrolledRowTail:
    """Tail of unrolled rows: the last of them are shifted inwards over the ones before.

    They are computed and written once more, with the same values, by the same work-item.
    """

    kernel: KernelNest
    index: str
    level: int
    """Loop over so many rows at a time."""
    together: int
    length: int

    @staticmethod
    def of(kernel: KernelNest, first: int) -> UnrolledRowTail | None:
        """Build the tail along an index whose loops are outside level ``first``; None if all fit.

        Adds the shift to the index's value.
        """
        values = kernel.kernel.values
        if any(isinstance(values[s.operand], BlockArgument) for s in kernel.schedule.stages):
            return None
        for index in dict.fromkeys(level.index for level in kernel.levels[:first]):
            tail = UnrolledRowTail._along(kernel, index, first)
            if tail is not None and not kernel.local_levels:
                allow_shift(kernel, index, ROW_SHIFT)
                return tail
        return None

    @staticmethod
    def _along(kernel: KernelNest, index: str, first: int) -> UnrolledRowTail | None:
        """Build the tail along an index."""
        levels, length = kernel.levels, kernel.ranges[index].extent
        own = [k for k, level in enumerate(levels) if level.index == index]
        if index in kernel.kernel.reduced or len(own) < 2 or not own[-2] < first <= own[-1]:
            return None
        digits = [levels[k] for k in own]
        together = digits[-1].extent
        is_past = prod(level.extent for level in digits) > length >= together
        # A group's own rows must not be done by another one.
        group = prod(level.extent for level in digits if level.role is not Role.GROUP)
        is_alone = is_last_group_short(length, group, together)
        is_own = levels[own[-2]].role is Role.SERIAL and not is_alone
        unrolled = digits[-1].role is Role.UNROLL and digits[-1].stride == 1
        if not (is_past and is_own and unrolled and are_digits(digits)):
            return None
        return UnrolledRowTail(kernel, index, own[-2], together, length)

    def enter(self, inside: Callable[[], None]) -> None:
        """Build the loop, whose last step that has rows is shifted inwards."""
        own = (k for k in range(self.level + 1) if self.kernel.levels[k].index == self.index)
        with self.kernel.loops([self.level]):
            steps = ((self.kernel.steps[step_name(k)], self.kernel.levels[k].stride) for k in own)
            begin = sum((step * stride for step, stride in steps), Expr())
            shift = minimum(0, self.length - self.together - begin)
            is_there = self.kernel.nest.when(less(begin, self.length))
            with is_there, self.kernel.at_steps({ROW_SHIFT: shift}):
                inside()


def allow_shift(kernel: KernelNest, index: str, step: str = SHIFT) -> None:
    """Add a step to an index's value by which its vectors, or rows, are shifted inwards."""
    kernel.values[index] += IndexExpr.of(step)
    kernel.steps[step] = Expr()


def are_digits(levels: Sequence[LoopLevel]) -> bool:
    """Whether levels of an index are digits of it, one inside the other."""
    return all(a.stride == b.stride * b.extent for a, b in pairwise(levels))


def whole_steps(kernel: KernelNest, k: int, count: int, inside: Callable[[], None]) -> None:
    """Build the loop over so many steps of a level, none of which is shifted."""
    level = kernel.levels[k]
    with (
        kernel.nest.loop(LoopRole(level.role), count, level.index) as step,
        kernel.at_steps({step_name(k): step}),
    ):
        inside()
