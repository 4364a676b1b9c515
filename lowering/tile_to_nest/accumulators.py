"""Accumulators of work-items, and the reduction of their vector lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import nan

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.combinations import COMPARED, PRODUCTS, compared_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.lowering.nest.utils.builder import PRIVATE
from tiledialect.lowering.nest.utils.scalars import Scalars, kind_of
from tiledialect.lowering.tile_to_nest.elements import element_type
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.loops import Role, separate_sums, sub_group_share

Aggregate = Callable[[Scalars, Attribute, SSAValue, SSAValue], SSAValue]
"""Function that combines an aggregate with a value, in an element type."""


@dataclass(frozen=True)
class AccumulatorLayout:
    """Loop levels of a kernel that index the accumulators of a contraction, or share them."""

    kernel: KernelNest
    moving: tuple[int, ...]
    """Levels inside a work-item that index its accumulators."""
    lanes: tuple[int, ...]
    """Summed levels whose steps have accumulators of their own; the last one's steps are lanes."""
    shared: tuple[int, ...]
    """Summed levels that are divided among work-items."""

    @staticmethod
    def of(kernel: KernelNest, first: int, outputs: set[str]) -> AccumulatorLayout:
        """Build the layout of a contraction whose points are the levels from ``first`` on."""
        levels, inside = kernel.levels, range(first, len(kernel.levels))
        moving = tuple(k for k in inside if levels[k].index in outputs)
        lanes = tuple(k for k in separate_sums(levels, outputs) if k in inside)
        shared = tuple(k for k in kernel.local_levels if levels[k].index not in outputs)
        return AccumulatorLayout(kernel, moving, lanes, shared)

    @property
    def window(self) -> int | None:
        """First level from which a part of the accumulators is kept in registers.

        None where all are, or where nothing is summed inside.
        """
        levels = self.kernel.levels
        serial = [k for k in self.moving if levels[k].role is Role.SERIAL]
        if not serial or self.kernel.schedule.instruction is not None:
            return None
        first = serial[-1] + 1
        inside = range(first, len(levels))
        is_summed = any(k not in self.moving and k not in self.lanes for k in inside)
        return first if is_summed else None

    @property
    def lanes_of_sub_group(self) -> int:
        """Number of neighbours in a sub-group that share an accumulator."""
        levels = self.kernel.levels
        return sub_group_share(self.kernel.schedule, {levels[k].index for k in self.shared})

    @property
    def extents(self) -> list[int]:
        """Number of accumulators along each level that indexes them, and of lanes."""
        return [self.kernel.levels[k].extent for k in (*self.moving, *self.lanes)]

    def here(self, lanes: Sequence[Expr] | None = None) -> list[Expr]:
        """Indices of the accumulator of the loops being built; by default at their lanes."""
        steps = self.kernel.steps
        own = [steps[step_name(k)] for k in self.lanes] if lanes is None else lanes
        return [*(steps[step_name(k)] for k in self.moving), *own]

    @property
    def reduced(self) -> list[Expr]:
        """Indices of the reduced value of all lanes."""
        return self.here([Expr()] * len(self.lanes))


