"""nest-barriers: barriers where work-items share memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import DOUBLE
from tiledialect.dialects.nest.asynchronous import WaitOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr, Remainder, equal, less
from tiledialect.index.integer.ranges import Env
from tiledialect.index.integer.simplify import constant_difference, prove, simplify
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.builder import is_local
from tiledialect.lowering.nest.utils.scope import NestScope, shared_arguments
from tiledialect.schedule.loops import Role


class DivergenceError(TileError):
    """Error of a barrier that is needed where not all work-items are known to arrive."""


@dataclass(frozen=True)
class Use:
    """Read or write of memory that work-items share."""

    memory: SSAValue
    writes: bool
    copy: Expr | None = None
    """Number of the copy, if the first index selects one of several."""
    before: tuple[tuple[str, Expr], ...] = ()
    """Indices of loops entered after it, and their first values: it meets the first steps alone."""

    def conflicts(self, pending: Use, scope: NestScope) -> bool:
        """Whether it must not happen at the same time as a pending one."""
        if self.memory is not pending.memory or not (self.writes or pending.writes):
            return False
        if self.copy is None or pending.copy is None:
            return True
        return not _differ(self.copy.substitute(dict(pending.before)), pending.copy, scope.env)


def _differ(a: Expr, b: Expr, env: Env) -> bool:
    """Whether two numbers of copies are never the same."""
    for number in (a.atom, b.atom):
        if isinstance(number, Remainder) and (n := number.divisor.value) is not None:
            distance = simplify(_congruent(a, n) - _congruent(b, n), env)
            if distance.value is not None:
                return distance.value % n != 0
            if any(env.at_least(d, 1) and env.at_least(n - 1, d) for d in (distance, -distance)):
                return True
    return prove(equal(a, b), env) is False


def _congruent(expr: Expr, n: int) -> Expr:
    """An expression with the same remainder by a number, which is none itself."""
    atom = expr.atom
    if isinstance(atom, Remainder) and atom.divisor.value == n:
        return atom.dividend
    return expr


class Barriers:
    """Inserts the barriers of one function."""

    def __init__(self, function: gpu.FuncOp):
        self.function = function
        self.scope = NestScope()
        self.shared = shared_arguments(function)

    def run(self) -> None:
        """Insert the barriers."""
        self._block(self.function.body.block, frozenset())

    def _block(self, block: Block, pending: frozenset[Use]) -> frozenset[Use]:
        """Add barriers to a block after pending uses; return the uses after its last barrier."""
        for op in list(block.ops):
            if isinstance(op, gpu.BarrierOp):
                pending = frozenset()
            elif isinstance(op, WaitOp):
                # Asynchronous copies are visible to the others after a barrier.
                if not isinstance(op.next_op, gpu.BarrierOp):
                    Rewriter.insert_op(gpu.BarrierOp(), InsertPoint.after(op))
                pending = frozenset()
            elif isinstance(op, LoadOp | StoreOp | FragmentOp):
                pending = self._use(op, {self._use_of(op)}, pending)
            elif isinstance(op, ForOp) and self._is_common(op):
                pending = self._loop(op, pending)
            elif isinstance(op, IfOp) and self._is_uniform(op):
                pending = self._branch(op, pending)
            elif op.regions:
                self._check_apart(op)
                pending = self._use(op, self._uses_in(op), pending)
        return pending

    def _check_apart(self, op: Operation) -> None:
        """Refuse uses that need a barrier where not all work-items arrive.

        An element may be used by the work-item that writes it; others use none of those written.
        """
        accesses = ops_of(op, LoadOp, StoreOp, FragmentOp)
        accesses = [x for x in accesses if self._use_of(x) is not None]
        for store in (x for x in accesses if isinstance(x, StoreOp)):
            for other in (x for x in accesses if x.memory is store.memory):
                if not self._are_apart(store, other):
                    name = store.memory.name_hint or "local memory"
                    message = (
                        f"work-items use elements of %{name} that others write, where not all of "
                        "them arrive: no barrier can stand there"
                    )
                    raise DivergenceError(message, TileError.at(other, message).span)

    def _are_apart(self, a: LoadOp | StoreOp, b: LoadOp | StoreOp | FragmentOp) -> bool:
        """Whether no two work-items can meet in the elements of two accesses."""
        if isinstance(b, StoreOp):
            return True
        env = self._env(a)
        pairs = list(zip(self.scope.access(a), self.scope.access(b), strict=True))
        if all(constant_difference(x, y, env) == 0 for x, y in pairs):
            return True
        other = self._env(b)
        ranges = ((env.range(simplify(x, env)), other.range(simplify(y, other))) for x, y in pairs)
        return any(x.upper <= y.lower or y.upper <= x.lower for x, y in ranges)

    def _env(self, op: Operation) -> Env:
        """Facts that hold at an op."""
        env, inner, outer = self.scope.env, op, op.parent_op()
        while outer is not None:
            if isinstance(outer, IfOp) and inner.parent is outer.then.block:
                env = env.assume(self.scope.condition(outer))
            inner, outer = outer, outer.parent_op()
        return env

    def _use(
        self, op: Operation, uses: Iterable[Use | None], pending: frozenset[Use]
    ) -> frozenset[Use]:
        """Insert a barrier before an op whose uses are in conflict with pending ones."""
        own = frozenset(use for use in uses if use is not None)
        if any(a.conflicts(b, self.scope) for a in own for b in pending):
            Rewriter.insert_op(gpu.BarrierOp(), InsertPoint.before(op))
            pending = frozenset()
        return pending | own

    def _loop(self, op: ForOp, pending: frozenset[Use]) -> frozenset[Use]:
        """Add barriers to a loop that all work-items run: its end meets its beginning."""
        if op.is_parallel:
            return self._block(op.block, pending)
        waits = any(isinstance(x, gpu.BarrierOp | WaitOp) for x in op.walk())
        if not waits and not self._clashes(op):
            # Nothing inside it needs a barrier: it is one use of all that it uses.
            return self._use(op, self._uses_in(op), pending)
        after = self._block(op.block, self._before(op, pending))
        last = self._block(op.block, self._in_step_before(op, after))
        # Where there may be no step, no barrier in it stands between what is before and after.
        return last if self._has_steps(op) else pending | last

    def _has_steps(self, op: ForOp) -> bool:
        """Whether a loop is known to have a step at least."""
        # Its index, if that is known, has a range: it would prove a step.
        outside = NestScope()
        lower, upper, _ = op.exprs_of(outside.operands(op), op.bounds)
        return prove(less(lower, upper), outside.env) is True

    def _before(self, op: ForOp, uses: Iterable[Use]) -> frozenset[Use]:
        """Uses before a loop, as seen from its first step."""
        lower, _, _ = op.exprs_of(self.scope.operands(op), op.bounds)
        first = (str(self.scope.name(op.index)), lower)
        return frozenset(replace(u, before=(*u.before, first)) for u in uses)

    def _in_step_before(self, op: ForOp, uses: Iterable[Use]) -> frozenset[Use]:
        """Uses in a step of a loop, as seen from the next one."""
        if self._is_shared_out(op):
            uses = [u for u in uses if u.memory not in self.shared]
        name = str(self.scope.name(op.index))
        before = {name: Expr.var(name) - 1}
        used = {n for u in uses if u.copy is not None for n in u.copy.names}
        loops = {str(self.scope.name(x.index)): x for x in ops_of(op, ForOp) if x is not op}
        for index, loop in loops.items() if loops.keys() & used else ():
            # A loop inside begins anew: its index has any value, as it had then.
            bounds = loop.exprs_of(self.scope.operands(loop), loop.bounds)
            lower, upper, step = (e.substitute(before) for e in bounds)
            before[index] = Expr.var(f"{index} before")
            self.scope.env = self.scope.env.with_range(f"{index} before", lower, upper, step)
        return frozenset(
            Use(u.memory, u.writes, None if u.copy is None else u.copy.substitute(before))
            for u in uses
        )

    def _is_shared_out(self, op: ForOp) -> bool:
        """Whether a work-group runs a part of a loop: its steps use places of arguments apart."""
        loops = [v.owner.parent_op() for v in op.indices if isinstance(v.owner, Block)]
        return any(isinstance(x, ForOp) and x.role.data.role is Role.GROUP for x in loops)

    def _clashes(self, op: ForOp) -> bool:
        """Whether uses inside a loop are in conflict, in one step or with those of the next.

        The steps of a loop that only writes fill different places.
        """
        uses = [u for u in self._uses_in(op) if u is not None]
        read = {u.memory for u in uses if not u.writes}
        own = [u for u in uses if u.memory in read]
        later = self._in_step_before(op, own)
        return any(a.conflicts(b, self.scope) for a in own for b in (*own, *later) if a is not b)

    def _branch(self, op: IfOp, pending: frozenset[Use]) -> frozenset[Use]:
        then = self._block(op.then.block, pending)
        other = pending
        if op.otherwise is not None:
            other = self._block(op.otherwise.block, pending)
        return then | other

    def _use_of(self, op: LoadOp | StoreOp | FragmentOp) -> Use | None:
        if not is_local(op.memory) and op.memory not in self.shared:
            return None
        copy = None
        if isinstance(op.memory.owner, BufferOp) and DOUBLE in op.memory.owner.attributes:
            copy = self.scope.access(op)[0]
        return Use(op.memory, isinstance(op, StoreOp), copy)

    def _uses_in(self, op: Operation) -> list[Use | None]:
        accesses = (x for x in op.walk() if isinstance(x, LoadOp | StoreOp | FragmentOp))
        return [self._use_of(x) for x in accesses]

    def _is_common(self, op: ForOp) -> bool:
        """Whether all work-items run the same steps of a loop."""
        return op.is_parallel or not any(self._differs(v) for v in op.indices)

    def _is_uniform(self, op: IfOp) -> bool:
        return not any(self._differs(v) for v in op.indices)

    def _differs(self, value: SSAValue) -> bool:
        """Whether an index may differ between work-items."""
        if isinstance(value.owner, gpu.GridDimOp | arith.ConstantOp):
            return False
        if isinstance(value.owner, IndexOp):
            return any(self._differs(v) for v in value.owner.indices)
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if isinstance(loop, gpu.FuncOp):
            return False
        if not isinstance(loop, ForOp):
            return True
        if loop.role.data.role is Role.LOCAL:
            return True
        return any(self._differs(v) for v in loop.indices)


def add_barriers(function: gpu.FuncOp) -> None:
    """Insert the barriers of a kernel, if a group has more than one work-item."""
    loops = ops_of(function, ForOp)
    if any(x.role.data.role is Role.LOCAL and x.extent != 1 for x in loops):
        Barriers(function).run()


class NestBarriersPass(ModulePass):
    """Inserts the barriers that nests need.

    One stands where work-items use local memory that others have written since the last one, or
    write elements that others have read, also from one step of a loop to the next; only where all
    work-items of a group arrive. Arguments that `nest.shared` numbers are like local memory; the
    steps of a loop that work-groups share out have places apart in them.
    """

    name = "nest-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add barriers to every kernel with more than one work-item in a group."""
        for function in ops_of(op, gpu.FuncOp):
            add_barriers(function)
