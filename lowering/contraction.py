"""Contractions at level 4: the loops over the points that land on one output element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.contraction import (
    COMPARED,
    PRODUCTS,
    ContractionOp,
    compared_type,
)
from tiledialect.dialects.tile.elementwise import ConstantOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.expr import Range
from tiledialect.index.sets import Guard
from tiledialect.lowering.emitter import Emitter, Values
from tiledialect.lowering.indices import IndexValue
from tiledialect.lowering.pointwise import Elements, element_type
from tiledialect.lowering.scalar import Scalars, kind_of
from tiledialect.schedule.leaves import Leaf, Role
from tiledialect.schedule.output_box import always_lands, visited


@dataclass(frozen=True)
class Positions:
    """How far the indices are known inside the loops: a sum of leaves for each."""

    ranges: Mapping[str, Range]
    leaves: tuple[Leaf, ...]
    """The leaves whose loops are still to come."""
    sums: Mapping[str, IndexValue] = field(default_factory=dict[str, IndexValue])

    @staticmethod
    def start(ranges: Mapping[str, Range], leaves: Sequence[Leaf]) -> Positions:
        """Before the first loop: every index is at its lower bound."""
        return Positions(ranges, tuple(leaves), {n: r.lower for n, r in ranges.items()})

    def step(self, emitter: Emitter, value: IndexValue) -> Positions:
        """Inside the loop of the next leaf, the count of which is ``value``."""
        leaf, *rest = self.leaves
        moved = emitter.indices.mul(value, leaf.stride)
        total = emitter.indices.add(moved, self.sums[leaf.index])
        if isinstance(total, SSAValue):
            total.name_hint = leaf.index
        return Positions(self.ranges, tuple(rest), {**self.sums, leaf.index: total})

    @property
    def known(self) -> dict[str, IndexValue]:
        """The indices that no further loop moves."""
        pending = {leaf.index for leaf in self.leaves}
        return {name: value for name, value in self.sums.items() if name not in pending}


def overshoots(ranges: Mapping[str, Range], leaves: Sequence[Leaf], name: str) -> bool:
    """Whether the loops over an index go past its range, as when a tile does not divide it."""
    reach = 1 + sum(leaf.stride * (leaf.extent - 1) for leaf in leaves if leaf.index == name)
    return reach > ranges[name].extent


def accumulator_type(op: ContractionOp) -> Attribute:
    """The element type in which a contraction aggregates: f16 sums and products are kept in f32."""
    t = element_type(op.result)
    aggregates = op.aggregation.data in (Aggregation.add, Aggregation.mul)
    return et.CONCRETE["f32"] if aggregates and t == et.CONCRETE["f16"] else t


@dataclass
class Reduction:
    """Emits the loops over a contraction's points for one output element."""

    op: ContractionOp
    elements: Elements
    leaves: tuple[Leaf, ...]
    """All leaves of the schedule."""

    def __post_init__(self):
        assert self.op.domain is not None
        self.emitter: Emitter = self.elements.emitter
        self.ranges = self.op.domain.ranges
        self.type = accumulator_type(self.op)
        space = self.op.space()
        self.guards: tuple[Guard, ...] = sets.guards(space, self.ranges)
        self.box = visited(space, self.ranges)
        self.always_lands = always_lands(space, self.ranges)

    def run(self, positions: Positions) -> tuple[SSAValue, SSAValue | None]:
        """The aggregate, and whether anything landed (None: something always does).

        ``positions`` are those inside the loops over the output's indices.
        """
        scalars = self.emitter.scalars
        start = scalars.constant(NEUTRAL[self.op.aggregation.data](self.type), self.type)
        start.name_hint = "acc"
        carried: list[SSAValue] = [start]
        if self.needs_flag:
            landed = scalars.constant(0, i1)
            landed.name_hint = "landed"
            carried.append(landed)
        result = self._nest(positions, self.guards, carried, entering=True)
        return result[0], result[1] if self.needs_flag else None

    @property
    def needs_flag(self) -> bool:
        """Whether the kernel must remember if a point landed on its element."""
        # A sum over no points is the 0 that an unwritten element must be.
        is_zero = self.op.aggregation.data == Aggregation.add and self.op.default is None
        return not self.always_lands and not (is_zero and self.box)

    def _nest(
        self,
        positions: Positions,
        guards: Sequence[Guard],
        carried: Values,
        entering: bool = False,
    ) -> Values:
        """The loops that are left, each test made as soon as its indices are known."""
        known = positions.known
        ready = [g for g in guards if set(g.expr.names) <= known.keys()]
        later = [g for g in guards if g not in ready]
        conditions = [self.emitter.indices.test(g, known) for g in ready]
        if not entering:
            conditions += self._overshoot_tests(positions, known)
        return self.emitter.when(
            self.emitter.indices.all(conditions),
            carried,
            lambda: self._loop(positions, later, carried),
        )

    def _overshoot_tests(
        self, positions: Positions, known: Mapping[str, IndexValue]
    ) -> list[SSAValue]:
        """The test that the loop just entered is still inside its index's range."""
        entered = self.leaves[len(self.leaves) - len(positions.leaves) - 1]
        name = entered.index
        if name not in known or not overshoots(self.ranges, self.leaves, name):
            return []
        return [self.emitter.indices.less(known[name], self.ranges[name].upper)]

    def _loop(self, positions: Positions, guards: Sequence[Guard], carried: Values) -> Values:
        if not positions.leaves:
            return self._land(positions.known, carried)
        leaf = positions.leaves[0]

        def body(step: IndexValue, inner: Values) -> Values:
            return self._nest(positions.step(self.emitter, step), guards, inner)

        if leaf.role == Role.UNROLL:
            return self.emitter.unrolled(leaf.extent, carried, body)
        if leaf.role == Role.SERIAL:
            return self.emitter.loop(leaf.extent, carried, body, leaf.index)
        raise TileError.at(self.op, f"the sum over {leaf.index} cannot run as {leaf.role} loop")

    def _land(self, values: Mapping[str, IndexValue], carried: Values) -> Values:
        """Combine the elements of one point and aggregate them."""
        combined = self._combine(values)
        aggregate = AGGREGATE[self.op.aggregation.data]
        acc = aggregate(self.emitter.scalars, self.type, carried[0], combined)
        acc.name_hint = "acc"
        flag = [self.emitter.scalars.constant(1, i1)] if self.needs_flag else []
        return [acc, *flag]

    def _combine(self, values: Mapping[str, IndexValue]) -> SSAValue:
        op, scalars = self.op, self.emitter.scalars
        combination, inputs = op.combination.data, list(op.inputs)
        together = "tile.mul" if combination in PRODUCTS else "tile.add"
        count = COMPARED.get(combination, 0)
        if not count:
            return self._fold(together, range(len(inputs)), values, self.type)
        t = et.concrete(compared_type(combination, inputs))
        left = self._fold(together, range(count - 1), values, t)
        equal = scalars.compare("eq", left, self._read(count - 1, values, t), t)
        if count == len(inputs):
            return scalars.convert(equal, i1, self.type)
        value = self._fold("tile.mul", range(count, len(inputs)), values, self.type)
        return scalars.select(equal, value, scalars.constant(0, self.type))

    def _fold(
        self, name: str, inputs: Sequence[int], values: Mapping[str, IndexValue], t: Attribute
    ) -> SSAValue:
        """The elements of inputs at a point, put together by an elementwise op."""
        first, *rest = (self._read(k, values, t) for k in inputs)
        for element in rest:
            first = self.emitter.scalars.apply(name, [first, element], t)
        return first

    def _read(self, k: int, values: Mapping[str, IndexValue], t: Attribute) -> SSAValue:
        """The element of input ``k`` at a point, as element type ``t``."""
        value = self.op.inputs[k]
        if isinstance(value.owner, ConstantOp):
            return self.emitter.scalars.constant(value.owner.number, t)
        coordinates = [
            self.emitter.indices.affine(e, values) for e in self.op.accesses.data[k].data
        ]
        element = self.elements.load(value, coordinates)
        return self.emitter.scalars.convert(element, element_type(value), t)