class Accumulator:
    """A private buffer with a place for each accumulator of a work-item."""

    def __init__(
        self,
        places: AccumulatorLayout,
        t: Attribute,
        initial: float | int,
        aggregate: Aggregate,
        hint: str,
    ):
        self.places = places
        self.kernel = places.kernel
        self.nest = places.kernel.nest
        self.type = t
        self.initial = initial
        self.aggregate = aggregate
        self.buffer = self.nest.buffer(t, places.extents, PRIVATE, hint)

    @staticmethod
    def of(
        op: ContractionOp,
        places: AccumulatorLayout,
        hint: str = "acc",
        *,
        ignores_nan: bool = False,
    ) -> Accumulator:
        """Build the accumulator of a contraction; of a maximum or minimum that may ignore NaN."""
        t, aggregation = accumulator_type(op), op.aggregation.data
        aggregate = (NAN_IGNORING if ignores_nan else AGGREGATE)[aggregation]
        return Accumulator(places, t, neutral(aggregation, t), aggregate, hint)

    @staticmethod
    def flag(places: AccumulatorLayout) -> Accumulator:
        """Build the flag that records whether a point landed."""
        return Accumulator(places, i1, 0, _either, "landed")

    def start(self, alone: Collection[int] = ()) -> None:
        """Set all to the neutral element, one by one along the levels ``alone``."""
        moving, loops = self.places.moving, self.kernel.loops
        others = [k for k in moving if k not in alone]
        own = [k for k in moving if k in alone]
        with loops([*others, *self.places.lanes]), loops(own, Role.UNROLL):
            value = self.nest.scalars.constant(self.initial, self.type)
            self.nest.store(value, self.buffer, self.places.here())

    @contextmanager
    def in_registers(self) -> Generator[Accumulator]:
        """Keep the accumulators of the loops being built in registers: load, yield, store back."""
        places = self.places
        moving = tuple(k for k in places.moving if k >= (places.window or 0))
        own = replace(places, moving=moving)
        registers = Accumulator(own, self.type, self.initial, self.aggregate, "sum")
        self._copy(registers, self, registers)
        yield registers
        self._copy(registers, registers, self)

    @staticmethod
    def _copy(places: Accumulator, source: Accumulator, target: Accumulator) -> None:
        """Copy the accumulators that have a register."""
        nest, own = places.nest, places.places
        with places.kernel.loops([*own.moving, *own.lanes]):
            value = nest.load(source.buffer, source.places.here())
            nest.store(value, target.buffer, target.places.here())

    def add(self, value: SSAValue) -> None:
        """Aggregate a value into the accumulator of the loops being built."""
        self.change(lambda old: self.combine(old, value))

    def copied(self) -> Accumulator:
        """Copy the accumulators with their present values."""
        other = Accumulator(self.places, self.type, self.initial, self.aggregate, "own")
        self._copy(self, self, other)
        return other

    def change(self, update: Callable[[SSAValue], SSAValue]) -> None:
        """Replace the accumulator of the loops being built by a function of it."""
        old = self.nest.load(self.buffer, self.places.here())
        self.nest.store(update(old), self.buffer, self.places.here())

    def set(self) -> None:
        """Set the flag of the loops being built."""
        self.nest.store(self.nest.scalars.constant(1, i1), self.buffer, self.places.here())

    def total(self, place: Sequence[Expr] | None = None) -> SSAValue:
        """Load the aggregate at the loops being built, or at given indices, once all is reduced."""
        return self.nest.load(self.buffer, self.places.reduced if place is None else place)

    def combine(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Combine two aggregates."""
        return self.aggregate(self.nest.scalars, self.type, a, b)

    def reduce_lanes(self) -> None:
        """Reduce the lanes of vectors into the first one, half by half."""
        nest, places = self.nest, self.places
        extents = [self.kernel.levels[k].extent for k in places.lanes]
        for number, extent in enumerate(extents):
            roles = [Role.UNROLL] * (len(extents) - number - 1) + [Role.VECTOR]
            while extent > 1:
                half = extent - extent // 2
                with self.kernel.loops(places.moving), ExitStack() as loops:
                    sizes = zip(roles, [extent // 2, *extents[number + 1 :]], strict=True)
                    lane, *inner = (
                        loops.enter_context(nest.loop(LoopRole(role), size, "lane"))
                        for role, size in sizes
                    )
                    before = [Expr()] * number
                    place = places.here([*before, lane, *inner])
                    other = places.here([*before, lane + half, *inner])
                    total, value = nest.load(self.buffer, place), nest.load(self.buffer, other)
                    nest.store(self.combine(total, value), self.buffer, place)
                extent = half


def combined(
    op: ContractionOp, scalars: Scalars, t: Attribute, read: Callable[[int], SSAValue]
) -> SSAValue:
    """Combined operands of a contraction at a point, in element type ``t``.

    ``read`` gives the element of an input, by number; constants need none.
    """
    combination, inputs = op.combination.data, list(op.inputs)
    together = "tile.mul" if combination in PRODUCTS else "tile.add"

    def operand(k: int, as_type: Attribute) -> SSAValue:
        value = inputs[k]
        # The accumulated value in a wider type is an element of the narrower one all the same.
        own = element_type(op.result) if as_type == t else as_type
        if isinstance(value.owner, ConstantOp):
            return scalars.constant(numeric.number(value.owner.number, own).item(), as_type)
        element = scalars.convert(read(k), element_type(value), own)
        return scalars.convert(element, own, as_type)

    def fold(name: str, numbers: Sequence[int], as_type: Attribute) -> SSAValue:
        first, *rest = (operand(k, as_type) for k in numbers)
        for element in rest:
            first = scalars.apply(name, [first, element], as_type)
        return first

    count = COMPARED.get(combination, 0)
    if not count:
        return fold(together, range(len(inputs)), t)
    compared = et.concrete(compared_type(combination, inputs))
    left = fold(together, range(count - 1), compared)
    equal = scalars.compare("eq", left, operand(count - 1, compared), compared)
    if count == len(inputs):
        return scalars.convert(equal, i1, t)
    value = fold("tile.mul", range(count, len(inputs)), t)
    return scalars.select(equal, value, scalars.constant(0, t))


def neutral_operands(op: ContractionOp) -> tuple[float | int | None, ...]:
    """Value of each operand with which its point adds nothing; None if there is none."""
    count = len(op.inputs)
    combination, aggregation = op.combination.data, op.aggregation.data
    if combination is Combination.none and aggregation is not Aggregation.assign:
        value = neutral(aggregation, accumulator_type(op))
        # The operand must be able to hold it: the least i64 is no i32.
        same = element_type(op.inputs[0]) == accumulator_type(op)
        return (value if same or value in (0, 1) else None,)
    if aggregation is not Aggregation.add:
        return (None,) * count
    if combination is Combination.mul:
        return (0,) * count
    compared = COMPARED.get(combination, 0)
    # NaN equals nothing, whatever it is added to or multiplied with.
    types = (element_type(value) for value in op.inputs[:compared])
    unequal = tuple(nan if kind_of(t).is_float else None for t in types)
    # Of a product, another factor might be infinite.
    return (*unequal, *((0 if count == compared + 1 else None,) * (count - compared)))


def _extreme(of_floats: type[arith.MaximumfOp | arith.MinimumfOp], name: str) -> Aggregate:
    """Maximum or minimum that propagates NaN; which zero wins does not matter here."""

    def build(s: Scalars, t: Attribute, acc: SSAValue, value: SSAValue) -> SSAValue:
        if not kind_of(t).is_float:
            return s.apply(name, [acc, value], t)
        return s.emit(
            of_floats(value, acc, arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS]))
        )

    return build


def _nan_ignoring(predicate: str) -> Aggregate:
    """Maximum or minimum of the numbers alone, where the aggregate so far is one."""

    def build(s: Scalars, t: Attribute, acc: SSAValue, value: SSAValue) -> SSAValue:
        return s.select(s.compare(predicate, value, acc, t), value, acc)

    return build


def _either(s: Scalars, t: Attribute, acc: SSAValue, value: SSAValue) -> SSAValue:
    return s.emit(arith.OrIOp(acc, value))


AGGREGATE: dict[Aggregation, Aggregate] = {
    Aggregation.add: lambda s, t, acc, value: s.apply("tile.add", [acc, value], t),
    Aggregation.mul: lambda s, t, acc, value: s.apply("tile.mul", [acc, value], t),
    Aggregation.max: _extreme(arith.MaximumfOp, "tile.max"),
    Aggregation.min: _extreme(arith.MinimumfOp, "tile.min"),
    Aggregation.assign: lambda s, t, acc, value: value,
}
"""Function of each aggregation."""
NAN_IGNORING: dict[Aggregation, Aggregate] = {
    Aggregation.max: _nan_ignoring("gt"),
    Aggregation.min: _nan_ignoring("lt"),
}
"""Functions of maxima and minima that need not propagate NaN."""
