"""Copy of a box by one work-item: rows in vectors, and transposed squares.

Remainders of vectors are moved in shorter ones. Where the rows of the tile are columns of the
operand, a square of vectors is loaded, transposed in registers, and stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.index.integer.expressions import Expr, both, less_equal
from tiledialect.lowering.nest.utils.builder import NestBuilder
from tiledialect.schedule.loops import Role

Position = Mapping[int, Expr]
"""Index along each dimension of a box."""


@dataclass(frozen=True)
class Chunks:
    """Consecutive chunks of ``width`` neighbours."""

    start: int
    count: int
    width: int


def chunks(extent: int, width: int, start: int = 0) -> list[Chunks]:
    """Chunks that make up ``extent``: as many of ``width`` as there can be, then of its halves."""
    found: list[Chunks] = []
    end = start + extent
    while start < end:
        count = (end - start) // width
        if count:
            found.append(Chunks(start, count, width))
            start += count * width
        width = width // 2 if width % 2 == 0 else 1
    return found


@dataclass(frozen=True)
class SerialCopy:
    """Copy of a box, whose dimensions are in the order of the tile, by one work-item."""

    nest: NestBuilder
    extents: Sequence[int]
    order: Sequence[int]
    """Dimensions in the order of the memory that is read."""
    role: LoopRole
    """Role of the loops."""
    width: int
    """Number of neighbours that are moved at once."""
    move: Callable[[Position], None]
    """Moves an element."""
    row: Callable[[Position], tuple[Expr, int]]
    """Start of a row along an axis of memory, and the length of this axis."""
    square: Callable[[Position, int], None] | None
    """Moves a square of neighbouring rows and columns; None if impossible."""

    def make(self) -> None:
        """Build the loops, and the moves in them."""
        if not self.order:
            self.move({})
            return
        row, column = self.order[-1], len(self.extents) - 1
        with ExitStack() as stack:
            position: dict[int, Expr] = {}
            for d in self.order:
                if d not in (row, column):
                    extent = self.extents[d]
                    position[d] = stack.enter_context(self.nest.loop(self.role, extent, "t"))
            if row == column:
                self._row(position, row)
            else:
                self._columns(position, row, column)

    def _row(self, position: Position, row: int) -> None:
        """Copy a row of memory that is one of the tile's, too."""

        def move(pieces: Sequence[Chunks]) -> None:
            for run in pieces:
                self._elements(position, {row: run})

        self._where_inside(
            {**position, row: Expr()},
            row,
            lambda first, count: move(chunks(count, self.width, first)),
            lambda first, count: move([Chunks(first, count, 1)]),
        )

    def _columns(self, position: Position, row: int, column: int) -> None:
        """Copy rows of memory that are columns of the tile."""
        across = chunks(self.extents[column], self.width)

        def one_by_one(first: int, count: int) -> None:
            self._rest(
                position, row, Chunks(first, count, 1), column, Chunks(0, self.extents[column], 1)
            )

        def squares(first: int, count: int) -> None:
            for run in across:
                self._squares(position, row, Chunks(first, count, 1), column, run)

        start = {**position, row: Expr(), column: Expr()}
        self._where_inside(start, row, squares if self.square else one_by_one, one_by_one)

    def _where_inside(
        self,
        start: Position,
        row: int,
        inside: Callable[[int, int], None],
        outside: Callable[[int, int], None],
    ) -> None:
        """Split a row into ranges, by start and length, inside and outside memory."""
        extent = self.extents[row]
        if self.width == 1 or self.role.role is not Role.SERIAL:
            # Unrolled copies test each access, which costs less than a second body.
            inside(0, extent)
            return
        begin, size = self.row(start)
        if begin.value is None:
            holds = both(less_equal(0, begin), less_equal(begin + extent, size))
            self.nest.either(holds, lambda: inside(0, extent), lambda: outside(0, extent))
            return
        first = min(extent, max(0, -begin.value))
        last = max(first, min(extent, size - begin.value))
        for act, low, high in ((outside, 0, first), (inside, first, last), (outside, last, extent)):
            if low < high:
                act(low, high - low)

    def _squares(
        self, position: Position, row: int, along: Chunks, column: int, across: Chunks
    ) -> None:
        """Copy some columns of the tile, whose elements are neighbours in memory."""
        width, squares = across.width, along.count // across.width if across.width > 1 else 0
        if squares and self.square is not None:
            with (
                self.nest.loop(self.role, across.count, "t") as t,
                self.nest.loop(self.role, squares, "t") as s,
            ):
                place = {column: across.start + t * width, row: along.start + s * width}
                self.square({**position, **place}, width)
        rest = Chunks(along.start + squares * width, along.count - squares * width, 1)
        self._rest(position, row, rest, column, Chunks(across.start, across.count * width, 1))

    def _rest(
        self, position: Position, row: int, along: Chunks, column: int, across: Chunks
    ) -> None:
        """Copy the remainder element by element, in the order of memory."""
        both_runs = {row: along, column: across}
        self._elements(position, {d: both_runs[d] for d in self.order if d in both_runs})

    def _elements(self, position: Position, inside: Mapping[int, Chunks]) -> None:
        """Copy the remainder of a box: the last of the dimensions inside in vectors."""
        if not all(run.count for run in inside.values()):
            return
        with ExitStack() as stack:
            place = dict(position)
            for d, run in inside.items():
                step = stack.enter_context(self.nest.loop(self.role, run.count, "t"))
                vector_role = LoopRole(Role.VECTOR)
                lane = stack.enter_context(self.nest.loop(vector_role, run.width, "lane"))
                place[d] = run.start + step * run.width + lane
            self.move(place)


def transposed(nest: NestBuilder, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """Transpose a square of vectors, as many as they have lanes: a power of two."""
    found, size = list(rows), len(rows)
    distance = size // 2
    while distance:
        for k in range(size):
            if not k & distance:
                a, b = found[k], found[k + distance]
                found[k] = _interleaved(nest, a, b, 0, distance)
                found[k + distance] = _interleaved(nest, a, b, distance, distance)
        distance //= 2
    return found


def _interleaved(
    nest: NestBuilder, a: SSAValue, b: SSAValue, first: int, distance: int
) -> SSAValue:
    """Interleave two vectors: every other piece of ``distance`` lanes, from ``first`` on."""
    t = a.type
    assert isinstance(t, VectorType)
    lanes = t.get_shape()[0]
    mask = [(lane & ~distance) + first + (lanes if lane & distance else 0) for lane in range(lanes)]
    op = vector.ShuffleOp(a, b, DenseArrayBase.from_list(i64, mask), result_type=t)
    op.result.name_hint = a.name_hint
    return nest.emit(op)
