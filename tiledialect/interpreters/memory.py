"""Memory of a kernel: checked accesses and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tiledialect.interpreters.lanes import along_lanes, dtype_of

Array = npt.NDArray[Any]


class RunError(Exception):
    """Forbidden access or step of a kernel."""


@dataclass(frozen=True)
class Memory:
    """Copies of an array: one for all work-items, for each work-group or for each work-item."""

    data: Array
    """The elements of each copy, in memory order."""
    written: Array
    """Whether each element was ever written."""
    copy: Array
    """Copy that each work-item uses."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    """Position of the first element, of each work-item."""

    @staticmethod
    def new(t: MemRefType[Attribute], copies: int, copy: Array) -> Memory:
        """An array of type ``t`` in which nothing is written."""
        shape, strides = layout(t)
        size = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        size = size if prod(shape) else 0
        written = np.zeros((copies, size), np.bool_)
        return Memory(np.zeros((copies, size), dtype_of(t.element_type)), written, copy, *layout(t))

    def viewed(self, t: MemRefType[Attribute], start: Array | int) -> Memory:
        """The same elements in the shape of another type, from a position on."""
        begin = self.start + start
        return Memory(self.data, self.written, self.copy, *layout(t), begin)

    # -- accesses --------------------------------------------------------------------------

    def load(self, place: Sequence[Array], active: Array, lanes: int | None) -> Array:
        """Load the elements of active work-items at a place, or so many neighbours from there; else
        0.

        Raises:
            RunError: the place is outside, or nothing was written there.
        """
        copy, position = self._position(place, active, lanes)
        if not self.written[copy, position].all():
            bad = int(np.argmin(self.written[copy, position].reshape(len(position), -1).all(1)))
            raise RunError(f"element {self._name(place, active, bad)} was never written")
        shape = (len(active),) if lanes is None else (len(active), lanes)
        result = np.zeros(shape, self.data.dtype)
        result[active] = self.data[copy, position]
        return result

    def store(self, place: Sequence[Array], active: Array, values: Array) -> None:
        """Store the values of active work-items at their places, or from there on.

        Raises:
            RunError: the place is outside, or two work-items write different values there.
        """
        lanes = values.shape[1] if values.ndim == 2 else None
        copy, position = self._position(place, active, lanes)
        given = np.broadcast_to(values, (len(active), *values.shape[1:]))[active]
        self.data[copy, position] = given
        self.written[copy, position] = True
        kept = self.data[copy, position]
        same = (kept == given) | ((kept != kept) & (given != given))
        if not same.all():
            bad = int(np.argmin(same.reshape(len(same), -1).all(1)))
            where = self._name(place, active, bad)
            raise RunError(f"two work-items write different values to element {where}")

    def _position(
        self, place: Sequence[Array], active: Array, lanes: int | None
    ) -> tuple[Array, Array]:
        """The copy and the position in it of each active work-item, or of each of its lanes."""
        count = len(active)
        position = np.broadcast_to(self.start, count)
        outside = np.zeros(count, np.bool_)
        for coordinate, size, stride in zip(place, self.shape, self.strides, strict=True):
            outside |= (coordinate < 0) | (coordinate >= size)
            position = position + coordinate * stride
        outside |= position + (lanes or 1) > self.data.shape[1]
        if (outside & active).any():
            bad = int(np.argmax(outside[active]))
            raise RunError(f"element {self._name(place, active, bad)} is outside")
        copy, position = np.broadcast_to(self.copy, count)[active], position[active]
        if lanes is None:
            return copy, position
        return along_lanes(copy, 2), position[:, None] + np.arange(lanes)

    @staticmethod
    def _name(place: Sequence[Array], active: Array, number: int) -> str:
        """The coordinates that an active work-item has."""
        found = (np.broadcast_to(c, len(active))[active][number] for c in place)
        return f"[{', '.join(map(str, found))}]"


def layout(t: MemRefType[Attribute]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of a memref, and its strides, which are numbers."""
    strides = t.get_strides()
    assert strides is not None and None not in strides
    return t.get_shape(), tuple(s for s in strides if s is not None)
