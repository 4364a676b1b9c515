"""nest-share-memory: buffer reuse of arrays in local memory with disjoint lifetimes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from xdsl.context import Context
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.nest_barriers import add_barriers
from tiledialect.lowering.nest.utils.access_strides import loops_around
from tiledialect.lowering.nest.utils.builder import LOCAL


def arrays(function: gpu.FuncOp) -> list[BufferOp]:
    """Plain arrays of one axis in local memory, in the order of their first use."""
    found = [op for op in ops_of(function, BufferOp) if _is_plain(op)]
    places = {op: k for k, op in enumerate(ops_in(function))}
    return sorted(found, key=lambda op: min(places[use.operation] for use in op.result.uses))


def _is_plain(op: BufferOp) -> bool:
    t = op.result.type
    return (
        isinstance(t, MemRefType)
        and t.memory_space == LOCAL
        and t.get_num_dims() == 1
        and isinstance(t.layout, NoneAttr)
        and op.copies is None
        and op.asynchronous is None
        and not op.attributes
        and any(op.result.uses)
    )


def _type(op: BufferOp) -> MemRefType[Attribute]:
    assert isinstance(op.result.type, MemRefType)
    return op.result.type


def _steps(op: BufferOp) -> Iterator[Operation]:
    """Ops of the buffer's block that use it."""
    assert op.parent is not None
    for use in op.result.uses:
        step = op.parent.find_ancestor_op_in_block(use.operation)
        assert step is not None
        yield step


def _is_over_before(a: BufferOp, b: BufferOp) -> bool:
    """Whether in their block nothing uses one array after a use of the other."""
    assert a.parent is not None
    order = {op: k for k, op in enumerate(a.parent.ops)}
    return max(order[op] for op in _steps(a)) < min(order[op] for op in _steps(b))


def _share(a: BufferOp, b: BufferOp) -> None:
    """Use the memory of one array for the other as well."""
    size = max(_type(op).get_shape()[0] for op in (a, b))
    t = MemRefType(_type(a).element_type, [size], NoneAttr(), LOCAL)
    if _type(a).element_type != _type(b).element_type:
        for use in list(b.result.uses):
            _keep_bits(use.operation, _type(a).element_type)
    b.result.replace_all_uses_with(a.result)
    Rewriter.erase_op(b)
    Rewriter.replace_value_with_new_type(a.result, t)


def _keep_bits(op: Operation, element_type: Attribute) -> None:
    """Load or store the bits of a value in an array of another type."""

    def like(t: Attribute) -> Attribute:
        return VectorType(element_type, t.shape) if isinstance(t, VectorType) else element_type

    assert isinstance(op, LoadOp | StoreOp)
    given = op.value if isinstance(op, StoreOp) else op.default
    if given is not None:
        bits = arith.BitcastOp(given, like(given.type))
        Rewriter.insert_op(bits, InsertPoint.before(op))
        op.operands[[*op.operands].index(given)] = bits.result
    if isinstance(op, LoadOp):
        t = op.result.type
        loaded = Rewriter.replace_value_with_new_type(op.result, like(t))
        bits = arith.BitcastOp(loaded, t)
        Rewriter.insert_op(bits, InsertPoint.after(op))
        loaded.replace_uses_with_if(bits.result, lambda use: use.operation is not bits)


def _barriers(function: gpu.FuncOp) -> Counter[int]:
    """Number of barriers of a function in loops of each depth."""
    found = function.clone()
    add_barriers(found)
    return Counter(_depth(op) for op in found.walk() if isinstance(op, gpu.BarrierOp))


def _depth(op: Operation) -> int:
    return len(list(loops_around(op)))


def _is_no_more(new: Counter[int], old: Counter[int]) -> bool:
    """Whether there are no more barriers, in the loops of any depth and those inside."""
    depths = {*new, *old}
    return all(
        sum(n for k, n in new.items() if k >= depth) <= sum(n for k, n in old.items() if k >= depth)
        for depth in depths
    )


def share_memory(function: gpu.FuncOp) -> None:
    """Let arrays share memory, as long as that needs no more barriers."""
    before: Counter[int] | None = None
    while True:
        for a, b in combinations(range(len(found := arrays(function))), 2):
            if not _may_share(found[a], found[b]):
                continue
            before = before if before is not None else _barriers(function)
            trial = function.clone()
            tried = arrays(trial)
            _share(tried[a], tried[b])
            try:
                after = _barriers(trial)
            except TileError:
                continue
            if _is_no_more(after, before):
                _share(found[a], found[b])
                before = after
                break
        else:
            return


def _may_share(a: BufferOp, b: BufferOp) -> bool:
    return a.parent is b.parent and _are_alike(a, b) and _is_over_before(a, b)


def _are_alike(a: BufferOp, b: BufferOp) -> bool:
    """Whether each element of one can hold the bits of one of the other."""
    own, other = (_type(op).element_type for op in (a, b))
    if own == other:
        return True
    plain = all(isinstance(use.operation, LoadOp | StoreOp) for use in b.result.uses)
    if not isinstance(own, FixedBitwidthType) or not isinstance(other, FixedBitwidthType):
        return False
    return plain and own.bitwidth == other.bitwidth


class NestShareMemoryPass(ModulePass):
    """Merges arrays in local memory that live at different times.

    Their elements have as many bits, and the last use of one is before the first of the other.
    Where work-items would have to wait for one another once more, both stay.
    """

    name = "nest-share-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Share the memory of every kernel."""
        for function in ops_of(op, gpu.FuncOp):
            share_memory(function)
