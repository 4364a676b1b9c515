"""Last steps of loops over columns, and over rows written out together, that go back.

What vectors, or rows that are computed together, do not divide, ends in ones that begin earlier:
what they have in common with those before is computed once more, and written with the same values.
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
from tiledialect.index.integer import Expr, less, minimum
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import LoopLevel, Role, ends_in_part, is_left_alone

BACK = "back"
"""The step that says how far a row's vectors go back: 0, or less in the last one."""
ROWS_BACK = "rows_back"
"""The step that says how far rows that are written out together do."""


@dataclass(frozen=True)
class LastColumns:
    """The last step of a loop over columns, which goes back so that its vectors are whole.

    The columns that it has in common with the step before are aggregated and written once more.
    """

    kernel: KernelNest
    level: int
    """The loop, which stands outside the one over what is aggregated."""
    length: int

    @staticmethod
    def of(kernel: KernelNest, op: ContractionOp) -> LastColumns | None:
        """That of an aggregate of one tensor; None if its columns fill vectors, or nearly.

        From now on the index's value depends on how far the step goes back.
        """
        levels = kernel.levels
        is_plain = op.combination.data is Combination.none and not kernel.kernel.parts
        if op.aggregation.data is Aggregation.assign or kernel.schedule.stages or not is_plain:
            return None
        if not levels or levels[-1].role is not Role.VECTOR or kernel.local_levels:
            return None
        index = levels[-1].index
        own = [k for k, level in enumerate(levels) if level.index == index]
        last = LastColumns(kernel, own[0], kernel.ranges[index].extent)
        outputs = {name for e in op.output.data for name in e.names}
        is_outside = all(level.index in outputs for level in levels[: own[0]])
        between = {level.index for level in levels[own[0] : own[-1]]} - outputs
        in_order = are_digits([levels[k] for k in own])
        lanes = levels[-1].extent
        fills = last.length % lanes == 0 or ends_in_part(last.length, lanes)
        is_serial = is_outside and levels[own[0]].role is Role.SERIAL and last.whole > 0
        if index not in outputs or not (between and in_order and is_serial) or fills:
            return None
        let_go_back(kernel, index)
        return last

    @property
    def index(self) -> str:
        """The columns' index."""
        return self.kernel.levels[self.level].index

    @property
    def whole(self) -> int:
        """How many steps need not go back."""
        return self.length // self.kernel.levels[self.level].stride

    def enter(self, inside: Callable[[], None]) -> None:
        """The loop over the other steps, and then the last one."""
        first_steps(self.kernel, self.level, self.whole, inside)
        back = self.length - (self.whole + 1) * self.kernel.levels[self.level].stride
        last = {step_name(self.level): Expr.const(self.whole), BACK: Expr.const(back)}
        with self.kernel.at_steps(last):
            inside()


@dataclass(frozen=True)
class LastRows:
    """Rows that are written out together: the last of them go back over what the ones before did.

    They are computed and written once more, with the same values, by the same work-item.
    """

    kernel: KernelNest
    index: str
    level: int
    """The loop over so many rows at a time."""
    together: int
    length: int

    @staticmethod
    def of(kernel: KernelNest, first: int) -> LastRows | None:
        """Those along an index all of whose loops are outside level ``first``; None if all fit.

        From now on the index's value depends on how far they go back.
        """
        values = kernel.kernel.values
        if any(isinstance(values[s.operand], BlockArgument) for s in kernel.schedule.stages):
            return None
        for index in dict.fromkeys(level.index for level in kernel.levels[:first]):
            last = LastRows._along(kernel, index, first)
            if last is not None and not kernel.local_levels:
                let_go_back(kernel, index, ROWS_BACK)
                return last
        return None

    @staticmethod
    def _along(kernel: KernelNest, index: str, first: int) -> LastRows | None:
        """Those along an index."""
        levels, length = kernel.levels, kernel.ranges[index].extent
        own = [k for k, level in enumerate(levels) if level.index == index]
        if index in kernel.kernel.reduced or len(own) < 2 or not own[-2] < first <= own[-1]:
            return None
        digits = [levels[k] for k in own]
        together = digits[-1].extent
        is_past = prod(level.extent for level in digits) > length >= together
        # What a group has alone must not be done by another one.
        group = prod(level.extent for level in digits if level.role is not Role.GROUP)
        is_alone = is_left_alone(length, group, together)
        is_own = levels[own[-2]].role is Role.SERIAL and not is_alone
        written_out = digits[-1].role is Role.UNROLL and digits[-1].stride == 1
        if not (is_past and is_own and written_out and are_digits(digits)):
            return None
        return LastRows(kernel, index, own[-2], together, length)

    def enter(self, inside: Callable[[], None]) -> None:
        """The loop, where there are rows, of which the last step's go back."""
        own = (k for k in range(self.level + 1) if self.kernel.levels[k].index == self.index)
        with self.kernel.loops([self.level]):
            steps = ((self.kernel.steps[step_name(k)], self.kernel.levels[k].stride) for k in own)
            begin = sum((step * stride for step, stride in steps), Expr())
            back = minimum(0, self.length - self.together - begin)
            is_there = self.kernel.nest.when(less(begin, self.length))
            with is_there, self.kernel.at_steps({ROWS_BACK: back}):
                inside()


def let_go_back(kernel: KernelNest, index: str, step: str = BACK) -> None:
    """From now on the index's value depends on how far its vectors, or rows, go back."""
    kernel.values[index] += IndexExpr.of(step)
    kernel.steps[step] = Expr()


def are_digits(levels: Sequence[LoopLevel]) -> bool:
    """Whether levels of an index are digits of it, one inside the other."""
    return all(a.stride == b.stride * b.extent for a, b in pairwise(levels))


def first_steps(kernel: KernelNest, k: int, count: int, inside: Callable[[], None]) -> None:
    """The loop over so many steps of a level, none of which goes back."""
    level = kernel.levels[k]
    with (
        kernel.nest.loop(LoopRole(level.role), count, level.index) as step,
        kernel.at_steps({step_name(k): step}),
    ):
        inside()
