"""Elements of a row kernel at a point of its loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Protocol

from xdsl.dialects import math
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tiledialect.analysis.online_sums import maximum_of, numbers
from tiledialect.analysis.row_passes import NO_ROW_PASS, RowPass, operands
from tiledialect.analysis.welford_sums import WelfordSum
from tiledialect.dialects.discardable import NOT_POSITIVE
from tiledialect.dialects.tile.aggregation import accumulator_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.structure.row_axes import Map, Rows
from tiledialect.index.integer.expressions import Expr
from tiledialect.lowering.nest.utils.builder import NestBuilder
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator, combined
from tiledialect.lowering.tile_to_nest.elements import Elements, element_type
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.rows.online_sums import OnlineUpdate, step
from tiledialect.lowering.tile_to_nest.rows.row_vector_tails import RowTail
from tiledialect.lowering.tile_to_nest.rows.welford_sums import RunningMeans
from tiledialect.lowering.tile_to_nest.staging import Staging

NO_ACCUMULATORS: Mapping[ContractionOp, Accumulator] = {}


class RowLoops(Protocol):
    """Loops of a row kernel, with what has been computed before."""

    kernel: KernelNest
    nest: NestBuilder
    rows: Rows
    tail: RowTail | None
    staging: Staging
    reads: dict[tuple[SSAValue, Map], int]
    """Numbers of the reads of inputs."""
    aggregates: dict[SSAValue, Accumulator]
    kept: dict[SSAValue, SSAValue]

    def place(self, value: SSAValue) -> list[Expr]:
        """Indices of a kept value at the loops being built."""
        ...

    def coordinates(self, m: Map) -> tuple[Expr, ...]:
        """Coordinates of the loops being built in a value."""
        ...


class Point:
    """Elements of a row kernel's values at a point; emitted ones are reused."""

    def __init__(
        self,
        rows: RowLoops,
        own: RowPass = NO_ROW_PASS,
        accumulators: Mapping[ContractionOp, Accumulator] = NO_ACCUMULATORS,
        means: RunningMeans | None = None,
    ):
        self.rows = rows
        self.nest = rows.nest
        self.own = own
        self.accumulators = accumulators
        self.means = means
        self.known: dict[SSAValue, SSAValue] = {}
        self.inputs: dict[int, SSAValue] = {}
        self.steps: dict[Accumulator, OnlineUpdate] = {}
        self.coordinates = cache(rows.coordinates)

    def value(self, value: SSAValue, m: Map) -> SSAValue:
        """Element of a value; of an input at the axes ``m``."""
        if isinstance(value, BlockArgument):
            number = self.rows.reads[value, m]
            if number not in self.inputs:
                self.inputs[number] = self.rows.staging.read(number)
                self.inputs[number].name_hint = value.name_hint
            return self.inputs[number]
        if value not in self.known:
            self.known[value] = self._read(value)
        return self.known[value]

    def _read(self, value: SSAValue) -> SSAValue:
        """Load the element of a value that is computed already."""
        if (buffer := self.rows.kept.get(value)) is not None:
            return self.nest.load(buffer, self.rows.place(value))
        accumulator = self.rows.aggregates[value]
        return self.nest.scalars.convert(accumulator.total(), accumulator.type, element_type(value))

    def compute(self, op: Operation) -> None:
        """Do an op whose operands are computed; or its online form before an aggregate is known."""
        (result,) = op.results
        greatest, deviation = maximum_of(result), self.own.deviations.get(result)
        if greatest is not None and greatest in self.own.sums.values():
            self.step(op, self.accumulators[greatest])
            return
        if deviation is not None and self.means is not None:
            x = self.value(deviation.x, self.rows.rows.reads(op)[0])
            self.known[result] = self.means.difference(deviation, x)
            return
        if isinstance(op, ContractionOp):
            t = accumulator_type(op)
            element = self.nest.scalars.convert(self.combined(op, t), t, element_type(result))
        else:
            coordinates = self.coordinates(self.rows.rows.maps[result])
            elements = Elements(self.nest, self.rows.kernel.memory, coordinates)
            for value, m in zip(operands(op), self.rows.rows.reads(op), strict=False):
                if not isinstance(value.owner, ConstantOp):
                    elements.known[value] = self.value(value, m)
            element = elements.at(result)
            if isinstance(element.owner, math.ExpOp) and self._is_below(result):
                element.owner.attributes[NOT_POSITIVE] = UnitAttr()
        if element.name_hint is None:
            element.name_hint = result.name_hint
        self.known[result] = element

    def _is_below(self, exponential: SSAValue) -> bool:
        """Whether an exponential is of the difference to the maximum of all such elements."""
        greatest = maximum_of(exponential)
        if greatest is None:
            return False
        assert isinstance(exponential.owner, Operation)
        below = exponential.owner.operands[0].owner
        assert isinstance(below, Operation)
        reads = self.rows.rows.reads
        return reads(below)[0] == reads(greatest)[0]

    def step(self, op: Operation, greatest: Accumulator) -> None:
        """Do an exponential by a maximum that is not known yet."""
        (x,) = numbers(op)
        below = op.operands[0].owner
        assert isinstance(below, Operation)
        along = self.rows.rows.reads(below)[0]
        self.steps[greatest] = step(greatest, self.value(x, along))
        self.known[op.results[0]] = self.steps[greatest].exponential

    def aggregate(self, ops: Sequence[Operation]) -> None:
        """Aggregate the elements at the point, once these ops are done."""
        for op, accumulator in self.accumulators.items():
            value, t = self.combined(op, accumulator.type), accumulator.type
            if (greatest := self.own.sums.get(op)) is None:
                tail = self.rows.tail
                accumulator.add(tail.without_overlap(op, accumulator, value) if tail else value)
            else:
                step = self.steps[self.accumulators[greatest]]
                accumulator.change(partial(step.added, self.nest.scalars, t, value=value))
        if self.means is not None:
            self.means.add(self.known.__getitem__, partial(self._weight, ops))

    def _weight(self, ops: Sequence[Operation], moment: WelfordSum) -> SSAValue:
        """Factor of a deviation in a sum: the summand where the deviation is 1."""
        one, t = Point(self.rows), self.accumulators[moment.op].type
        value = moment.deviations[0].value
        one.inputs = self.inputs
        one.known = {**self.known, value: self.nest.scalars.constant(1, t)}
        changed = {value}
        for op in ops:
            if op.results[0] != value and not changed.isdisjoint(operands(op)):
                changed.add(op.results[0])
                one.compute(op)
        return one.combined(moment.op, t)

    def combined(self, op: ContractionOp, t: Attribute) -> SSAValue:
        """Combined operands of a contraction at the point, in an element type."""
        maps = self.rows.rows.reads(op)
        scalars = self.nest.scalars
        return combined(op, scalars, t, lambda k: self.value(op.inputs[k], maps[k]))
