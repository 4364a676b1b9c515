"""A scatter in a nest: each work-item owns some rows of some columns, and all indices are read.

The loops over work-groups and work-items say which rows and columns are a work-item's own; the
rows lie together. It sets them to 0, and goes through the indices in order. Where one names a row
of its own, it adds the values to it, in memory. So nothing is added at the same time, and no
atomic operations are needed, which OpenCL has for integers alone.

The work-items of a group search together: each reads a share of a block of indices, and says of a
few neighbours whether the group owns a row that they name. Few do, and the rest are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer import Condition, Expr, both, floordiv, less, less_equal, mod
from tiledialect.lowering.nest.builder import LOCAL, PRIVATE
from tiledialect.lowering.nest.elements import element_type, static_shape
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.rounding import ceil_div
from tiledialect.schedule.leaves import Role
from tiledialect.schedule.scatters import ROW, rows_of_item
from tiledialect.schedule.tiles import step_name

NEIGHBOURS = 16
"""Of how many neighbours it is said at once if any is what a group looks for."""
FLAG = et.CONCRETE["i32"]
"""The type of what is said of them."""
Found = Callable[[Expr], Condition]


class ScatterNest:
    """Builds the loops of a kernel with a scatter."""

    def __init__(self, kernel: KernelNest, op: ScatterOp):
        self.kernel = kernel
        self.nest = kernel.nest
        self.op = op
        self.type = element_type(op.result)
        self.shape = static_shape(op.result)
        (self.output,) = kernel.outputs
        self.inside = range(kernel.parallel, len(kernel.leaves))
        self.columns = [k for k in self.inside if kernel.leaves[k].index != ROW]

    def build(self) -> None:
        """The whole kernel."""
        with self.kernel.loops(range(self.kernel.parallel)):
            with self.kernel.loops(self.inside):
                at = self._coordinates()
                zero = self.nest.scalars.constant(0, self.type)
                self.nest.store(zero, self.output, at, self.kernel.in_bounds(at, self.shape))
            if self.kernel.local_leaves:
                Search(self).build()
            else:
                self._points([])

    def _coordinates(self, row: Expr | None = None) -> list[Expr]:
        """Where the loops being built are in the result; in another row if that is given."""
        own = [IndexExpr.of(f"d{axis}") for axis in range(len(self.shape))]
        return [*([] if row is None else [row]), *self.kernel.at(own[row is not None :])]

    def _points(self, point: Sequence[Expr]) -> None:
        """The loops over the indices, in order."""
        shape = static_shape(self.op.indices)
        if len(point) < len(shape):
            with self.nest.loop(LoopRole(Role.SERIAL), shape[len(point)], "point") as step:
                self._points([*point, step])
            return
        index = self.nest.load(self.kernel.memory(self.op.indices), point)
        row = self.position(self.row(index))
        with self.nest.when(self.owns(row, range(self.kernel.parallel))):
            self.add(point, row)

    def add(self, point: Sequence[Expr], row: Expr) -> None:
        """Add the values at a point to a row of the work-item's own."""
        with self.kernel.loops(self.columns):
            at = self._coordinates(row)
            condition = self.kernel.in_bounds(at[1:], self.shape[1:])
            updates = self.kernel.memory(self.op.updates)
            value = self.nest.load(updates, [*point, *at[1:]], condition)
            value = self.nest.scalars.convert(value, element_type(self.op.updates), self.type)
            before = self.nest.load(self.output, at, condition)
            total = self.nest.scalars.apply("tile.add", [before, value], self.type)
            self.nest.store(total, self.output, at, condition)

    def row(self, index: SSAValue) -> SSAValue:
        """The row that an index names, or -1, as an i64."""
        scalars, size, t = self.nest.scalars, self.shape[0], element_type(self.op.indices)
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
        """A row as an index."""
        index = self.nest.scalars.emit(arith.IndexCastOp(row, IndexType()))
        return self.nest.named(index, "row", Range(-1, self.shape[0]))

    def owns(self, row: Expr, leaves: Sequence[int]) -> Condition:
        """Whether a row is of those of all work-items that have the same steps of these leaves."""
        first, count = Expr(), rows_of_item(self.kernel.schedule, self.shape[0])
        for k, leaf in enumerate(self.kernel.leaves[: self.kernel.parallel]):
            if leaf.index == ROW and k in leaves:
                first += self.kernel.steps[step_name(k)] * leaf.stride
            elif leaf.index == ROW:
                count += (leaf.extent - 1) * leaf.stride
        return both(less_equal(0, row), less_equal(first, row), less(row, first + count))


