"""nest-pipeline: software pipelining that fetches the next tiles while the present one is used."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import DOUBLE
from tiledialect.dialects.nest.asynchronous import CommitOp, WaitOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS, IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr, less, mod
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.utils.builder import PRIVATE
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, flat_strides
from tiledialect.lowering.nest.utils.unrolled_accesses import stored_in
from tiledialect.schedule.loops import UNROLLED, Role


@dataclass(frozen=True)
class Copy:
    """Tile with several copies, and the loop that fills it in each step of another loop."""

    buffer: BufferOp
    loop: ForOp

    @property
    def count(self) -> int:
        """Number of copies of the tile."""
        return self.buffer.number_of_copies

    @property
    def is_asynchronous(self) -> bool:
        """Whether the device copies to the tile asynchronously."""
        return self.buffer.asynchronous is not None


def copies_in(loop: ForOp) -> list[Copy]:
    """Tiles with several copies that a loop fills in each step."""
    found: list[Copy] = []
    for op in loop.block.ops:
        if isinstance(op, BufferOp) and op.number_of_copies > 1:
            fills = [
                other
                for other in loop.block.ops
                if isinstance(other, ForOp) and stored_in(other.block) == {op.result}
            ]
            if len(fills) != 1:
                raise TileError.at(op, "a tile with several copies is filled by one loop")
            found.append(Copy(op, fills[0]))
    return found


def repeated(t: Attribute, count: int) -> MemRefType[Attribute]:
    """Type of so many copies, one after the other."""
    assert isinstance(t, MemRefType)
    shape, strides = t.get_shape(), flat_strides(t)
    size = shape[0] * strides[0] if shape else 1
    layout = NoneAttr() if isinstance(t.layout, NoneAttr) else StridedLayoutAttr([size, *strides])
    return MemRefType(t.element_type, [count, *shape], layout, t.memory_space)


class Pipeline:
    """Rewrites one loop that fills tiles."""

    def __init__(self, loop: ForOp, copies: list[Copy]):
        self.loop = loop
        self.through_registers = [c for c in copies if not c.is_asynchronous]
        self.asynchronous = [c for c in copies if c.is_asynchronous]
        self.ahead = min((c.count for c in self.asynchronous), default=2) - 1
        """Number of steps before its use at which an asynchronous copy begins."""
        self.scope = NestScope()
        self.step = self.scope.name(loop.index)
        self.tiles: dict[SSAValue, SSAValue] = {}
        """Buffer of the copies of each tile."""

    def run(self) -> None:
        """Rewrite the loop in place."""
        lower, self.upper, step = self.loop.exprs_of(
            self.scope.operands(self.loop), self.loop.bounds
        )
        if lower or step.value != 1:
            raise TileError.at(self.loop, "a loop with fetched tiles counts from 0 by 1")
        before = InsertPoint.before(self.loop)
        copies = [*self.through_registers, *self.asynchronous]
        for copy in copies:
            self._repeat(copy, before)
        if self.asynchronous:
            self._start(before)
        if self.through_registers:
            self._fetch_first(before)
            self._fetch_next()
        if self.asynchronous:
            self._start_next()
        for copy in copies:
            Rewriter.erase_op(copy.loop, safe_erase=False)

    # -- through registers -----------------------------------------------------------------

    def _fetch_first(self, before: InsertPoint) -> None:
        """Fetch the tiles of the loop's first step before it."""
        first = IndexOp(self.scope.values, Expr())
        Rewriter.insert_op(first, before)
        for copy in self.through_registers:
            registers = self._registers(copy, before)
            Rewriter.insert_op(self._fetch(copy, registers, first.result), before)
            Rewriter.insert_op(self._put(copy, registers, first.result, Expr()), before)

    def _fetch_next(self) -> None:
        """Load the next step's tiles at a step's start, and store them at its end."""
        following, more = self.step + 1, less(self.step + 1, self.upper)
        next_index = IndexOp(self.scope.values, following)
        Rewriter.insert_op(next_index, InsertPoint.at_start(self.loop.block))
        point = InsertPoint.after(next_index)
        held = [self._registers(copy, point) for copy in self.through_registers]
        fetch, put = Block(), Block()
        for copy, registers in zip(self.through_registers, held, strict=True):
            fetch.add_op(self._fetch(copy, registers, next_index.result))
            # Written so that the two copies can be seen to differ.
            put.add_op(self._put(copy, registers, next_index.result, 1 - mod(self.step, 2)))
        Rewriter.insert_op(IfOp(self.scope.values, more, fetch), point)
        last = self.loop.block.last_op
        assert last is not None
        Rewriter.insert_op(IfOp(self.scope.values, more, put), InsertPoint.after(last))

    # -- asynchronously --------------------------------------------------------------------

    def _start(self, before: InsertPoint) -> None:
        """Start the copies of the loop's first steps, a group each, before it."""
        for step in range(self.ahead):
            index = IndexOp(self.scope.values, Expr.const(step))
            Rewriter.insert_op(index, before)
            self._start_step(index.result, Expr.const(step), before)

    def _start_next(self) -> None:
        """Start a later step's copies in each step, once its own are complete and the last are
        read.

        Copies needed in the next step start first; else the step's own work goes before.
        """
        following = self.step + self.ahead
        next_index = IndexOp(self.scope.values, following)
        wait, last = WaitOp(self.ahead - 1), self.loop.block.last_op
        assert last is not None
        Rewriter.insert_op(wait, InsertPoint.at_start(self.loop.block))
        Rewriter.insert_op(next_index, InsertPoint.after(wait if self.ahead == 1 else last))
        self._start_step(next_index.result, following, InsertPoint.after(next_index))

    def _start_step(self, index: SSAValue, step: Expr, point: InsertPoint) -> None:
        """Start the copies of a step, if there is such a one, as a group."""
        loops = [self._moved(c, index, mod(step, c.count)) for c in self.asynchronous]
        there = less(step, self.upper)
        ops = loops if there == ALWAYS else [IfOp(self.scope.values, there, Block(loops))]
        Rewriter.insert_op([*ops, CommitOp()], point)

    def _moved(self, copy: Copy, step: SSAValue, which: Expr) -> ForOp:
        """Clone the copy's loop, to one of the copies of its tile."""
        new, scope = self._at(copy, step)
        self._store_to(copy, new, scope, which)
        return new

    # -- the tiles -------------------------------------------------------------------------

    def _repeat(self, copy: Copy, before: InsertPoint) -> None:
        """Allocate several copies before the loop; reads of the tile select the step's one."""
        old = copy.buffer.result
        new = BufferOp(repeated(old.type, copy.count), asynchronous=copy.is_asynchronous)
        new.attributes[DOUBLE] = copy.buffer.properties["copies"]
        new.result.name_hint = old.name_hint
        Rewriter.insert_op(new, before)
        which = mod(self.step, copy.count)
        for use in list(old.uses):
            op = use.operation
            if isinstance(op, LoadOp | FragmentOp):
                self._replace_load(op, new.result, which)
        copy.buffer.detach()
        self.tiles[old] = new.result

    def _replace_load(self, op: LoadOp | FragmentOp, memory: SSAValue, which: Expr) -> None:
        access = [which, *self.scope.access(op)]
        if isinstance(op, FragmentOp):
            names = self._names(op)
            new = FragmentOp(names, op.entry.name, op.number, op.rows.axis, memory, access)
        else:
            condition, lanes = self.scope.condition(op), lanes_of(op.result)
            names = self._names(op)
            new = LoadOp(names, memory, access, condition, op.default, lanes=lanes)
        for a, b in zip(op.results, new.results, strict=True):
            b.name_hint = a.name_hint
        Rewriter.replace_op(op, new)

    def _names(self, op: LoadOp | FragmentOp) -> dict[str, SSAValue]:
        self.scope.operands(op)
        return self.scope.values

    def _registers(self, copy: Copy, point: InsertPoint) -> SSAValue:
        """Allocate registers for a work-item's part of a tile in flight."""
        shape = [loop.extent or 0 for loop in _loops(copy.loop)]
        t = copy.buffer.result.type
        assert isinstance(t, MemRefType)
        op = BufferOp(MemRefType(t.element_type, shape, NoneAttr(), PRIVATE))
        op.result.name_hint = "fetched"
        Rewriter.insert_op(op, point)
        return op.result

    def _fetch(self, copy: Copy, registers: SSAValue, step: SSAValue) -> ForOp:
        """Clone the copy's loop, into registers."""
        new = copy.loop.clone({self.loop.index: step})
        scope = NestScope()
        places = [scope.name(loop.index) for loop in _loops(new)]
        for op in ops_of(new, StoreOp):
            store = StoreOp(scope.values, op.value, registers, places)
            Rewriter.replace_op(op, store, [])
        return new

    def _put(self, copy: Copy, registers: SSAValue, step: SSAValue, which: Expr) -> ForOp:
        """Clone the copy's loop, from registers to one of the two tiles."""
        new, scope = self._at(copy, step)
        places = [scope.name(loop.index) for loop in _loops(new)]
        for op in ops_of(new, StoreOp):
            load = LoadOp(scope.values, registers, places, lanes=lanes_of(op.value))
            load.result.name_hint = op.value.name_hint
            Rewriter.insert_op(load, InsertPoint.before(op))
            op.operands[[*op.operands].index(op.value)] = load.result
        for op in reversed(ops_in(new.block)):
            # What was stored to the registers is not computed again.
            if op.results and not any(result.uses for result in op.results):
                Rewriter.erase_op(op)
        self._store_to(copy, new, scope, which)
        return new

    def _at(self, copy: Copy, step: SSAValue) -> tuple[ForOp, NestScope]:
        """Clone the copy's loop at another step; return it with the names of its operands."""
        new = copy.loop.clone({self.loop.index: step})
        scope = NestScope()
        scope.names[self.loop.index] = self.step
        scope.values.update(self.scope.values)
        return new, scope

    def _store_to(self, copy: Copy, loop: ForOp, scope: NestScope, which: Expr) -> None:
        """Redirect a loop's stores in a tile to one of its copies."""
        for op in ops_of(loop, StoreOp):
            access, condition = scope.access(op), scope.condition(op)
            tile = self.tiles[copy.buffer.result]
            store = StoreOp(scope.values, op.value, tile, [which, *access], condition)
            Rewriter.replace_op(op, store, [])


def _loops(loop: ForOp) -> list[ForOp]:
    """Loops of a copy."""
    found = ops_of(loop, ForOp)
    for x in found:
        if x.role.data.role not in UNROLLED:
            message = "tiles that are fetched ahead must fit registers: use smaller tiles"
            raise TileError.at(x, message)
    return found


class NestPipelinePass(ModulePass):
    """Fetches the next tile of a buffer with several copies while the present one is used.

    The first tile is copied before the loop. In each step the loads of the next tile are issued
    into registers before the tile is used, and stored to the other copy afterwards, so that one
    barrier a step is enough. The tiles of an `async` buffer are copied by themselves, as many steps
    ahead as there are copies but one; each step waits for its own, and ends by starting others.
    """

    name = "nest-pipeline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every loop that fills tiles with several copies."""
        for loop in ops_of(op, ForOp):
            if loop.role.data.role is Role.SERIAL and (copies := copies_in(loop)):
                Pipeline(loop, copies).run()
