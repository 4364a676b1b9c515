"""nest-halve-vectors: vector tails in shorter vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import BufferOp, StoreOp
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    Truth,
    at_least_zero,
    both,
    expressions_of,
    less,
    map_expressions,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference, simplify_condition
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.nest_vectorize import VECTOR_SIZES
from tiledialect.lowering.nest.utils.access_strides import loops_around
from tiledialect.lowering.nest.utils.builder import PRIVATE, is_local
from tiledialect.lowering.nest.utils.conditions import (
    Guarded,
    conjuncts,
    is_guarded,
    is_uniform,
    set_condition,
)
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.schedule.cost.traits import traits_of
from tiledialect.schedule.loops import Role

MAX_UNROLLED_STEPS = 64
"""Maximum number of steps of unrolled loops that are examined."""


def split_vector(loop: ForOp, env: Env) -> None:
    """Replace a vector loop by a branch: all of its lanes, or two halves, halved too.

    ``env`` is the empty one, from which the environments of all loops derive.
    """
    if not any(map(is_guarded, ops_in(loop.block))):
        return
    scope = NestScope(env=env)
    lane, lanes = str(scope.name(loop.index)), loop.extent or 0
    tests = _tests(loop, scope)
    if not tests or lanes not in VECTOR_SIZES or lanes % 2:
        return
    scope.learn_from_branches(loop)
    ends = [_substituted(part, [lane], [k]) for part in tests for k in (0, lanes - 1)]
    holds = simplify_condition(both(*ends), scope.env)
    if (
        not isinstance(holds, Truth)
        and not _writes_memory(loop)
        and not _is_known(holds, loop, scope)
    ):
        return
    if holds == Truth(True):
        Rewriter.replace_op(loop, _whole(loop, dict.fromkeys(tests, holds), scope))
        return
    if all(is_uniform(part, lane, lanes, scope.env) for part in tests):
        halves = [_whole(loop, _outcomes(loop, tests, scope), scope)]
    else:
        halves = [_part(loop, first, lanes // 2, env) for first in (0, lanes // 2)]
    if holds == Truth(False):
        parts = _intervals(loop, tests, scope) if _writes_memory(loop) else []
        del scope.values[lane]
        inner: list[Operation] = [*halves]
        for condition, whole in reversed(parts):
            inner = [IfOp(scope.values, condition, Block([whole]), Block(inner))]
        Rewriter.replace_op(loop, inner)
    else:
        whole = _whole(loop, dict.fromkeys(tests, Truth(True)), scope)
        del scope.values[lane]
        Rewriter.replace_op(loop, IfOp(scope.values, holds, Block([whole]), Block(halves)))
    for half in halves:
        split_vector(half, env)


def _tests(loop: ForOp, scope: NestScope) -> list[Condition]:
    """Conditions that depend on the lane; empty if halves cannot decide one of them."""
    ops = list(filter(is_guarded, ops_in(loop.block)))
    lane = scope.name(loop.index)
    parts = {part: None for op in ops for part in conjuncts(scope.condition(op))}
    found = [p for p in parts if any(str(lane) in e.names for e in expressions_of(p))]
    # Memory that work-items fill together must not be filled in different branches.
    if any(is_local(op.result) for op in ops_of(loop.block, BufferOp)):
        return []
    # No branch around the loop can ask for what is known in its steps alone.
    used = {name for p in found for e in expressions_of(p) for name in e.names} - {str(lane)}
    if any(loop in ancestors(scope.values[name].owner) for name in used):
        return []
    return found if all(_is_interval(p, lane, scope) for p in found) else []


def _intervals(
    loop: ForOp, tests: Sequence[Condition], scope: NestScope
) -> list[tuple[Condition, ForOp]]:
    """Condition and loop of each interval between the tests' bounds that has all lanes inside.

    Of adjacent intervals, no element is in all. The longest interval comes first.
    """
    lane, lanes = str(scope.name(loop.index)), loop.extent or 0
    ends = _ends(tests, scope)
    if ends is None:
        return []
    place = _expr(tests[0])
    first, last = (place.substitute({lane: Expr.const(k)}) for k in (0, lanes - 1))
    low, high = sorted((first, last), key=lambda e: constant_difference(e, first, scope.env) or 0)
    span = constant_difference(high, low, scope.env) or 0
    known = scope.env.range(place)
    found: list[tuple[float, Condition, ForOp]] = []
    for least, greatest in pairwise([-inf, *sorted({end for end, _ in ends.values()}), inf]):
        # Steps between the part's ends, as far as the loops go.
        length = min(greatest - 1, known.greatest) - max(least, known.least)
        inside = [at_least_zero(low - int(least))] if least > -inf else []
        inside += [less(high, int(greatest))] if greatest < inf else []
        condition = simplify_condition(both(*inside), scope.env)
        if length < span or isinstance(condition, Truth):
            continue
        passed = {t: Truth((least >= end) == is_from) for t, (end, is_from) in ends.items()}
        found.append((-length, condition, _whole(loop, passed, scope)))
    found.sort(key=lambda part: part[0])
    return [(condition, whole) for _, condition, whole in found]


def _ends(tests: Sequence[Condition], scope: NestScope) -> dict[Condition, tuple[int, bool]] | None:
    """Bound of each test, as a value of the first one's expression, and whether it is a lower one.

    A lower bound holds from there on, another one before. None if the tests are of different
    expressions.
    """
    place, ends = _expr(tests[0]), dict[Condition, tuple[int, bool]]()
    for test in tests:
        after = constant_difference(_expr(test), place, scope.env)
        before = constant_difference(_expr(test), -place, scope.env)
        if after is not None:
            ends[test] = -after, True
        elif before is not None:
            ends[test] = before + 1, False
        else:
            return None
    return ends


def _expr(test: Condition) -> Expr:
    """Expression that is at least zero where a test of lanes holds."""
    assert isinstance(test, Comparison)
    return test.expr


def _writes_memory(loop: ForOp) -> bool:
    """Whether a loop writes to memory: registers that it sets would leave branches by lanes."""
    stored = [op.memory.type for op in ops_of(loop.block, StoreOp)]
    return any(isinstance(t, MemRefType) and t.memory_space != PRIVATE for t in stored)


def _is_known(condition: Condition, loop: ForOp, scope: NestScope) -> bool:
    """Whether a condition is decided in each step of the unrolled loops around a loop."""
    used = {name for e in expressions_of(condition) for name in e.names}
    around = {str(scope.name(x.index)): x for x in loops_around(loop)}
    unrolled = {
        name: range(x.extent or 0)
        for name, x in around.items()
        if x.role.data.role is Role.UNROLL and name in used
    }
    if not 0 < prod(map(len, unrolled.values())) <= MAX_UNROLLED_STEPS:
        return False
    names, steps = list(unrolled), product(*unrolled.values())
    return all(
        isinstance(simplify_condition(_substituted(condition, names, step), scope.env), Truth)
        for step in steps
    )


def _substituted(condition: Condition, names: Sequence[str], numbers: Sequence[int]) -> Condition:
    """Substitute numbers for names in a condition."""
    values = {name: Expr.const(k) for name, k in zip(names, numbers, strict=True)}
    return map_expressions(condition, lambda e: e.substitute(values))


def _is_interval(part: Condition, lane: Expr, scope: NestScope) -> bool:
    """Whether a condition that holds for two lanes holds for those between them."""
    if not isinstance(part, Comparison) or part.kind != ">=":
        return False
    moved = part.expr.substitute({str(lane): lane + 1})
    return constant_difference(moved, part.expr, scope.env) is not None


def _part(loop: ForOp, first: int, lanes: int, env: Env) -> ForOp:
    """Copy so many lanes of a loop, from ``first`` on."""
    part = ForOp({}, LoopRole(Role.VECTOR), lanes, Block(arg_types=[IndexType()]))
    part.index.name_hint = loop.index.name_hint
    if not first:
        same: dict[SSAValue, SSAValue] = {loop.index: part.index}
        part.block.add_ops([op.clone(same) for op in loop.block.ops])
        return part
    index = IndexOp({"lane": part.index}, Expr.var("lane") + first)
    values: dict[SSAValue, SSAValue] = {loop.index: index.result}
    part.block.add_ops([index, *(op.clone(values) for op in loop.block.ops)])
    # Accesses are to be by expressions of loops' indices.
    scope = NestScope(env=env)
    for op in [x for x in ops_in(part.block) if isinstance(x, Guarded)]:
        set_condition(scope, op, scope.condition(op))
    if not index.result.uses:
        Rewriter.erase_op(index)
    return part


def _outcomes(
    loop: ForOp, tests: Sequence[Condition], scope: NestScope
) -> Mapping[Condition, Condition]:
    """Outcome of tests on which all lanes agree, where not all of them hold."""
    lane = str(scope.name(loop.index))
    found = [conjuncts(scope.condition(op)) for op in filter(is_guarded, ops_in(loop.block))]
    if all(set(tests) <= {*parts} or {*parts}.isdisjoint(tests) for parts in found):
        return dict.fromkeys(tests, Truth(False))
    # Ops that are tested for something else may be done all the same.
    return {p: simplify_condition(_substituted(p, [lane], [0]), scope.env) for p in tests}


def _whole(loop: ForOp, tests: Mapping[Condition, Condition], scope: NestScope) -> ForOp:
    """Copy all lanes of the scope's loop, with the tests replaced by their outcomes."""
    whole = _part(loop, 0, loop.extent or 0, scope.env)
    lane = scope.name(loop.index)
    own = NestScope(
        {**scope.names, whole.index: lane}, {**scope.values, str(lane): whole.index}, scope.env
    )
    for op in filter(is_guarded, ops_in(whole.block)):
        parts = conjuncts(own.condition(op))
        if not tests.keys().isdisjoint(parts):
            set_condition(own, op, both(*(tests.get(p, p) for p in parts)))
    return whole


class NestHalveVectorsPass(ModulePass):
    """Replaces vectors that write to memory past its end by branches.

    Where all lanes are inside, they are one vector; else its halves are vectors, or halved again.
    Of adjacent parts of a tensor, which no lane can be in together, each has a vector for lanes
    that are in it alone. So are vectors that are added to registers, where it is known which of
    their lanes are inside, be it in each step of an unrolled loop. On GPUs such vectors stay as
    they are: their lanes are written one by one.
    """

    name = "nest-halve-vectors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Halve the vector loops of all kernels."""
        if not traits_of(op).has_vectors:
            return
        env = Env()
        # Inner ones first: loops around them are copied with them.
        for loop in reversed(ops_of(op, ForOp)):
            if loop.role.data.role is Role.VECTOR:
                split_vector(loop, env)
