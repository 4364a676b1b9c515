"""gpu-broadcast-halves: a half that vectors are computed with is made a float in all lanes."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import Float16Type, ModuleOp, VectorType, f16, i16
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.ir.ops_in import ops_of


class GpuBroadcastHalvesPass(ModulePass):
    """Broadcasts the bits of halves that only vectors are computed with, and then extends them.

    Extended by themselves they cost CPUs an instruction more, and compilers put each into a
    register that holds a sum: each waits for the sum before it, and a product takes twice as long.
    """

    name = "gpu-broadcast-halves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Broadcast the bits of all halves of a module that only vectors use."""
        for load in [x for x in ops_of(op, memref.LoadOp) if type(x.res.type) is Float16Type]:
            broadcasts = _broadcasts(load.res)
            if broadcasts:
                _broadcast_bits(load, broadcasts)


def _broadcasts(half: SSAValue) -> list[vector.BroadcastOp]:
    """Broadcasts of a half and of its extension; none if another op uses it."""
    users = list(_users(half))
    broadcasts = [op for op in users if isinstance(op, vector.BroadcastOp)]
    return broadcasts if len(broadcasts) == len(users) else []


def _users(half: SSAValue) -> Iterator[Operation]:
    for use in half.uses:
        if isinstance(use.operation, arith.ExtFOp):
            yield from (x.operation for x in use.operation.result.uses)
        else:
            yield use.operation


def _broadcast_bits(load: memref.LoadOp, broadcasts: list[vector.BroadcastOp]) -> None:
    """Put vectors that are made of the bits in the place of broadcasts."""
    bits = arith.BitcastOp(load.res, i16)
    bits.result.name_hint = load.res.name_hint
    Rewriter.insert_op(bits, InsertPoint.after(load))
    extensions = {op.source.owner for op in broadcasts} - {load}
    made = dict[VectorType, SSAValue]()
    for op in broadcasts:
        t = op.vector.type
        assert isinstance(t, VectorType)
        if t not in made:
            made[t] = _of_bits(bits, t)
        Rewriter.replace_op(op, [], [made[t]])
    for op in extensions:
        assert isinstance(op, Operation)
        Rewriter.erase_op(op)


def _of_bits(bits: arith.BitcastOp, t: VectorType) -> SSAValue:
    """The half of these bits in all lanes of a vector of its type, or of a wider one."""
    lanes = vector.BroadcastOp(bits.result, VectorType(i16, t.shape))
    halves = arith.BitcastOp(lanes.vector, VectorType(f16, t.shape))
    ops: list[Operation] = [lanes, halves]
    if t.element_type != f16:
        ops.append(arith.ExtFOp(halves.result, t))
    Rewriter.insert_op(ops, InsertPoint.after(bits))
    return ops[-1].results[0]
