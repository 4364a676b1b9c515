"""nest-peel: loop partitioning into interior and edge, so that the interior has no bounds tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import WHOLE
from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    Truth,
    at_least_zero,
    both,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import simplify_condition
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.lowering.nest.utils.builder import is_local
from tiledialect.lowering.nest.utils.conditions import (
    Guarded,
    conjuncts,
    is_guarded,
    is_uniform,
    only_op_of,
    set_condition,
)
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.schedule.loops import Role

MIN_SHARE = 0.25
"""Minimum share of the work-groups that is in the interior."""
LARGE_SHARE = 0.75
"""Minimum share of the interior at which the edge is not worth more code."""
LONG_BRANCH = 4096
"""Minimum operations of a branch that hide its test: a hundred cycles in long vectors."""


@dataclass(frozen=True)
class OuterCondition:
    """Part of an op's condition that outer indices can decide."""

    op: Guarded
    part: Condition
    uniform_in_lanes: bool
    """Whether all lanes of a vector loop around the op agree on the part."""
    holds: Condition
    """Condition on outer indices alone under which the part holds for all inner indices."""
    in_loop: bool
    """Whether the op is in an inner loop."""

    @property
    def hides_in_copy(self) -> bool:
        """Whether the test costs no time: a copy waits for memory, and makes its tests meanwhile.

        Tests that tell lanes apart cost the copy its vectors.
        """
        uses = self.op.result.uses if isinstance(self.op, LoadOp) else ()
        is_copy = bool(uses) and all(isinstance(use.operation, StoreOp) for use in uses)
        return is_copy and self.uniform_in_lanes

    @property
    def guards_long_branch(self) -> bool:
        """Whether the test costs no time, as all lanes agree on it and it guards a long branch."""
        return (
            isinstance(self.op, IfOp)
            and self.uniform_in_lanes
            and _operations(self.op) >= LONG_BRANCH
        )


def for_all_others(part: Condition, outer: Collection[str], env: Env) -> Condition | None:
    """Condition on ``outer`` names under which the part holds whatever the other names are.

    None if no such condition is found.
    """
    if not isinstance(part, Comparison) or part.kind != ">=":
        return None
    kept, moving = Expr(), Expr()
    for product, coefficient in part.expr:
        term = Expr(((product, coefficient),))
        if set(term.names) <= set(outer):
            kept += term
        elif set(term.names).isdisjoint(outer):
            moving += term
        else:
            return None
    least = env.range(moving).least
    if not isinstance(least, int):
        return None
    holds = at_least_zero(kept + least)
    return None if holds == Truth(False) else holds


