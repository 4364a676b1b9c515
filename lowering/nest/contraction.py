"""A contraction in a nest: accumulators, the loops over its points, and what is done with the sums.

The loops up to the first one over a summed index stand around everything. From there on, the
output's indices that are still to come move a tile of accumulators in private memory: it is set
to the neutral element, aggregated into by the loops over the points, and read when the outputs
are written. A guard is a test that some points of the loops do not pass; each is made as soon as
its indices are known, but not around a copy to local memory, which needs all work-items. A guard
that only says that an operand is read inside its tensor needs no test if the operand is staged:
the copy writes the neutral element there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import numeric
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import (
    COMPARED,
    PRODUCTS,
    ContractionOp,
    compared_type,
)
from tiledialect.dialects.tile.elementwise import ConstantOp
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.integer import (
    Condition,
    Expr,
    at_least_zero,
    both,
    divides,
    equal,
    less,
)
from tiledialect.index.sets import Guard, GuardKind
from tiledialect.lowering.nest.builder import LOCAL, PRIVATE
from tiledialect.lowering.nest.elements import Elements, element_type, static_shape
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.lowering.nest.scalars import Scalars, kind_of
from tiledialect.lowering.nest.staging import Staging
from tiledialect.lowering.nest.tiles import place_of, step_name
from tiledialect.schedule.leaves import PARALLEL, Role
from tiledialect.schedule.output_box import always_lands, visited


@dataclass(frozen=True)
class Test:
    """A guard as the kernel's indices see it."""

    guard: Guard
    names: frozenset[str]
    """The steps that it depends on."""
    needed_until: int | None = None
    """The leaf from which on it may be left out, as the operand is staged; None if it may not."""


@dataclass(frozen=True)
class Accumulator:
    """A private buffer with a place for each accumulator of a work-item."""

    buffer: SSAValue
    type: Attribute


