"""Guards of a nest: tests that some points of its loops do not pass, made as early as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from tiledialect.index.expr import Range
from tiledialect.index.integer.expressions import Condition, at_least_zero, both, divides, less
from tiledialect.index.sets import Guard, GuardKind
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.vector_tails import ColumnTail, UnrolledRowTail
from tiledialect.schedule.loops import Role, place_of


@dataclass(frozen=True)
class StepGuard:
    """Guard in terms of the steps of a kernel's loops."""

    guard: Guard
    names: frozenset[str]
    """Names of the steps in the guard."""
    needed_until: int | None = None
    """Level from which on the test may be left out, as the operand is staged; None if never."""


class Guards:
    """Places the tests of a kernel as soon as their indices are known.

    But not where divergent work-items would have to wait for one another: around copies to local
    memory, and, if they ``share`` aggregates, anywhere outside the loops over the points.
    """

    def __init__(
        self, kernel: KernelNest, *, share: bool, tail: ColumnTail | UnrolledRowTail | None = None
    ):
        self.kernel = kernel
        self.share = share
        self.tail = tail

    @cached_property
    def reach(self) -> dict[str, Range]:
        """Values that the loops give each index, which may go past its range.

        Even an empty one: only a loop without steps gives no value.
        """
        extents = dict.fromkeys(self.kernel.ranges, 1)
        for level in self.kernel.levels:
            extents[level.index] *= level.extent
        found = {
            name: Range(r.lower, r.lower + extents[name]) for name, r in self.kernel.ranges.items()
        }
        if self.tail is not None:
            found[self.tail.index] = self.kernel.ranges[self.tail.index]
        return found

    def tests(self, guards: Sequence[Guard]) -> tuple[StepGuard, ...]:
        """Express guards on indices as tests of steps."""
        found: list[StepGuard] = []
        for guard in guards:
            affine = guard.expr.substitute(self.kernel.values)
            found.append(StepGuard(guard, frozenset(affine.names)))
        return tuple(found)

    def condition(self, test: StepGuard) -> Condition:
        """Condition of a test at the loops being built."""
        guard = test.guard
        expr = self.kernel.expr(guard.expr.substitute(self.kernel.values))
        if guard.kind is GuardKind.LOWER:
            return at_least_zero(expr)
        if guard.kind is GuardKind.UPPER:
            return less(expr, guard.bound)
        return divides(guard.bound, expr)

    @cached_property
    def last_shared_copy(self) -> int:
        """Number of levels outside the last copy that all work-items make together."""
        levels = self.kernel.levels
        places = [place_of(s, levels) for s in self.kernel.schedule.stages if s.local]
        return max(places, default=0)

    @cached_property
    def last_loop(self) -> int:
        """Number of the innermost level that is a loop of each work-item; -1 without one."""
        levels = self.kernel.levels
        return max((k for k, x in enumerate(levels) if x.role is Role.SERIAL), default=-1)

    def passing(
        self, tests: Sequence[StepGuard], k: int, *, points: bool = False
    ) -> tuple[AbstractContextManager[None], tuple[StepGuard, ...]]:
        """Branch for the tests that can be made before level ``k``, and the tests that remain.

        ``points`` says that the loops being built are those over the points.
        """
        may_part = k >= self.last_shared_copy and (points or not self.share)
        ready = [
            test
            for test in self.known(tests)
            if self.kernel.is_uniform(test.names) or (may_part and test.needed_until is None)
        ]
        return self.branch(ready), tuple(t for t in tests if t not in ready)

    def skipping(
        self, tests: Sequence[StepGuard], k: int
    ) -> tuple[AbstractContextManager[None], tuple[StepGuard, ...]]:
        """Branch for the tests that hold for a whole work-group, and the tests that remain.

        A test around a loop costs nothing beside it, so it is made though it could be left out.
        """
        around_loop = k <= self.last_loop
        left = [t for t in tests if t.needed_until is None or around_loop or k <= t.needed_until]
        ready = [t for t in self.known(left) if self.kernel.is_uniform(t.names)]
        return self.branch(ready), tuple(t for t in left if t not in ready)

    def enter(
        self,
        copy: Callable[[int], None],
        last: int,
        tests: tuple[StepGuard, ...],
        inside: Callable[[tuple[StepGuard, ...]], None],
        k: int = 0,
    ) -> None:
        """Build the outer loops, up to level ``last``; then ``inside``, with the remaining tests.

        ``copy`` makes the copies that stand before a level.
        """
        # Work-items part ways only after the copies that they make together.
        branch, later = self.passing(tests, k - 1)
        with branch:
            if k >= self.kernel.parallel:
                copy(k)
            if k == last:
                inside(later)
                return
            if self.tail is not None and k == self.tail.level:
                self.tail.enter(lambda: self.enter(copy, last, later, inside, k + 1))
                return
            with self.kernel.loops([k]):
                self.enter(copy, last, later, inside, k + 1)

    def known(self, tests: Sequence[StepGuard]) -> list[StepGuard]:
        """Tests of steps whose loops are being built."""
        return [test for test in tests if test.names <= self.kernel.steps.keys()]

    def branch(self, tests: Sequence[StepGuard]) -> AbstractContextManager[None]:
        """Branch under the conditions of tests."""
        return self.kernel.nest.when(both(*map(self.condition, tests)))
