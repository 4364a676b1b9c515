"""Accesses of a GPU's sub-group: lines of memory, or rows of banks, that one instruction takes.

The lanes of a sub-group are work-items that are next to one another, along x first. Each of them
accesses as many neighbours as its vector has lanes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr, map_expressions
from tiledialect.lowering.nest.utils.access_strides import (
    loops_around,
    loops_inside,
    stride_of,
    stride_over,
    value_of,
)
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, element_bytes
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.banks import BANKS, WORD, busiest_bank
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.traits import TRAITS, Kind
from tiledialect.schedule.loops import Role

GPU = TRAITS[Kind.GPU]
AXES = "xyz"
KEPT, HITS = 2, 4
"""Most bytes that are fetched for each one that a loop uses step by step, and lines that are found
in the first cache at once: it keeps them for the loop's next steps."""


@dataclass(frozen=True)
class WarpAccess:
    """Instruction of a sub-group."""

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
    at_once = vector_loops(op, scope)
    width = vector_width(op, scope)
    if t.memory_space != GLOBAL:
        return WarpAccess(bank_rows(op, scope.address(op), device, scope)[0], 0.0, width)
    strides = [*_lane_strides(op, scope.address(op), lanes, scope)]
    sector = GPU.sector
    nbytes = sector * _pieces(strides, width * size, size, sector) / lanes
    lines = _pieces(strides, width * size, size, GPU.line)
    if _is_continued(op, scope, at_once, sector // size):
        nbytes, lines = min(nbytes, KEPT * width * size), ceil_div(lines, HITS)
    # Registers get a line at a time, whatever lanes share.
    active = prod(number for number, _ in strides)
    return WarpAccess(max(lines, ceil_div(active * width * size, GPU.line)), nbytes, width)


def bank_rows(
    op: LoadOp | StoreOp, place: Expr, device: Device, scope: NestScope
) -> tuple[int, int]:
    """Rows of banks that an access of a sub-group takes if it is at a place, and the fewest that
    accesses as wide take.

    Vectors go by turns of as many work-items as fill a row, of which none sees another's.
    """
    t = op.memory.type
    assert isinstance(t, MemRefType)
    lanes = max(device.sub_group_size, 1)
    words = vector_width(op, scope) * ceil_div(element_bytes(t), WORD)
    at_once = max(1, min(lanes, BANKS // words))
    active = prod(number for number, _ in _lane_strides(op, place, lanes, scope))
    turns, strides = ceil_div(active, at_once), [*_lane_strides(op, place, at_once, scope)]
    fewest = turns * max(1, ceil_div(words, BANKS))
    if any(stride is None for _, stride in strides):
        return fewest, fewest
    known = tuple((stride, number) for number, stride in strides if stride)
    return turns * busiest_bank(known, words), fewest


def vector_width(op: LoadOp | StoreOp, scope: NestScope) -> int:
    """Elements that an access makes at once."""
    return lanes_of(value_of(op)) * prod(loop.extent or 1 for loop in vector_loops(op, scope))


def vector_loops(op: LoadOp | StoreOp, scope: NestScope) -> list[ForOp]:
    """Loops whose steps an access makes at once: the lanes of a vector that is aligned."""
    around = [*loops_around(op)]
    found = [x for x in around if _is_vector(x, op, scope)]
    width = lanes_of(value_of(op)) * prod(loop.extent or 1 for loop in found)
    others = [stride_over(loop, op, scope) for loop in around if loop not in found]
    start = scope.address(op).substitute({str(scope.name(x.index)): Expr() for x in around}).value
    is_aligned = all(s is not None and s % width == 0 for s in (*others, start))
    return found if is_aligned else []


def _is_vector(loop: ForOp, op: LoadOp | StoreOp, scope: NestScope) -> bool:
    """Whether the lanes of a loop access neighbours, all of them or none."""
    if loop.role.data.role is not Role.VECTOR or stride_over(loop, op, scope) != 1:
        return False
    lane, condition = scope.name(loop.index), scope.condition(op)
    return condition == map_expressions(
        condition, lambda e: e.substitute({str(lane): lane + Expr.const(1)})
    )


def _lane_strides(
    op: LoadOp | StoreOp, place: Expr, lanes: int, scope: NestScope
) -> Iterator[tuple[int, int | None]]:
    """Numbers of work-items of a sub-group in a row, with their strides in elements, if an
    access is at a place."""
    around = [x for x in loops_around(op) if x.role.data.role is Role.LOCAL]
    for loop in sorted(around, key=lambda x: AXES.index(x.role.data.axis or AXES[0])):
        count = min(lanes, loop.extent or lanes)
        if count > 1:
            yield count, stride_of(place, loop, scope, loops_inside(loop, op))
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


def _is_continued(
    op: LoadOp | StoreOp, scope: NestScope, at_once: Collection[ForOp], near: int
) -> bool:
    """Whether the next step of a loop accesses the same piece of memory, or the next one."""
    for loop in loops_around(op):
        if loop.is_parallel or loop in at_once:
            continue
        stride = stride_over(loop, op, scope)
        if stride is not None and 0 < abs(stride) <= near:
            return True
    return False
