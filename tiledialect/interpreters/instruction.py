"""The meaning of an instruction: the contraction of its box, for all work-items at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect import caches
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, kind_of
from tiledialect.schedule.instructions import Fragment, Instruction, RowLoad

Array = npt.NDArray[Any]


def round_tf32(x: Array) -> Array:
    """Numbers with 10 bits after the point: those below, after a third to two thirds are added."""
    more = x * np.float32(float.fromhex("0x1.001555p0"))
    rounded = more.view(np.uint32) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(x), x, rounded.view(np.float32))


ROUND: dict[str, Callable[[Array], Array]] = {"tf32": round_tf32}
"""Rounding of the element types that only instructions have."""


def execute(
    entry: Instruction, items: int, sums: Sequence[Array], factors: Sequence[Array]
) -> list[Array]:
    """The registers of the sums of all work-items after the instruction.

    The first axis of every register is the work-items, or of length 1 where all have the same.
    """
    boxes: list[Array] = []
    rest = list(factors)
    for fragment in entry.operands:
        registers, rest = rest[: fragment.registers], rest[fragment.registers :]
        boxes.append(_box(entry, fragment, items, registers))
    letters = ["z" + "".join(_letter(entry, a) for a in f.axes) for f in entry.fragments]
    wide = [b.astype(np.float64) if kind_of(b.dtype) == "f" else b for b in boxes]
    products = np.einsum(f"{','.join(letters[1:])}->{letters[0]}", *wide)
    total = _box(entry, entry.result, items, sums)
    total = (total + products).astype(total.dtype)
    return _registers(entry, entry.result, total, items)


def _letter(entry: Instruction, axis: str) -> str:
    return "abcdefghijklmnopqrstuvwxy"[entry.axes.index(axis)]


def _box(entry: Instruction, fragment: Fragment, items: int, registers: Sequence[Array]) -> Array:
    """An operand's box for each group of work-items that execute the instruction together."""
    dtype = NUMPY_TYPES[CONCRETE[fragment.stored]]
    columns = [np.broadcast_to(r.reshape(len(r), -1), (items, fragment.packed)) for r in registers]
    elements = np.ascontiguousarray(np.concatenate(columns, 1)).view(dtype)
    if fragment.type in ROUND:
        elements = ROUND[fragment.type](elements)
    box = np.zeros((items // entry.lanes, *entry.extents(fragment)), dtype)
    box[:, *_places(fragment, entry.lanes)] = elements.reshape(-1, entry.lanes, fragment.count)
    return box


@caches.FRAGMENT_PLACES
def _places(fragment: Fragment, lanes: int) -> Array:
    """Position of each element of each work-item along each axis of the operand's box."""
    found = [[fragment.at(lane, k) for k in range(fragment.count)] for lane in range(lanes)]
    return np.moveaxis(np.array(found), -1, 0)


def load_rows(entry: Instruction, number: int, named: RowLoad, rows: Array) -> list[Array]:
    """The registers of an operand that each work-item has of the rows that all of them load."""
    fragment = entry.operands[number]
    items, width = rows.shape
    axis = fragment.axes.index(named.axis)
    box = np.zeros((items // entry.lanes, *entry.extents(fragment)), rows.dtype)
    for lane in range(entry.lanes):
        first = [e.evaluate({"lane": lane}) for e in named.place]
        for k in range(width):
            place = [p + k * (a == axis) for a, p in enumerate(first)]
            box[:, *place] = rows[lane :: entry.lanes, k]
    return _registers(entry, fragment, box, items)


def _registers(entry: Instruction, fragment: Fragment, box: Array, items: int) -> list[Array]:
    """The registers that each work-item has of an operand's box."""
    elements = box[:, *_places(fragment, entry.lanes)].reshape(items, fragment.count)
    if fragment.packed == 1:
        return list(elements.T)
    return list(elements.reshape(items, -1, fragment.packed).swapaxes(0, 1))
