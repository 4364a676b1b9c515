"""gpu-share-rows: load merging: shuffles of overlapping vectors share the loads of a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, gpu, memref, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.memref import PrefetchOp
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import element_bytes
from tiledialect.lowering.nest.utils.shuffles import gathered, row_starts
from tiledialect.schedule.cost.traits import traits_of

READS = (memref.LoadOp, vector.LoadOp, PrefetchOp)
"""Ops on memory that do not write."""
LOAD = 2
"""Shuffles that take as long as a load, which begins anywhere and reads two lines."""
LONG_VECTOR = 64
"""Bytes of the vectors of AVX-512: shorter ones lie in two lines half as often, and are shuffled by
two instructions."""
REGISTERS = 32
"""Vectors that the registers hold."""
OTHER_REGISTERS = 2
"""Registers for the result of a shuffle, and for a factor."""


class LoadBase(NamedTuple):
    """Array and indices that vectors are loaded from, but for a number of elements."""

    memory: SSAValue
    base: SSAValue | None
    """Index to which numbers are added."""
    type: VectorType


class GroupLoad(NamedTuple):
    """A load of a group."""

    op: vector.LoadOp
    first: int
    """Elements between the base and the begin of the vector."""


class RegisterPressure:
    """Number of live vectors at each op of a block, without the vectors of rows."""

    def __init__(self, ops: Sequence[Operation], without: Collection[Operation]):
        self.place = {op: k for k, op in enumerate(ops)}
        change = [0] * (len(ops) + 1)
        for op in ops:
            for value in op.results if op not in without else ():
                self._count(value, self.place[op], change)
        for value in ops[0].parent.args if ops and ops[0].parent is not None else ():
            self._count(value, 0, change)
        self.counts = [*accumulate(change)]

    def _count(self, value: SSAValue, first: int, change: list[int]) -> None:
        if not isinstance(value.type, VectorType):
            return
        change[first] += 1
        change[max([first, *map(self._last, value.uses)])] -= 1

    def _last(self, use: Use) -> int:
        """The op of the block that a use is in."""
        op: Operation | None = use.operation
        while op is not None and op not in self.place:
            op = op.parent_op()
        return self.place[op] if op is not None else 0

    def take(self, first: Operation, last: Sequence[Operation], count: int) -> bool:
        """Keep vectors in registers from an op to the last of others, if there is room."""
        here = range(self.place[first], max(map(self.place.__getitem__, last)) + 1)
        if max(self.counts[k] for k in here) + count + OTHER_REGISTERS > REGISTERS:
            return False
        for k in here:
            self.counts[k] += count
        return True


@dataclass
class LoadGroup:
    """Vectors that overlap or meet, and the shuffles of these alone."""

    where: LoadBase
    loads: list[GroupLoad]
    shuffles: dict[vector.ShuffleOp, list[int]] = field(
        default_factory=dict[vector.ShuffleOp, list[int]]
    )
    """The elements of each."""

    @property
    def lanes(self) -> int:
        """Lanes of each vector."""
        return lanes_of(self.loads[0].op.result)

    @property
    def roots(self) -> list[vector.ShuffleOp]:
        """Shuffles that other ops use."""
        return [op for op in self.shuffles if not self._is_inside(op.result)]

    def _is_inside(self, value: SSAValue) -> bool:
        return all(use.operation in self.shuffles for use in value.uses)

    def merge(self, registers: RegisterPressure) -> None:
        """Load a row of vectors for all shuffles, if that takes less, and there is room for it."""
        roots, lanes = self.roots, self.lanes
        elements = [e for op in roots for e in self.shuffles[op]]
        low, reach = min(elements, default=0), max(elements, default=0) - min(elements, default=0)
        if reach < lanes or any(len(self.shuffles[op]) != lanes for op in roots):
            return
        starts = row_starts(reach + 1, lanes)
        parts = {op: _part([e - low for e in self.shuffles[op]], starts) for op in roots}
        if any(len(part) < 2 for part in parts.values()):
            return
        before = [load for load in self.loads if self._is_inside(load.op.result)]
        old = LOAD * len(before) + len(self.shuffles)
        new = LOAD * len(starts) + sum(len(part) - 1 for part in parts.values())
        if new < old and registers.take(self.loads[0].op, roots, len(starts)):
            self._replace(low, starts, parts)

    def _replace(
        self, low: int, starts: Sequence[int], parts: Mapping[vector.ShuffleOp, range]
    ) -> None:
        at = InsertPoint.before(self.loads[0].op)
        row = [self._load(low + start, at) for start in starts]
        for op, part in parts.items():
            first = starts[part[0]]
            elements = [e - low - first for e in self.shuffles[op]]
            own = [starts[k] - first for k in part]
            new = gathered([row[k] for k in part], elements, own)
            new[-1].result.name_hint = op.result.name_hint
            Rewriter.replace_op(op, new)
        sums = [x for load in self.loads if isinstance(x := load.op.indices[0].owner, arith.AddiOp)]
        for op in (*reversed(self.shuffles), *(load.op for load in self.loads), *sums):
            if op.parent is not None and not op.results[0].uses:
                Rewriter.erase_op(op)

    def _load(self, place: int, at: InsertPoint) -> SSAValue:
        """A vector that begins so many elements behind the base."""
        ops: list[Operation] = []
        base = self.where.base
        if base is None or place:
            ops.append(number := arith.ConstantOp(IntegerAttr(place, IndexType())))
            index = number.result
            if base is not None:
                ops.append(total := arith.AddiOp(base, index))
                index = total.result
        else:
            index = base
        ops.append(load := vector.LoadOp(self.where.memory, [index], self.where.type))
        load.result.name_hint = self.loads[0].op.result.name_hint
        Rewriter.insert_op(ops, at)
        return load.result


def _part(elements: Sequence[int], starts: Sequence[int]) -> range:
    """The vectors of a row that hold some elements."""
    numbers = [min(e // len(elements), len(starts) - 1) for e in elements]
    return range(min(numbers), max(numbers) + 1)


def merge_loads(block: Block) -> None:
    """Load rows of vectors once for all shuffles of them, where it pays."""
    groups = list(load_groups(block))
    inside: set[Operation] = {load.op for group in groups for load in group.loads}
    inside |= {op for group in groups for op in group.shuffles.keys() - set(group.roots)}
    registers = RegisterPressure(list(block.ops), inside)
    for group in groups:
        group.merge(registers)


def load_groups(block: Block) -> Iterator[LoadGroup]:
    """Groups of vectors that a block loads from memory that it does not write."""
    ops = list(block.ops)
    others = (x for x in ops_in(block) if not isinstance(x, READS))
    written = {v for x in others for v in x.operands if isinstance(v.type, MemRefType)}
    found: dict[LoadBase, list[GroupLoad]] = {}
    for op in ops:
        if isinstance(op, vector.LoadOp) and op.base not in written and len(op.indices) == 1:
            base, first = _place(op.indices[0])
            t = op.result.type
            if _size(op) >= LONG_VECTOR:
                found.setdefault(LoadBase(op.base, base, t), []).append(GroupLoad(op, first))
    groups = [LoadGroup(base, own) for base, loads in found.items() for own in _adjacent(loads)]
    _find_shuffles(ops, groups)
    return (group for group in groups if group.shuffles)


def _size(load: vector.LoadOp) -> int:
    """Bytes of a vector."""
    t = load.base.type
    assert isinstance(t, MemRefType)
    return lanes_of(load.result) * element_bytes(t)


def _place(index: SSAValue) -> tuple[SSAValue | None, int]:
    """An index, and the constant that is added to it."""
    if (number := constant_integer(index)) is not None:
        return None, number
    if isinstance(op := index.owner, arith.AddiOp):
        for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (number := constant_integer(other)) is not None:
                return value, number
    return index, 0


def _adjacent(loads: Sequence[GroupLoad]) -> Iterator[list[GroupLoad]]:
    """Groups of vectors that overlap or meet, in the order of their ops."""
    order = {load.op: k for k, load in enumerate(loads)}
    together: list[GroupLoad] = []
    end = 0
    for load in sorted(loads, key=lambda x: x.first):
        if together and load.first > end:
            yield sorted(together, key=lambda x: order[x.op])
            together = []
        together.append(load)
        end = load.first + lanes_of(load.op.result)
    if together:
        yield sorted(together, key=lambda x: order[x.op])


def _find_shuffles(ops: Sequence[Operation], groups: Sequence[LoadGroup]) -> None:
    """Note with each group the shuffles of its vectors alone."""
    held: dict[SSAValue, tuple[LoadGroup, list[int]]] = {}
    for group in groups:
        for load in group.loads:
            held[load.op.result] = group, [*range(load.first, load.first + group.lanes)]
    for op in ops:
        if isinstance(op, vector.ShuffleOp) and op.v1 in held and op.v2 in held:
            (group, first), (other, second) = held[op.v1], held[op.v2]
            mask = op.mask.get_values()
            if group is other and min(mask) >= 0:
                elements = [(first + second)[lane] for lane in mask]
                group.shuffles[op] = elements
                held[op.result] = group, elements


class GpuShareRowsPass(ModulePass):
    """Loads the vectors of several shuffles once, as a row of vectors.

    Windows with strides take every other element of a row, or every third: each place of a window
    has vectors of its own, which begin an element further on. All places together need no more
    than the row, whose vectors begin one after the other. The row is loaded so where that takes
    less time, and the registers hold it beside all else; with vectors of AVX-512, which lie in two
    lines wherever they begin. Shorter vectors gain nothing.
    """

    name = "gpu-share-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge the loads of all blocks of kernels."""
        if not traits_of(op).has_vectors:
            return
        for function in ops_of(op, gpu.FuncOp):
            blocks = {x.parent for x in ops_of(function, vector.ShuffleOp)}
            for block in [b for b in _blocks(function) if b in blocks]:
                if not any(isinstance(x, gpu.BarrierOp) for x in block.ops):
                    merge_loads(block)


def _blocks(op: Operation) -> Iterator[Block]:
    """Blocks inside an op."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inside in block.ops:
                yield from _blocks(inside)
