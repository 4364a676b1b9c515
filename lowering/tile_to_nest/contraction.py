"""A contraction in a nest: accumulators, the loops over its points, and the stores of the sums.

The loops up to the first one over a summed index stand around everything. From there on, the
remaining output indices index a tile of accumulators in private memory: it is set to the neutral
element, aggregated into by the loops over the points, and read when the outputs are written. A
guard is a test that some points of the loops do not pass; each is made as soon as its indices are
known, but not around a copy to local memory, which needs all work-items. A guard that only says
that an operand is read inside its tensor needs no test if the operand is staged: the copy writes
the neutral element there.

A count of the points that have the value of a maximum or minimum goes over them once more, when
that is known. A copy has the neutral element outside of the operand, which may be the maximum: the
count reads a copy that has NaN there, or compares the indices, where that takes less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.schedules import instruction_box
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.integer.expressions import Expr, equal, less, less_equal
from tiledialect.index.integer.simplify import simplify_condition
from tiledialect.index.sets import Guard
from tiledialect.lowering.tile_to_nest.accumulators import (
    Accumulator,
    AccumulatorLayout,
    combined,
    neutral_operands,
)
from tiledialect.lowering.tile_to_nest.elements import Elements, element_type, static_shape
from tiledialect.lowering.tile_to_nest.group_reductions import reduce
from tiledialect.lowering.tile_to_nest.guards import Guards, StepGuard
from tiledialect.lowering.tile_to_nest.instruction import InstructionNest
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.staging import Staging
from tiledialect.lowering.tile_to_nest.vector_tails import ColumnTail
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import Role, first_unrolled
from tiledialect.schedule.output_box import always_lands, visited


@dataclass(frozen=True)
class Accumulation:
    """Accumulation of a contraction over its points."""

    op: ContractionOp
    staging: Staging
    acc: Accumulator
    read: Callable[[int], SSAValue]
    """Element of an operand at the loops being built, by number."""
    flag: Accumulator | None = None
    """Whether points landed, if that must be known."""
    lands: Callable[[], Iterable[SSAValue]] = tuple
    """Conditions under which the point of the loops being built counts, if not tested before."""


@dataclass(frozen=True)
class Aggregates:
    """Aggregates of the elements of a work-item."""

    acc: Accumulator
    flag: Accumulator | None
    """Whether points landed, if that must be known."""
    count: Accumulator | None
    """Number of points that have the value of the aggregate, if they are counted."""


class ContractionNest:
    """Builds the loops of a kernel with one contraction, and of the count of its points."""

    def __init__(self, kernel: KernelNest, op: ContractionOp):
        self.kernel = kernel
        self.nest = kernel.nest
        self.op = op
        self.levels = kernel.levels
        self.space = op.space()
        self.box = visited(self.space, kernel.ranges)
        self.outputs = {name for e in op.output.data for name in e.names}
        tail = ColumnTail.of(kernel, op)
        accesses = [[e.substitute(kernel.values) for e in a.data] for a in op.accesses]
        self.neutral = neutral_operands(op)
        self.staging = Staging(kernel, op.inputs, accesses, self.neutral)
        self.count = kernel.kernel.count
        """Contraction that counts the points with the value of the aggregate, if there is one."""
        box = instruction_box(op, kernel.schedule)
        self.instruction = box and InstructionNest(kernel, self.staging, box)
        """Instruction in the place of the innermost loops, if the schedule has one."""
        self.places = AccumulatorLayout.of(kernel, self.first_reduction, self.outputs)
        # All the work-items of an instruction must execute it.
        share = bool(self.places.shared) or self.instruction is not None
        self.guards = Guards(kernel, share=share, tail=tail)

    # -- levels and tests ------------------------------------------------------------------

    @cached_property
    def first_reduction(self) -> int:
        """Number of the first level inside a work-item that moves no output index.

        Without one, the number of the first of the innermost levels that are unrolled. An
        instruction has all the levels of its box.
        """
        parallel = self.kernel.parallel
        box = self.instruction.box.first if self.instruction is not None else None
        for k, level in enumerate(self.levels):
            if k >= parallel and (level.index not in self.outputs or k == box):
                return k
        return first_unrolled(self.levels)

    @cached_property
    def needs_flag(self) -> bool:
        """Whether the kernel must remember if a point landed on its element."""
        # A sum over no points is the 0 that an unwritten element must be.
        is_zero = self.op.aggregation.data == Aggregation.add and self.op.default is None
        lands = always_lands(self.space, self.kernel.ranges)
        return not lands and not (is_zero and self.box is not None)

    @cached_property
    def counted(self) -> Staging:
        """Operands of the count: the contraction's, or copies whose padding equals nothing."""
        assert self.count is not None
        if not self._padded_axes or self._has_lanes_apart:
            return self.staging
        found = zip(self.count.inputs, neutral_operands(self.count), strict=True)
        neutral = [value for operand, value in found if operand is not self.op.result]
        access = [e.substitute(self.kernel.values) for e in self.op.accesses.data[0].data]
        return Staging(self.kernel, self.op.inputs, [access], neutral)

    @property
    def _has_lanes_apart(self) -> bool:
        """Whether vectors of the operand are shuffled out of others.

        To compare the indices of their lanes takes less than to do that again; than to copy and
        load neighbours again it takes more.
        """
        accesses = self.staging.operands[0].access
        return any(abs(e.coefficient(n)) > 1 for e in accesses for n in self._lanes & {*e.names})

    @cached_property
    def _lanes(self) -> set[str]:
        """Names of the steps that are lanes."""
        return {step_name(k) for k, level in enumerate(self.levels) if level.role is Role.VECTOR}

    @cached_property
    def output_tests(self) -> tuple[StepGuard, ...]:
        """Tests that the loops' output element is in the output, and in its index's range.

        Beyond the range lie elements of other work-items, or of none.
        """
        ranges = self.kernel.ranges
        inside = tuple(
            Constraint(IndexExpr.of(name) - ranges[name].lower, IndexExpr.of(ranges[name].extent))
            for name in self.space.output_variables
        )
        ends = zip(self.op.output.data, static_shape(self.op.result), strict=True)
        whole = tuple(Constraint(place, IndexExpr.of(size)) for place, size in ends)
        # Of two that say the same, the test of an index alone has nothing to do with others.
        own = IndexSpace((), (), constraints=(*inside, *whole))
        reach = {name: self.guards.reach[name] for name in own.variables}
        return self.guards.tests(sets.guards(own, reach))

    def point_tests(self, staging: Staging, flag: Accumulator | None) -> tuple[StepGuard, ...]:
        """Tests that the loops' point is one of the contraction's, besides those of the output."""
        last_output = len(self.op.output.data)
        guards = [g for g in sets.guards(self.space, self.guards.reach) if g.source >= last_output]
        # Where the kernel must know if a point landed, one that adds nothing is still none.
        if flag is not None or all(operand.neutral is None for operand in staging.operands):
            return self.guards.tests(guards)
        # An instruction's loads from memory are tested there.
        read = self.instruction.box.first if self.instruction is not None else None
        absorbed = staging.absorbed(last_output, read)
        skipped = self.guards.tests([g for g in guards if g.source in absorbed])
        return (
            *(replace(test, needed_until=absorbed[test.guard.source]) for test in skipped),
            *self.guards.tests(self._guards_of_tested(staging)),
        )

    def _guards_of_tested(self, staging: Staging) -> list[Guard]:
        """Guards of operands that need them, from which the guards of others may follow."""
        space = self.space
        rest = [k for k in range(len(space.inputs)) if staging.needs_tests(k)]
        rest = rest if self.instruction is None else []
        space = replace(
            space,
            inputs=tuple(space.inputs[k] for k in rest),
            input_shapes=tuple(space.input_shapes[k] for k in rest),
        )
        return [g for g in sets.guards(space, self.guards.reach) if g.source >= len(space.output)]

    def _tests_of_unstaged(self, tests: Sequence[StepGuard]) -> tuple[StepGuard, ...]:
        """Tests of the output without which an operand would be read outside.

        Other aggregates outside the output are never written.
        """
        if self.instruction is not None:
            return ()
        names = self.staging.unstaged_names
        needed: tuple[StepGuard, ...] = ()
        # One test may keep an index in bounds by another one.
        while len(more := tuple(t for t in tests if t.names & names)) > len(needed):
            needed, names = more, names.union(*(t.names for t in more))
        return needed

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Levels over which the accumulators are read; an exchange has loops of its own."""
        if self.instruction is None or self.instruction.exchange is None:
            return self.places.moving
        return tuple(k for k in self.places.moving if k not in self.instruction.box.levels)

    # -- building --------------------------------------------------------------------------

    def build(self) -> None:
        """Build the whole kernel."""
        self.guards.enter(self._copy, self.first_reduction, self.output_tests, self._contract)

    def _copy(self, k: int) -> None:
        """Make the copies before level ``k``, which stands around the accumulators."""
        self.staging.copy(k)
        if self.count is not None and self.counted is not self.staging:
            self.counted.copy(k)

    def _contract(self, tests: tuple[StepGuard, ...]) -> None:
        acc = Accumulator.of(self.op, self.places)
        flag = Accumulator.flag(self.places) if self.needs_flag else None
        kept = [a for a in (acc, flag) if a is not None]
        for accumulator in kept:
            accumulator.start(self.instruction.alone if self.instruction is not None else ())
        first = Accumulation(self.op, self.staging, acc, self.staging.read, flag)
        self._accumulate(first, tests)
        exchanges = self.instruction is not None and self.instruction.exchange is not None
        for accumulator in kept:
            reduce(accumulator, everywhere=self.count is not None or exchanges)
        counted = self._count(tests, acc, flag)
        if self.instruction is not None and self.instruction.exchange is not None:
            with self.kernel.loops(self.moving):
                self.instruction.exchange_sums(acc.buffer, self.places.here)
        with self.nest.when(equal(self.kernel.linear_id(self.places.shared), 0)):
            self._finish(0, tests, Aggregates(acc, flag, counted))

    def _count(
        self, tests: tuple[StepGuard, ...], acc: Accumulator, flag: Accumulator | None
    ) -> Accumulator | None:
        """Count the points that have the value of the aggregate, if they are counted."""
        op = self.count
        if op is None:
            return None
        found = Accumulator.of(op, self.places, "count")
        found.start()

        def read(k: int) -> SSAValue:
            if op.inputs[k] is self.op.result:
                return self._result(acc, flag, self._elements())
            return self.counted.read(0)

        lands = self._lands if self.counted is self.staging else tuple
        self._accumulate(Accumulation(op, self.counted, found, read, lands=lands), tests)
        reduce(found, everywhere=False)
        return found

    def _accumulate(self, accumulation: Accumulation, tests: tuple[StepGuard, ...]) -> None:
        """Build the loops over all points of the accumulators."""
        needed = self._tests_of_unstaged(tests)
        every = (*needed, *self.point_tests(accumulation.staging, accumulation.flag))
        with accumulation.staging.scope():
            self._points(self.first_reduction, every, accumulation, entering=True)

    def _points(
        self,
        k: int,
        tests: tuple[StepGuard, ...],
        accumulation: Accumulation,
        *,
        entering: bool = False,
    ) -> None:
        """Build the loops over the points, from level ``k`` on."""
        skip, tests = self.guards.skipping(tests, k)
        with skip:
            if not entering:
                accumulation.staging.copy(k)
            if k != self.places.window:
                self._points_inside(k, tests, accumulation)
                return
            with accumulation.acc.in_registers() as registers:
                self._points_inside(k, tests, replace(accumulation, acc=registers))

    def _points_inside(
        self, k: int, tests: tuple[StepGuard, ...], accumulation: Accumulation
    ) -> None:
        # The work-items of an instruction stay together.
        branch, later = self.guards.passing(tests, k, points=self.instruction is None)
        acc, flag = accumulation.acc, accumulation.flag
        with branch:
            if self.instruction is not None and k == self.instruction.box.first:
                self._refuse([t for t in later if t.needed_until is None], flag)
                self.instruction.execute(acc.buffer, self.places.here)
                return
            if k < len(self.levels):
                with self.kernel.loops([k]):
                    self._points(k + 1, later, accumulation)
                return
            acc.add(self._value(accumulation))
            if flag is not None:
                flag.set()

    def _value(self, accumulation: Accumulation) -> SSAValue:
        """Value that is aggregated at the loops being built."""
        scalars, t = self.nest.scalars, accumulation.acc.type
        value = combined(accumulation.op, scalars, t, accumulation.read)
        for test in accumulation.lands():
            value = scalars.select(test, value, scalars.constant(0, t))
        return value

    def _lands(self) -> Iterator[SSAValue]:
        """Tests that the element read at the loops being built is not padding.

        Padding is the neutral element, which may be the aggregate.
        """
        operand = self.staging.operands[0]
        if self.staging.needs_tests(0):
            return
        shape = static_shape(operand.value)
        for axis, size in ((operand.access[k], shape[k]) for k in self._padded_axes):
            place = self.kernel.expr(axis)
            tests = (("ge", 0, less_equal(0, place)), ("lt", size, less(place, size)))
            for kind, bound, is_inside in tests:
                if (condition := simplify_condition(is_inside, self.nest.env)) == ALWAYS:
                    continue
                yield (
                    self._compared(kind, place, bound)
                    if self._lanes & {*axis.names}
                    else self.nest.truth(condition)
                )

    @cached_property
    def _padded_axes(self) -> tuple[int, ...]:
        """Axes of the first operand beyond which elements of the output read."""
        return sets.tested_axes(self.space, self.kernel.ranges)

    def _compared(self, kind: str, place: Expr, bound: int) -> SSAValue:
        """Compare an index with a bound, as numbers: lanes may differ in them."""
        nest = self.nest
        number = nest.emit(arith.IndexCastOp(nest.index(place), i32))
        return nest.scalars.compare(kind, number, nest.scalars.constant(bound, i32), i32)

    def _refuse(self, tests: Sequence[StepGuard], flag: Accumulator | None) -> None:
        """Refuse an instruction for a box of which some points do not count."""
        assert self.instruction is not None
        if tests or flag is not None:
            name = self.instruction.entry.name
            reason = f"{tests[0].guard.expr} is tested" if tests else "elements may stay unwritten"
            raise TileError.at(
                self.op, f"{name} cannot compute {name_of(self.op.result)}: {reason} inside its box"
            )

    def _finish(self, k: int, tests: tuple[StepGuard, ...], sums: Aggregates) -> None:
        """Build the loops over the accumulators, and the stores of each."""
        ready = self.guards.known(tests)
        later = tuple(t for t in tests if t not in ready)
        with self.guards.branch(ready):
            if k < len(self.moving):
                with self.kernel.loops([self.moving[k]]):
                    self._finish(k + 1, later, sums)
                return
            if self.instruction is None or self.instruction.exchange is None:
                self._write(sums)
                return
            with self.instruction.sums(self.places.here) as place, self.guards.branch(later):
                self._write(sums, place)

    def _result(
        self,
        acc: Accumulator,
        flag: Accumulator | None,
        elements: Elements,
        place: Sequence[Expr] | None = None,
    ) -> SSAValue:
        """Element of the contraction at the loops being built."""
        scalars, t, op = self.nest.scalars, element_type(self.op.result), self.op
        result = scalars.convert(acc.total(place), acc.type, t)
        if flag is None or self.box is None:
            return result
        # Both values are there, so a choice costs less than a branch.
        unwritten = elements.as_type(op.default, t) if op.default else scalars.constant(0, t)
        return scalars.select(flag.total(), result, unwritten)

    def _elements(self) -> Elements:
        """Elements at the output coordinates of the loops being built."""
        return Elements(self.nest, self.kernel.memory, self.kernel.at(self.op.output.data))

    def _write(self, sums: Aggregates, place: Sequence[Expr] | None = None) -> None:
        """Write the outputs at one element."""
        elements = self._elements()
        elements.known[self.op.result] = self._result(sums.acc, sums.flag, elements, place)
        if self.count is not None and (count := sums.count) is not None:
            t = element_type(self.count.result)
            found = self.nest.scalars.convert(count.total(), count.type, t)
            elements.known[self.count.result] = found
        with ExitStack() as s:
            if sums.flag is not None and self.box is None:
                s.enter_context(self.nest.where(sums.flag.total()))
            self.kernel.store_outputs(elements)
