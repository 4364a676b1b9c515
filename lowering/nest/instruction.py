"""An instruction in a nest: it takes the place of the loops over the innermost box of points."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from xdsl.dialects import vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.instruction import InstructionOp
from tiledialect.dialects.nest.ops import ALWAYS
from tiledialect.index.integer import Expr
from tiledialect.index.simplify import constant_difference, simplify, simplify_condition
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.lowering.nest.scope import flat_strides
from tiledialect.lowering.nest.staging import Source, Staging, as_bits
from tiledialect.schedule.boxes import Box
from tiledialect.schedule.instructions import Fragment
from tiledialect.schedule.tiles import step_name


class InstructionNest:
    """Emits an instruction, and what it needs, inside the loops around its box."""

    def __init__(self, kernel: KernelNest, staging: Staging, box: Box):
        self.kernel = kernel
        self.nest = kernel.nest
        self.staging = staging
        self.box = box
        self.entry = box.instruction

    @property
    def alone(self) -> tuple[int, ...]:
        """The leaves along which accumulators are in registers of their own."""
        return tuple(self.box.leaves) if self.entry.result.packed == 1 else ()

    def execute(self, buffer: SSAValue, place: Callable[[], Sequence[Expr]]) -> None:
        """Add the products of the box to the accumulators in ``buffer``.

        ``place`` gives that of the accumulator at the loops' steps.
        """
        result = self.entry.result
        sources: list[Source] = []
        for element in range(result.count):
            with self._at(result, element):
                sources.append((buffer, place(), ALWAYS))
        groups = _groups(sources, result.packed)
        factors = [
            register
            for fragment, number in zip(self.entry.operands, self.box.operands, strict=True)
            for register in self._registers(fragment, number)
        ]
        op = InstructionOp(self.entry.name, [self._gather(g) for g in groups], factors)
        self.nest.builder.insert(op)
        for value, group in zip(op.totals, groups, strict=True):
            self._scatter(value, group)

    @contextmanager
    def _at(self, fragment: Fragment, element: int) -> Generator[None]:
        """The steps of the leaves in the box at which this work-item has an element."""
        lane = self.kernel.linear_id(self.box.lanes)
        values = {"lane": lane, "element": Expr.const(element)}
        place = [simplify(e.substitute(values), self.nest.env) for e in fragment.place]
        steps = self.box.steps(fragment, place)
        here = {step_name(k): simplify(e, self.nest.env) for k, e in steps.items()}
        with self.kernel.at_steps(here):
            yield

    def _registers(self, fragment: Fragment, number: int) -> list[SSAValue]:
        """The registers of an operand, which is an input of the contraction."""
        sources: list[Source] = []
        for element in range(fragment.count):
            with self._at(fragment, element):
                sources.append(self.staging.source(number))
        return [self._gather(group) for group in _groups(sources, fragment.packed)]

    def _gather(self, sources: Sequence[Source]) -> SSAValue:
        """A register of elements: neighbours in memory are loaded together."""
        if len(sources) > 1 and self._are_neighbours(sources):
            memory, place, _ = sources[0]
            return as_bits(self.nest, self.nest.load(memory, place, lanes=len(sources)))
        first, *rest = (as_bits(self.nest, self.nest.load(*source)) for source in sources)
        if not rest:
            return first
        register = self.nest.emit(vector.BroadcastOp(first, VectorType(first.type, [len(sources)])))
        for lane, value in enumerate(rest, 1):
            register = self.nest.emit(vector.InsertOp(value, register, [lane]))
        return register

    def _scatter(self, register: SSAValue, places: Sequence[Source]) -> None:
        """Store the elements of a register."""
        if not isinstance(register.type, VectorType) or self._are_neighbours(places):
            memory, place, _ = places[0]
            self.nest.store(register, memory, place)
            return
        for lane, (memory, place, _) in enumerate(places):
            element = vector.ExtractOp(register, [lane], register.type.element_type)
            self.nest.store(self.nest.emit(element), memory, place)

    def _are_neighbours(self, sources: Sequence[Source]) -> bool:
        """Whether elements, all of them inside their memory, follow one another there."""
        addresses: list[Expr] = []
        for memory, place, inside in sources:
            assert isinstance(memory.type, MemRefType)
            if simplify_condition(inside, self.nest.env) != ALWAYS:
                return False
            strides = flat_strides(memory.type)
            addresses.append(sum((e * s for e, s in zip(place, strides, strict=True)), Expr()))
        return all(constant_difference(b, a, self.nest.env) == 1 for a, b in pairwise(addresses))


def _groups(sources: Sequence[Source], size: int) -> list[Sequence[Source]]:
    """The elements of each register."""
    return [sources[k : k + size] for k in range(0, len(sources), size)]
