"""A row kernel in a nest: passes over the same rows, one after another.

The loops up to the first one over an axis that is aggregated stand around everything, as in a
contraction's nest. Inside, the contractions that need no other's result form the first pass: loops
over the rest of the row aggregate all of them, then lanes and work-items are reduced. The
contractions that need these results are the next pass, and so on; last, loops over the row write
the results. Sums of exponentials are in the pass of their maximum, and sums of deviations in the
pass of their mean, where a group shares a row that it does not keep (`online_sums.py`,
`welford_sums.py`). Values between are computed at each point where they are needed, again in each
pass, unless the schedule keeps them. Inputs are read through their stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.analysis.row_passes import NO_ROW_PASS, RowPass, joined, operands, passes_of
from tiledialect.analysis.welford_sums import Deviation
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.structure.row_axes import Map, Rows, reduced_by
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Expr, equal
from tiledialect.lowering.nest.utils.builder import PRIVATE
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator, AccumulatorLayout
from tiledialect.lowering.tile_to_nest.elements import element_type
from tiledialect.lowering.tile_to_nest.group_reductions import reduce
from tiledialect.lowering.tile_to_nest.guards import Guards, StepGuard
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.rows.nan_propagation import may_ignore_nan
from tiledialect.lowering.tile_to_nest.rows.online_sums import scale_to
from tiledialect.lowering.tile_to_nest.rows.points import Point
from tiledialect.lowering.tile_to_nest.rows.row_vector_tails import RowTail
from tiledialect.lowering.tile_to_nest.rows.welford_sums import RunningMeans
from tiledialect.lowering.tile_to_nest.staging import Staging
from tiledialect.lowering.tile_to_nest.vector_tails import UnrolledRowTail
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import Role, first_unrolled, separate_sums

MIN_POINTS = 4
"""Minimum number of points of a lane between updates of a mean, if there are loops of more."""
MAX_POINTS = 1 << 24
"""Maximum number of points of a lane that are counted: one more is lost in f32."""


class RowNest:
    """Builds the loops of a kernel with axes."""

    def __init__(self, kernel: KernelNest, rows: Rows):
        self.kernel = kernel
        self.nest = kernel.nest
        self.levels = kernel.levels
        self.rows = rows
        self.reduced = kernel.kernel.reduced
        body = kernel.kernel.block.ops
        self.ops = [op for op in body if not isinstance(op, ConstantOp | YieldOp)]
        self.aggregates: dict[SSAValue, Accumulator] = {}
        self.kept: dict[SSAValue, SSAValue] = {}
        """Buffers of values that have been computed."""
        self.shared = any(self.levels[k].index in self.reduced for k in kernel.local_levels)
        """Whether a group shares a row."""
        self.guards = Guards(kernel, share=self.shared, tail=UnrolledRowTail.of(kernel, self.first))
        self.tail = RowTail.of(kernel, rows)
        self.reads = self._reads()
        accesses = [
            [IndexExpr.of(a or 0).substitute(kernel.values) for a in m] for _, m in self.reads
        ]
        values = [value for value, _ in self.reads]
        self.staging = Staging(kernel, values, accesses, [None] * len(values))

    # -- passes and reads ------------------------------------------------------------------

    def _reads(self) -> dict[tuple[SSAValue, Map], int]:
        """Numbers of the reads of inputs, by input and axes."""
        found = (
            (value, m)
            for op in self.ops
            for value, m in zip(operands(op), self.rows.reads(op), strict=False)
            if isinstance(value, BlockArgument)
        )
        return {key: number for number, key in enumerate(dict.fromkeys(found))}

    @cached_property
    def passes(self) -> list[RowPass]:
        """Contractions of each pass over the row: fewer where a group shares an unkept row."""
        found = passes_of(self.ops, self.rows.axes)
        schedule = self.kernel.schedule
        may_join = (self.shared or schedule.one_pass) and not schedule.stages
        return joined(found, self.rows.axes, guess=self.can_update_means) if may_join else found

    @property
    def can_update_means(self) -> bool:
        """Whether running means fit registers, with no loop over them, and points are countable."""
        inside = (self.levels[k] for k in range(self.first, len(self.levels)))
        moved = any(x.role is Role.SERIAL and x.index not in self.reduced for x in inside)
        return not moved and prod(self._points_of(self.first - 1)) <= MAX_POINTS

    def needed(self, values: Iterable[SSAValue], own: RowPass = NO_ROW_PASS) -> list[Operation]:
        """Ops to do at a point for these values, in order; in a pass, by its operands."""
        pending, found = list(values), set[Operation]()
        while pending:
            value = pending.pop()
            op = value.owner
            done = value in self.aggregates or value in self.kept
            if isinstance(op, ContractionOp | ElementwiseOp) and not done and op not in found:
                found.add(op)
                pending += own.operands(op)
        return [op for op in self.ops if op in found]

    @cached_property
    def to_keep(self) -> list[SSAValue]:
        """Values that are computed once and kept."""
        values = self.kernel.kernel.values
        chosen = (values[stage.operand] for stage in self.kernel.schedule.stages)
        return [v for v in chosen if not isinstance(v, BlockArgument)]

    # -- levels and tests ------------------------------------------------------------------

    @cached_property
    def first(self) -> int:
        """Number of the first level inside a work-item over an axis that is aggregated.

        Unrolled rows around it are computed together, pass by pass, so that their latencies
        overlap. Without such a level, the number of the first of the innermost levels that are
        unrolled.
        """
        for k, level in enumerate(self.levels):
            if k >= self.kernel.parallel and level.index in self.reduced:
                return max(self.kernel.parallel, first_unrolled(self.levels[:k]))
        return first_unrolled(self.levels)

    @cached_property
    def tests(self) -> tuple[StepGuard, ...]:
        """Tests that the loops' point is inside the axes."""
        axes = self.rows.axes
        space = IndexSpace(
            tuple(IndexExpr.of(name) for name in axes), tuple(r.extent for r in axes.values())
        )
        reach = {name: self.guards.reach[name] for name in space.variables}
        if self.tail is not None:
            reach[self.tail.index] = self.kernel.ranges[self.tail.index]
        return self.guards.tests(sets.guards(space, reach))

    # -- building --------------------------------------------------------------------------

    def build(self) -> None:
        """Build the whole kernel."""
        self.guards.enter(self.staging.copy, self.first, self.tests, self._row)

    def _row(self, tests: tuple[StepGuard, ...]) -> None:
        """Build all passes, and the stores of the results."""
        buffers = {value: self._buffer(value) for value in self.to_keep}
        for number, own in enumerate(self.passes):
            self._pass(own, tests, buffers, number % 2 == 1)
        self._results(tests, len(self.passes) % 2 == 1)

    def _pass(
        self,
        own: RowPass,
        tests: tuple[StepGuard, ...],
        buffers: dict[SSAValue, SSAValue],
        backwards: bool,
    ) -> None:
        """Build a pass over the row; values to be kept are stored in buffers."""
        accumulators = {op: self._accumulator(op) for op in own.contractions}
        for accumulator in accumulators.values():
            accumulator.start()
        ops = self.needed((v for op in own.contractions for v in operands(op)), own)
        means = self._running_means(own, accumulators, tests) if own.welford else None

        def aggregate() -> None:
            point = Point(self, own, accumulators, means)
            for op in ops:
                point.compute(op)
                if (buffer := buffers.get(op.results[0])) is not None:
                    value = op.results[0]
                    self.nest.store(point.known[value], buffer, self.place(value))
            point.aggregate(ops)

        self._points(range(self.first, len(self.levels)), tests, aggregate, backwards, means)
        self._reduce(own, accumulators, means)
        for op in ops:
            if op.results[0] in buffers:
                self.kept[op.results[0]] = buffers[op.results[0]]

    def _reduce(
        self,
        own: RowPass,
        accumulators: dict[ContractionOp, Accumulator],
        means: RunningMeans | None,
    ) -> None:
        """Reduce over lanes and work-items; first the aggregates that others depend on."""
        copies = {op: accumulators[op].copied() for op in dict.fromkeys(own.sums.values())}
        totals = dict.fromkeys(d.total for d in own.deviations.values())
        for op in totals:
            reduce(accumulators[op])
            self.aggregates[op.result] = accumulators[op]
        if means is not None:
            means.finish(self._mean)
        for op, accumulator in accumulators.items():
            if (greatest := own.sums.get(op)) is not None:
                scale_to(accumulators[greatest], copies[greatest], accumulator)
            if op not in totals:
                reduce(accumulator)
                self.aggregates[op.result] = accumulator

    def _running_means(
        self,
        own: RowPass,
        accumulators: dict[ContractionOp, Accumulator],
        tests: tuple[StepGuard, ...],
    ) -> RunningMeans:
        """Initialize running means with the first numbers that each lane of a work-item reads."""
        inside = range(self.first, len(self.levels))
        lanes = {k for a in accumulators.values() for k in (*a.places.moving, *a.places.lanes)}
        points = None if tests else prod(self._points_of(self.mean_loop))
        means = RunningMeans(own.welford, accumulators, points)
        means.start()
        at_first = self.kernel.at_steps({step_name(k): Expr() for k in inside if k not in lanes})
        with self.staging.scope(), means.loops(), at_first, self.guards.branch(tests):
            self._initialize_means(own, means)
        return means

    def _initialize_means(self, own: RowPass, means: RunningMeans) -> None:
        """Set the running means to the numbers at the loops being built."""
        point = Point(self)
        for op in self.needed(d.x for d in own.deviations.values()):
            point.compute(op)
        for value, deviation in own.deviations.items():
            assert isinstance(value.owner, Operation)
            along = self.rows.reads(value.owner)[0]
            means.initialize(deviation, point.value(deviation.x, along))

    def _mean(self, deviation: Deviation) -> SSAValue:
        """Mean of the row, once its sum is reduced."""
        point = Point(self)
        for op in self.needed([deviation.mean]):
            point.compute(op)
        return point.value(deviation.mean, ())

    @cached_property
    def mean_loop(self) -> int:
        """Level whose steps end with an update of running means; -1 if no level inside is a loop.

        The innermost loop of whose steps each has some points for a lane, or the outermost.
        """
        loops = [
            k for k in range(self.first, len(self.levels)) if self.levels[k].role is Role.SERIAL
        ]
        long = (k for k in reversed(loops) if prod(self._points_of(k)) >= MIN_POINTS)
        return next(long, min(loops, default=-1))

    def _points_of(self, k: int) -> list[int]:
        """Extents of the levels inside a level that give a lane more points."""
        outputs = set(self.rows.axes) - self.reduced
        beside = separate_sums(self.levels, outputs)
        inside = [*enumerate(self.levels)][max(k + 1, self.first) :]
        return [x.extent for j, x in inside if x.index not in outputs and j not in beside]

    def _results(self, tests: tuple[StepGuard, ...], backwards: bool) -> None:
        """Write the results: those along the same axes together."""
        values = self.kernel.kernel.yield_op.values
        groups: dict[frozenset[str], list[tuple[SSAValue, SSAValue]]] = {}
        for value, buffer in zip(values, self.kernel.outputs, strict=True):
            along = frozenset(a for a in self.rows.maps[value] if a in self.reduced)
            groups.setdefault(along, []).append((value, buffer))
        for along, pairs in groups.items():
            absent = self.reduced - along
            numbers = [
                k for k in range(self.first, len(self.levels)) if self.levels[k].index not in absent
            ]
            own = tuple(t for t in tests if absent.isdisjoint(t.guard.expr.names))

            def write(pairs: Sequence[tuple[SSAValue, SSAValue]] = pairs) -> None:
                point = Point(self)
                for op in self.needed(value for value, _ in pairs):
                    point.compute(op)
                for value, buffer in pairs:
                    coordinates = self.coordinates(self.rows.maps[value])
                    self.nest.store(point.value(value, ()), buffer, coordinates)

            idle = [k for k in self.kernel.local_levels if self.levels[k].index in absent]
            with self.nest.when(equal(self.kernel.linear_id(idle), 0)):
                self._points(numbers, own, write, backwards)

    def _points(
        self,
        numbers: Sequence[int],
        tests: tuple[StepGuard, ...],
        do: Callable[[], None],
        backwards: bool,
        means: RunningMeans | None = None,
    ) -> None:
        """Build the loops of levels over the points of a row around ``do``.

        Every other pass goes ``backwards`` where a group shares the row: the last elements read are
        still in a cache. Not where loops go past a row's end, as only their last step has tests.
        """
        backwards = backwards and bool(self.kernel.local_levels) and not tests

        def enter(position: int, tests: tuple[StepGuard, ...]) -> None:
            k = numbers[position] if position < len(numbers) else len(self.levels)
            if k > self.first and len(numbers) == len(self.levels) - self.first:
                self.staging.copy(k)
            branch, later = self.guards.passing(tests, k, points=True)
            with branch:
                if position == len(numbers):
                    with self.tail.at_row() if self.tail else nullcontext():
                        do()
                    return
                if self.tail is not None and k in self.tail.outer:
                    self.tail.enter(k, lambda: enter(position + 1, later))
                    return
                with self.kernel.loops([k]), self.kernel.at_steps(turned(k)):
                    enter(position + 1, later)
                    if k == self.mean_loop and means is not None:
                        means.move()

        def turned(k: int) -> dict[str, Expr]:
            """Step of a level, from the end where the pass goes backwards."""
            if not backwards or self.levels[k].role is not Role.SERIAL:
                return {}
            name = step_name(k)
            return {name: self.levels[k].extent - 1 - self.kernel.steps[name]}

        with self.staging.scope():
            enter(0, tests)
            if self.mean_loop < 0 and means is not None:
                means.move()

    def _accumulator(self, op: ContractionOp) -> Accumulator:
        """Build the accumulator of a contraction; on GPUs an instruction propagates NaN."""
        results = self.kernel.kernel.yield_op.values
        ignores = not self.kernel.local_levels and may_ignore_nan(op, self.ops, results, self.rows)
        hint = op.result.name_hint or "acc"
        return Accumulator.of(op, self._places(op), hint, ignores_nan=ignores)

    def _places(self, op: ContractionOp) -> AccumulatorLayout:
        """Layout of the accumulators of a contraction, by the axes of its result."""
        outputs = set(self.rows.axes) - reduced_by(op, self.rows.axes)
        return AccumulatorLayout.of(self.kernel, self.first, outputs)

    def _moving(self, value: SSAValue) -> list[int]:
        """Levels inside a work-item that index a value."""
        inside = range(self.first, len(self.levels))
        return [k for k in inside if self.levels[k].index in self.rows.maps[value]]

    def _buffer(self, value: SSAValue) -> SSAValue:
        """Allocate private memory for the elements of a value that a work-item needs."""
        tail = self.tail
        extents = [tail.extent(k) if tail else self.levels[k].extent for k in self._moving(value)]
        hint = f"{value.name_hint or 'value'}_kept"
        buffer = self.nest.buffer(element_type(value), extents, PRIVATE, hint)
        if not any(self.levels[k].role is Role.SERIAL for k in self._moving(value)):
            # Registers that loops fill must hold something before; memory is written, then read.
            with self.kernel.loops(self._moving(value)):
                zero = self.nest.scalars.constant(0, element_type(value))
                self.nest.store(zero, buffer, self.place(value))
        return buffer

    def place(self, value: SSAValue) -> list[Expr]:
        """Indices of a kept value at the loops being built."""
        return [self.kernel.steps[step_name(k)] for k in self._moving(value)]

    def coordinates(self, m: Map) -> tuple[Expr, ...]:
        """Coordinates of the loops being built in a value."""
        return self.kernel.at([IndexExpr.of(a or 0) for a in m])
