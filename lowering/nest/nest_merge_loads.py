"""nest-merge-loads: loads of neighbours as one load of a vector."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects import gpu, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.integer.simplify import is_multiple
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.utils.access_strides import loops_around, stride_over
from tiledialect.lowering.nest.utils.builder import PRIVATE, is_local
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import (
    NestScope,
    element_bytes,
    extent_of,
    flat_strides,
)
from tiledialect.lowering.nest.utils.unrolled_accesses import stored_in
from tiledialect.schedule.loops import Role

WIDTHS = (2, 4)
"""Lanes of the vectors, the fewest first."""
MOST_BYTES = 16
"""Bytes of the widest access of a GPU's work-item."""
LEAST_BYTES = 4
"""Bytes of elements that are worth it: shorter ones are taken out of words again."""

MOST_STEPS = 16
"""Most steps of an unrolled loop whose elements are loaded before it: each takes a register."""

Group = list[tuple[LoadOp, int]]
"""Loads of one memory at places that differ by numbers, which are given."""


# -- elements that the steps of an unrolled loop load ----------------------------------------------


def load_before(loop: ForOp, scope: NestScope) -> None:
    """Load the elements of local memory that the steps of an unrolled loop take in vectors before
    it."""
    lower, count, step = (e.value for e in loop.bounds.data)
    if (lower, step) != (0, 1) or count is None or count > MOST_STEPS:
        return
    stored = stored_in(loop.block)
    fragments: dict[tuple[SSAValue, Expr], SSAValue] = {}
    for op in ops_of(loop, LoadOp):
        if not is_local(op.memory) or op.memory in stored or not _is_plain(op):
            continue
        inner = [*takewhile(lambda x: x is not loop, ancestors(op))]
        moved = not all(
            isinstance(x, ForOp) and x.is_unrolled and stride_over(x, op, scope) == 0 for x in inner
        )
        if moved or stride_over(loop, op, scope) != 1:
            continue
        index = str(scope.name(loop.index))
        *outer, last = (e.substitute({index: Expr()}) for e in scope.access(op))
        t = op.memory.type
        assert isinstance(t, MemRefType)
        first = scope.address(op).substitute({index: Expr()})
        widths = [w for w in WIDTHS if w * element_bytes(t) <= MOST_BYTES and count % w == 0]
        lanes = max((w for w in widths if is_multiple(first, w, scope.env)), default=1)
        if lanes == 1 or any(index in e.names for e in scope.access(op)[:-1]):
            continue
        key = op.memory, first
        if key not in fragments:
            fragments[key] = _fragment(loop, op.memory, (*outer, last), lanes, scope)
        new = LoadOp(scope.values, fragments[key], [scope.name(loop.index)])
        new.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, new)


def _fragment(
    loop: ForOp, memory: SSAValue, first: Sequence[Expr], lanes: int, scope: NestScope
) -> SSAValue:
    """Load as many neighbours as a loop has steps before it, in vectors."""
    t = memory.type
    assert isinstance(t, MemRefType)
    count, (*outer, last) = loop.extent or 0, first
    buffer = BufferOp(MemRefType(t.element_type, [count], NoneAttr(), PRIVATE))
    buffer.result.name_hint = memory.name_hint
    ops: list[Operation] = [buffer]
    for place in range(0, count, lanes):
        load = LoadOp(scope.values, memory, [*outer, last + place], lanes=lanes)
        load.result.name_hint = memory.name_hint
        ops += [load, StoreOp(scope.values, load.result, buffer.result, [Expr.const(place)])]
    Rewriter.insert_op(ops, InsertPoint.before(loop))
    return buffer.result


# -- elements that one step loads ------------------------------------------------------------------


def merge_in(block: Block, scope: NestScope, written: Container[SSAValue]) -> None:
    """Merge the loads of a block, in a kernel that writes to some memories."""
    groups: dict[tuple[SSAValue, Expr], Group] = {}
    for op in block.ops:
        if isinstance(op, LoadOp) and _is_plain(op):
            place = scope.address(op)
            groups.setdefault((op.memory, place.moving), []).append((op, int(place.constant)))
        stored = {x.memory for x in ops_in(op) if isinstance(x, StoreOp)} if groups else ()
        for key in [key for key in groups if key[0] in stored]:
            _merge(groups.pop(key), key[1], scope, written)
    for (_, moving), group in groups.items():
        _merge(group, moving, scope, written)