class Peeler:
    """Partitions the nest of one function."""

    def __init__(self, function: gpu.FuncOp, *, copies: bool, branches: bool, edges: bool):
        self.function = function
        self.copies = copies
        self.branches = branches
        self.edges = edges
        self.scope = NestScope()

    def run(self) -> None:
        """Split off the interior, and in it the last steps of a loop."""
        if not any(map(is_guarded, ops_in(self.function))):
            return
        place = self._innermost_parallel()
        if place is None:
            return
        if self.edges:
            self._split_lanes(place)
        found = [(p, self._interior(p)) for p in _places(place)]
        place, tests = max(found, key=lambda item: len(item[1]))
        for part in self._split_groups(place, tests) if tests else [place]:
            self._split_loops(ops_of(part, ForOp))

    def _innermost_parallel(self) -> Block | None:
        """Body of the parallel loops, or of a kernel without any; None if there are several."""
        loops = [x for x in ops_of(self.function, ForOp) if x.is_parallel]
        inner = [x for x in loops if not any(x.is_ancestor(y) for y in loops if y is not x)]
        if not loops:
            return self.function.body.block
        return inner[0].block if len(inner) == 1 else None

    # -- tests -----------------------------------------------------------------------------

    def _tests(self, block: Block, outer: Collection[str]) -> list[OuterCondition]:
        """Tests in a block that ``outer`` indices can decide."""
        found: list[OuterCondition] = []
        for op, facts, in_loop in self._guarded(block, (), in_loop=False):
            parts = conjuncts(self.scope.condition(op))
            env = reduce(Env.assume, facts, self.scope.env)
            for part in parts:
                holds = for_all_others(part, outer, env)
                if holds is not None:
                    found.append(
                        OuterCondition(op, part, self._is_uniform(op, part), holds, in_loop)
                    )
        return found

    def _is_uniform(self, op: Guarded, part: Condition) -> bool:
        loop = op.parent_op()
        if not isinstance(loop, ForOp) or loop.role.data.role is not Role.VECTOR:
            return True
        lane = str(self.scope.name(loop.index))
        return is_uniform(part, lane, loop.extent or 1, self.scope.env)

    def _guarded(
        self, block: Block, facts: tuple[Condition, ...], *, in_loop: bool
    ) -> Iterator[tuple[Guarded, tuple[Condition, ...], bool]]:
        """Ops with conditions in a block, and the facts under which each is reached."""
        for op in block.ops:
            if is_guarded(op):
                yield op, facts, in_loop
            if isinstance(op, ForOp):
                yield from self._guarded(op.block, facts, in_loop=in_loop or op.extent != 1)
            elif isinstance(op, IfOp):
                passed = (*facts, self.scope.condition(op))
                yield from self._guarded(op.then.block, passed, in_loop=in_loop)
                if op.otherwise is not None:
                    yield from self._guarded(op.otherwise.block, facts, in_loop=in_loop)

    def _drop(self, tests: Sequence[OuterCondition]) -> None:
        """Drop parts of conditions."""
        for op in dict.fromkeys(test.op for test in tests):
            if op.parent is None:
                # It stood where a test that is dropped does not hold.
                continue
            dropped = {test.part for test in tests if test.op is op}
            rest = [p for p in conjuncts(self.scope.condition(op)) if p not in dropped]
            set_condition(self.scope, op, both(*rest))

    # -- groups ----------------------------------------------------------------------------

    def _interior(self, block: Block) -> list[OuterCondition]:
        """Tests in a block that are not needed in most work-groups; none if in no loop."""
        outer = [str(self.scope.name(x.index)) for x in _loops_around(block)]
        tests = self._tests(block, outer)
        shares = {test.holds: self._share([test.holds], outer) for test in tests}
        chosen: list[Condition] = []
        for condition in sorted(shares, key=lambda c: -shares[c]):
            if shares[condition] < MIN_SHARE:
                # More conditions have no larger share.
                break
            if not chosen or self._share([*chosen, condition], outer) >= MIN_SHARE:
                chosen.append(condition)
        found = [test for test in tests if test.holds in chosen]
        return found if any(t.in_loop and self._is_worth_dropping(t) for t in found) else []

    def _is_worth_dropping(self, test: OuterCondition) -> bool:
        """Whether the body is duplicated to drop a test."""
        is_free = (not self.copies and test.hides_in_copy) or (
            not self.branches and test.guards_long_branch
        )
        return not is_free

    def _share(self, conditions: Sequence[Condition], names: Sequence[str]) -> float:
        """Maximum share of the values of names for which all conditions hold."""
        env = self.scope.env
        holds = simplify_condition(both(*conditions), env)
        if holds == Truth(False):
            return 0
        return prod(_extent(env.assume(holds), n) / _extent(env, n) for n in names)

    def _split_groups(self, block: Block, tests: Sequence[OuterCondition]) -> list[Block]:
        """Split the ops of a block into an interior, under its condition, and an edge.

        Returns the interior; with ``edges`` the edge, too, if many groups are there.
        """
        conditions = [test.holds for test in tests]
        condition = simplify_condition(both(*conditions), self.scope.env)
        if condition == ALWAYS:
            self._drop(tests)
            return [block]
        outer = [str(self.scope.name(x.index)) for x in _loops_around(block)]
        is_most = self._share(conditions, outer) > LARGE_SHARE
        shared = _take_local_buffers(block)
        interior, edge, values = Block(), Block(), dict[SSAValue, SSAValue]()
        for op in list(block.ops):
            edge.add_op(op.clone(values))
            op.detach()
            interior.add_op(op)
        block.add_ops(shared)
        self._drop(tests)
        block.add_op(IfOp(self.scope.values, condition, interior, edge))
        return [interior, edge] if self.edges and not is_most else [interior]

    # -- the last steps of a loop ------------------------------------------------------------

    def _split_lanes(self, body: Block) -> None:
        """Split all loops of which only the last steps have lanes outside."""
        loops = ops_of(body, ForOp)
        for block in dict.fromkeys(x.parent for x in loops if x.parent is not None):
            self._split_loops([x for x in block.ops if isinstance(x, ForOp)], lanes=True)

    def _split_loops(self, loops: Sequence[ForOp], *, lanes: bool = False) -> None:
        """Split the first serial loop of which most steps need no test.

        The loops after it over as many steps are split as well: more passes over the same row. With
        ``edges`` one that fills local memory does not count: its readers may be split, too. With
        ``lanes`` only if no other test is left that tells lanes apart.
        """
        like, has_others = set[tuple[Block | None, int | None]](), False
        for loop in loops:
            own = (loop.parent, loop.extent)
            is_other = not (self.edges and _is_filling(loop))
            may_be = own in like or not like or (is_other and not has_others)
            if may_be and self._split_a_loop(loop, lanes=lanes):
                like.add(own)
                has_others |= is_other

    def _split_a_loop(self, loop: ForOp, *, lanes: bool) -> bool:
        """Split a serial loop if most steps need no test."""
        if loop.role.data.role is not Role.SERIAL or _has_copies(loop):
            return False
        count, tests = self._first_steps(loop)
        worth = [
            t
            for t in tests
            if self._is_worth_dropping(t) and (t.in_loop or not isinstance(t.op, IfOp))
        ]
        if not worth or (lanes and not self._is_rid_of_lanes(loop, worth)):
            return False
        self._split_steps(loop, count, tests)
        return True

    def _is_rid_of_lanes(self, loop: ForOp, tests: Sequence[OuterCondition]) -> bool:
        """Whether some tests are all those in a loop that tell lanes apart, and there are any."""
        known = {(test.op, test.part) for test in tests if not test.uniform_in_lanes}
        return bool(known) and all(
            (op, part) in known or self._is_uniform(op, part)
            for op, _, _ in self._guarded(loop.block, (), in_loop=False)
            for part in conjuncts(self.scope.condition(op))
        )

    def _first_steps(self, loop: ForOp) -> tuple[int, list[OuterCondition]]:
        """Number of steps before the last ones, and the tests that only the last ones need."""
        lower, _, step = (e.value for e in loop.bounds.data)
        if loop.extent is None or lower is None or step is None:
            return 0, []
        index = self.scope.name(loop.index)
        count, found = loop.extent, list[OuterCondition]()
        for test in self._tests(loop.block, index.names):
            if isinstance(test.holds, Comparison):
                # The test holds up to ``last``, if it bounds the index from above.
                last = test.holds.expr + index
                steps = 0 if last.value is None else (last.value - lower) // step + 1
                if loop.extent <= 2 * steps < 2 * loop.extent:
                    count = min(count, steps)
                    found.append(test)
        return count, found

    def _split_steps(self, loop: ForOp, count: int, tests: Sequence[OuterCondition]) -> None:
        """Split a loop into first steps without tests and the others with them."""
        Rewriter.insert_op(_take_local_buffers(loop.block), InsertPoint.before(loop))
        lower, upper, step = loop.bounds.data
        middle = lower + step * count
        rest = loop.clone()
        rest.index.name_hint = loop.index.name_hint
        rest.bounds = ExprsAttr([middle, upper, step])
        loop.bounds = ExprsAttr([lower, middle, step])
        Rewriter.insert_op(rest, InsertPoint.after(loop))
        self._drop(tests)


