"""A scatter in a nest: each work-item owns some rows of some columns, and reads all indices.

The loops over work-groups and work-items say which rows and columns are a work-item's own; the rows
lie together. It sets them to 0, and goes through the indices in order. Where one names a row of its
own, it adds the values to it, in memory. So nothing is added at the same time, and no atomic
operations are needed, which OpenCL has for integers alone. A work-item with few rows adds to copies
of them in private memory, which the indices take in turn.

The work-items of a group search together: each reads a share of a block of indices, and tests which
of a few neighbours name a row of the group's. Few do: these are put down in a list, in order, and
all go through that. A scatter in parts is one for each part of the indices, for groups of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    both,
    floordiv,
    less,
    less_equal,
    mod,
)
from tiledialect.lowering.nest.utils.builder import LOCAL, PRIVATE
from tiledialect.lowering.tile_to_nest.elements import element_type, static_shape
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.rounding import ceil_div
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import Role
from tiledialect.schedule.scatters import row_index, rows_of_item

NEIGHBOURS = 16
"""Number of neighbouring indices that a work-item tests."""
COPIES = 8
"""Number of private copies of the sums of a work-item."""
MOST_PRIVATE, POINTS_OF_COPIES = 1 << 12, 4
"""Most elements of private copies, and points for each of them."""
COUNT = et.CONCRETE["i32"]
"""Integer type of counters."""


class ScatterNest:
    """Builds the loops of a kernel with a scatter."""

    def __init__(self, kernel: KernelNest, op: ScatterOp):
        self.kernel = kernel
        self.nest = kernel.nest
        self.op = op
        self.type = element_type(op.result)
        self.shape = static_shape(op.result)
        (self.output,) = kernel.outputs
        self.inside = range(kernel.parallel, len(kernel.levels))
        self.axis, self.size = op.row_axis, static_shape(op.result)[op.row_axis]
        self.row_name = row_index(self.axis)
        self.columns = [k for k in self.inside if kernel.levels[k].index != self.row_name]

    def build(self) -> None:
        """Build the whole kernel."""
        with self.kernel.loops(range(self.kernel.parallel)):
            copies = PrivateSums(self)
            if copies.are_worth:
                copies.build()
                return
            with self.kernel.loops(self.inside):
                at = self.coordinates()
                zero = self.nest.scalars.constant(0, self.type)
                self.nest.store(zero, self.output, at, self.kernel.in_bounds(at, self.shape))
            if self.kernel.local_levels:
                Search(self).build()
            else:
                with self.nest.loop(LoopRole(Role.SERIAL), self.op.part_size, "point") as step:
                    self.add_point(step, self.add)

    def coordinates(self, row: Expr | None = None) -> list[Expr]:
        """Coordinates of the loops being built in the result; in another row if given."""
        own = [IndexExpr.of(f"d{axis}") for axis in range(len(self.shape))]
        at = [*self.kernel.at(own)]
        return at if row is None else [*at[: self.axis], row, *at[self.axis + 1 :]]

    @property
    def first(self) -> Expr:
        """Number of the part's first index."""
        return self.coordinates()[0] * self.op.part_size if self.axis else Expr()

    def add_point(self, step: Expr, add: Callable[[Sequence[Expr], Expr], None]) -> None:
        """Add the values of an index of the part, if it names a row of the work-item's own."""
        point, there = self.point(step)
        with self.nest.when(there):
            index = self.nest.load(self.kernel.memory(self.op.indices), point)
            row = self.position(self.row(index))
            with self.nest.when(self.owns(row, range(self.kernel.parallel))):
                add(point, row)

    def point(self, step: Expr) -> tuple[list[Expr], Condition]:
        """Coordinates of an index of the part, and the condition that there is one."""
        shape = static_shape(self.op.indices)
        number = self.first + step
        there = both(less(step, self.op.part_size), less(number, prod(shape)))
        point: list[Expr] = []
        for size in reversed(shape[1:]):
            point.insert(0, mod(number, size))
            number = floordiv(number, size)
        return [number, *point] if shape else [], there

    def add(self, point: Sequence[Expr], row: Expr) -> None:
        """Add the values at a point to a row of the work-item's own."""
        with self.kernel.loops(self.columns):
            at = self.coordinates(row)
            rest = slice(self.axis + 1, None)
            condition = self.kernel.in_bounds(at[rest], self.shape[rest])
            value = self.value([*point, *at[rest]], condition)
            before = self.nest.load(self.output, at, condition)
            self.nest.store(self.sum(before, value), self.output, at, condition)

    def sum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Sum of two elements of the result."""
        return self.nest.scalars.apply("tile.add", [a, b], self.type)

    def value(self, place: Sequence[Expr], condition: Condition) -> SSAValue:
        """Value of the updates at some coordinates; the updates may be a number."""
        updates = self.op.updates
        if isinstance(updates.owner, ConstantOp):
            return self.nest.scalars.constant(updates.owner.number, self.type)
        place = place if static_shape(updates) else []
        value = self.nest.load(self.kernel.memory(updates), place, condition)
        return self.nest.scalars.convert(value, element_type(updates), self.type)

    def row(self, index: SSAValue) -> SSAValue:
        """Row that an index names, or -1, as an i64."""
        scalars, size, t = self.nest.scalars, self.size, element_type(self.op.indices)
        wide = t if et.is_wide(t) else et.CONCRETE["i32"]
        index = scalars.convert(index, t, wide)
        inside = scalars.compare("lt", index, scalars.constant(size, wide), wide)
        if not et.is_unsigned(wide):
            not_before = scalars.compare("ge", index, scalars.constant(0, wide), wide)
            inside = scalars.emit(arith.AndIOp(inside, not_before))
        signed = et.CONCRETE["i64"]
        row = scalars.convert(index, wide, signed)
        return scalars.select(inside, row, scalars.constant(-1, signed))

    def position(self, row: SSAValue) -> Expr:
        """Index expression of a row."""
        index = self.nest.scalars.emit(arith.IndexCastOp(row, IndexType()))
        return self.nest.named(index, "row", Range(-1, self.size))

    def first_row(self, levels: Sequence[int]) -> Expr:
        """First row of the work-items that have the same steps of these levels."""
        return self.offset(self.axis, [k for k in levels if k < self.kernel.parallel])

    def offset(self, axis: int, levels: Sequence[int]) -> Expr:
        """Coordinate along an axis that the steps of some levels give."""
        own = [k for k in levels if self.kernel.levels[k].index == f"d{axis}"]
        steps = (self.kernel.steps[step_name(k)] * self.kernel.levels[k].stride for k in own)
        return sum(steps, Expr())

    def owns(self, row: Expr, levels: Sequence[int]) -> Condition:
        """Whether a row belongs to the work-items that have the same steps of these levels."""
        first, count = (
            self.first_row(levels),
            rows_of_item(self.kernel.schedule, self.axis, self.size),
        )
        for k, level in enumerate(self.kernel.levels[: self.kernel.parallel]):
            if level.index == self.row_name and k not in levels:
                count += (level.extent - 1) * level.stride
        return both(less_equal(0, row), less_equal(first, row), less(row, first + count))


class PrivateSums:
    """Sums of a work-item in private memory: copies that points take in turn, and their sum.

    An addition to a row waits for the one before to the same row of the same copy. Rows of several
    elements are added to in place: their additions wait for fewer others.
    """

    def __init__(self, scatter: ScatterNest):
        self.scatter = scatter
        self.kernel, self.nest = scatter.kernel, scatter.nest
        self.rows = rows_of_item(self.kernel.schedule, scatter.axis, scatter.size)

    @property
    def are_worth(self) -> bool:
        """Whether the copies are small beside the number of points, and no others add with it."""
        size = COPIES * self.rows
        return (
            not self.kernel.local_levels
            and not self.scatter.columns
            and size <= MOST_PRIVATE
            and self.scatter.op.part_size >= POINTS_OF_COPIES * size
        )

    def build(self) -> None:
        """Build the sums of all points, and store them."""
        scatter, nest, serial = self.scatter, self.nest, LoopRole(Role.SERIAL)
        self.sums = nest.buffer(scatter.type, [COPIES * self.rows], PRIVATE, "sums")
        zero = nest.scalars.constant(0, scatter.type)
        with nest.loop(serial, COPIES * self.rows, "place") as place:
            nest.store(zero, self.sums, [place])
        with nest.loop(serial, ceil_div(scatter.op.part_size, COPIES), "round") as turn:
            for k in range(COPIES):
                scatter.add_point(turn * COPIES + k, partial(self._add, k))
        with self.kernel.loops(scatter.inside):
            at = scatter.coordinates()
            own = scatter.offset(scatter.axis, scatter.inside)
            total = nest.load(self.sums, [own])
            for k in range(1, COPIES):
                total = scatter.sum(total, nest.load(self.sums, [own + k * self.rows]))
            nest.store(total, scatter.output, at, self.kernel.in_bounds(at, scatter.shape))

    def _add(self, copy: int, point: Sequence[Expr], row: Expr) -> None:
        """Add the value at a point to a row of a copy."""
        scatter, rest = self.scatter, slice(self.scatter.axis + 1, None)
        at = scatter.coordinates(row)[rest]
        value = scatter.value([*point, *at], self.kernel.in_bounds(at, scatter.shape[rest]))
        first = scatter.first_row(range(self.kernel.parallel))
        place = [row - first + copy * self.rows]
        self.nest.store(scatter.sum(self.nest.load(self.sums, place), value), self.sums, place)


class Search:
    """Search of all work-items of a group for the indices that name rows of their own.

    They copy a block of indices to local memory. Each counts its matches among ``NEIGHBOURS``; the
    counts before its own give its places in the list.
    """

    def __init__(self, scatter: ScatterNest):
        self.scatter = scatter
        self.kernel, self.nest = scatter.kernel, scatter.nest
        local = self.kernel.local_levels
        self.items = prod(self.kernel.levels[k].extent for k in local)
        self.item = self.kernel.linear_id(local)
        self.group = [k for k in range(self.kernel.parallel) if k not in local]
        self.block = self.items * NEIGHBOURS
        self.words = ceil_div(self.items, NEIGHBOURS)
        self.row_type = et.CONCRETE["i64" if scatter.size > 1 << 31 else "i32"]
        self.place_type = et.CONCRETE["ui16"] if self.block <= 1 << 16 else COUNT
        self.rows, self.counts, self.sums, self.places = (
            self.nest.buffer(t, shape, LOCAL, hint, pad=pad)
            for t, shape, hint, pad in (
                (self.row_type, [self.items, NEIGHBOURS], "rows", 1),
                (COUNT, [self.words, NEIGHBOURS], "counts", 0),
                (COUNT, [self.words], "sums", 0),
                (self.place_type, [self.block], "places", 0),
            )
        )

    def build(self) -> None:
        """Build the loop over blocks of indices."""
        serial = LoopRole(Role.SERIAL)
        blocks = ceil_div(self.scatter.op.part_size, self.block)
        with self.nest.loop(serial, blocks, "block") as block:
            first = block * self.block
            self._copy(first)
            self._count()
            total = self._list()
            with (
                self.nest.loop(serial, self.words, "chunk") as chunk,
                self.nest.when(less(chunk * NEIGHBOURS**2, total)),
                self.nest.loop(serial, NEIGHBOURS, "part") as part,
                self.nest.when(less(chunk * NEIGHBOURS**2 + part * NEIGHBOURS, total)),
                self.nest.loop(serial, NEIGHBOURS, "step") as step,
            ):
                number = chunk * NEIGHBOURS**2 + part * NEIGHBOURS + step
                with self.nest.when(both(less(number, total), less(number, self.block))):
                    self._add(first, number)

    def _copy(self, first: Expr) -> None:
        """Copy the rows that the block's indices name."""
        scalars, signed = self.nest.scalars, et.CONCRETE["i64"]
        indices, t = self.scatter.op.indices, element_type(self.scatter.op.indices)
        with self.nest.loop(LoopRole(Role.UNROLL), NEIGHBOURS, "step") as step:
            place = step * self.items + self.item
            point, there = self.scatter.point(first + place)
            none = scalars.constant(-1, t)
            index = self.nest.load(self.kernel.memory(indices), point, there, none)
            row = scalars.convert(self.scatter.row(index), signed, self.row_type)
            # No value says of unsigned indices that there are no more.
            row = self._chosen(there, row, scalars.constant(-1, self.row_type))
            self.nest.store(row, self.rows, [floordiv(place, NEIGHBOURS), mod(place, NEIGHBOURS)])

    def _chosen(self, condition: Condition, value: SSAValue, other: SSAValue) -> SSAValue:
        return self.nest.scalars.select(self.nest.truth(condition), value, other)

    def _is_owned(self, item: Expr, step: Expr) -> Condition:
        """Whether the group owns the row of an index of the block."""
        return self.scatter.owns(self._row([item, step]), self.group)

    def _row(self, place: Sequence[Expr]) -> Expr:
        return self.scatter.position(self.nest.load(self.rows, place))

    def _counter(self, start: SSAValue, hint: str) -> SSAValue:
        """Allocate a private counter."""
        counter = self.nest.buffer(COUNT, [1], PRIVATE, hint)
        self.nest.store(start, counter, [Expr()])
        return counter

    def _plus(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.nest.emit(arith.AddiOp(a, b))

    def _increase(self, counter: SSAValue) -> SSAValue:
        """Increment a counter; return its value before."""
        before = self.nest.load(counter, [Expr()])
        one = self.nest.scalars.constant(1, COUNT)
        self.nest.store(self._plus(before, one), counter, [Expr()])
        return before

    def _count(self) -> None:
        """Count the matches of the work-items of a word before each one, and of all of them."""
        zero = self.nest.scalars.constant(0, COUNT)
        counter = self._counter(zero, "count")
        with (
            self.nest.loop(LoopRole(Role.UNROLL), NEIGHBOURS, "step") as step,
            self.nest.when(self._is_owned(self.item, step)),
        ):
            self._increase(counter)
        self.nest.store(self.nest.load(counter, [Expr()]), self.counts, self.place)
        with self.nest.when(less(self.item, self.words)):
            total = zero
            for k in range(NEIGHBOURS):
                at, there = [self.item, Expr.const(k)], less(self.item * NEIGHBOURS + k, self.items)
                count = self.nest.load(self.counts, at, there)
                self.nest.store(total, self.counts, at)
                total = self._plus(total, count)
            self.nest.store(total, self.sums, [self.item])

    @property
    def place(self) -> list[Expr]:
        """Indices of a work-item's count."""
        return [floordiv(self.item, NEIGHBOURS), mod(self.item, NEIGHBOURS)]

    def _list(self) -> Expr:
        """List the indices of the block that name a row of the group's; return their number."""
        zero = self.nest.scalars.constant(0, COUNT)
        before, total = self.nest.load(self.counts, self.place), zero
        for k in range(self.words):
            count = self.nest.load(self.sums, [Expr.const(k)])
            earlier = self._chosen(less(k, self.place[0]), count, zero)
            before, total = self._plus(before, earlier), self._plus(total, count)
        counter = self._counter(before, "next")
        with (
            self.nest.loop(LoopRole(Role.UNROLL), NEIGHBOURS, "step") as step,
            self.nest.when(self._is_owned(self.item, step)),
        ):
            at = self._index(self._increase(counter), "at", self.block)
            place = self.nest.index(self.item * NEIGHBOURS + step)
            place = self.nest.emit(arith.IndexCastOp(place, COUNT))
            place = self.nest.scalars.convert(place, COUNT, self.place_type)
            self.nest.store(place, self.places, [at])
        return self._index(total, "total", self.block + 1)

    def _index(self, value: SSAValue, hint: str, end: int) -> Expr:
        """Index expression of a number below ``end``."""
        value = self.nest.emit(arith.IndexCastOp(value, IndexType()))
        return self.nest.named(value, hint, Range(0, end))

    def _add(self, first: Expr, number: Expr) -> None:
        """Add the values of the list's index of a number in the work-item that owns its row."""
        place = self.nest.load(self.places, [number])
        place = self.nest.scalars.convert(place, self.place_type, COUNT)
        place = self._index(place, "place", self.block)
        row = self._row([floordiv(place, NEIGHBOURS), mod(place, NEIGHBOURS)])
        with self.nest.when(self.scatter.owns(row, range(self.kernel.parallel))):
            point, _ = self.scatter.point(first + place)
            self.scatter.add(point, row)
