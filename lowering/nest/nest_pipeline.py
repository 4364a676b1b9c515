"""nest-pipeline: fetch the next tile while the present one is used."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.ops import BufferOp, ForOp, IfOp, IndexOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer import Expr, less, mod
from tiledialect.lowering.nest.builder import PRIVATE
from tiledialect.lowering.nest.registers import lanes_of
from tiledialect.lowering.nest.scope import NestScope, flat_strides
from tiledialect.schedule.leaves import Role


@dataclass(frozen=True)
class Copy:
    """A tile with two copies, and the loop that fills it in each step of another loop."""

    buffer: BufferOp
    loop: ForOp


def copies_in(loop: ForOp) -> list[Copy]:
    """The tiles with two copies that a loop fills in each step."""
    found: list[Copy] = []
    for op in loop.block.ops:
        if isinstance(op, BufferOp) and op.number_of_copies == 2:
            fills = [
                other
                for other in loop.block.ops
                if isinstance(other, ForOp) and _stores_to(other) == {op.result}
            ]
            if len(fills) != 1:
                raise TileError.at(op, "a tile with two copies is filled by one loop")
            found.append(Copy(op, fills[0]))
    return found


def _stores_to(loop: ForOp) -> set[SSAValue]:
    return {op.memory for op in loop.walk() if isinstance(op, StoreOp)}


def doubled(t: Attribute) -> MemRefType[Attribute]:
    """The type of two copies, one after the other."""
    assert isinstance(t, MemRefType)
    shape, strides = t.get_shape(), flat_strides(t)
    size = shape[0] * strides[0] if shape else 1
    layout = NoneAttr() if isinstance(t.layout, NoneAttr) else StridedLayoutAttr([size, *strides])
    return MemRefType(t.element_type, [2, *shape], layout, t.memory_space)


class Pipeline:
    """Rewrites one loop that fills tiles."""

    def __init__(self, loop: ForOp, copies: list[Copy]):
        self.loop = loop
        self.copies = copies
        self.scope = NestScope()
        self.step = self.scope.name(loop.index)
        self.tiles: dict[SSAValue, SSAValue] = {}
        """The two copies of each tile."""

    def run(self) -> None:
        """Rewrite the loop in place."""
        lower, upper, step = self.loop.exprs_of(self.scope.operands(self.loop), self.loop.bounds)
        if lower or step.value != 1:
            raise TileError.at(self.loop, "a loop with fetched tiles counts from 0 by 1")
        before = InsertPoint.before(self.loop)
        for copy in self.copies:
            self._double(copy, before)
        first = IndexOp(self.scope.values, Expr())
        Rewriter.insert_op(first, before)
        for copy in self.copies:
            registers = self._registers(copy, before)
            Rewriter.insert_op(self._fetch(copy, registers, first.result), before)
            Rewriter.insert_op(self._put(copy, registers, first.result, Expr()), before)
        following, more = self.step + 1, less(self.step + 1, upper)
        start = InsertPoint.at_start(self.loop.block)
        next_index = IndexOp(self.scope.values, following)
        Rewriter.insert_op(next_index, start)
        point = InsertPoint.after(next_index)
        held = [self._registers(copy, point) for copy in self.copies]
        fetch, put = Block(), Block()
        for copy, registers in zip(self.copies, held, strict=True):
            fetch.add_op(self._fetch(copy, registers, next_index.result))
            # Written so that the two copies can be seen to differ.
            put.add_op(self._put(copy, registers, next_index.result, 1 - mod(self.step, 2)))
        Rewriter.insert_op(IfOp(self.scope.values, more, fetch), point)
        for copy in self.copies:
            Rewriter.erase_op(copy.loop, safe_erase=False)
        last = self.loop.block.last_op
        assert last is not None
        Rewriter.insert_op(IfOp(self.scope.values, more, put), InsertPoint.after(last))

    def _double(self, copy: Copy, before: InsertPoint) -> None:
        """Two copies before the loop; what reads the tile reads that of the loop's step."""
        old = copy.buffer.result
        new = BufferOp(doubled(old.type))
        new.attributes["double"] = copy.buffer.properties["copies"]
        new.result.name_hint = old.name_hint
        Rewriter.insert_op(new, before)
        for use in list(old.uses):
            op = use.operation
            if isinstance(op, LoadOp):
                self._replace_load(op, new.result)
        copy.buffer.detach()
        self.tiles[old] = new.result

    def _replace_load(self, op: LoadOp, memory: SSAValue) -> None:
        new = LoadOp(
            self._names(op),
            memory,
            [mod(self.step, 2), *self.scope.access(op)],
            self.scope.condition(op),
            op.default,
            lanes=lanes_of(op.result),
        )
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)

    def _names(self, op: LoadOp | StoreOp) -> dict[str, SSAValue]:
        self.scope.operands(op)
        return self.scope.values

    def _registers(self, copy: Copy, point: InsertPoint) -> SSAValue:
        """What holds a tile's elements, of each work-item its own, on their way."""
        shape = [loop.extent or 0 for loop in _loops(copy.loop)]
        t = copy.buffer.result.type
        assert isinstance(t, MemRefType)
        op = BufferOp(MemRefType(t.element_type, shape, NoneAttr(), PRIVATE))
        op.result.name_hint = "fetched"
        Rewriter.insert_op(op, point)
        return op.result

    def _fetch(self, copy: Copy, registers: SSAValue, step: SSAValue) -> ForOp:
        """The copy's loop, into registers."""
        new = copy.loop.clone({self.loop.index: step})
        scope = NestScope()
        places = [scope.name(loop.index) for loop in _loops(new)]
        for op in [x for x in new.walk() if isinstance(x, StoreOp)]:
            store = StoreOp(scope.values, op.value, registers, places)
            Rewriter.replace_op(op, store, [])
        return new

    def _put(self, copy: Copy, registers: SSAValue, step: SSAValue, which: Expr) -> ForOp:
        """The copy's loop, from registers to one of the two tiles."""
        new = copy.loop.clone({self.loop.index: step})
        scope = NestScope()
        scope.names[self.loop.index] = self.step
        scope.values.update(self.scope.values)
        places = [scope.name(loop.index) for loop in _loops(new)]
        for op in [x for x in new.walk() if isinstance(x, LoadOp)]:
            load = LoadOp(scope.values, registers, places, lanes=lanes_of(op.result))
            load.result.name_hint = op.result.name_hint
            Rewriter.replace_op(op, load)
        for op in [x for x in new.walk() if isinstance(x, StoreOp)]:
            access, condition = scope.access(op), scope.condition(op)
            tile = self.tiles[copy.buffer.result]
            store = StoreOp(scope.values, op.value, tile, [which, *access], condition)
            Rewriter.replace_op(op, store, [])
        return new


def _loops(loop: ForOp) -> list[ForOp]:
    """The loops of a copy."""
    found = [x for x in loop.walk() if isinstance(x, ForOp)]
    for x in found:
        if x.role.data.role not in (Role.UNROLL, Role.VECTOR):
            raise TileError.at(x, "what is fetched ahead must fit registers: use smaller tiles")
    return found


@dataclass(frozen=True)
class NestPipelinePass(ModulePass):
    """Fetches the next tile of a buffer with two copies while the present one is used.

    The first tile is copied before the loop. In each step the loads of the next tile are issued
    into registers before the tile is used, and stored to the other copy afterwards, so that one
    barrier a step is enough.
    """

    name = "nest-pipeline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every loop that fills tiles with two copies."""
        for loop in [x for x in op.walk() if isinstance(x, ForOp)]:
            if loop.role.data.role is Role.SERIAL and (copies := copies_in(loop)):
                Pipeline(loop, copies).run()