def _is_plain(op: LoadOp) -> bool:
    """Whether a load is of one element of a memory that work-items share, always."""
    t = op.memory.type
    return (
        isinstance(t, MemRefType)
        and t.memory_space != PRIVATE
        and op.condition is None
        and lanes_of(op.result) == 1
        and element_bytes(t) >= LEAST_BYTES
        and t.has_static_shape()
        and flat_strides(t)[-1:] == (1,)
        and bool(op.result.uses)
    )


def _merge(group: Group, moving: Expr, scope: NestScope, written: Container[SSAValue]) -> None:
    """Merge the loads of a group that are in one vector each."""
    memory = group[0][0].memory
    t = memory.type
    assert isinstance(t, MemRefType)
    if len({place for _, place in group}) == 1:
        return
    widths = [w for w in WIDTHS if w * element_bytes(t) <= MOST_BYTES and extent_of(t) % w == 0]
    for width in reversed([w for w in widths if is_multiple(moving, w, scope.env)]):
        chunks: dict[int, Group] = {}
        for op, place in group:
            chunks.setdefault(place // width, []).append((op, place))
        merged = [x for x in chunks.values() if _is_worth(x, width, whole=memory in written)]
        for chunk in merged:
            _load(chunk, width, scope)
        group = [pair for chunk in chunks.values() if chunk not in merged for pair in chunk]


def _is_worth(chunk: Group, width: int, *, whole: bool) -> bool:
    """Whether loads take several elements of a vector, and not of a half of it alone.

    Of what a kernel writes they take the ``whole`` vector: others may be writing the rest.
    """
    lanes = {place % width for _, place in chunk}
    if whole:
        return len(lanes) == width
    return len(lanes) > 1 and (width == WIDTHS[0] or len({2 * x // width for x in lanes}) > 1)


def _load(chunk: Group, width: int, scope: NestScope) -> None:
    """Load a vector before the first of some loads, which take their elements."""
    first, place = chunk[0]
    *outer, last = scope.access(first)
    access = (*outer, last - place % width)
    whole = LoadOp(scope.values, first.memory, access, lanes=width)
    whole.result.name_hint = first.memory.name_hint
    Rewriter.insert_op(whole, InsertPoint.before(first))
    for op, own in chunk:
        element = vector.ExtractOp(whole.result, [own % width], op.result.type)
        element.results[0].name_hint = op.result.name_hint
        Rewriter.replace_op(op, element)


def _is_in_lanes(block: Block) -> bool:
    loop = block.parent_op()
    if loop is None:
        return False
    around = [*([loop] if isinstance(loop, ForOp) else []), *loops_around(loop)]
    return any(x.role.data.role is Role.VECTOR for x in around)


class NestMergeLoadsPass(ModulePass):
    """Merges loads of neighbours in memory into a load of a vector of 2 or 4 elements.

    The place of the vector is a multiple of its lanes, and nothing between the loads writes to the
    memory. So the coordinates of a point, which patterns take one by one, are one access of a GPU's
    work-item, whose accesses are what it issues least of. Loads of other elements between come with
    it, where the kernel writes none of the memory. Loads inside of `vector` loops are left to
    `nest-vectorize`. Elements of local memory that an unrolled loop takes one after the other are
    loaded in vectors before it.
    """

    name = "nest-merge-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge the loads of all kernels."""
        for kernel in ops_of(op, gpu.FuncOp):
            scope, written = NestScope(), stored_in(kernel.body.block)
            for loop in ops_of(kernel, ForOp):
                if loop.role.data.role is Role.UNROLL and not _is_in_lanes(loop.block):
                    load_before(loop, scope)
            for block in _blocks(kernel):
                if not _is_in_lanes(block):
                    merge_in(block, scope, written)


def _blocks(kernel: gpu.FuncOp) -> Iterator[Block]:
    for op in ops_in(kernel):
        for region in op.regions:
            yield from region.blocks
