"""Conditions of ops of a nest: their conjuncts, and replacements."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS, IndexOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    Junction,
    map_expressions,
)
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference, simplify_condition
from tiledialect.index.integer.value_sets import Range
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope

Guarded = IfOp | LoadOp | StoreOp


def is_guarded(op: Operation) -> TypeGuard[Guarded]:
    """Whether an op has a condition."""
    # It is asked of every op, and xDSL looks properties up by the definition of the op.
    return "condition" in op.properties and isinstance(op, Guarded)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """Conjuncts of a condition."""
    if isinstance(condition, Junction) and condition.kind == "and":
        return condition.parts
    return () if condition == ALWAYS else (condition,)


def is_uniform(condition: Condition, name: str, lanes: int, env: Env) -> bool:
    """Whether a condition holds for all values of ``name`` from 0 to ``lanes``, or for none."""
    match condition:
        case Junction(_, parts):
            return all(is_uniform(part, name, lanes, env) for part in parts)
        case Comparison(expr, kind) if name in expr.names:
            factor = constant_difference(expr.substitute({name: Expr.var(name) + 1}), expr, env)
            if kind != ">=" or factor is None:
                return False
            # With rest + factor*lane >= 0, lanes differ where rest is among these numbers.
            ends = sorted((0, -factor * (lanes - 1)))
            first = expr.substitute({name: Expr()})
            known = env.range(first)
            decisive = Range(max(ends[0], known.least), min(ends[1] - 1, known.greatest))
            return not env.residue(first).is_in(decisive)
        case _:
            return True


def set_condition(scope: NestScope, op: Guarded, condition: Condition) -> None:
    """Replace an op by the same under another condition."""
    names = scope.values
    if isinstance(op, StoreOp):
        new = StoreOp(names, op.value, op.memory, scope.access(op), condition)
        Rewriter.replace_op(op, new)
    elif isinstance(op, LoadOp):
        default = op.default if condition != ALWAYS else None
        access, lanes = scope.access(op), lanes_of(op.result)
        new = LoadOp(names, op.memory, access, condition, default, lanes=lanes)
        new.result.name_hint, unused = op.result.name_hint, op.default
        Rewriter.replace_op(op, new)
        _drop_constant(unused)
    elif condition == ALWAYS:
        Rewriter.inline_block(op.then.block, InsertPoint.before(op))
        Rewriter.erase_op(op)
    else:
        then = op.then.detach_block(0)
        otherwise = None if op.otherwise is None else op.otherwise.detach_block(0)
        Rewriter.replace_op(op, IfOp(names, condition, then, otherwise))


def _drop_constant(value: SSAValue | None) -> None:
    """Erase a constant without uses."""
    if value is not None and isinstance(value.owner, arith.ConstantOp) and not value.uses:
        Rewriter.erase_op(value.owner)


def only_op_of(block: Block) -> Operation | None:
    """Only op of a block, beside indices and constants; None if there are several."""
    ops = [op for op in block.ops if not isinstance(op, IndexOp | arith.ConstantOp)]
    return ops[0] if len(ops) == 1 else None


def hoist_branch(loop: ForOp, env: Env) -> None:
    """Hoist the branch that is the whole body of a loop, if the lanes agree on it."""
    branch = only_op_of(loop.block)
    if not isinstance(branch, IfOp) or branch.otherwise is not None:
        return
    scope = NestScope(env=env)
    lane, condition = str(scope.name(loop.index)), scope.condition(branch)
    if not is_uniform(condition, lane, loop.extent or 1, scope.env):
        return
    condition = map_expressions(condition, lambda e: e.substitute({lane: Expr()}))
    around = IfOp(scope.values, simplify_condition(condition, scope.env), Block())
    Rewriter.inline_block(branch.then.block, InsertPoint.before(branch))
    Rewriter.erase_op(branch)
    Rewriter.insert_op(around, InsertPoint.before(loop))
    loop.detach()
    around.then.block.add_op(loop)
