"""Operands near at hand: tiles copied to local or private memory, and reads that find them.

A copy is a contraction with `=`: every element of the tile's box is one of the operand, or the
neutral element where the box reaches outside. The work-items of a group share a copy to local
memory: they take the box's elements in memory order, some neighbours each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer import Condition, Expr, both, floordiv, less, mod
from tiledialect.lowering.nest.builder import LOCAL, PRIVATE
from tiledialect.lowering.nest.elements import element_type, static_shape
from tiledialect.lowering.nest.kernel import KernelNest
from tiledialect.lowering.nest.tiles import Footprint, place_of, stage_footprint
from tiledialect.schedule.leaves import Role, Stage

UNROLLED_COPIES = 16
"""Up to how many steps a copy that work-items share is written out."""


@dataclass(frozen=True)
class Tile:
    """A staged box of an operand, in a buffer."""

    stage: Stage
    box: Footprint
    buffer: SSAValue

    def place(self, position: Sequence[Expr]) -> list[Expr]:
        """Where in the buffer the element at a position of the box is."""
        return [position[axis] for axis in self.order]

    @property
    def order(self) -> tuple[int, ...]:
        """The axes of the box from slowest to fastest."""
        return self.stage.order or tuple(range(len(self.box.extents)))


@dataclass
class Operand:
    """An operand of a contraction, where its indices touch it, and the tiles that hold it."""

    value: SSAValue
    access: tuple[IndexExpr, ...]
    """An expression of steps for each axis."""
    tiles: list[Tile] = field(default_factory=list[Tile])


class Staging:
    """The operands of a contraction in a nest that is being built."""

    def __init__(
        self,
        kernel: KernelNest,
        values: Sequence[SSAValue],
        accesses: Sequence[Sequence[IndexExpr]],
        neutral: float | int | None,
    ):
        self.kernel = kernel
        self.nest = kernel.nest
        self.neutral = neutral
        self.operands = [Operand(v, tuple(a)) for v, a in zip(values, accesses, strict=True)]
        arguments: list[SSAValue] = list(kernel.kernel.block.args)
        self.numbers = [arguments.index(v) if v in arguments else -1 for v in values]

    def stages_of(self, operand: int) -> tuple[Stage, ...]:
        """The stages of an operand, the outermost first."""
        own = [s for s in self.kernel.schedule.stages if s.operand == self.numbers[operand]]
        return tuple(sorted(own, key=lambda s: place_of(s, self.kernel.leaves)))

    @property
    def all_staged(self) -> bool:
        """Whether no operand is read where the schedule's loops alone say."""
        return all(self.stages_of(k) or self.numbers[k] < 0 for k in range(len(self.operands)))

    def absorbed(self, first: int) -> set[int]:
        """Which accesses need no test as their operand is staged.

        They are numbered as the accesses of an index space, ``first`` being the first operand's
        first axis.
        """
        found: set[int] = set()
        for k, operand in enumerate(self.operands):
            if self.stages_of(k):
                found |= set(range(first, first + len(operand.access)))
            first += len(operand.access)
        return found

    # -- copying ---------------------------------------------------------------------------

    def copy(self, k: int) -> None:
        """The copies that are made before leaf ``k``."""
        for number, operand in enumerate(self.operands):
            for stage in self.stages_of(number):
                if place_of(stage, self.kernel.leaves) == k:
                    self._copy(operand, stage)

    def _copy(self, operand: Operand, stage: Stage) -> None:
        box = stage_footprint(stage, operand.access, self.kernel.schedule)
        tile = Tile(stage, box, self._allocate(operand, stage, box))
        source = replace(operand, tiles=list(operand.tiles))
        if stage.local and self.kernel.schedule.work_items > 1:
            self._copy_together(source, tile)
        else:
            self._copy_alone(source, tile)
        operand.tiles.append(tile)

    def _allocate(self, operand: Operand, stage: Stage, box: Footprint) -> SSAValue:
        order = stage.order or range(len(box.extents))
        shape = [box.extents[axis] for axis in order]
        space = LOCAL if stage.local else PRIVATE
        hint = f"{operand.value.name_hint or 'operand'}_tile"
        return self.nest.buffer(
            element_type(operand.value), shape, space, hint, stage.copies, stage.pad
        )

    def _vector(self, stage: Stage, extent: int) -> int:
        """How many neighbours a copy moves at once: what is asked for, if it divides the rows."""
        return stage.vector if extent % stage.vector == 0 else 1

    def _copy_alone(self, source: Operand, tile: Tile) -> None:
        """The copy of a box by one work-item, axis by axis."""
        extents = tile.box.extents
        role = LoopRole(Role.SERIAL if tile.stage.local else Role.UNROLL)
        width = self._vector(tile.stage, extents[-1]) if extents else 1
        with ExitStack() as stack:
            position = [
                stack.enter_context(self.nest.loop(role, extent, f"t{axis}"))
                for axis, extent in enumerate(extents[:-1])
            ]
            if extents:
                position.append(self._along_row(stack, role, extents[-1], width))
            self._move(source, tile, position)

    def _along_row(self, stack: ExitStack, role: LoopRole, extent: int, width: int) -> Expr:
        step = stack.enter_context(self.nest.loop(role, extent // width, "t"))
        lane = stack.enter_context(self.nest.loop(LoopRole(Role.VECTOR), width, "lane"))
        return step * width + lane

    def _copy_together(self, source: Operand, tile: Tile) -> None:
        """The copy of a box by all work-items of the group."""
        extents = tile.box.extents or (1,)
        width = self._vector(tile.stage, extents[-1])
        items = self.kernel.schedule.work_items
        chunks = prod(extents) // width
        steps = -(-chunks // items)
        role = LoopRole(Role.UNROLL if steps <= UNROLLED_COPIES else Role.SERIAL)
        with ExitStack() as stack:
            step = stack.enter_context(self.nest.loop(role, steps, "t"))
            chunk = step * items + self.kernel.linear_id(self.kernel.local_leaves)
            stack.enter_context(self.nest.when(less(chunk, chunks)))
            lane = stack.enter_context(self.nest.loop(LoopRole(Role.VECTOR), width, "lane"))
            position = digits(chunk, (*extents[:-1], extents[-1] // width))
            position[-1] = position[-1] * width + lane
            self._move(source, tile, position[: len(tile.box.extents)])

    def _move(self, source: Operand, tile: Tile, position: Sequence[Expr]) -> None:
        box = tile.box
        exprs = [self.kernel.expr(base) for base in box.base]
        coordinates = [
            base + stride * t for base, stride, t in zip(exprs, box.strides, position, strict=True)
        ]
        value = self._element(source, coordinates)
        self.nest.store(value, tile.buffer, tile.place(position))

    # -- reading ---------------------------------------------------------------------------

    def read(self, number: int) -> SSAValue:
        """The element of an operand at the loops being built, from the nearest tile."""
        operand = self.operands[number]
        if not operand.tiles:
            coordinates = [self.kernel.expr(e) for e in operand.access]
            return self.nest.load(self.kernel.memory(operand.value), coordinates)
        tile = operand.tiles[-1]
        position = [self.kernel.expr(e) for e in tile.box.position(operand.access)]
        return self.nest.load(tile.buffer, tile.place(position))

    def _element(self, operand: Operand, coordinates: Sequence[Expr]) -> SSAValue:
        """The element at coordinates that may lie outside, then neutral."""
        if not operand.tiles:
            inside = self.kernel.in_bounds(coordinates, static_shape(operand.value))
            return self._load(operand, self.kernel.memory(operand.value), coordinates, inside)
        tile = operand.tiles[-1]
        position = [
            floordiv(c - self.kernel.expr(base), stride)
            for c, base, stride in zip(coordinates, tile.box.base, tile.box.strides, strict=True)
        ]
        return self._load(
            operand,
            tile.buffer,
            tile.place(position),
            self.kernel.in_bounds(position, tile.box.extents),
        )

    def _load(
        self, operand: Operand, memory: SSAValue, place: Sequence[Expr], inside: Condition
    ) -> SSAValue:
        default = None
        if self.neutral:
            default = self.nest.scalars.constant(self.neutral, element_type(operand.value))
        return self.nest.load(memory, place, inside, default)


def digits(number: Expr, extents: Sequence[int]) -> list[Expr]:
    """The digits of a number in mixed radix, the most significant first, which has no limit."""
    found: list[Expr] = []
    for extent in reversed(extents[1:]):
        found.insert(0, mod(number, extent))
        number = floordiv(number, extent)
    return [number, *found]


def reduce_over_items(
    kernel: KernelNest,
    shared: Sequence[int],
    value: SSAValue,
    t: Attribute,
    join: Callable[[SSAValue, SSAValue], SSAValue],
) -> SSAValue:
    """The aggregate of what the work-items that differ in the steps of ``shared`` hold.

    By a tree in local memory; all of them get it.
    """
    nest = kernel.nest
    others = [k for k in kernel.local_leaves if k not in shared]
    count = prod(kernel.leaves[k].extent for k in shared)
    rows = prod(kernel.leaves[k].extent for k in others)
    buffer = nest.buffer(t, [rows, count], LOCAL, "partial")
    row, own = kernel.linear_id(others), kernel.linear_id(shared)
    nest.store(value, buffer, [row, own])
    half = 1 << max(count - 1, 0).bit_length() >> 1
    while half:
        with nest.when(both(less(own, half), less(own + half, count))):
            total = join(nest.load(buffer, [row, own]), nest.load(buffer, [row, own + half]))
            nest.store(total, buffer, [row, own])
        half //= 2
    return nest.load(buffer, [row, Expr()])
