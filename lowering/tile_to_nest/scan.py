"""A scan in a nest: each work-item scans its chunk, then all scan the totals of the chunks.

The loops up to the first one along the axis stand around everything. Serial loops along the axis
carry the running aggregate. In each of their steps, the work-item loads its chunk, and scans it;
the work-items of a row then scan the chunks' totals in local memory, in logarithmically many steps;
and each adds the prefix of its chunk (or multiplies, or takes the larger) as it writes the results.
Unrolled loops outside the work-items, the segments, are taken together: their totals are scanned at
the same time, so that neighbouring work-items can load neighbouring elements.

Elements past the ends of the tensor are neutral, and are not written. So no work-item leaves the
others, which would wait for it.

In a segmented scan, the aggregate of some elements has two components: the aggregate of the last
run, and whether that began among them, so that elements before them have no part in it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Condition, Expr, both, less_equal
from tiledialect.lowering.nest.utils.builder import LOCAL, PRIVATE
from tiledialect.lowering.tile_to_nest.accumulators import AGGREGATE
from tiledialect.lowering.tile_to_nest.elements import Elements, element_type, static_shape
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import Role, first_unrolled
from tiledialect.schedule.scans import ScanLevels

Components = tuple[SSAValue, ...]
"""Aggregate of some elements by its components, or buffers of them."""


class ScanNest:
    """Builds the loops of a kernel with a scan."""

    def __init__(self, kernel: KernelNest, op: ScanOp):
        self.kernel = kernel
        self.nest = kernel.nest
        self.op = op
        self.type = accumulator_type(op)
        anew = {"anew": i1} if op.keys is not None else {}
        self.parts: dict[str, Attribute] = {"": self.type, **anew}
        """Element types of the components, by the suffix of their buffers' names."""
        self.index = f"d{op.along}"
        self.own = ScanLevels.of(kernel.schedule, self.index, op.block)
        serial = [k for k in (*self.own.steps, *self.own.inside) if k >= kernel.parallel]
        self.first = min(serial, default=first_unrolled(kernel.levels))
        inside = range(self.first, len(kernel.levels))
        self.tile = [k for k in inside if k not in self.own.steps]
        """Levels that index the registers of a work-item."""
        self.rows = [k for k in self.tile if k not in self.own.inside]
        self.totals = [k for k in self.tile if k not in self.own.chunk]

    # -- places and values -----------------------------------------------------------------

    def buffer(self, numbers: Sequence[int], hint: str) -> Components:
        """Allocate registers, one for each step of some levels."""
        extents = [self.kernel.levels[k].extent for k in numbers]
        return self._buffers(extents, PRIVATE, hint)

    def _buffers(self, extents: Sequence[int], space: IntegerAttr, hint: str) -> Components:
        names = {f"{hint}_{part}" if part else hint: t for part, t in self.parts.items()}
        return tuple(self.nest.buffer(t, extents, space, name) for name, t in names.items())

    def load(
        self,
        memory: Components,
        place: Sequence[Expr],
        condition: Condition = ALWAYS,
        default: Components | None = None,
    ) -> Components:
        """Load an aggregate, or ``default`` where the condition does not hold."""
        defaults = default or [None] * len(memory)
        pairs = zip(memory, defaults, strict=True)
        return tuple(self.nest.load(m, place, condition, d) for m, d in pairs)

    def store(
        self,
        value: Components,
        memory: Components,
        place: Sequence[Expr],
        condition: Condition = ALWAYS,
    ) -> None:
        """Store an aggregate."""
        for part, buffer in zip(value, memory, strict=True):
            self.nest.store(part, buffer, place, condition)

    def place(self, numbers: Sequence[int]) -> list[Expr]:
        """Indices of the loops being built in a buffer of some levels."""
        return [self.kernel.steps[step_name(k)] for k in numbers]

    def neutral(self) -> Components:
        """Neutral element of the aggregation."""
        number = neutral(self.op.aggregation.data, self.type)
        numbers = (number, 0)[: len(self.parts)]
        types = self.parts.values()
        return tuple(self.nest.scalars.constant(*x) for x in zip(numbers, types, strict=True))

    def combine(self, earlier: Components, later: Components) -> Components:
        """Combine the aggregates of neighbouring ranges, the earlier first."""
        scalars = self.nest.scalars
        aggregate = AGGREGATE[self.op.aggregation.data]
        value = aggregate(scalars, self.type, earlier[0], later[0])
        if self.op.keys is None:
            return (value,)
        begins = scalars.emit(arith.OrIOp(earlier[1], later[1]))
        return scalars.select(later[1], later[0], value), begins

    def coordinates(self) -> tuple[Expr, ...]:
        """Coordinates of the loops being built in the operand and the result."""
        axes = range(len(static_shape(self.op.result)))
        return self.kernel.at([IndexExpr.of(f"d{axis}") for axis in axes])

    @contextmanager
    def in_order(self, numbers: Sequence[int], role: Role | None = None) -> Generator[None]:
        """Build loops along the axis in the order of the scan."""
        with self.kernel.loops(numbers, role):
            steps = {step_name(k): self._ordered(k) for k in numbers}
            with self.kernel.at_steps(steps):
                yield

    def _ordered(self, number: int) -> Expr:
        """Step of a level, counted from the beginning of the scan."""
        step = self.kernel.steps[step_name(number)]
        if self.op.reverse is None:
            return step
        return Expr.const(self.kernel.levels[number].extent - 1) - step

    # -- building --------------------------------------------------------------------------

    def build(self) -> None:
        """Build the whole kernel."""
        with self.kernel.loops(range(self.first)), self.kernel.at_steps(self._from_the_end()):
            carry = self.buffer(self.rows, "carry")
            with self.kernel.loops(self.rows):
                self.store(self._start(), carry, self.place(self.rows))
            shared = self._shared() if self.own.items is not None else ()
            self._steps(0, carry, shared)

    def _from_the_end(self) -> dict[str, Expr]:
        """Steps of work-groups that have blocks, the last one first.

        The pass of the blocks' totals read the last block last: a GPU's last-level cache still has
        it.
        """
        if self.op.start is None or self.own.items is None:
            return {}
        levels = enumerate(self.kernel.levels[: self.first])
        last = {step_name(k): x.extent - 1 for k, x in levels if x.role is Role.GROUP}
        return {name: Expr.const(n) - self.kernel.steps[name] for name, n in last.items()}

    def _steps(self, position: int, carry: Components, shared: Sequence[Components]) -> None:
        if position < len(self.own.steps):
            with self.in_order([self.own.steps[position]]):
                self._steps(position + 1, carry, shared)
            return
        chunk = self._load()
        totals = self._scan_chunk(chunk)
        before = self._scan_items(totals, shared) if shared else None
        offsets = self._carry(carry, totals, before)
        self._write(chunk, offsets)

    def _start(self) -> Components:
        """Initial aggregate of the rows of a block."""
        start = self.op.start
        if start is None:
            return self.neutral()
        block, size = IndexExpr(), self.op.block
        for k, level in enumerate(self.kernel.levels):
            if level.index == self.index and size is not None and level.stride >= size:
                block += level.stride // size * IndexExpr.of(step_name(k))
        coordinates = [IndexExpr.of(f"d{k}") for k in range(len(static_shape(start)))]
        coordinates = [e.substitute(self.kernel.values) for e in coordinates]
        coordinates[self.op.along] = block
        at = [self.kernel.expr(e) for e in coordinates]
        inside = self.kernel.in_bounds(at, static_shape(start))
        value = self.nest.load(self.kernel.memory(start), at, inside)
        return (self.nest.scalars.convert(value, element_type(start), self.type),)

    def _elements(self) -> Elements:
        """Elements of the kernel at the loops being built."""
        at = self.coordinates()
        inside = self.kernel.in_bounds(at, static_shape(self.op.result))
        return Elements(self.nest, self.kernel.memory, at, inside)

    def _begins(self, keys: SSAValue, at: Sequence[Expr]) -> SSAValue:
        """Whether an element's key differs from the key of the one before."""
        shape, t, scalars = static_shape(keys), element_type(keys), self.nest.scalars
        step = -1 if self.op.reverse is None else 1
        before = [c + step if axis == self.op.along else c for axis, c in enumerate(at)]
        condition = both(self.kernel.in_bounds(at, shape), self.kernel.in_bounds(before, shape))
        wide = et.CONCRETE["f32"] if t in et.SHORT_FLOATS else t
        own, other = (
            scalars.convert(self.nest.load(self.kernel.memory(keys), c, condition), t, wide)
            for c in (at, before)
        )
        return scalars.compare("ne", own, other, wide)

    def _load(self) -> Components:
        """Load the chunk of this step into registers."""
        chunk = self.buffer(self.tile, "chunk")
        with self.kernel.loops(self.tile):
            elements, place = self._elements(), self.place(self.tile)
            self.store(self.neutral(), chunk, place)
            value = (elements.as_type(self.op.operand, self.type),)
            if self.op.keys is not None:
                value += (self._begins(self.op.keys, elements.coordinates),)
            self.store(value, chunk, place, elements.condition)
        return chunk

    def _scan_chunk(self, chunk: Components) -> Components:
        """Scan the chunk in place; return its totals."""
        totals = self.buffer(self.totals, "total")
        with self.kernel.loops(self.totals):
            self.store(self.neutral(), totals, self.place(self.totals))
        with self.in_order(self.own.chunk, Role.UNROLL), self.kernel.loops(self.totals):
            at, place = self.place(self.totals), self.place(self.tile)
            total = self.combine(self.load(totals, at), self.load(chunk, place))
            self.store(total, totals, at)
            self.store(total, chunk, place)
        return totals

    # -- work-items together ---------------------------------------------------------------

    def _shared(self) -> tuple[Components, Components]:
        """Allocate local memory for the totals of all work-items; two, so that one can be read."""
        others = [k for k in self.kernel.local_levels if k != self.own.items]
        levels = self.kernel.levels
        rows = prod(levels[k].extent for k in others)
        extents = [rows, self._items, *(levels[k].extent for k in self.totals)]
        first, second = (self._buffers(extents, LOCAL, hint) for hint in ("sums", "next"))
        return first, second

    @property
    def _items(self) -> int:
        assert self.own.items is not None
        return self.kernel.levels[self.own.items].extent

    def _at_item(self, distance: int) -> tuple[list[Expr], Condition]:
        """Indices of the totals of an earlier work-item, and the condition that there is one."""
        assert self.own.items is not None
        others = [k for k in self.kernel.local_levels if k != self.own.items]
        own = self.kernel.steps[step_name(self.own.items)]
        item = own - distance if self.op.reverse is None else own + distance
        place = [self.kernel.linear_id(others), item, *self.place(self.totals)]
        condition = less_equal(distance, self._ordered(self.own.items))
        return place, condition if distance else ALWAYS

    def _scan_items(self, totals: Components, shared: Sequence[Components]) -> Components:
        """Scan the chunks' totals; return the memory with the totals up to each work-item."""
        memory, other = shared
        with self.kernel.loops(self.totals):
            value = self.load(totals, self.place(self.totals))
            self.store(value, memory, self._at_item(0)[0])
        distance = 1
        while distance < self._items:
            with self.kernel.loops(self.totals):
                at = self.place(self.totals)
                place, exists = self._at_item(distance)
                earlier = self.load(memory, place, exists, self.neutral())
                value = self.combine(earlier, self.load(totals, at))
                self.store(value, totals, at)
                self.store(value, other, self._at_item(0)[0])
            memory, other = other, memory
            distance *= 2
        return memory

    def _carry(
        self, carry: Components, totals: Components, before: Components | None
    ) -> Components:
        """Prefix of each chunk, in registers; carry on the total of all of them."""
        offsets = self.buffer(self.totals, "offset")
        with self.in_order(self.own.segments, Role.UNROLL), self.kernel.loops(self.rows):
            at, row = self.place(self.totals), self.place(self.rows)
            running = self.load(carry, row)
            if before is None:
                offset, total = running, self.load(totals, at)
            else:
                place, exists = self._at_item(1)
                earlier = self.load(before, place, exists, self.neutral())
                offset = self.combine(running, earlier)
                last = 0 if self.op.reverse is not None else self._items - 1
                total = self.load(before, [place[0], Expr.const(last), *place[2:]])
            self.store(offset, offsets, at)
            self.store(self.combine(running, total), carry, row)
        return offsets

    def _write(self, chunk: Components, offsets: Components) -> None:
        """Write the results of this step."""
        with self.kernel.loops(self.tile):
            elements = self._elements()
            offset = self.load(offsets, self.place(self.totals))
            value, *_ = self.combine(offset, self.load(chunk, self.place(self.tile)))
            value = self.nest.scalars.convert(value, self.type, element_type(self.op.result))
            elements.known[self.op.result] = value
            self.kernel.store_outputs(elements)
