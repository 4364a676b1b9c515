"""Guards of a nest: tests that some points of its loops do not pass, made as early as can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from tiledialect.index.expr import Range
from tiledialect.index.integer import Condition, at_least_zero, both, divides, less
from tiledialect.index.sets import Guard, GuardKind
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.vector_tails import LastColumns, LastRows
from tiledialect.schedule.loops import Role, place_of


@dataclass(frozen=True)
class Test:
    """A guard as the kernel's indices see it."""

    guard: Guard
    names: frozenset[str]
    """The steps that it depends on."""
    needed_until: int | None = None
    """The level from which on it may be left out, as the operand is staged; None if it may not."""


class Guards:
    """Makes the tests of a kernel as soon as their indices are known.

    But not where work-items that part ways would have to wait for one another: around copies to
    local memory, and, if they ``share`` aggregates, anywhere outside the loops over the points.
    """

    def __init__(
        self, kernel: KernelNest, *, share: bool, last: LastColumns | LastRows | None = None
    ):
        self.kernel = kernel
        self.share = share
        self.last = last

    @cached_property
    def reach(self) -> dict[str, Range]:
        """The values that the loops give each index, which may go past its range.

        Even an empty one: only a loop without steps gives no value.
        """
        extents = dict.fromkeys(self.kernel.ranges, 1)
        for level in self.kernel.levels:
            extents[level.index] *= level.extent
        found = {
            name: Range(r.lower, r.lower + extents[name]) for name, r in self.kernel.ranges.items()
        }
        if self.last is not None:
            found[self.last.index] = self.kernel.ranges[self.last.index]
        return found

    def tests(self, guards: Sequence[Guard]) -> tuple[Test, ...]:
        """Guards on indices as tests of steps."""
        found: list[Test] = []
        for guard in guards:
            affine = guard.expr.substitute(self.kernel.values)
            found.append(Test(guard, frozenset(affine.names)))
        return tuple(found)

    def condition(self, test: Test) -> Condition:
        """The test at the loops being built."""
        guard = test.guard
        expr = self.kernel.expr(guard.expr.substitute(self.kernel.values))
        if guard.kind is GuardKind.LOWER:
            return at_least_zero(expr)
        if guard.kind is GuardKind.UPPER:
            return less(expr, guard.bound)
        return divides(guard.bound, expr)

    @cached_property
    def last_shared_copy(self) -> int:
        """How many levels are outside the last copy that all work-items make together."""
        levels = self.kernel.levels
        places = [place_of(s, levels) for s in self.kernel.schedule.stages if s.local]
        return max(places, default=0)

    @cached_property
    def last_loop(self) -> int:
        """The number of the innermost level that is a loop of each work-item; -1 without one."""
        levels = self.kernel.levels
        return max((k for k, x in enumerate(levels) if x.role is Role.SERIAL), default=-1)

    def passing(
        self, tests: Sequence[Test], k: int, *, points: bool = False
    ) -> tuple[AbstractContextManager[None], tuple[Test, ...]]:
        """A branch for the tests that can be made before level ``k``, and the tests that remain.

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
        self, tests: Sequence[Test], k: int
    ) -> tuple[AbstractContextManager[None], tuple[Test, ...]]:
        """The same for what a whole work-group skips, and what need not be tested any more.

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
        tests: tuple[Test, ...],
        inside: Callable[[tuple[Test, ...]], None],
        k: int = 0,
    ) -> None:
        """The loops around everything, up to level ``last``: then ``inside``, with what remains.

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
            if self.last is not None and k == self.last.level:
                self.last.enter(lambda: self.enter(copy, last, later, inside, k + 1))
                return
            with self.kernel.loops([k]):
                self.enter(copy, last, later, inside, k + 1)

    def known(self, tests: Sequence[Test]) -> list[Test]:
        """The tests of steps whose loops are being built."""
        return [test for test in tests if test.names <= self.kernel.steps.keys()]

    def branch(self, tests: Sequence[Test]) -> AbstractContextManager[None]:
        """A branch for what passes tests."""
        return self.kernel.nest.when(both(*map(self.condition, tests)))
