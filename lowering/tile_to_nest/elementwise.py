"""Loops of an elementwise kernel, which may compute contractions of few points inline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp, SelectOp
from tiledialect.dialects.tile.structure.small_stencils import index_at, is_copy, is_covered
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.index.integer.expressions import Condition, Expr, both, less, less_equal
from tiledialect.lowering.tile_to_nest.accumulators import AGGREGATE, combined
from tiledialect.lowering.tile_to_nest.elements import Elements, element_type, static_shape
from tiledialect.lowering.tile_to_nest.kernel import KernelNest, in_place_inputs
from tiledialect.schedule.loops import Role


class StencilElements(Elements):
    """Elements, also of small stencils: the operands of their points are loaded inline."""

    def _compute(self, op: Operation) -> SSAValue:
        if not isinstance(op, ContractionOp):
            return super()._compute(op)
        coordinates = self.broadcast(static_shape(op.result))
        if is_copy(op):
            return self._placed(op.result, coordinates, self.condition)
        scalars, t = self.nest.scalars, accumulator_type(op)
        aggregation, total = op.aggregation.data, None
        if aggregation is not Aggregation.assign:
            total = scalars.constant(neutral(aggregation, t), t)
        for point in _points(op, coordinates):
            value = self._at_point(op, point, coordinates)
            total = value if total is None else AGGREGATE[aggregation](scalars, t, total, value)
        assert total is not None
        return scalars.convert(total, t, element_type(op.result))

    def _placed(
        self,
        value: SSAValue,
        coordinates: Sequence[Expr],
        condition: Condition,
        otherwise: SSAValue | None = None,
    ) -> SSAValue:
        """Element of a copy, read from the source of a chain of copies."""
        op = value.owner
        if isinstance(value, BlockArgument):
            return self.nest.load(self.memory(value), coordinates, condition, otherwise)
        if not isinstance(op, ContractionOp) or not is_copy(op):
            # The default of an element on which nothing lands, at the kernel's own coordinates.
            return self.at(value)
        (point,) = _points(op, coordinates)
        places, tests = self._tests(op, point, coordinates)
        if op.default is not None:
            otherwise = self._placed(op.default, coordinates, condition, otherwise)
        source, inside = op.inputs[0], both(condition, *tests)
        if not isinstance(source.owner, ElementwiseOp):
            return self._placed(source, places[0], inside, otherwise)
        computed = StencilElements(self.nest, self.memory, tuple(places[0]), inside).at(source)
        # Elsewhere the kernel writes nothing, or other copies do.
        is_whole = condition == self.condition and otherwise is None and is_covered(op.result)
        if inside == self.condition or is_whole:
            return computed
        scalars = self.nest.scalars
        if otherwise is None:
            otherwise = scalars.constant(0, element_type(source))
        return scalars.select(self.nest.truth(inside), computed, otherwise)

    def _tests(
        self, op: ContractionOp, point: Mapping[str, Expr], coordinates: Sequence[Expr]
    ) -> tuple[list[list[Expr]], list[Condition]]:
        """Coordinates of a point's reads, and the conditions that the contraction has it."""
        places = [[_at(e, point) for e in access.data] for access in op.accesses]
        tests: list[Condition] = []
        for e, coordinate in zip(op.output.data, coordinates, strict=True):
            if not e.names:
                tests += [less_equal(int(e.constant), coordinate)]
                tests += [less_equal(coordinate, int(e.constant))]
        for value, place in zip(op.inputs, places, strict=True):
            tests += _inside(place, static_shape(value))
        for constraint in op.constraints:
            c = constraint.data
            tests += _inside([_at(c.expr, point)], [int(c.bound.constant)])
        return places, tests

    def _at_point(
        self, op: ContractionOp, point: Mapping[str, Expr], coordinates: Sequence[Expr]
    ) -> SSAValue:
        """Combined operands at a point; 0 where it is none of the contraction's."""
        places, tests = self._tests(op, point, coordinates)
        condition = both(self.condition, *tests)

        def read(k: int) -> SSAValue:
            return self._read(op.inputs[k], places[k], condition)

        return combined(op, self.nest.scalars, accumulator_type(op), read)

    def _read(self, value: SSAValue, place: Sequence[Expr], condition: Condition) -> SSAValue:
        """Element of a tensor in memory, or computed from one: 0 where memory is not read."""
        if isinstance(value, BlockArgument):
            return self.nest.load(self.memory(value), place, condition)
        return Elements(self.nest, self.memory, tuple(place), condition).at(value)