def _operations(op: Operation) -> int:
    """Maximum number of operations of the loops and branches in an op."""
    steps = op.extent or 1 if isinstance(op, ForOp) else 1
    inside = (x for region in op.regions for block in region.blocks for x in block.ops)
    return steps * (sum(map(_operations, inside)) if op.regions else 1)


def _places(block: Block) -> Iterator[Block]:
    """The block, and the bodies of serial loops that are its whole body."""
    yield block
    match only_op_of(block):
        case ForOp() as loop if loop.role.data.role is Role.SERIAL and loop.extent is not None:
            yield from _places(loop.block)
        case _:
            return


def _loops_around(block: Block) -> list[ForOp]:
    """Loops around a block whose indices all work-items of a group have in common."""
    around = ancestors(block)
    return [x for x in around if isinstance(x, ForOp) and x.role.data.role is not Role.LOCAL]


def _extent(env: Env, name: str) -> float:
    known = env.range(name)
    return known.greatest - known.least + 1 if known.greatest < inf else 1


def _is_local_buffer(op: BufferOp) -> bool:
    """Whether a buffer is in local memory, and no pass is still to move it."""
    return op.number_of_copies == 1 and is_local(op.result)


def _is_filling(loop: ForOp) -> bool:
    """Whether all stores of a loop are to local memory."""
    stores = list(ops_of(loop, StoreOp))
    return bool(stores) and all(is_local(op.memory) for op in stores)


def _take_local_buffers(block: Block) -> list[BufferOp]:
    """Detach the buffers that the parts of a split block will share."""
    found = [op for op in ops_of(block, BufferOp) if _is_local_buffer(op)]
    for op in found:
        op.detach()
    return found


def _has_copies(loop: ForOp) -> bool:
    """Whether nest-pipeline is still to rewrite a loop, or one inside it."""
    return any(op.number_of_copies > 1 for op in ops_of(loop, BufferOp))


@dataclass(frozen=True)
class NestPeelPass(PassWithFlags):
    """Partitions a kernel into interior and edge, so that the interior makes no bounds tests.

    Where tests in loops hold in whole work-groups, the body of the parallel loops is there twice:
    without them under a condition on the group's indices, and as it was. Of a serial loop whose
    last steps alone need tests, those are a loop of their own. Run after `nest-pipeline`, it takes
    the tests from the tiles that are fetched ahead too; a loop that is still to be pipelined is not
    split. A kernel marked `nest.whole` stays as it is.
    """

    name = "nest-peel"

    copies: bool = True
    """Whether to drop also tests that only copies make, which cost no time but space."""

    branches: bool = True
    """Whether to drop also tests of long branches, which cost CPUs no time but space."""

    edges: bool = False
    """Whether all loops, also of the edge, are split where a test tells lanes apart; loops that
    fill local memory are no reason to leave others whole, nor is an edge of many groups."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Partition every kernel."""
        for function in ops_of(op, gpu.FuncOp):
            if WHOLE not in function.attributes:
                Peeler(function, copies=self.copies, branches=self.branches, edges=self.edges).run()
