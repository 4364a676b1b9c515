"""nest-bound-loops: tighter loop bounds in place of branches around whole loop bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.index.integer.expressions import (
    Comparison,
    Condition,
    Expr,
    both,
    floordiv,
    minimum,
)
from tiledialect.index.integer.simplify import constant_difference, simplify
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.lowering.nest.utils.conditions import conjuncts, only_op_of, set_condition
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.schedule.loops import Role


def end_of(part: Condition, index: str, scope: NestScope) -> Expr | None:
    """First value of an index at which a condition no longer holds, whatever the others are.

    None if there is no such end.
    """
    if not isinstance(part, Comparison) or part.kind != ">=" or index not in part.expr.names:
        return None
    following = part.expr.substitute({index: Expr.var(index) + 1})
    factor = constant_difference(following, part.expr, scope.env)
    if factor is None or factor >= 0:
        return None
    return floordiv(part.expr.substitute({index: Expr()}), -factor) + 1


@dataclass(frozen=True)
class Bounding:
    """Bounds the loops of one function."""

    scope: NestScope
    numbers: bool
    """Whether only constants become ends of loops."""
    items: frozenset[str]
    """Names that differ between the work-items of a group."""

    def bound(self, loop: ForOp) -> None:
        """Move the condition of a branch that is a serial loop's body into the upper bound."""
        if loop.role.data.role is not Role.SERIAL:
            return
        index = self.scope.name(loop.index)
        match only_op_of(loop.block):
            case IfOp(otherwise=None) as branch:
                parts = conjuncts(self.scope.condition(branch))
                ends = {part: end_of(part, str(index), self.scope) for part in parts}
                taken = {p: e for p, e in ends.items() if e is not None and self._is_taken(e)}
                # Where a test stays, another end would save little.
                if len(taken) < len(parts):
                    taken = {p: e for p, e in taken.items() if e.value is not None}
                if taken:
                    self._end(loop, [*taken.values()])
                    set_condition(self.scope, branch, both(*(p for p in parts if p not in taken)))
            case _:
                pass

    def _is_taken(self, end: Expr) -> bool:
        if self.numbers:
            return end.value is not None
        # Work-items that share vectors have as many steps, and tests of their own.
        return self.items.isdisjoint(end.names)

    def _end(self, loop: ForOp, ends: Sequence[Expr]) -> None:
        """End a loop at the least of some values."""
        lower, upper, step = loop.exprs_of(self.scope.operands(loop), loop.bounds)
        upper = simplify(minimum(upper, *ends), self.scope.env)
        body = loop.body.detach_block(0)
        new = ForOp(self.scope.values, loop.role.data, upper, body, lower=lower, step=step)
        new.attributes.update(loop.attributes)
        Rewriter.replace_op(loop, new)


@dataclass(frozen=True)
class NestBoundLoopsPass(PassWithFlags):
    """Ends serial loops where a branch around their whole body would skip the other steps.

    A schedule's loops may reach past the index's range, which is tested for: `for i to 8` around
    `if i < 7` becomes `for i to 7`. Inner loops come first.
    """

    name = "nest-bound-loops"

    numbers: bool = False
    """Whether only constants become ends of loops."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bound the loops of every kernel."""
        for function in ops_of(op, gpu.FuncOp):
            if not any(isinstance(only_op_of(x.block), IfOp) for x in ops_of(function, ForOp)):
                continue
            scope, loops = NestScope(), ops_of(function, ForOp)
            local = [x.index for x in loops if x.role.data.role is Role.LOCAL]
            items = frozenset(str(scope.name(index)) for index in local)
            for loop in reversed(loops):
                Bounding(scope, self.numbers, items).bound(loop)