class ContractionNest:
    """Builds the loops of a kernel with one contraction."""

    def __init__(self, kernel: KernelNest, op: ContractionOp):
        self.kernel = kernel
        self.nest = kernel.nest
        self.op = op
        self.leaves = kernel.leaves
        self.type = accumulator_type(op)
        self.space = op.space()
        self.box = visited(self.space, kernel.ranges)
        self.outputs = {name for e in op.output.data for name in e.names}
        accesses = [[e.substitute(kernel.values) for e in a.data] for a in op.accesses]
        self.staging = Staging(kernel, op.inputs, accesses, self.neutral_operand)
        self.aggregate = AGGREGATE[op.aggregation.data]

    # -- what the schedule says ------------------------------------------------------------

    @cached_property
    def parallel(self) -> int:
        """How many leaves are work-groups' and work-items'."""
        return sum(leaf.role in PARALLEL for leaf in self.leaves)

    @cached_property
    def first_reduction(self) -> int:
        """The number of the first leaf inside a work-item that moves no output index.

        Without one, that of the first of the innermost leaves that are written out.
        """
        for k, leaf in enumerate(self.leaves):
            if k >= self.parallel and leaf.index not in self.outputs:
                return k
        k = len(self.leaves)
        while k > self.parallel and self.leaves[k - 1].role in (Role.UNROLL, Role.VECTOR):
            k -= 1
        return k

    @cached_property
    def accumulator_leaves(self) -> tuple[int, ...]:
        """The leaves that move the accumulators."""
        return tuple(
            k
            for k in range(self.first_reduction, len(self.leaves))
            if self.leaves[k].index in self.outputs
        )

    @cached_property
    def lanes(self) -> tuple[int, ...]:
        """The summed leaf whose steps are lanes, if there is one."""
        last = len(self.leaves) - 1
        is_lane = last >= self.first_reduction and self.leaves[last].role is Role.VECTOR
        return (last,) if is_lane and last not in self.accumulator_leaves else ()

    @cached_property
    def shared_leaves(self) -> tuple[int, ...]:
        """The summed leaves that are divided among work-items."""
        return tuple(
            k for k in self.kernel.local_leaves if self.leaves[k].index not in self.outputs
        )

    @cached_property
    def needs_flag(self) -> bool:
        """Whether the kernel must remember if a point landed on its element."""
        # A sum over no points is the 0 that an unwritten element must be.
        is_zero = self.op.aggregation.data == Aggregation.add and self.op.default is None
        lands = always_lands(self.space, self.kernel.ranges)
        return not lands and not (is_zero and self.box is not None)

    @cached_property
    def neutral_operand(self) -> float | int | None:
        """What an operand must be so that its point adds nothing; None if there is no such."""
        combination, aggregation = self.op.combination.data, self.op.aggregation.data
        if combination is Combination.none and aggregation is not Aggregation.assign:
            return neutral(aggregation, self.type)
        if combination is Combination.mul and aggregation is Aggregation.add:
            return 0
        return None

    # -- guards ----------------------------------------------------------------------------

    @cached_property
    def reach(self) -> dict[str, Range]:
        """The values that the loops give each index, which may go past its range."""
        extents = dict.fromkeys(self.kernel.ranges, 1)
        for leaf in self.leaves:
            extents[leaf.index] += leaf.stride * (leaf.extent - 1)
        return {
            name: Range(r.lower, r.lower + (extents[name] if r.extent else 0))
            for name, r in self.kernel.ranges.items()
        }

    def _tests(self, guards: Sequence[Guard]) -> tuple[Test, ...]:
        found: list[Test] = []
        for guard in guards:
            affine = guard.expr.substitute(self.kernel.values)
            found.append(Test(guard, frozenset(affine.names)))
        return tuple(found)

    @cached_property
    def output_tests(self) -> tuple[Test, ...]:
        """What makes the loops' output element one of the output's, and of its index's range.

        Beyond the range lie elements that are other work-items', or nobody's.
        """
        ranges = self.kernel.ranges
        inside = tuple(
            Constraint(IndexExpr.of(name) - ranges[name].lower, IndexExpr.of(ranges[name].extent))
            for name in self.space.output_variables
        )
        own = IndexSpace(self.op.output.data, static_shape(self.op.result), constraints=inside)
        reach = {name: self.reach[name] for name in own.variables}
        return self._tests(sets.guards(own, reach))

    @cached_property
    def point_tests(self) -> tuple[Test, ...]:
        """What else makes the loops' point one of the contraction's."""
        last_output = len(self.op.output.data)
        guards = [g for g in sets.guards(self.space, self.reach) if g.source >= last_output]
        # Where the kernel must know if a point landed, one that adds nothing is still none.
        if self.neutral_operand is None or self.needs_flag:
            return self._tests(guards)
        absorbed = self.staging.absorbed(last_output)
        skipped = self._tests([g for g in guards if g.source in absorbed])
        return (
            *(replace(test, needed_until=absorbed[test.guard.source]) for test in skipped),
            *self._tests(self._guards_of_unstaged()),
        )

    def _guards_of_unstaged(self) -> list[Guard]:
        """The guards without those of staged operands, from which some of these may follow."""
        space = self.space
        rest = [k for k in range(len(space.inputs)) if not self.staging.stages_of(k)]
        space = replace(
            space,
            inputs=tuple(space.inputs[k] for k in rest),
            input_shapes=tuple(space.input_shapes[k] for k in rest),
        )
        return [g for g in sets.guards(space, self.reach) if g.source >= len(space.output)]

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
    def first_divergent(self) -> int:
        """How many leaves are outside the first place where work-items may part ways."""
        if self.shared_leaves:
            return len(self.leaves) + 1
        places = [place_of(s, self.leaves) for s in self.kernel.schedule.stages if s.local]
        return max(places, default=0)

    def passing(
        self, tests: Sequence[Test], k: int
    ) -> tuple[AbstractContextManager[None], tuple[Test, ...]]:
        """A branch for the tests that can be made before leaf ``k``, and the tests that remain."""
        ready = [
            test
            for test in self.known(tests)
            if self.kernel.is_uniform(test.names)
            or (k >= self.first_divergent and test.needed_until is None)
        ]
        return self.branch(ready), tuple(t for t in tests if t not in ready)

    def skipping(
        self, tests: Sequence[Test], k: int
    ) -> tuple[AbstractContextManager[None], tuple[Test, ...]]:
        """The same for what a whole work-group skips, and what need not be tested any more."""
        left = [t for t in tests if t.needed_until is None or k <= t.needed_until]
        ready = [t for t in self.known(left) if self.kernel.is_uniform(t.names)]
        return self.branch(ready), tuple(t for t in left if t not in ready)

    def known(self, tests: Sequence[Test]) -> list[Test]:
        """The tests of steps whose loops are being built."""
        return [test for test in tests if test.names <= self.kernel.steps.keys()]

    def branch(self, tests: Sequence[Test]) -> AbstractContextManager[None]:
        """A branch for what passes tests."""
        return self.nest.when(both(*map(self.condition, tests)))

    # -- building --------------------------------------------------------------------------

    def build(self) -> None:
        """The whole kernel."""
        self._outer(0, self.output_tests)

    def _outer(self, k: int, tests: tuple[Test, ...]) -> None:
        """The loops around everything: work-groups, work-items, and serial ones over the output."""
        branch, later = self.passing(tests, k)
        with branch:
            if k >= self.parallel:
                self.staging.copy(k)
            if k == self.first_reduction:
                self._contract(later)
                return
            with self.kernel.loops([k]):
                self._outer(k + 1, later)

    def _contract(self, tests: tuple[Test, ...]) -> None:
        k = self.first_reduction
        acc, flag = self._accumulators()
        for accumulator, start in ((acc, neutral(self.op.aggregation.data, self.type)), (flag, 0)):
            if accumulator is not None:
                with self.kernel.loops([*self.accumulator_leaves, *self.lanes]):
                    value = self.nest.scalars.constant(start, accumulator.type)
                    self.nest.store(value, accumulator.buffer, self._place())
        reads_unstaged = tests if not self.staging.all_staged else ()
        self._points(k, (*reads_unstaged, *self.point_tests), acc, flag, entering=True)
        for accumulator in (acc, flag):
            if accumulator is not None:
                self._join_lanes(accumulator)
                self._join_items(accumulator)
        with self.nest.when(equal(self.kernel.linear_id(self.shared_leaves), 0)):
            self._finish(0, tests, acc, flag)

    def _accumulators(self) -> tuple[Accumulator, Accumulator | None]:
        shape = [self.leaves[k].extent for k in (*self.accumulator_leaves, *self.lanes)]
        acc = Accumulator(self.nest.buffer(self.type, shape, PRIVATE, "acc"), self.type)
        if not self.needs_flag:
            return acc, None
        return acc, Accumulator(self.nest.buffer(i1, shape, PRIVATE, "landed"), i1)

    def _place(self, lane: Expr | None = None) -> list[Expr]:
        """Where the accumulator of the loops being built is."""
        steps = [self.kernel.steps[step_name(k)] for k in self.accumulator_leaves]
        if self.lanes:
            steps.append(self.kernel.steps[step_name(self.lanes[0])] if lane is None else lane)
        return steps

    def _points(
        self,
        k: int,
        tests: tuple[Test, ...],
        acc: Accumulator,
        flag: Accumulator | None,
        *,
        entering: bool = False,
    ) -> None:
        """The loops over the points, from leaf ``k`` on."""
        skip, tests = self.skipping(tests, k)
        with skip:
            if not entering:
                self.staging.copy(k)
            self._points_inside(k, tests, acc, flag)

    def _points_inside(
        self, k: int, tests: tuple[Test, ...], acc: Accumulator, flag: Accumulator | None
    ) -> None:
        branch, later = self.passing(tests, k if not self.shared_leaves else self.first_divergent)
        with branch:
            if k < len(self.leaves):
                with self.kernel.loops([k]):
                    self._points(k + 1, later, acc, flag)
                return
            place = self._place()
            old = self.nest.load(acc.buffer, place)
            new = self.aggregate(self.nest.scalars, self.type, old, self._combine())
            self.nest.store(new, acc.buffer, place)
            if flag is not None:
                self.nest.store(self.nest.scalars.constant(1, i1), flag.buffer, place)

    def _join_lanes(self, accumulator: Accumulator) -> None:
        """Aggregate what the lanes of a vector hold into the first one."""
        if not self.lanes:
            return
        with self.kernel.loops(self.accumulator_leaves):
            first = self._place(Expr())
            total = self.nest.load(accumulator.buffer, first)
            for lane in range(1, self.leaves[self.lanes[0]].extent):
                value = self.nest.load(accumulator.buffer, self._place(Expr.const(lane)))
                total = self._join(accumulator, total, value)
            self.nest.store(total, accumulator.buffer, first)

    def _join_items(self, accumulator: Accumulator) -> None:
        """Aggregate what the work-items that share an element hold, by a tree in local memory.

        All of them get it.
        """
        if not self.shared_leaves:
            return
        nest, kernel = self.nest, self.kernel
        others = [k for k in kernel.local_leaves if k not in self.shared_leaves]
        count, rows = (prod(self.leaves[k].extent for k in x) for x in (self.shared_leaves, others))
        row, own = kernel.linear_id(others), kernel.linear_id(self.shared_leaves)
        tile = [self.leaves[k].extent for k in self.accumulator_leaves]
        buffer = nest.buffer(accumulator.type, [rows, count, *tile], LOCAL, "partial")

        def place(item: Expr) -> list[Expr]:
            return [row, item, *self._place(Expr())[: len(tile)]]

        with kernel.loops(self.accumulator_leaves):
            nest.store(nest.load(accumulator.buffer, self._place(Expr())), buffer, place(own))
        half = 1 << max(count - 1, 0).bit_length() >> 1
        while half:
            inside = both(less(own, half), less(own + half, count))
            with nest.when(inside), kernel.loops(self.accumulator_leaves):
                a, b = (nest.load(buffer, place(item)) for item in (own, own + half))
                nest.store(self._join(accumulator, a, b), buffer, place(own))
            half //= 2
        with kernel.loops(self.accumulator_leaves):
            nest.store(nest.load(buffer, place(Expr())), accumulator.buffer, self._place(Expr()))

    def _join(self, accumulator: Accumulator, a: SSAValue, b: SSAValue) -> SSAValue:
        if accumulator.type == i1 and self.type != i1:
            return self.nest.emit(arith.OrIOp(a, b))
        return self.aggregate(self.nest.scalars, accumulator.type, a, b)

    def _finish(
        self, k: int, tests: tuple[Test, ...], acc: Accumulator, flag: Accumulator | None
    ) -> None:
        """The loops over the accumulators, and the outputs written of each."""
        ready = self.known(tests)
        later = tuple(t for t in tests if t not in ready)
        with self.branch(ready):
            if k < len(self.accumulator_leaves):
                with self.kernel.loops([self.accumulator_leaves[k]]):
                    self._finish(k + 1, later, acc, flag)
                return
            self._write(acc, flag)

    def _write(self, acc: Accumulator, flag: Accumulator | None) -> None:
        """Write the outputs at one element."""
        scalars, t = self.nest.scalars, element_type(self.op.result)
        coordinates = self.kernel.at(self.op.output.data)
        elements = Elements(self.nest, self.kernel.memory, coordinates)
        place = self._place(Expr())
        result = scalars.convert(self.nest.load(acc.buffer, place), self.type, t)
        if flag is not None and self.box is not None:
            # Both values are there, so a choice costs less than a branch.
            op = self.op
            unwritten = elements.as_type(op.default, t) if op.default else scalars.constant(0, t)
            landed = self.nest.load(flag.buffer, place)
            result = scalars.select(landed, result, unwritten)
        elements.known[self.op.result] = result
        with ExitStack() as s:
            if flag is not None and self.box is None:
                s.enter_context(self.nest.where(self.nest.load(flag.buffer, place)))
            self.kernel.store_outputs(elements)

    # -- one point -------------------------------------------------------------------------

    def _combine(self) -> SSAValue:
        op, scalars = self.op, self.nest.scalars
        combination, inputs = op.combination.data, list(op.inputs)
        together = "tile.mul" if combination in PRODUCTS else "tile.add"
        count = COMPARED.get(combination, 0)
        if not count:
            return self._fold(together, range(len(inputs)), self.type)
        t = et.concrete(compared_type(combination, inputs))
        left = self._fold(together, range(count - 1), t)
        equal_ = scalars.compare("eq", left, self._read(count - 1, t), t)
        if count == len(inputs):
            return scalars.convert(equal_, i1, self.type)
        value = self._fold("tile.mul", range(count, len(inputs)), self.type)
        return scalars.select(equal_, value, scalars.constant(0, self.type))

    def _fold(self, name: str, inputs: Sequence[int], t: Attribute) -> SSAValue:
        """The elements of inputs at a point, put together by an elementwise op."""
        first, *rest = (self._read(k, t) for k in inputs)
        for element in rest:
            first = self.nest.scalars.apply(name, [first, element], t)
        return first

    def _read(self, k: int, t: Attribute) -> SSAValue:
        """The element of input ``k`` at a point, in the type in which it is combined, as ``t``."""
        value, scalars = self.op.inputs[k], self.nest.scalars
        # What is accumulated in a wider type is an element of the narrower one all the same.
        combined = element_type(self.op.result) if t == self.type else t
        if isinstance(value.owner, ConstantOp):
            return scalars.constant(numeric.number(value.owner.number, combined).item(), t)
        element = scalars.convert(self.staging.read(k), element_type(value), combined)
        return scalars.convert(element, combined, t)


def _extreme(
    predicate: str, name: str
) -> Callable[[Scalars, Attribute, SSAValue, SSAValue], SSAValue]:
    def build(s: Scalars, t: Attribute, acc: SSAValue, value: SSAValue) -> SSAValue:
        if not kind_of(t).is_float:
            return s.apply(name, [acc, value], t)
        # Two comparisons carry NaN along; which zero wins does not matter here.
        wins = s.compare(predicate, value, acc, t)
        return s.select(s.emit(arith.OrIOp(wins, s.compare("ne", value, value, t))), value, acc)

    return build


AGGREGATE: dict[Aggregation, Callable[[Scalars, Attribute, SSAValue, SSAValue], SSAValue]] = {
    Aggregation.add: lambda s, t, acc, value: s.apply("tile.add", [acc, value], t),
    Aggregation.mul: lambda s, t, acc, value: s.apply("tile.mul", [acc, value], t),
    Aggregation.max: _extreme("gt", "tile.max"),
    Aggregation.min: _extreme("lt", "tile.min"),
    Aggregation.assign: lambda s, t, acc, value: value,
}
"""How a value joins the aggregate so far."""
