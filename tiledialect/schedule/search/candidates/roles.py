"""Roles of a kernel's indices, from its accesses: lanes, rows, sums and taps of all schedules.

An index runs along the memory of a tensor if a step moves it to the next element; the fastest one
of the output, or of the operand that is read most, is that of lanes and of neighbouring work-items.
No roles mean that a kernel is of another kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import READ_TWICE, Facts, Tensor, between_lanes

MAX_TAPS = 128
"""Windows of more taps are contractions."""
MOST_CLASSES = 16
"""Most residue classes of the output of windows, or similar indices, of an item."""
INTERLEAVED = 4
"""Most elements between the lanes of vectors whose stores are interleaved."""


@dataclass(frozen=True)
class Roles:
    """Roles of the indices of a kernel."""

    along: str
    """The index of lanes and of neighbouring work-items."""
    rows: tuple[str, ...]
    """The other output indices, in the order in which tiles, items and groups have several
    values."""
    sums: tuple[str, ...]
    """The summed indices, innermost first."""
    taps: tuple[str, ...] = ()
    """Short summed indices that are inside all others, or around them."""
    inner: tuple[str, ...] = ()
    """Output indices of few values, all of which an item may have accumulators for."""
    alone: tuple[str, ...] = ()
    """Output indices each value of which has groups of its own."""
    is_turned: bool = False
    """Whether `along` is not the fastest index in the output's memory."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The index of the lanes, then the rows: all output indices if the lanes are not summed."""
        return self.along, *self.rows


def by_stride(tensor: Tensor, indices: Iterable[str], facts: Facts) -> list[str]:
    """The indices of several values that move a tensor, the fastest in memory first."""
    moving = [n for n in indices if facts.extents[n] > 1 and tensor.strides.get(n)]
    return sorted(moving, key=lambda n: abs(tensor.strides[n]))


def written(facts: Facts) -> list[str]:
    """The indices that move the output, the fastest in memory first."""
    return by_stride(facts.outputs[0], facts.output_indices, facts)


def summed(facts: Facts) -> list[str]:
    """The summed indices of several values."""
    return [n for n in facts.reduced_indices if facts.extents[n] > 1]


def largest(facts: Facts) -> Tensor:
    """The largest tensor among the inputs."""
    return max(facts.inputs, key=lambda t: t.size)


def are_known(facts: Facts) -> bool:
    """Whether there are inputs, and all are accessed by affine functions of the indices."""
    return bool(facts.inputs) and all(t.access is not None for t in facts.inputs)


def along_input(facts: Facts, order: list[str]) -> Iterator[Roles]:
    """Roles with lanes along an operand whose indices have an order, if it sums some of them."""
    sums = [n for n in order if n in facts.reduced_indices]
    others = [n for n in facts.reduced_indices if n not in sums]
    rows = [n for n in order[1:] if n not in sums]
    if sums:
        yield Roles(order[0], tuple(rows), (*sums, *others))


def windows_of(facts: Facts, name: str) -> Iterator[Mapping[str, int]]:
    """Moves of indices along the axes of inputs that an index moves along."""
    return (moves for t in facts.inputs for moves in t.affine_access.moves if name in moves)


def slide_with(facts: Facts, m: str) -> set[str]:
    """Indices whose steps move an operand as the steps of `m` do: overlapping windows of
    neighbours."""
    return {name for moves in windows_of(facts, m) for name in moves} - {m}


# -- kernels without sums --------------------------------------------------------------------------


def stream_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles of a kernel that reduces nothing, or single points, if all tensors lie along its
    rows."""
    order = _unsummed(facts)
    if order and not any(_is_transposed(t, order[0]) for t in facts.inputs):
        yield Roles(order[0], tuple(order[1:]), ())


def interleaved_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles with lanes along the second index of the output, between which all values of the first
    row lie."""
    order = _unsummed(facts)
    if len(order) > 1 and between_lanes(facts, order[1]) == order[0]:
        first, second, *others = order
        along = all(_lies_along(t, first, second, facts) for t in facts.inputs)
        if along and facts.extents[first] <= INTERLEAVED:
            yield Roles(second, (first, *others), ())