class Search:
    """The search of all work-items of a group for the indices that name rows of their own.

    They copy a block of indices to local memory, and each says of ``NEIGHBOURS`` if the group owns
    one of their rows; of so many words of that kind it is said again.
    """

    def __init__(self, scatter: ScatterNest):
        self.scatter = scatter
        self.kernel, self.nest = scatter.kernel, scatter.nest
        local = self.kernel.local_leaves
        self.items = prod(self.kernel.leaves[k].extent for k in local)
        self.item = self.kernel.linear_id(local)
        self.group = [k for k in range(self.kernel.parallel) if k not in local]
        self.shape = static_shape(scatter.op.indices)
        self.block = self.items * NEIGHBOURS
        self.words = ceil_div(self.items, NEIGHBOURS)
        self.row_type = et.CONCRETE["i64" if scatter.shape[0] > 1 << 31 else "i32"]

    def build(self) -> None:
        """The loop over blocks of indices."""
        rows, words, flags = (
            self.nest.buffer(t, shape, LOCAL, hint, pad=pad)
            for t, shape, hint, pad in (
                (self.row_type, [self.items, NEIGHBOURS], "rows", 1),
                (FLAG, [self.words, NEIGHBOURS], "words", 0),
                (FLAG, [1, self.words], "flags", 0),
            )
        )
        serial, owns = LoopRole(Role.SERIAL), self.scatter.owns
        place = [floordiv(self.item, NEIGHBOURS), mod(self.item, NEIGHBOURS)]
        with self.nest.loop(serial, ceil_div(prod(self.shape), self.block), "block") as block:
            first = block * self.block
            self._copy(first, rows)
            self._mark(words, place, lambda k: owns(self._row(rows, self.item, k), self.group))
            with self.nest.when(less(self.item, self.words)):
                self._mark(
                    flags, [Expr(), self.item], lambda k: self._marked(words, [self.item, k])
                )
            with (
                self.nest.loop(serial, self.words, "word") as word,
                self.nest.when(self._marked(flags, [Expr(), word])),
                self.nest.loop(serial, NEIGHBOURS, "item") as step,
                self.nest.when(self._marked(words, [word, step])),
            ):
                self._add(first, word * NEIGHBOURS + step, rows)

    def _copy(self, first: Expr, rows: SSAValue) -> None:
        """The rows that the block's indices name."""
        scalars, signed = self.nest.scalars, et.CONCRETE["i64"]
        indices, t = self.scatter.op.indices, element_type(self.scatter.op.indices)
        with self.nest.loop(LoopRole(Role.UNROLL), NEIGHBOURS, "step") as step:
            place = step * self.items + self.item
            point, there = self._point(first + place)
            none = scalars.constant(-1, t)
            index = self.nest.load(self.kernel.memory(indices), point, there, none)
            row = scalars.convert(self.scatter.row(index), signed, self.row_type)
            self.nest.store(row, rows, [floordiv(place, NEIGHBOURS), mod(place, NEIGHBOURS)])

    def _point(self, number: Expr) -> tuple[list[Expr], Condition]:
        """Where an index of this number is, and whether there is one."""
        there = less(number, prod(self.shape))
        point: list[Expr] = []
        for size in reversed(self.shape[1:]):
            point.insert(0, mod(number, size))
            number = floordiv(number, size)
        return [number, *point] if self.shape else [], there

    def _mark(self, target: SSAValue, place: Sequence[Expr], found: Found) -> None:
        """Write down whether something is found at one of ``NEIGHBOURS`` steps."""
        mark = self.nest.buffer(FLAG, [1], PRIVATE, "found")
        no, yes = (self.nest.scalars.constant(number, FLAG) for number in (0, 1))
        self.nest.store(no, mark, [Expr()])
        with (
            self.nest.loop(LoopRole(Role.UNROLL), NEIGHBOURS, "step") as step,
            self.nest.when(found(step)),
        ):
            self.nest.store(yes, mark, [Expr()])
        self.nest.store(self.nest.load(mark, [Expr()]), target, place)

    def _marked(self, marks: SSAValue, place: Sequence[Expr]) -> Condition:
        """Whether something was found there."""
        mark = self.nest.load(marks, place, less(place[0] * NEIGHBOURS + place[1], self.items))
        mark = self.nest.emit(arith.IndexCastOp(mark, IndexType()))
        return less(0, self.nest.named(mark, "mark", Range(0, 2)))

    def _add(self, first: Expr, item: Expr, rows: SSAValue) -> None:
        """Let the owners of rows add the values whose indices a work-item has looked at."""
        with self.nest.loop(LoopRole(Role.SERIAL), NEIGHBOURS, "step") as step:
            row = self._row(rows, item, step)
            # No value says of unsigned indices that there are no more.
            point, there = self._point(first + item * NEIGHBOURS + step)
            with self.nest.when(both(there, self.scatter.owns(row, range(self.kernel.parallel)))):
                self.scatter.add(point, row)

    def _row(self, rows: SSAValue, item: Expr, step: Expr) -> Expr:
        return self.scatter.position(self.nest.load(rows, [item, step]))
