"""simplify-index-arithmetic: index expressions of nests, simplified by their indices' ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tiledialect.dialects.discardable import OPERATIONS_AFTER, OPERATIONS_BEFORE
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS, IndexedOp, IndexOp, bind
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Condition, Expr, Truth, both, expressions_of
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import operations, simplify, simplify_condition
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.lowering.nest.utils.kernel_indices import KernelIndices
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope


@dataclass
class Simplifier:
    """Simplifies the nest of one function, and counts the operations on indices."""

    scope: NestScope = field(default_factory=NestScope)
    before: int = 0
    after: int = 0

    def function(self, function: gpu.FuncOp) -> None:
        """Simplify a function."""
        self.block(function.body.block, ALWAYS)
        for index in ops_of(function, IndexOp):
            if not index.result.uses:
                Rewriter.erase_op(index)

    def block(self, block: Block, facts: Condition) -> None:
        """Simplify the ops of a block under a condition."""
        self.ops(list(block.ops), facts)

    def ops(self, ops: Sequence[Operation], facts: Condition) -> None:
        """Simplify some ops of such a block."""
        for op in ops:
            if isinstance(op, IfOp):
                self._branch(op, facts)
            elif isinstance(op, LoadOp | StoreOp):
                self._access(op, self._env(op, facts))
            elif isinstance(op, FragmentOp):
                access = self.scope.access(op)
                operands, exprs, _ = self._bound(access, ALWAYS, self._env(op, facts))
                op.operands, op.access = [op.memory, *operands], ExprsAttr(exprs)
            elif isinstance(op, IndexOp):
                (expr,) = op.exprs_of(self.scope.operands(op), op.expr)
                op.operands, exprs, _ = self._bound([expr], ALWAYS, self._env(op, facts))
                op.expr = ExprsAttr(exprs)
            else:
                if isinstance(op, ForOp):
                    bounds = op.exprs_of(self.scope.operands(op), op.bounds)
                    op.operands, exprs, _ = self._bound(bounds, ALWAYS, self._env(op, facts))
                    op.bounds = ExprsAttr(exprs)
                for region in op.regions:
                    for inner in region.blocks:
                        self.block(inner, facts)

    def _env(self, op: IndexedOp, facts: Condition) -> Env:
        """Facts that hold at an op."""
        self.scope.operands(op)
        return self.scope.env if facts == ALWAYS else self.scope.env.assume(facts)

    def _bound(self, exprs: Sequence[Expr], condition: Condition, env: Env):
        """Simplify expressions and a condition; return them with their operands."""
        new = [simplify(e, env) for e in exprs]
        test = simplify_condition(condition, env)
        self.before += operations(*exprs, *expressions_of(condition))
        self.after += operations(*new, *expressions_of(test))
        return bind(self.scope.values, new, test)

    def _access(self, op: LoadOp | StoreOp, env: Env) -> None:
        operands, access, condition = self._bound(
            self.scope.access(op), self.scope.condition(op), env
        )
        names = {f"d{k}": v for k, v in enumerate(operands)}
        if isinstance(op, StoreOp):
            if condition == Truth(False):
                Rewriter.erase_op(op)
            else:
                new = StoreOp(names, op.value, op.memory, access, condition)
                Rewriter.replace_op(op, new, [])
            return
        default = None if condition == ALWAYS else op.default
        lanes = lanes_of(op.result)
        load = LoadOp(names, op.memory, access, condition, default, lanes=lanes)
        load.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, load)

    def _branch(self, op: IfOp, facts: Condition) -> None:
        operands, _, bound = self._bound((), self.scope.condition(op), self._env(op, facts))
        if isinstance(bound, Truth):
            taken = op.then if bound.value else op.otherwise
            inner = list(taken.block.ops) if taken is not None else []
            for x in inner:
                x.detach()
            Rewriter.replace_op(op, inner, [])
            self.ops(inner, facts)
            return
        op.operands, op.condition = operands, ConditionAttr(bound)
        self.block(op.then.block, both(facts, self.scope.condition(op)))
        if op.otherwise is not None:
            self.block(op.otherwise.block, facts)


@dataclass(frozen=True)
class SimplifyIndexArithmeticPass(PassWithFlags):
    """Simplifies the index expressions and conditions of kernels by the ranges of their indices.

    Quotients and remainders that loops decide, tests that always hold and branches that are never
    taken go. It works on nests, and on the kernel level, where ops of `arith` on `index` are read
    back as expressions. With `count`, every function says how many operations on indices it had and
    has.
    """

    name = "simplify-index-arithmetic"

    count: bool = False
    """Note the numbers of operations in the attributes `index_operations.before` and `.after`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplify every kernel."""
        for function in ops_of(op, gpu.FuncOp):
            if any(isinstance(x, ForOp | LoadOp | StoreOp) for x in function.walk()):
                simplifier = Simplifier()
                simplifier.function(function)
            else:
                simplifier = KernelIndices(function)
                simplifier.run()
            if self.count:
                function.attributes[OPERATIONS_BEFORE] = IntegerAttr(simplifier.before, i64)
                function.attributes[OPERATIONS_AFTER] = IntegerAttr(simplifier.after, i64)
