"""Private buffers as values: a table from places to their values, or lanes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.nest.lanes import vector_of
from tiledialect.lowering.nest.utils.constants import constant
from tiledialect.lowering.nest.utils.shuffles import shuffle

Emit = Callable[[Operation], SSAValue]
Held = tuple[SSAValue, int] | None
"""Value and number of its lane at a place, if it is written."""


@dataclass(frozen=True)
class Chunk:
    """Neighbouring places that one value holds, a lane each."""

    place: int
    lanes: int


@dataclass
class Registers:
    """Contents of a private buffer."""

    element_type: Attribute
    places: dict[int, tuple[SSAValue, int]] = field(default_factory=dict[int, tuple[SSAValue, int]])
    """Value at each place, and the number of its lane."""
    whole: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """Values all of whose lanes are still there, by their first places."""

    def copy(self) -> Registers:
        """Copy the contents."""
        return Registers(self.element_type, dict(self.places), dict(self.whole))

    def type(self, lanes: int) -> Attribute:
        """Type of so many neighbours."""
        return self.element_type if lanes == 1 else vector_of(self.element_type, lanes)

    def write(self, place: int, value: SSAValue) -> None:
        """Write a value at a place, or a vector at it and those after."""
        for lane in range(lanes_of(value)):
            old, number = self.places.get(place + lane, (None, 0))
            first = place + lane - number
            if old is not None and self.whole.get(first) is old:
                del self.whole[first]
            self.places[place + lane] = (value, lane)
        self.whole[place] = value

    def read(self, place: int, lanes: int, emit: Emit) -> SSAValue:
        """Read the value at a place, or the vector from there on; unwritten places are 0."""
        whole = self.whole.get(place)
        if whole is not None and lanes_of(whole) == lanes:
            return whole
        found = [self.places.get(place + lane) for lane in range(lanes)]
        if lanes > 1 and not any(found):
            return emit(constant(0, self.type(lanes)))
        if lanes > 1 and (part := self._part(found)) is not None:
            part.result.name_hint = part.v1.name_hint
            return emit(part)
        if any(map(self._is_vector, _halves(found))):
            half = lanes // 2
            low, high = (self.read(place + first, half, emit) for first in (0, half))
            return emit(shuffle(low, high, range(lanes)))
        elements = [self._element(place + lane, emit) for lane in range(lanes)]
        if lanes == 1:
            return elements[0]
        t = self.type(lanes)
        assert isinstance(t, VectorType)
        total = emit(vector.BroadcastOp(elements[0], t))
        for lane in range(1, lanes):
            if elements[lane] is not elements[0]:
                total = emit(vector.InsertOp(elements[lane], total, [lane]))
        return total

    def _part(self, found: Sequence[Held]) -> vector.ShuffleOp | None:
        """Neighbouring lanes of one vector at these places, if they are such."""
        if found[0] is None or not _are_neighbours(found):
            return None
        whole, first = found[0]
        if lanes_of(whole) <= len(found):
            return None
        return shuffle(whole, whole, range(first, first + len(found)))

    def _is_vector(self, found: Sequence[Held]) -> bool:
        """Whether these places are neighbouring lanes of one vector, or made of such."""
        if len(found) < 2 or found[0] is None:
            return False
        return _are_neighbours(found) or any(map(self._is_vector, _halves(found)))

    def _element(self, place: int, emit: Emit) -> SSAValue:
        found = self.places.get(place)
        if found is None:
            return emit(constant(0, self.element_type))
        value, lane = found
        if not isinstance(value.type, VectorType):
            return value
        element = emit(vector.ExtractOp(value, [lane], self.element_type))
        element.name_hint = value.name_hint
        return element

    def chunks(self) -> list[Chunk]:
        """Written places, by the values that hold them."""
        found: list[Chunk] = []
        for place in sorted(self.places):
            value, lane = self.places[place]
            if lane and found and self._continues(found[-1], place, value, lane):
                found[-1] = Chunk(found[-1].place, lane + 1)
            else:
                found.append(Chunk(place, 1))
        return [part for chunk in found for part in self._whole(chunk)]

    def _continues(self, chunk: Chunk, place: int, value: SSAValue, lane: int) -> bool:
        """Whether a place holds the lane after those of a chunk."""
        own = self.places[chunk.place][0] is value and chunk.place + lane == place
        return own and chunk.lanes == lane

    def _whole(self, chunk: Chunk) -> list[Chunk]:
        """The chunk, if it is all of its value, else its places one by one."""
        if lanes_of(self.places[chunk.place][0]) == chunk.lanes:
            return [chunk]
        return [Chunk(chunk.place + k, 1) for k in range(chunk.lanes)]


def _are_neighbours(found: Sequence[Held]) -> bool:
    """Whether places are lanes of one value, one after the other."""
    if found[0] is None:
        return False
    whole, first = found[0]
    return list(found) == [(whole, first + k) for k in range(len(found))]


def _halves(found: Sequence[Held]) -> tuple[Sequence[Held], ...]:
    """Halves of some places, if these are vectors."""
    half = len(found) // 2
    return (found[:half], found[half:]) if half > 1 and len(found) == 2 * half else ()


def lanes_of(value: SSAValue) -> int:
    """Number of elements of a value."""
    return value.type.get_shape()[0] if isinstance(value.type, VectorType) else 1
