"""nest-prefetch: prefetches of memory that the next pass or the next row needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import NONTEMPORAL
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.ancestors import nearest
from tiledialect.ir.ops_in import ops_in
from tiledialect.lowering.nest.utils.access_strides import is_vector_access, value_of
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.schedule.cost.device import LINE, Device, device_or_common
from tiledialect.schedule.loops import Role

MIN_ROW_BYTES = 16 * LINE
"""Minimum bytes of a row whose successor the processor does not prefetch by itself."""
OP_COST = {arith.Arith.name: 1, math.Math.name: 12}
"""Cost of an op of a dialect."""

BufferElement = tuple[SSAValue, tuple[Expr, ...]]
"""Array, and the indices of a pass in it, its loops by number."""


@dataclass(frozen=True)
class RowLoops:
    """Loops over a row, with accesses to memory inside the innermost one."""

    loops: tuple[ForOp, ...]

    @staticmethod
    def of(loop: ForOp) -> RowLoops:
        """Build the pass of an outermost loop."""
        loops = [loop]
        while len(inside := [x for x in loops[-1].block.ops if isinstance(x, ForOp)]) == 1:
            loops += inside
        return RowLoops(tuple(loops))

    @property
    def block(self) -> Block:
        """Body of each step."""
        return self.loops[-1].block

    @property
    def shape(self) -> tuple[tuple[tuple[Expr, ...], LoopRole], ...]:
        """Bounds and roles of the loops: passes over the same row have the same."""
        return tuple((x.bounds.data, x.role.data) for x in self.loops)

    @property
    def steps(self) -> int:
        """Number of steps; 0 if unknown."""
        return prod(x.extent or 0 for x in self.loops)

    @cached_property
    def cost(self) -> int:
        """Cost of a step: so much memory latency is hidden meanwhile."""
        return sum(OP_COST.get(op.dialect_name(), 0) for op in self.block.ops)

    def accesses(self, scope: NestScope) -> Iterator[tuple[BufferElement, LoadOp | StoreOp]]:
        """Accesses to neighbours in global memory, and their places."""
        numbered = {str(scope.name(x.index)): _step(k) for k, x in enumerate(self.loops)}
        for op in self.block.ops:
            if (
                isinstance(op, LoadOp | StoreOp)
                and is_vector_access(op)
                and NONTEMPORAL not in op.attributes
            ):
                access = tuple(e.substitute(numbered) for e in scope.access(op))
                yield (op.memory, access), op


def _step(number: int) -> Expr:
    return Expr.var(f"step{number}")


def _bytes(op: LoadOp | StoreOp) -> int:
    """Number of bytes that an access moves."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    return lanes_of(value_of(op)) * element_bytes(t)


def passes_over_rows(block: Block) -> list[RowLoops]:
    """Passes in a block over the same row, if there are several."""
    loops = [x for x in block.ops if isinstance(x, ForOp) and x.role.data.role is Role.SERIAL]
    passes = [RowLoops.of(x) for x in loops if (x.extent or 0) > 1]
    shapes = [p.shape for p in passes]
    often = max(shapes, key=shapes.count, default=None)
    found = [p for p in passes if p.shape == often]
    return found if len(found) > 1 else []


def _array_bytes(op: LoadOp | StoreOp) -> int:
    """Bytes of the array of an access; 0 if unknown."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    return bytes_of(t) if t.has_static_shape() else 0


def prefetch(passes: Sequence[RowLoops], device: Device) -> None:
    """Prefetch in the pass that computes most the accesses of the later ones and the next row."""
    scope = NestScope()
    first: dict[BufferElement, tuple[int, LoadOp | StoreOp]] = {}
    for number, one in enumerate(passes):
        for place, op in one.accesses(scope):
            # Written lines that stay in the caches need no prefetch, which takes room from rows.
            if isinstance(op, LoadOp) or _array_bytes(op) > device.cache_sizes[-1]:
                first.setdefault(place, (number, op))
    if not _read_the_same(passes, scope):
        return
    host = max(range(len(passes) - 1), key=lambda k: passes[k].cost)
    row = _next_row(passes[host].loops[0], scope)
    wanted: list[PrefetchOp] = []
    total = 0
    steps = {str(_step(k)): scope.name(loop.index) for k, loop in enumerate(passes[host].loops)}
    for (memory, access), (number, op) in first.items():
        where = access
        if number <= host:
            where = tuple(e.substitute(row) for e in access)
            if where == access:
                continue
        nbytes = passes[host].steps * _bytes(op)
        total += nbytes
        if nbytes >= MIN_ROW_BYTES:
            place = [e.substitute(steps) for e in where]
            to_write = isinstance(op, StoreOp)
            wanted.append(PrefetchOp(scope.values, memory, place, to_write=to_write))
    if wanted and total <= device.second_cache:
        Rewriter.insert_op(wanted, InsertPoint.at_end(passes[host].block))


def _read_the_same(passes: Sequence[RowLoops], scope: NestScope) -> bool:
    """Whether all passes read arrays at the same places as the first one that reads them.

    Passes that aggregate other columns of the same rows, which are near, do not.
    """
    places: dict[SSAValue, set[BufferElement]] = {}
    for one in passes:
        own: dict[SSAValue, set[BufferElement]] = {}
        for place, op in one.accesses(scope):
            if isinstance(op, LoadOp):
                own.setdefault(op.memory, set()).add(place)
        if any(found.isdisjoint(places.setdefault(m, found)) for m, found in own.items()):
            return False
    return True


def _next_row(loop: ForOp, scope: NestScope) -> dict[str, Expr]:
    """Substitution of an index for the next row, if rows come one after another."""
    outer = nearest(ForOp, loop)
    if outer is None or outer.role.data.role is not Role.SERIAL:
        return {}
    name = scope.name(outer.index)
    return {str(name): name + outer.bounds.data[2]}


class NestPrefetchPass(ModulePass):
    """Prefetches memory where a kernel makes several passes over each row.

    The pass that computes most asks for the reads and writes of later ones, and for the first reads
    of the next row: memory arrives during the computation. Rows that are short, which the processor
    prefetches by itself, or do not fit its second cache, are left alone, and so are writes to
    arrays that the last cache holds.
    """

    name = "nest-prefetch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert the prefetches of every kernel."""
        device = device_or_common(op)
        blocks = [b for x in ops_in(op) for region in x.regions for b in region.blocks]
        for block in blocks:
            if passes := passes_over_rows(block):
                prefetch(passes, device)
