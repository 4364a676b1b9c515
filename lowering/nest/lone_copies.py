"""How one work-item copies a box: rows in vectors, and squares of rows that become columns.

What vectors do not divide is moved in shorter ones. Where the rows of the tile are columns of the
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
from tiledialect.index.integer import Expr, both, less_equal
from tiledialect.lowering.nest.builder import NestBuilder
from tiledialect.schedule.leaves import Role

Position = Mapping[int, Expr]
"""Where along each dimension of a box something is."""


@dataclass(frozen=True)
class Run:
    """Pieces of ``width`` neighbours, one after the other."""

    start: int
    count: int
    width: int


def runs(extent: int, width: int) -> list[Run]:
    """Pieces that make up ``extent``: as many of ``width`` as there can be, then of its halves."""
    found: list[Run] = []
    start = 0
    while start < extent:
        count = (extent - start) // width
        if count:
            found.append(Run(start, count, width))
            start += count * width
        width = width // 2 if width % 2 == 0 else 1
    return found


@dataclass(frozen=True)
class LoneCopy:
    """The copy of a box, whose dimensions are in the order of the tile, by one work-item."""

    nest: NestBuilder
    extents: Sequence[int]
    order: Sequence[int]
    """The dimensions in the order of the memory that is read."""
    role: LoopRole
    """What runs the steps."""
    width: int
    """How many neighbours are moved at once."""
    move: Callable[[Position], None]
    """Moves an element."""
    row: Callable[[Position], tuple[Expr, int]]
    """Where along an axis of memory a row begins, and how long this axis is."""
    square: Callable[[Position, int], None] | None
    """Moves a square of neighbouring rows and columns; None if that cannot be."""

    def make(self) -> None:
        """The loops, and what is moved in them."""
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
        """A row of memory that is one of the tile's, too."""
        extent = self.extents[row]
        start, size = self.row({**position, row: Expr()})
        if start.value is not None:
            # What lies outside is known: what lies inside is moved in vectors.
            last = min(extent, max(0, size - start.value)) if start.value >= 0 else 0
            for run in runs(last, self.width):
                self._elements(position, {row: run})
            self._elements(position, {row: Run(last, extent - last, 1)})
            return
        self.nest.either(
            both(less_equal(0, start), less_equal(start + extent, size)),
            lambda: [self._elements(position, {row: run}) for run in runs(extent, self.width)],
            lambda: self._elements(position, {row: Run(0, extent, 1)}),
        )

    def _columns(self, position: Position, row: int, column: int) -> None:
        """Rows of memory that are columns of the tile."""
        length, across = self.extents[row], self.extents[column]
        everything = {d: Run(0, self.extents[d], 1) for d in self.order if d in (row, column)}
        widest = min(self.width, 1 << (length.bit_length() - 1))
        if self.square is None or widest == 1:
            self._elements(position, everything)
            return
        start, size = self.row({**position, row: Expr(), column: Expr()})
        self.nest.either(
            both(less_equal(0, start), less_equal(start + length, size)),
            lambda: [self._squares(position, row, column, r) for r in runs(across, widest)],
            lambda: self._elements(position, everything),
        )

    def _squares(self, position: Position, row: int, column: int, run: Run) -> None:
        """Some columns of the tile, whose elements are neighbours in memory."""
        width, length = run.width, self.extents[row]
        if width > 1 and self.square is not None:
            with (
                self.nest.loop(self.role, run.count, "t") as t,
                self.nest.loop(self.role, length // width, "t") as s,
            ):
                place = {**position, column: run.start + t * width, row: s * width}
                self.square(place, width)
        done = length - length % width if width > 1 else 0
        rest = {row: Run(done, length - done, 1), column: Run(run.start, run.count * width, 1)}
        self._elements(position, {d: rest[d] for d in self.order if d in rest})

    def _elements(self, position: Position, inside: Mapping[int, Run]) -> None:
        """What is left of a box: the last of the dimensions inside in vectors."""
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
    """The columns of a square of vectors, as many as they have lanes: a power of two."""
    found, size = list(rows), len(rows)
    distance = size // 2
    while distance:
        for k in range(size):
            if not k & distance:
                a, b = found[k], found[k + distance]
                found[k] = _joined(nest, a, b, 0, distance)
                found[k + distance] = _joined(nest, a, b, distance, distance)
        distance //= 2
    return found


def _joined(nest: NestBuilder, a: SSAValue, b: SSAValue, first: int, distance: int) -> SSAValue:
    """Pieces of two vectors in turn: every other piece of ``distance`` lanes, from ``first`` on."""
    t = a.type
    assert isinstance(t, VectorType)
    lanes = t.get_shape()[0]
    mask = [(lane & ~distance) + first + (lanes if lane & distance else 0) for lane in range(lanes)]
    op = vector.ShuffleOp(a, b, DenseArrayBase.from_list(i64, mask), result_type=t)
    op.result.name_hint = a.name_hint
    return nest.emit(op)