def _smallest(t: Attribute) -> float | int:
    kind = kind_of(t)
    if kind.is_float:
        return float("-inf")
    return -(2 ** (kind.width - 1)) if kind.is_signed else 0


def _largest(t: Attribute) -> float | int:
    kind = kind_of(t)
    if kind.is_float:
        return float("inf")
    return 2 ** (kind.width - 1) - 1 if kind.is_signed else 2**kind.width - 1


NEUTRAL: dict[Aggregation, Callable[[Attribute], float | int]] = {
    Aggregation.add: lambda t: 0,
    Aggregation.mul: lambda t: 1,
    Aggregation.max: _smallest,
    Aggregation.min: _largest,
    Aggregation.assign: lambda t: 0,
}
"""The value with which each aggregation starts."""


def _extreme(
    predicate: str, name: str
) -> Callable[[Scalars, Attribute, SSAValue, SSAValue], SSAValue]:
    def build(s: Scalars, t: Attribute, acc: SSAValue, value: SSAValue) -> SSAValue:
        if not kind_of(t).is_float:
            return s.apply(name, [acc, value], t)
        # Two comparisons carry NaN along; which zero wins does not matter here.
        wins = s.compare(predicate, value, acc, t)
        return s.select(s.emit(arith.OrIOp(wins, s.compare("ne", value, value, t))), value, acc)

    return build


AGGREGATE: dict[Aggregation, Callable[[Scalars, Attribute, SSAValue, SSAValue], SSAValue]] = {
    Aggregation.add: lambda s, t, acc, value: s.apply("tile.add", [acc, value], t),
    Aggregation.mul: lambda s, t, acc, value: s.apply("tile.mul", [acc, value], t),
    Aggregation.max: _extreme("gt", "tile.max"),
    Aggregation.min: _extreme("lt", "tile.min"),
    Aggregation.assign: lambda s, t, acc, value: value,
}
"""How a value joins the aggregate so far."""
