"""gpu-arena: the intermediates of a host function in one allocation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress

from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    SymbolRefAttr,
    i8,
)
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.memory_updates import updates
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.ir.host_memory import ALIASES, nbytes, root, whole
from tiledialect.ir.ops_in import has_one_block, ops_in, ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.ir.target_spec import buffer_alignment, limit
from tiledialect.lowering.host.adjacent_buffers import (
    Inside,
    drop_unlaunched,
    outermost,
    place_side_by_side,
)
from tiledialect.lowering.host.buffer_offsets import add_parts
from tiledialect.lowering.host.memory_plan import Lifetime, Place, places_in_results, plan_memory
from tiledialect.rounding import round_up

UNLIMITED = 2**63
NOTHING: Mapping[gpu.AllocOp, Inside] = {}
LOOPS = (scf.ForOp, scf.WhileOp)


def intermediates(host: func.FuncOp) -> list[gpu.AllocOp]:
    """The allocations of a host function that it does not return."""
    block = host.body.block
    returned = {root(v) for v in block.last_op.operands} if block.last_op else set[SSAValue]()
    allocations = [op for op in block.ops if isinstance(op, gpu.AllocOp)]
    return [op for op in allocations if op.result not in returned and _is_plain(op)]


def _is_plain(op: gpu.AllocOp) -> bool:
    """Whether an allocation is of known size, without gaps, and no arena itself."""
    t = op.result.type
    return (
        not any(isinstance(use.operation, memref.ViewOp) for use in op.result.uses)
        and t.has_static_shape()
        and isinstance(t.layout, NoneAttr)
        and t.element_type in CONCRETE.values()
    )


def results(host: func.FuncOp) -> list[gpu.AllocOp]:
    """The allocations that a host function returns as they are, each as one result."""
    block = host.body.block
    if block.last_op is None:
        return []
    updated = updates(host)
    returned = [root(v) for k, v in enumerate(block.last_op.operands) if k not in updated]
    others = [root(v) for k, v in enumerate(block.last_op.operands) if k in updated]
    return [
        op
        for op in block.ops
        if isinstance(op, gpu.AllocOp)
        and returned.count(op.result) == 1
        and op.result not in others
        and _is_plain(op)
        and all(_is_whole(v, op) for v in block.last_op.operands if root(v) is op.result)
    ]


def _is_whole(value: SSAValue, op: gpu.AllocOp) -> bool:
    """Whether a returned memref has all elements of an allocation."""
    t = value.type
    assert isinstance(t, MemRefType)
    return t.has_static_shape() and isinstance(t.layout, NoneAttr) and nbytes(t) == _size(op)


def lifetimes(
    host: func.FuncOp,
    allocations: Sequence[gpu.AllocOp],
    inside: Mapping[gpu.AllocOp, Inside] = NOTHING,
) -> list[Lifetime]:
    """Lifetimes of allocations, in ops of the host function.

    What is used in a loop and outside is alive in all iterations; what is used in a loop alone is
    written anew in each. Uses of those ``inside`` of others are uses of these.
    """
    uses: dict[SSAValue, list[int]] = {}
    loops: list[tuple[int, int]] = []
    ops = ops_in(host.body.block)
    for moment, op in enumerate(ops):
        if isinstance(op, LOOPS):
            loops.append((moment, moment + len(ops_in(op)) - 1))
        # Reshapes, which may stand far before what takes their results, use nothing themselves.
        skipped = isinstance(op, (gpu.DeallocOp, *ALIASES))
        for value in () if skipped else (*op.operands, *op.results):
            uses.setdefault(root(value), []).append(moment)
    # What is allocated is not alive before it is used.
    used: dict[gpu.AllocOp, list[int]] = {}
    for op in allocations:
        own = uses[op.result][1:] or uses[op.result]
        used.setdefault(outermost(op, inside).whole, []).extend(own)
    spans = (_with_loops(min(u), max(u), loops) for u in used.values())
    return [Lifetime(max(1, _size(op)), *span) for op, span in zip(used, spans, strict=True)]


def _with_loops(first: int, last: int, loops: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """A span that holds all of each loop from which it leaves, the innermost loops first."""
    for begin, end in reversed(loops):
        if begin < first <= end < last:
            first = begin
        elif first < begin <= last < end:
            last = end
    return first, last


def _size(op: gpu.AllocOp) -> int:
    assert isinstance(op.result.type, MemRefType)
    return nbytes(op.result.type)


Held = Mapping[gpu.AllocOp, Sequence[tuple[gpu.AllocOp, int]]]
"""Allocations that lie in no other, with those in them, and the places of these."""


def share_memory(host: func.FuncOp, alignment: int, largest: int) -> None:
    """Make the intermediates parts of one allocation, or of several if there is a largest size.

    Where that makes it smaller, some are parts of results that are written later.
    """
    everything = intermediates(host)
    inside = place_side_by_side(host, everything)
    held = _held(everything, inside)
    lives, returned = lifetimes(host, everything, inside), results(host)
    offsets: dict[int, arith.ConstantOp] = {}
    places = places_in_results(lives, lifetimes(host, returned), alignment)
    made = _in_results(returned, held, places, offsets)
    rest = {
        op: replace(own, size=round_up(own.size, alignment))
        for k, (op, own) in enumerate(zip(held, lives, strict=True))
        if k not in places
    }
    arenas = _in_arenas(rest, held, largest, offsets)
    block = host.body.block
    Rewriter.insert_op([*made, *arenas, *offsets.values()], InsertPoint.at_start(block))
    assert block.last_op is not None
    frees = [gpu.DeallocOp(arena.result) for arena in arenas]
    Rewriter.insert_op(frees, InsertPoint.before(block.last_op))


def _held(everything: Sequence[gpu.AllocOp], inside: Mapping[gpu.AllocOp, Inside]) -> Held:
    """The allocations that lie in no other, with what lies in them, also themselves."""
    held: dict[gpu.AllocOp, list[tuple[gpu.AllocOp, int]]] = {}
    for op in everything:
        outer = outermost(op, inside)
        held.setdefault(outer.whole, []).append((op, outer.offset))
    return held


def _in_arenas(
    lives_of: Mapping[gpu.AllocOp, Lifetime],
    held: Held,
    largest: int,
    offsets: dict[int, arith.ConstantOp],
) -> list[gpu.AllocOp]:
    """Make intermediates parts of new allocations, as few as a largest size allows, and give
    these."""
    arenas: list[gpu.AllocOp] = []
    allocations, lives = [*lives_of], [*lives_of.values()]
    while allocations:
        plan = plan_memory(lives)
        ends = [offset + b.size for offset, b in zip(plan.offsets, lives, strict=True)]
        fit = [end <= largest for end in ends]
        if not any(fit):
            # One is too large by itself: the runtime reports it.
            fit = [True] * len(fit)
        arenas.append(_arena(max(compress(ends, fit)), allocations[0]))
        for op, offset in compress(zip(allocations, plan.offsets, strict=True), fit):
            for part, place in held[op]:
                _replace(part, arenas[-1], _offset(offset + place, offsets))
        rest = [not f for f in fit]
        allocations, lives = list(compress(allocations, rest)), list(compress(lives, rest))
    return arenas


def _in_results(
    returned: Sequence[gpu.AllocOp],
    held: Held,
    places: Mapping[int, Place],
    offsets: dict[int, arith.ConstantOp],
) -> list[gpu.AllocOp]:
    """Make intermediates at these places parts of results, whose new allocations it gives."""
    made: dict[int, gpu.AllocOp] = {}
    for result in sorted({place.result for place in places.values()}):
        own = returned[result]
        made[result] = _arena(_size(own), own)
        made[result].result.name_hint = own.result.name_hint
        _replace(own, made[result], _offset(0, offsets))
    for k, op in enumerate(held):
        if (place := places.get(k)) is not None:
            for part, at in held[op]:
                _replace(part, made[place.result], _offset(place.offset + at, offsets))
    return [*made.values()]


def _offset(number: int, offsets: dict[int, arith.ConstantOp]) -> arith.ConstantOp:
    """A number of bytes, which is made once."""
    return offsets.setdefault(number, arith.ConstantOp(IntegerAttr(number, IndexType())))


def _arena(size: int, model: gpu.AllocOp) -> gpu.AllocOp:
    """An allocation of some bytes where ``model`` is."""
    t = model.result.type
    assert isinstance(t, MemRefType)
    arena = gpu.AllocOp(MemRefType(i8, [size], memory_space=t.memory_space))
    arena.result.name_hint = "arena"
    return arena


def _replace(op: gpu.AllocOp, arena: gpu.AllocOp, offset: arith.ConstantOp) -> None:
    """Use a part of an arena instead of an allocation."""
    for use in [u.operation for u in op.result.uses]:
        if isinstance(use, gpu.DeallocOp):
            Rewriter.erase_op(use)
    assert isinstance(op.result.type, MemRefType)
    part = memref.ViewOp(arena.result, offset.result, [], op.result.type)
    part.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, part)


def mark_parts(host: func.FuncOp, kernels: Mapping[SymbolRefAttr, gpu.FuncOp]) -> None:
    """Give the kernels the offsets of their parts.

    An allocation whose parts are all at its start needs none. In others those at the start have
    offsets, too: kernels do not depend on the order of the parts, which changes with their sizes.
    """
    block = host.body.block
    returned = {root(v) for v in block.last_op.operands} if block.last_op else set[SSAValue]()
    shifts: dict[SSAValue, set[SSAValue]] = {}
    for part in ops_of(host, memref.ViewOp):
        shifts.setdefault(part.source, set()).add(part.byte_shift)
    in_results = {*map(whole, returned)}
    shifted = {arena for arena, found in shifts.items() if len(found) > 1 or arena in in_results}
    for launch in ops_of(host, gpu.LaunchFuncOp):
        if kernel := kernels.get(launch.kernel):
            owners = [root(v).owner for v in launch.kernelOperands]
            add_parts(
                kernel,
                (
                    k
                    for k, part in enumerate(owners)
                    if isinstance(part, memref.ViewOp)
                    and part.source in shifted
                    and part.result not in returned
                ),
            )


class GpuArenaPass(ModulePass):
    """Gives the intermediates of each host function one allocation, of which they are parts.

    Intermediates that live at different times may have the same place; the offsets are planned so
    that the allocation is hardly larger than the largest set of intermediates that live together.
    Results have allocations of their own. Intermediates may be parts of one that are needed no more
    when the result is written first. Kernels that are given parts are marked with the
    attribute `tile.parts`: in OpenCL C they take the allocation and the offset of the part in it. A
    kernel that copies intermediates side by side, or a piece of one (`nest.beside`), is left out:
    they lie in its result from the start, or this in them. A simulator, which watches the bounds of
    every allocation, gets separate allocations.
    """

    name = "gpu-arena"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan the memory of every host function."""
        if not (alignment := buffer_alignment(op)):
            return
        largest = limit(op, "max_mem_alloc_size", UNLIMITED)
        kernels = {SymbolRefAttr(m, [name]): k for (m, name), k in kernels_of(op).items()}
        launched = {launch.kernel for launch in ops_of(op, gpu.LaunchFuncOp)}
        for host in op.ops:
            if isinstance(host, func.FuncOp) and has_one_block(host):
                share_memory(host, alignment, largest)
                mark_parts(host, kernels)
        left = {launch.kernel for launch in ops_of(op, gpu.LaunchFuncOp)}
        drop_unlaunched(kernels, launched, left)
