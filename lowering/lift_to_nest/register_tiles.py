"""Copies of register tiles: private arrays that a loop reads and writes at unrolled places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure

from tiledialect.dialects.nest.attributes import ExprsAttr, LoopRole, RoleAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr, map_expressions
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.access_strides import stride_over
from tiledialect.lowering.nest.utils.builder import PRIVATE
from tiledialect.lowering.nest.utils.scope import NestScope, extent_of
from tiledialect.schedule.loops import Role

MOST = 512
"""Most elements of a register tile."""


def unroll_copies(kernel: gpu.FuncOp) -> None:
    """Unroll the loops that only fill or empty a register tile.

    They take the lanes of the loops that compute with it. So all its accesses are at unrolled
    places, and it is values, not an array.
    """
    # Copies of one inside of a loop are accesses of another.
    for buffer in reversed(ops_of(kernel, BufferOp)):
        if (tile := _tile_of(buffer)) is not None:
            tile.unroll()


@dataclass(frozen=True)
class _Tile:
    """Register tile."""

    copies: tuple[ForOp, ...]
    """Serial loops over its elements, those inside of others after them."""
    lanes: int
    """Lanes of the vectors by which a loop computes with it; 1: none."""

    def unroll(self) -> None:
        """Unroll the copies."""
        for loop in self.copies:
            loop.role = RoleAttr(LoopRole(Role.UNROLL))
            if self.lanes > 1 and not any(True for _ in _inner(loop)):
                _split(loop, self.lanes)


def _tile_of(buffer: BufferOp) -> _Tile | None:
    """The register tile that a buffer is; None if it is none."""
    t = buffer.result.type
    if not isinstance(t, MemRefType) or t.memory_space != PRIVATE or extent_of(t) > MOST:
        return None
    copies: dict[ForOp, None] = {}
    lanes: set[int] = set()
    for use in buffer.result.uses:
        op = use.operation
        if not isinstance(op, LoadOp | StoreOp):
            return None
        loops = _moving(op)
        if loops is None:
            return None
        serial = [x for x in loops if not x.is_unrolled]
        if not serial and loops:
            lanes.add(prod(x.extent or 1 for x in loops if x.role.data.role is Role.VECTOR))
        if not all(map(_only_copies, serial)):
            return None
        copies |= dict.fromkeys(serial)
    if not copies or not lanes:
        return None
    return _Tile(tuple(copies), max(lanes))


def _moving(op: LoadOp | StoreOp) -> Sequence[ForOp] | None:
    """Loops whose indices move the place of an access, the outermost first; None if others do."""
    names = {name for e in op.access.data for name in e.names}
    moved = {v for k, v in enumerate(op.indices) if f"d{k}" in names}
    loops = [x for x in ancestors(op) if isinstance(x, ForOp) and x.index in moved]
    known = all(x.extent is not None and not x.is_parallel for x in loops)
    return [*reversed(loops)] if known and len(loops) == len(moved) else None


def _only_copies(loop: ForOp) -> bool:
    """Whether a loop has no other loops than over elements, and computes little."""
    kinds = (ForOp, LoadOp, StoreOp)
    starts_at_0 = loop.bounds.data[0] == Expr() and loop.bounds.data[2] == Expr.const(1)
    return starts_at_0 and all(
        isinstance(op, kinds) or op.has_trait(Pure) for op in loop.block.walk()
    )


def _inner(loop: ForOp) -> Iterator[ForOp]:
    return (x for x in ops_of(loop, ForOp) if x is not loop)


def _split(loop: ForOp, lanes: int) -> None:
    """Make lanes of the steps of a loop over neighbours, if there are whole vectors of them."""
    extent, scope = loop.extent or 0, NestScope()
    strides = {stride_over(loop, op, scope) for op in ops_of(loop, LoadOp, StoreOp)}
    if extent % lanes or not strides <= {0, 1}:
        return
    loop.bounds = ExprsAttr([Expr(), Expr.const(extent // lanes), Expr.const(1)])
    inner = ForOp({}, LoopRole(Role.VECTOR), lanes)
    inner.index.name_hint = "lane"
    for op in [*loop.block.ops]:
        op.detach()
        inner.block.add_op(op)
    loop.block.add_op(inner)
    scope = NestScope()
    index, lane = scope.name(loop.index), scope.name(inner.index)
    new = {str(index): index * lanes + lane}
    for op in [*inner.block.ops]:
        if isinstance(op, LoadOp | StoreOp | IndexOp) and loop.index in op.indices:
            Rewriter.replace_op(op, moved(op, scope, new))


def moved(op: LoadOp | StoreOp | IndexOp, scope: NestScope, new: Mapping[str, Expr]) -> Operation:
    """The op with other indices."""
    if isinstance(op, IndexOp):
        (expr,) = op.exprs_of(scope.operands(op), op.expr)
        return IndexOp(scope.values, expr.substitute(new))
    access = [e.substitute(new) for e in scope.access(op)]
    condition = map_expressions(scope.condition(op), lambda e: e.substitute(new))
    if isinstance(op, StoreOp):
        return StoreOp(scope.values, op.value, op.memory, access, condition)
    load = LoadOp(scope.values, op.memory, access, condition, op.default)
    load.result.name_hint = op.result.name_hint
    return load
