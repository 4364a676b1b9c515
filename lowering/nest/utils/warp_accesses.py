"""Accesses of a GPU's sub-group: lines of memory, or rows of banks, that one instruction takes.

The lanes of a sub-group are work-items that are next to one another, along x first. Each of them
accesses as many neighbours as its vector has lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import MemRefType, VectorType

from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.lowering.nest.utils.access_strides import loops_around, stride_over, value_of
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.nest.utils.scope import NestScope, element_bytes
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import SECTORS, Device, Kind
from tiledialect.schedule.loops import Role

LINE, BANKS, WORD = 128, 32, 4
"""Bytes of a line of the first cache, banks of local memory, and bytes of a word of these."""
AXES = "xyz"
KEPT, HITS = 2, 4
"""Most bytes that are fetched for each one that a loop uses step by step, and lines that are found
in the first cache at once: it keeps them for the loop's next steps."""


@dataclass(frozen=True)
class WarpAccess:
    """One instruction of a sub-group."""

    rows: int
    """Lines, or rows of banks, that are accessed one after the other."""
    nbytes: float
    """Bytes that pass the caches, for each work-item."""
    width: int
    """Elements of a work-item."""


def warp_access(op: LoadOp | StoreOp, device: Device, scope: NestScope) -> WarpAccess:
    """Work of an access in one instruction of a sub-group."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    size, lanes = element_bytes(t), max(device.sub_group_size, 1)
    width = _width(op, scope)
    strides = [*_lane_strides(op, lanes, scope)]
    if t.memory_space != GLOBAL:
        return WarpAccess(_bank_rows(strides, width * ceil_div(size, WORD)), 0.0, width)
    sector = SECTORS[Kind.GPU]
    nbytes = sector * _pieces(strides, width * size, size, sector) / lanes
    lines = _pieces(strides, width * size, size, LINE)
    if _is_continued(op, scope, sector // size):
        nbytes, lines = min(nbytes, KEPT * width * size), ceil_div(lines, HITS)
    return WarpAccess(lines, nbytes, width)


def _width(op: LoadOp | StoreOp, scope: NestScope) -> int:
    """Neighbours that a work-item accesses at once."""
    own = value_of(op).type
    width = own.get_shape()[0] if isinstance(own, VectorType) else 1
    for loop in loops_around(op):
        if loop.role.data.role is Role.VECTOR and stride_over(loop, op, scope) == 1:
            width *= loop.extent or 1
    return width


def _lane_strides(
    op: LoadOp | StoreOp, lanes: int, scope: NestScope
) -> Iterator[tuple[int, int | None]]:
    """Numbers of work-items of a sub-group in a row, with their strides in elements."""
    around = [x for x in loops_around(op) if x.role.data.role is Role.LOCAL]
    for loop in sorted(around, key=lambda x: AXES.index(x.role.data.axis or AXES[0])):
        count = min(lanes, loop.extent or lanes)
        if count > 1:
            yield count, stride_over(loop, op, scope)
            lanes //= count


def _pieces(strides: list[tuple[int, int | None]], run: int, size: int, piece: int) -> int:
    """Pieces of memory of so many bytes that runs of a sub-group's work-items are in."""
    count = 1
    for number, stride in strides:
        if stride == 0:
            continue
        if stride is not None and abs(stride) * size <= max(run, piece):
            run += abs(stride) * size * (number - 1)
        else:
            count *= number
    return count * ceil_div(run, piece)


def _bank_rows(strides: list[tuple[int, int | None]], words: int) -> int:
    """Rows of banks that work-items with so many words each access one after the other."""
    different = [(number, stride) for number, stride in strides if stride != 0]
    most = ceil_div(prod(number for number, _ in different) * words, BANKS)
    for number, stride in different[:1]:
        most = max(most, min(number, gcd(stride or 1, BANKS)) if words == 1 else 1)
    return max(most, 1)


def _is_continued(op: LoadOp | StoreOp, scope: NestScope, near: int) -> bool:
    """Whether the next step of a loop accesses the same piece of memory, or the next one."""
    for loop in loops_around(op):
        if loop.is_parallel or loop.role.data.role is Role.VECTOR:
            continue
        stride = stride_over(loop, op, scope)
        if stride is not None and 0 < abs(stride) <= near:
            return True
    return False
