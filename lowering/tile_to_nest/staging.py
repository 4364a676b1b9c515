"""Staging: tiles copied to local or private memory, and reads from the nearest tile.

A copy is a contraction with `=`: every element of the tile's box is one of the operand, or the
neutral element where the box reaches outside. The work-items of a group share a copy to local
memory: they take the box's elements in memory order, some neighbours each. An operand that the
kernel computes itself is in no memory: it is computed where it would be loaded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, VectorType, i1, i16
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.lanes import vector_of
from tiledialect.dialects.tile.element_types import SHORT_FLOATS, storage_type
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.structure.operand_loads import sources
from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Condition, Expr, floordiv, less, mod
from tiledialect.index.integer.simplify import simplify, simplify_condition
from tiledialect.lowering.nest.utils.builder import LOCAL, PRIVATE, NestBuilder
from tiledialect.lowering.nest.utils.scope import element_bytes
from tiledialect.lowering.tile_to_nest.elements import Elements, element_type, static_shape
from tiledialect.lowering.tile_to_nest.kernel import KernelNest
from tiledialect.lowering.tile_to_nest.serial_copies import SerialCopy, transposed
from tiledialect.rounding import ceil_div
from tiledialect.schedule.footprint import UNROLLED_COPIES, Footprint, stage_footprint
from tiledialect.schedule.loops import Role, Stage, place_of

Location = tuple[SSAValue, Sequence[Expr], Condition]
"""Buffer, indices in it, and the condition that they are inside."""

BANKS = 128
"""Number of bytes that lie in different banks of local memory."""


@dataclass(frozen=True)
class Tile:
    """Staged box of an operand, in a buffer."""

    stage: Stage
    box: Footprint
    buffer: SSAValue

    @property
    def order(self) -> tuple[int, ...]:
        """Axes of the operand from slowest to fastest."""
        return tuple(dict.fromkeys(d.axis for d in self.box.dimensions))

    def place(self, position: Sequence[Expr]) -> list[Expr]:
        """Indices in the buffer of a position in the box: rows may be rotated."""
        if not self.stage.rotate or len(position) < 2:
            return list(position)
        *outer, column = position
        t = self.buffer.type
        assert isinstance(t, MemRefType)
        across = BANKS // element_bytes(t)
        column = rotated(column, outer[-1], self.box.extents[-1], self.stage.rotate, across)
        return [*outer, column]


def rotated(column: Expr, row: Expr, size: int, by: int, across: int) -> Expr:
    """Column of an element in a row of ``size`` whose pieces of ``by`` are swizzled.

    ``across`` elements lie in all banks, and are permuted among themselves. Where they are a power
    of two of pieces, these take the places of their number xor the row's: elements that come from
    global memory at once, 32 bytes or more, stay together. Other rows are rotated.
    """
    # Rows that lie in different banks need not differ.
    turn = floordiv(row, max(1, across // size))
    width = across if size % across == 0 else size
    pieces, rest = divmod(width, by)
    if rest or pieces & (pieces - 1):
        return width * floordiv(column, width) + mod(mod(column, width) + by * turn, width)
    place = width * floordiv(column, width) + mod(column, by)
    for bit in (1 << k for k in range(pieces.bit_length() - 1)):
        place += by * bit * mod(floordiv(column, by * bit) + floordiv(turn, bit), 2)
    return place


@dataclass
class Operand:
    """Operand of a contraction, its access, and the tiles that hold it."""

    value: SSAValue
    access: tuple[IndexExpr, ...]
    """Expression of steps for each axis."""
    neutral: float | int | None = None
    """Padding of tiles where their boxes reach outside, so that points there add nothing."""
    tiles: list[Tile] = field(default_factory=list[Tile])

    @property
    def to_compute(self) -> bool:
        """Whether an element must be computed, as it is not in a tile either."""
        value = self.value
        in_memory = isinstance(value, BlockArgument) or isinstance(value.owner, ConstantOp)
        return not in_memory and not self.tiles

    def order(self, box: Footprint) -> list[int]:
        """Dimensions of a box in the order of the memory it is copied from."""
        axes = list(self.tiles[-1].order) if self.tiles else list(range(len(self.access)))
        dimensions = box.dimensions
        return sorted(
            range(len(dimensions)),
            key=lambda d: (axes.index(dimensions[d].axis), -dimensions[d].stride),
        )


class Staging:
    """Operands of a contraction in a nest that is being built."""

    def __init__(
        self,
        kernel: KernelNest,
        values: Sequence[SSAValue],
        accesses: Sequence[Sequence[IndexExpr]],
        neutral: Sequence[float | int | None],
    ):
        self.kernel = kernel
        self.nest = kernel.nest
        operands = zip(values, accesses, neutral, strict=True)
        self.operands = [Operand(v, tuple(a), n) for v, a, n in operands]
        staged = kernel.kernel.values
        self.numbers = [staged.index(v) if v in staged else -1 for v in values]
        self.sources = [self._sources(operand) for operand in self.operands]
        """Sources of computed operands, by the numbers of the inputs; None if unknown."""

    def _sources(self, operand: Operand) -> Mapping[int, Operand] | None:
        if self.kernel.kernel.axes is not None:
            return None
        found = sources(operand.value, operand.access)
        return None if found is None else {v.index: Operand(v, a) for v, a in found.items()}

    def stages_of(self, operand: int) -> tuple[Stage, ...]:
        """Stages of an operand, the outermost first."""
        return self._stages(self.numbers[operand])

    def _stages(self, number: int) -> tuple[Stage, ...]:
        """Stages of one of the kernel's values."""
        own = [s for s in self.kernel.schedule.stages if s.operand == number]
        return tuple(sorted(own, key=lambda s: (place_of(s, self.kernel.levels), not s.local)))

    def _tiled(self) -> Iterator[tuple[int, Operand]]:
        """Operands and their sources, which may have tiles, with their numbers."""
        yield from zip(self.numbers, self.operands, strict=True)
        for own in self.sources:
            yield from (own or {}).items()

    @property
    def unstaged_names(self) -> frozenset[str]:
        """Steps in the accesses of operands that are not staged."""
        return frozenset(
            name
            for k in range(len(self.operands))
            if self.numbers[k] >= 0 and not self.stages_of(k)
            for operand in self._read_in_memory(k)
            for axis in operand.access
            for name in axis.names
        )

    def _read_in_memory(self, k: int) -> Iterable[Operand]:
        """Operands that are read from memory for one that is not staged."""
        own = self.sources[k]
        if own is None:
            return (self.operands[k],)
        return (source for number, source in own.items() if not self._stages(number))

    def needs_tests(self, operand: int) -> bool:
        """Whether the reads of an operand need bounds tests.

        Not if it is staged and adds nothing outside, nor if another one with the same access does
        not.
        """
        own = self.operands[operand]
        alike = (k for k, other in enumerate(self.operands) if _are_read_alike(own, other))
        return not self.stages_of(operand) or all(
            self.operands[k].neutral is None or not self.stages_of(k) for k in alike
        )

    def absorbed(self, first: int, guarded: int | None = None) -> dict[int, int]:
        """Accesses that need no test as their operand is staged, with the level before which it is.

        They are numbered as the accesses of an index space, ``first`` being the first operand's
        first axis. Operands that are not staged are read before level ``guarded``, with tests, if
        that is given.
        """
        found: dict[int, int] = {}
        for k, operand in enumerate(self.operands):
            tested = self.needs_tests(k)
            place = guarded if tested else place_of(self.stages_of(k)[0], self.kernel.levels)
            if place is not None:
                found.update(dict.fromkeys(range(first, first + len(operand.access)), place))
            first += len(operand.access)
        return found

    @contextmanager
    def scope(self) -> Generator[None]:
        """Scope of tiles: those copied inside are forgotten afterwards."""
        before = [(operand, list(operand.tiles)) for _, operand in self._tiled()]
        yield
        for operand, tiles in before:
            operand.tiles = tiles

    # -- copying ---------------------------------------------------------------------------

    def copy(self, k: int) -> None:
        """Make the copies before level ``k``."""
        for number, operand in self._tiled():
            for stage in self._stages(number):
                if place_of(stage, self.kernel.levels) == k:
                    self._copy(operand, stage)

    def _copy(self, operand: Operand, stage: Stage) -> None:
        order = operand.tiles[-1].order if operand.tiles else range(len(operand.access))
        box = stage_footprint(stage, operand.access, self.kernel.schedule)
        if not stage.local and not stage.order:
            box = box.ordered(order)
        tile = Tile(stage, box, self._allocate(operand, stage, box))
        source = replace(operand, tiles=list(operand.tiles))
        if stage.local and self.kernel.schedule.work_items > 1:
            self._copy_together(source, tile)
        else:
            self._copy_serially(source, tile)
        operand.tiles.append(tile)

    def _allocate(self, operand: Operand, stage: Stage, box: Footprint) -> SSAValue:
        space = LOCAL if stage.local else PRIVATE
        hint = f"{operand.value.name_hint or 'operand'}_tile"
        # Devices without f16 would convert elements that are only moved; instructions take bits.
        t = element_type(operand.value)
        t = i16 if stage.local and t in SHORT_FLOATS else t
        # A work-item by itself waits for nobody, and computed elements are not fetched.
        fetched = self.kernel.schedule.work_items > 1 and not operand.to_compute
        copies, asynchronous = (stage.copies, stage.asynchronous) if fetched else (1, False)
        return self.nest.buffer(
            t, box.extents, space, hint, copies, stage.pad, asynchronous=asynchronous
        )

    def _vector(self, stage: Stage, extent: int) -> int:
        """Number of neighbours that a copy moves at once: as requested, if it divides the rows."""
        return stage.vector if extent % stage.vector == 0 else 1

    def _copy_serially(self, source: Operand, tile: Tile) -> None:
        """Copy a box by one work-item."""
        in_memory = not source.tiles and not source.to_compute
        plain = in_memory and tile.stage.local and not tile.stage.rotate
        order = source.order(tile.box)
        last = tile.box.dimensions[order[-1]] if order else None
        is_row = last is not None and (last.axis, last.stride) == (len(source.access) - 1, 1)
        SerialCopy(
            self.nest,
            tile.box.extents,
            order,
            LoopRole(Role.SERIAL if tile.stage.local else Role.UNROLL),
            tile.stage.vector,
            lambda position: self._move(source, tile, position),
            lambda position: self._row(source, tile, position, order[-1]),
            (lambda position, n: self._move_square(source, tile, position, order[-1], n))
            if plain and is_row and element_type(source.value) != i1
            else None,
        ).make()

    def _row(
        self, source: Operand, tile: Tile, position: Mapping[int, Expr], d: int
    ) -> tuple[Expr, int]:
        """Start of a row along a dimension on its axis, in elements, and the length of the axis."""
        dimension = tile.box.dimensions[d]
        if source.tiles or dimension.stride != 1:
            return Expr(), dimension.extent
        start = self._coordinates(tile, position)[dimension.axis]
        return simplify(start, self.nest.env), static_shape(source.value)[dimension.axis]

    def _move_square(
        self, source: Operand, tile: Tile, position: Mapping[int, Expr], row: int, size: int
    ) -> None:
        """Move a square of two dimensions: ``row`` is along memory, the last one along the tile."""
        column = len(position) - 1
        memory, shape = self.kernel.memory(source.value), static_shape(source.value)
        rows: list[SSAValue] = []
        for k in range(size):
            coordinates = self._coordinates(tile, {**position, column: position[column] + k})
            inside = self.kernel.in_bounds(coordinates, shape)
            rows.append(as_bits(self.nest, self._load(source, memory, coordinates, inside, size)))
        for k, value in enumerate(transposed(self.nest, rows)):
            place = [{**position, row: position[row] + k}[d] for d in range(len(position))]
            self.nest.store(value, tile.buffer, place)

    def _copy_together(self, source: Operand, tile: Tile) -> None:
        """Copy a box by all work-items of the group."""
        order = source.order(tile.box)
        extents = [tile.box.extents[d] for d in order] or [1]
        width = self._vector(tile.stage, extents[-1])
        items = self.kernel.schedule.work_items
        chunks = prod(extents) // width
        steps = ceil_div(chunks, items)
        role = LoopRole(Role.UNROLL if steps <= UNROLLED_COPIES else Role.SERIAL)
        with ExitStack() as stack:
            step = stack.enter_context(self.nest.loop(role, steps, "t", always=True))
            chunk = step * items + self.kernel.linear_id(self.kernel.local_levels)
            stack.enter_context(self.nest.when(less(chunk, chunks)))
            lane = stack.enter_context(self.nest.loop(LoopRole(Role.VECTOR), width, "lane"))
            position = digits(chunk, (*extents[:-1], extents[-1] // width))
            position[-1] = position[-1] * width + lane
            self._move(source, tile, dict(zip(order, position, strict=False)))

    def _coordinates(self, tile: Tile, position: Mapping[int, Expr]) -> list[Expr]:
        """Coordinates in the operand of a position in a tile's box."""
        coordinates = [self.kernel.expr(base) for base in tile.box.base]
        for d, dimension in enumerate(tile.box.dimensions):
            coordinates[dimension.axis] += position[d] * dimension.stride
        return coordinates

    def _move(self, source: Operand, tile: Tile, position: Mapping[int, Expr]) -> None:
        coordinates = self._coordinates(tile, position)
        place = [position[d] for d in range(len(position))]
        if source.to_compute:
            value = self._computed_or_neutral(source, coordinates)
        else:
            value = self._element(source, coordinates)
        assert isinstance(tile.buffer.type, MemRefType)
        value = _converted(self.nest, value, tile.buffer.type.element_type)
        self.nest.store(value, tile.buffer, tile.place(place))

    def _computed_or_neutral(self, operand: Operand, coordinates: Sequence[Expr]) -> SSAValue:
        """Element of a computed operand, at coordinates that may lie outside."""
        inside = self.kernel.in_bounds(coordinates, static_shape(operand.value))
        inside = simplify_condition(inside, self.nest.env)
        value = self._computed(operand, coordinates, inside)
        if inside == ALWAYS:
            return value
        neutral = self.nest.scalars.constant(operand.neutral or 0, element_type(operand.value))
        # No branch: code with barriers should have few.
        return self.nest.scalars.select(self.nest.truth(inside), value, neutral)

    def _computed(
        self, operand: Operand, coordinates: Sequence[Expr], inside: Condition
    ) -> SSAValue:
        """Element of an operand that is computed in the kernel; any value if not ``inside``."""
        elements = Elements(self.nest, self.kernel.memory, tuple(coordinates), inside)
        return elements.at(operand.value)

    # -- reading ---------------------------------------------------------------------------

    def read(self, number: int) -> SSAValue:
        """Element of an operand at the loops being built, from the nearest tile."""
        operand = self.operands[number]
        if not operand.to_compute:
            return self._read(operand)
        own = self.sources[number] or {}
        known = {source.value: self._read(source) for source in own.values() if source.tiles}
        coordinates = tuple(self.kernel.expr(e) for e in operand.access)
        elements = Elements(self.nest, self.kernel.memory, coordinates, known=known)
        return elements.at(operand.value)

    def _read(self, operand: Operand) -> SSAValue:
        memory, place, _ = self._location(operand)
        t = storage_type(element_type(operand.value))
        return _converted(self.nest, self.nest.load(memory, place), t)

    def location(self, number: int) -> Location:
        """Location of the element of an operand at the loops being built, in the nearest tile."""
        return self._location(self.operands[number])

    def _location(self, operand: Operand) -> Location:
        if not operand.tiles:
            coordinates = [self.kernel.expr(e) for e in operand.access]
            inside = self.kernel.in_bounds(coordinates, static_shape(operand.value))
            return self.kernel.memory(operand.value), coordinates, inside
        tile = operand.tiles[-1]
        position = [self.kernel.expr(d.position) for d in tile.box.dimensions]
        return tile.buffer, tile.place(position), ALWAYS

    def _element(self, operand: Operand, coordinates: Sequence[Expr]) -> SSAValue:
        """Element at coordinates that may lie outside, then neutral."""
        if not operand.tiles:
            inside = self.kernel.in_bounds(coordinates, static_shape(operand.value))
            return self._load(operand, self.kernel.memory(operand.value), coordinates, inside)
        tile = operand.tiles[-1]
        rest = [
            c - self.kernel.expr(base) for c, base in zip(coordinates, tile.box.base, strict=True)
        ]
        position: list[Expr] = []
        for dimension in tile.box.dimensions:
            position.append(floordiv(rest[dimension.axis], dimension.stride))
            rest[dimension.axis] = mod(rest[dimension.axis], dimension.stride)
        inside = self.kernel.in_bounds(position, tile.box.extents)
        return self._load(operand, tile.buffer, tile.place(position), inside)

    def _load(
        self,
        operand: Operand,
        memory: SSAValue,
        place: Sequence[Expr],
        inside: Condition,
        lanes: int = 1,
    ) -> SSAValue:
        default = None
        if operand.neutral:
            default = self.nest.scalars.constant(operand.neutral, element_type(operand.value))
            assert isinstance(memory.type, MemRefType)
            default = _converted(self.nest, default, memory.type.element_type)
            if lanes > 1:
                default = self.nest.emit(BroadcastOp(default, vector_of(default.type, lanes)))
        return self.nest.load(memory, place, inside, default, lanes=lanes)


def _are_read_alike(operand: Operand, other: Operand) -> bool:
    """Whether two operands have the same access and shape."""
    is_alike = operand.access == other.access
    return is_alike and static_shape(operand.value) == static_shape(other.value)


def as_bits(nest: NestBuilder, value: SSAValue) -> SSAValue:
    """Bits of a short float, or of a vector of them, as i16; any other value as it is."""
    if isinstance(value.type, VectorType):
        t = VectorType(i16, value.type.get_shape())
        return _converted(nest, value, t) if value.type.element_type in SHORT_FLOATS else value
    return _converted(nest, value, i16) if value.type in SHORT_FLOATS else value


def _converted(nest: NestBuilder, value: SSAValue, t: Attribute) -> SSAValue:
    """Reinterpret the bits of a value as type ``t``."""
    if value.type == t:
        return value
    result = nest.emit(arith.BitcastOp(value, t))
    result.name_hint = value.name_hint
    return result


def digits(number: Expr, extents: Sequence[int]) -> list[Expr]:
    """Digits of a number in mixed radix, the most significant first, which has no limit."""
    found: list[Expr] = []
    for extent in reversed(extents[1:]):
        found.insert(0, mod(number, extent))
        number = floordiv(number, extent)
    return [number, *found]