def _points(op: ContractionOp, coordinates: Sequence[Expr]) -> list[dict[str, Expr]]:
    """Indices of the points that aggregate into an element."""
    own = {
        name: index_at(e, coordinate)
        for e, coordinate in zip(op.output.data, coordinates, strict=True)
        for name in e.names
    }
    summed = {name: r for name, r in ranges_of(op).items() if name not in own}
    numbers = product(*(range(r.lower, r.upper) for r in summed.values()))
    return [own | dict(zip(summed, map(Expr.const, point), strict=True)) for point in numbers]


def _at(e: IndexExpr, point: Mapping[str, Expr]) -> Expr:
    return Expr.of(e).substitute(point)


def _inside(place: Sequence[Expr], shape: Sequence[int]) -> list[Condition]:
    return [both(less_equal(0, c), less(c, size)) for c, size in zip(place, shape, strict=True)]


@dataclass(frozen=True)
class PartialUpdate:
    """Update in place of a kernel's only result: elements are written where a condition holds."""

    condition: SSAValue
    new: SSAValue
    is_kept: bool
    """Whether elements stay where the condition holds."""

    @staticmethod
    def of(nest: KernelNest) -> PartialUpdate | None:
        """The update of a kernel whose result is selected from an input in the same memory.

        The condition is the same for the lanes of a vector.
        """
        values, in_place = nest.kernel.yield_op.values, in_place_inputs(nest.kernel)
        if len(values) != 1 or not isinstance(chosen := values[0].owner, SelectOp):
            return None
        condition, taken, otherwise = chosen.operands
        old = [nest.kernel.block.args[k] for k in in_place]
        if (taken in old) == (otherwise in old):
            return None
        is_kept = taken in old
        found = PartialUpdate(condition, otherwise if is_kept else taken, is_kept)
        lanes = {level.index for level in nest.levels if level.role is Role.VECTOR}
        return found if lanes.isdisjoint(found.axes(nest)) else None

    def axes(self, nest: KernelNest) -> set[str]:
        """Indices along which the condition differs."""
        names, sizes = [*nest.ranges], static_shape(self.condition)
        pairs = zip(reversed(names), reversed(sizes), strict=False)
        return {name for name, size in pairs if size != 1}

    def is_known(self, nest: KernelNest) -> bool:
        """Whether the loops are being built along which the condition differs."""
        return all(nest.is_known(nest.values[name]) for name in self.axes(nest))

    def holds(self, nest: KernelNest) -> Condition:
        """Condition that an element is written, in the loops along which that differs."""
        own = self.axes(nest)
        coordinates = [nest.at([IndexExpr.of(n)])[0] if n in own else Expr() for n in nest.ranges]
        elements = StencilElements(nest.nest, nest.memory, tuple(coordinates))
        test = elements.as_type(self.condition, CONCRETE["i1"])
        scalars, t = nest.nest.scalars, CONCRETE["i32"]
        number = scalars.select(test, scalars.constant(1, t), scalars.constant(0, t))
        number = scalars.emit(arith.IndexCastOp(number, IndexType()))
        written = nest.nest.named(number, "written", Range(0, 2))
        return less(written, 1) if self.is_kept else less(0, written)


def elementwise_nest(nest: KernelNest) -> None:
    """Build the loops of a kernel whose points are the elements of the outputs.

    Of an update in place that leaves elements as they are, these are skipped.
    """
    axes = [IndexExpr.of(name) for name in nest.ranges]
    partial = PartialUpdate.of(nest)

    def enter(k: int, update: PartialUpdate | None) -> None:
        known = [a for a in axes if nest.is_known(nest.values[str(a.variable)])]
        coordinates = nest.at(known)
        inside = both(
            *(
                less(c, nest.ranges[str(a.variable)].upper)
                for c, a in zip(coordinates, known, strict=True)
            )
        )
        with nest.nest.when(inside):
            if update is not None and update.is_known(nest):
                with nest.nest.when(update.holds(nest)):
                    descend(k, None)
            else:
                descend(k, update)

    def descend(k: int, update: PartialUpdate | None) -> None:
        if k < len(nest.levels):
            with nest.loops([k]):
                enter(k + 1, update)
            return
        elements = StencilElements(nest.nest, nest.memory, nest.at(axes))
        if partial is None:
            nest.store_outputs(elements)
        else:
            new = elements.as_type(partial.new, element_type(nest.kernel.yield_op.values[0]))
            nest.nest.store(new, nest.outputs[0], elements.coordinates, elements.condition)

    enter(0, partial)
