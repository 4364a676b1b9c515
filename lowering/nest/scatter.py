"""A scatter in a nest: each work-item owns some rows of some columns, and reads all indices.

The loops over work-groups and work-items say which rows and columns are a work-item's own; the
rows lie together. It sets them to 0, and goes through the indices in order. Where one names a row
of its own, it adds the values to it, in memory. So nothing is added at the same time, and no
atomic operations are needed, which OpenCL has for integers alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer import Condition, Expr, both, less, less_equal
from tiledialect.lowering.nest.elements import element_type, static_shape
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.schedule.leaves import Role
from tiledialect.schedule.scatters import ROW, rows_of_item
from tiledialect.schedule.tiles import step_name


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
        row = self._row(index, element_type(self.op.indices))
        with self.nest.when(self._owns(row)), self.kernel.loops(self.columns):
            at = self._coordinates(row)
            condition = self.kernel.in_bounds(at[1:], self.shape[1:])
            updates = self.kernel.memory(self.op.updates)
            value = self.nest.load(updates, [*point, *at[1:]], condition)
            value = self.nest.scalars.convert(value, element_type(self.op.updates), self.type)
            before = self.nest.load(self.output, at, condition)
            total = self.nest.scalars.apply("tile.add", [before, value], self.type)
            self.nest.store(total, self.output, at, condition)

    def _row(self, index: SSAValue, t: Attribute) -> Expr:
        """The row that an index names, or -1."""
        scalars, size = self.nest.scalars, self.shape[0]
        wide = t if et.is_wide(t) else et.CONCRETE["i32"]
        index = scalars.convert(index, t, wide)
        inside = scalars.compare("lt", index, scalars.constant(size, wide), wide)
        if not et.is_unsigned(wide):
            not_before = scalars.compare("ge", index, scalars.constant(0, wide), wide)
            inside = scalars.emit(arith.AndIOp(inside, not_before))
        signed = et.CONCRETE["i64"]
        row = scalars.convert(index, wide, signed)
        row = scalars.select(inside, row, scalars.constant(-1, signed))
        position = scalars.emit(arith.IndexCastOp(row, IndexType()))
        return self.nest.named(position, "row", Range(-1, size))

    def _owns(self, row: Expr) -> Condition:
        """Whether a row is one of the work-item's own."""
        first = Expr()
        for k, leaf in enumerate(self.kernel.leaves[: self.kernel.parallel]):
            if leaf.index == ROW:
                first += self.kernel.steps[step_name(k)] * leaf.stride
        count = rows_of_item(self.kernel.schedule, self.shape[0])
        return both(less_equal(0, row), less_equal(first, row), less(row, first + count))
