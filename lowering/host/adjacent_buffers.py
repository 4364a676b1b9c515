"""Buffers that lie in others, where a kernel would copy them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from tiledialect.dialects.discardable import BESIDE
from tiledialect.ir.host_memory import nbytes, root


@dataclass(frozen=True)
class Inside:
    """Place of an allocation in another one."""

    whole: gpu.AllocOp
    offset: int
    """Bytes before it."""


def place_side_by_side(
    host: func.FuncOp, allocations: Collection[Operation]
) -> Mapping[gpu.AllocOp, Inside]:
    """Erase the launches that copy some of the allocations side by side, or a piece of one, and
    give the places of those that lie in others then.

    Which copies are needless is decided where launches are marked (`needless_copies`).
    """
    found: dict[gpu.AllocOp, Inside] = {}
    for launch in [op for op in host.body.block.ops if isinstance(op, gpu.LaunchFuncOp)]:
        places = launch.attributes.get(BESIDE)
        if not isinstance(places, DenseArrayBase):
            continue
        owners = [root(v).owner for v in launch.kernelOperands]
        buffers = [op for op in owners if isinstance(op, gpu.AllocOp) and op in allocations]
        if len(buffers) == len(owners):
            found |= _places(buffers, [int(k) for k in places.get_values()])
            Rewriter.erase_op(launch)
    return found


def _places(buffers: Sequence[gpu.AllocOp], places: Sequence[int]) -> dict[gpu.AllocOp, Inside]:
    """Places of buffers in the last one, or of that in the only other, by those of elements."""
    *sources, result = buffers
    size = _element_bytes(result)
    if len(sources) == 1:
        return {result: Inside(sources[0], -places[0] * size)}
    pairs = zip(buffers, places, strict=True)
    return {op: Inside(result, place * size) for op, place in pairs if op is not result}


def outermost(op: gpu.AllocOp, inside: Mapping[gpu.AllocOp, Inside]) -> Inside:
    """The allocation in which one lies that lies in no other, and the place there."""
    offset = 0
    while op in inside:
        offset += inside[op].offset
        op = inside[op].whole
    return Inside(op, offset)


def drop_unlaunched(
    kernels: Mapping[SymbolRefAttr, gpu.FuncOp],
    before: Collection[SymbolRefAttr],
    after: Collection[SymbolRefAttr],
) -> None:
    """Erase the kernels that were launched before, and are no more."""
    for callee in {*before}.difference(after):
        if (kernel := kernels.get(callee)) is not None:
            Rewriter.erase_op(kernel)


def _element_bytes(op: gpu.AllocOp) -> int:
    t = op.result.type
    assert isinstance(t, MemRefType)
    return nbytes(MemRefType(t.element_type, [1]))
