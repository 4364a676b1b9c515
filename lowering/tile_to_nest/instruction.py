"""An instruction in a nest, in the place of the loops over the innermost box of points."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.instruction import FragmentOp, InstructionOp
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.index.integer.expressions import Expr, floordiv, mod
from tiledialect.index.integer.simplify import (
    constant_difference,
    is_multiple,
    simplify,
    simplify_condition,
)
from tiledialect.lowering.nest.utils.builder import LOCAL
from tiledialect.lowering.nest.utils.scope import flat_strides
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.staging import Location, Staging, as_bits
from tiledialect.schedule.footprint import step_name
from tiledialect.schedule.instruction_box import Box
from tiledialect.schedule.instructions import Exchange, Fragment, RowLoad
from tiledialect.schedule.loops import Role


class InstructionNest:
    """Emits an instruction, and its operands' loads, inside the loops around its box."""

    def __init__(self, kernel: KernelNest, staging: Staging, box: Box):
        self.kernel = kernel
        self.nest = kernel.nest
        self.staging = staging
        self.box = box
        self.entry = box.instruction

    @property
    def alone(self) -> tuple[int, ...]:
        """Levels along which accumulators are in registers of their own."""
        if self.entry.result.packed > 1:
            return ()
        return (*self.box.levels, *([] if self.box.lane is None else [self.box.lane]))

    @property
    def lanes(self) -> list[dict[str, Expr]]:
        """Steps of the vector level after the box, one for each execution of the instruction."""
        lane = self.box.lane
        if lane is None:
            return [{}]
        return [{step_name(lane): Expr.const(k)} for k in range(self.kernel.levels[lane].extent)]

    def execute(self, buffer: SSAValue, place: Callable[[], Sequence[Expr]]) -> None:
        """Add the products of the box to the accumulators in ``buffer``.

        ``place`` gives the indices of the accumulator at the loops' steps.
        """
        result = self.entry.result
        operands = [self._lanes_of(k, number) for k, number in enumerate(self.box.operands)]
        for lane, registers in zip(self.lanes, zip(*operands, strict=True), strict=True):
            locations: list[Location] = []
            for element in range(result.count):
                with self.kernel.at_steps(lane), self._at(result, element):
                    locations.append((buffer, place(), ALWAYS))
            groups = _groups(locations, result.packed)
            factors = [register for operand in registers for register in operand]
            op = InstructionOp(self.entry.name, [self._gather(g) for g in groups], factors)
            self.nest.builder.insert(op)
            for value, group in zip(op.totals, groups, strict=True):
                self._scatter(value, group)

    @property
    def exchange(self) -> Exchange | None:
        """Exchange of sums among work-items before the stores, if there is one."""
        return self.entry.exchange if self.box.lane is None else None

    def exchange_sums(self, buffer: SSAValue, place: Callable[[], Sequence[Expr]]) -> None:
        """Exchange accumulators of a box among work-items."""
        exchange, nest, select = self.exchange, self.nest, self.nest.scalars.select
        assert exchange is not None
        number = mod(floordiv(self.kernel.linear_id(self.box.lanes), exchange.lane), 2)
        is_second = nest.emit(arith.CmpiOp(nest.index(number), nest.index(Expr.const(1)), "eq"))
        for element in range(self.entry.result.count):
            if element & exchange.element:
                continue
            places: list[Sequence[Expr]] = []
            for own in (element, element + exchange.element):
                with self._at(self.entry.result, own):
                    places.append(place())
            first, second = (nest.load(buffer, p) for p in places)
            given = select(is_second, first, second)
            other = nest.emit(ShuffleOp(given, exchange.lane, self.entry.lanes))
            other.name_hint = "other"
            nest.store(select(is_second, other, first), buffer, places[0])
            nest.store(select(is_second, second, other), buffer, places[1])

    @contextmanager
    def sums(self, place: Callable[[], Sequence[Expr]]) -> Generator[Sequence[Expr]]:
        """Build loops over the accumulators of a box after an exchange; yield the indices of each.

        The loops' steps are the steps of its element of the output.
        """
        result, exchange = self.entry.result, self.exchange
        assert exchange is not None
        rows = result.count // exchange.width
        with (
            self.nest.loop(LoopRole(Role.UNROLL), rows, "row") as row,
            self.nest.loop(LoopRole(Role.VECTOR), exchange.width, "lane") as lane,
        ):
            element = row * exchange.width + lane
            with self._at_place(result, result.place, element):
                source = place()
            with self._at_place(result, exchange.place, element):
                yield source

    def _lanes_of(self, operand: int, number: int) -> list[list[SSAValue]]:
        """Registers of an operand in each lane of the vector level."""
        fragment, lanes = self.entry.operands[operand], self.lanes
        moved = {name for axis in self.staging.operands[number].access for name in axis.names}
        if not moved & lanes[-1].keys():
            return [self._registers(operand, number)] * len(lanes)
        if fragment.packed == 1:
            elements = [self._wide(fragment, element, number) for element in range(fragment.count)]
            if all(elements):
                return [list(lane) for lane in zip(*elements, strict=True)]
        found: list[list[SSAValue]] = []
        for lane in lanes:
            with self.kernel.at_steps(lane):
                found.append(self._registers(operand, number))
        return found

    def _wide(self, fragment: Fragment, element: int, number: int) -> list[SSAValue]:
        """Load an element in all lanes together; nothing where these are no neighbours."""
        locations: list[Location] = []
        for lane in self.lanes:
            with self.kernel.at_steps(lane), self._at(fragment, element):
                locations.append(self.staging.location(number))
        if not self._are_neighbours(locations):
            return []
        memory, place, _ = locations[0]
        value = self.nest.load(memory, place, lanes=len(locations))
        assert isinstance(value.type, VectorType)
        t = value.type.element_type
        return [self.nest.emit(vector.ExtractOp(value, [k], t)) for k in range(len(locations))]

    def _row(
        self, fragment: Fragment, rows: RowLoad, number: int
    ) -> tuple[SSAValue, list[Expr]] | None:
        """Memory and indices of this work-item's row, if rows can be loaded together."""
        locations: list[Location] = []
        for k in range(rows.width):
            along = zip(fragment.axes, rows.place, strict=True)
            with self._at_place(fragment, [e + k * (a == rows.axis) for a, e in along], Expr()):
                locations.append(self.staging.location(number))
        memory, place, _ = locations[0]
        t = memory.type
        assert isinstance(t, MemRefType)
        if t.memory_space != LOCAL or not self._are_neighbours(locations):
            return None
        *strides, _ = flat_strides(t)
        env = self.nest.env
        # Whole rows from each to the next, also in the other copies of the tile.
        aligned = all(s % rows.width == 0 for s in strides) and is_multiple(
            place[-1], rows.width, env
        )
        return (memory, [simplify(e, env) for e in place]) if aligned else None

    @contextmanager
    def _at(self, fragment: Fragment, element: int) -> Generator[None]:
        """Bind the steps of the levels in the box to an element of this work-item."""
        with self._at_place(fragment, fragment.place, Expr.const(element)):
            yield

    @contextmanager
    def _at_place(
        self, fragment: Fragment, where: Sequence[Expr], element: Expr
    ) -> Generator[None]:
        """Bind the steps of the levels in the box to coordinates in it."""
        lane = self.kernel.linear_id(self.box.lanes)
        values = {"lane": lane, "element": element}
        place = [simplify(e.substitute(values), self.nest.env) for e in where]
        steps = self.box.steps(fragment, place)
        here = {step_name(k): simplify(e, self.nest.env) for k, e in steps.items()}
        with self.kernel.at_steps(here):
            yield

    def _registers(self, operand: int, number: int) -> list[SSAValue]:
        """Registers of an operand, which is an input of the contraction."""
        fragment = self.entry.operands[operand]
        for rows in fragment.rows:
            if row := self._row(fragment, rows, number):
                op = FragmentOp(self.nest.names, self.entry.name, operand, rows.axis, *row)
                self.nest.builder.insert(op)
                return list(op.registers)
        locations: list[Location] = []
        for element in range(fragment.count):
            with self._at(fragment, element):
                locations.append(self.staging.location(number))
        return [self._gather(group) for group in _groups(locations, fragment.packed)]

    def _gather(self, locations: Sequence[Location]) -> SSAValue:
        """Gather elements into a register: neighbours in memory are loaded together."""
        if len(locations) > 1 and self._are_neighbours(locations):
            memory, place, _ = locations[0]
            return as_bits(self.nest, self.nest.load(memory, place, lanes=len(locations)))
        first, *rest = (as_bits(self.nest, self.nest.load(*at)) for at in locations)
        if not rest:
            return first
        register = self.nest.emit(
            vector.BroadcastOp(first, VectorType(first.type, [len(locations)]))
        )
        for lane, value in enumerate(rest, 1):
            register = self.nest.emit(vector.InsertOp(value, register, [lane]))
        return register

    def _scatter(self, register: SSAValue, places: Sequence[Location]) -> None:
        """Store the elements of a register."""
        if not isinstance(register.type, VectorType) or self._are_neighbours(places):
            memory, place, _ = places[0]
            self.nest.store(register, memory, place)
            return
        for lane, (memory, place, _) in enumerate(places):
            element = vector.ExtractOp(register, [lane], register.type.element_type)
            self.nest.store(self.nest.emit(element), memory, place)

    def _are_neighbours(self, locations: Sequence[Location]) -> bool:
        """Whether elements, all of them inside their memory, follow one another there."""
        addresses: list[Expr] = []
        for memory, place, inside in locations:
            assert isinstance(memory.type, MemRefType)
            if simplify_condition(inside, self.nest.env) != ALWAYS:
                return False
            strides = flat_strides(memory.type)
            addresses.append(sum((e * s for e, s in zip(place, strides, strict=True)), Expr()))
        return all(constant_difference(b, a, self.nest.env) == 1 for a, b in pairwise(addresses))


def _groups(locations: Sequence[Location], size: int) -> list[Sequence[Location]]:
    """Split elements into the elements of each register."""
    return [locations[k : k + size] for k in range(0, len(locations), size)]