def square_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles of a copy whose input and output have different fastest indices: the first row is the
    fastest of the input."""
    if facts.is_rows or facts.aggregation != "assign" or len(facts.inputs) != 1:
        return
    (source,) = facts.inputs
    order, read = written(facts), by_stride(source, facts.output_indices, facts)
    if read and order and read[0] != order[0] and source.strides[read[0]] == 1:
        yield Roles(order[0], (read[0], *(n for n in order[1:] if n != read[0])), ())


def _unsummed(facts: Facts) -> list[str]:
    """The order of the output of a kernel that reduces nothing; none for others."""
    return [] if facts.is_rows or summed(facts) else written(facts)


def _is_transposed(tensor: Tensor, first: str) -> bool:
    """Whether another index than the output's fastest one is the fastest of a tensor."""
    return abs(tensor.strides.get(first, 0)) > 1 and bool(tensor.contiguous)


def _lies_along(tensor: Tensor, first: str, second: str, facts: Facts) -> bool:
    """Whether vectors along the second index are read in a row, or interleaved as they are written.

    Either may be the last one first.
    """
    stride = abs(tensor.strides.get(second, 0))
    return stride in (0, 1) or (stride == facts.extents[first] and tensor.strides.get(first) == 1)


# -- sums and rows ---------------------------------------------------------------------------------


def read_once_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles of an aggregate that reads the elements of the largest operand about once."""
    if facts.aggregates and are_known(facts):
        source = largest(facts)
        order = by_stride(source, facts.extents, facts)
        if _is_read_once(facts) and order and source.strides[order[0]] == 1:
            yield from along_input(facts, order)


def _is_read_once(facts: Facts) -> bool:
    """Whether each element of the largest input is read about once."""
    source = largest(facts)
    return facts.points * source.bytes <= READ_TWICE * source.size


def memory_roles(facts: Facts, device: Device) -> Iterator[Roles]:
    """Roles of an aggregate along the memory of its largest operand, if that fills a vector or is
    read once."""
    if not facts.aggregates or not facts.points or not are_known(facts):
        return
    source = largest(facts)
    least = 2 if _is_read_once(facts) else device.lanes(source.type, source.bytes)
    names = (n for n in facts.reduced_indices if source.strides.get(n) == 1)
    along = next((n for n in names if facts.extents[n] >= least > 1), None)
    if along is not None:
        outputs = [n for n in reversed(facts.output_indices) if facts.extents[n] > 1]
        outputs.sort(key=lambda n: abs(source.strides.get(n, 0)))
        others = [n for n in facts.reduced_indices if n != along]
        yield Roles(along, tuple(outputs), (along, *reversed(others)))


def row_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles of a row kernel."""
    if facts.is_rows and facts.inputs and (order := _row_order(facts)):
        yield from along_input(facts, order)


def _row_order(facts: Facts) -> list[str]:
    """Indices of the largest input, the fastest in memory first; none if its rows have gaps.

    Where each input lacks some, as the inputs of all pairs do, the last axis of the computed values
    is the fastest.
    """
    source = largest(facts)
    order = by_stride(source, facts.extents, facts)
    axes = [n for n, extent in facts.extents.items() if extent > 1]
    if len(order) < len(axes) and not any(t.names >= {*axes} for t in facts.inputs):
        return axes[::-1]
    return order if order and source.strides[order[0]] == 1 else []


# -- windows ---------------------------------------------------------------------------------------


def window_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """Roles of windows of few taps: the indices of the output, and the taps."""
    taps, order = summed(facts), written(facts)
    if not facts.aggregates or not facts.reduced_indices or not are_known(facts) or not order:
        return
    if prod(facts.extents[n] for n in taps) > MAX_TAPS:
        return
    source = slid_over(facts, taps)
    if source and _moves(facts, source, order) and any(meets(source, n, taps) for n in order):
        taps.sort(key=lambda n: abs(source.strides[n]))
        yield Roles(order[0], tuple(order[1:]), (), tuple(taps))


def slid_over(facts: Facts, taps: Iterable[str]) -> Tensor | None:
    """The largest tensor that taps slide over."""
    slid = (t for t in facts.inputs if t.names.issuperset(taps))
    return max(slid, key=lambda t: t.size, default=None)


def _moves(facts: Facts, source: Tensor, order: list[str]) -> bool:
    """Whether the output's indices, except residue classes, move the tensor that the taps slide
    over."""
    others = [n for n in order if n not in source.names]
    return not others or (
        not facts.is_product and prod(facts.extents[n] for n in others) <= MOST_CLASSES
    )


def meets(source: Tensor, name: str, taps: Iterable[str]) -> bool:
    """Whether an index moves along an axis on which there are taps."""
    return any(name in e.names and not set(taps).isdisjoint(e.names) for e in source.access or ())
