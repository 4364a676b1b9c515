"""Passes of a row kernel over its rows, and the aggregates of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from tiledialect.analysis.online_sums import Online, maximum_of, numbers, online
from tiledialect.analysis.welford_sums import (
    NO_WELFORD_SUMS,
    Deviation,
    WelfordSum,
    WelfordSums,
    additional_numbers,
    deviations,
    welford_sums,
)
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import IndexOp
from tiledialect.dialects.tile.structure.row_axes import Axes, reduced_by


@dataclass(frozen=True)
class RowPass:
    """Aggregates of one pass over the row, and those that would be a phase later."""

    contractions: Sequence[ContractionOp] = ()
    sums: Online = field(default_factory=dict[ContractionOp, ContractionOp])
    welford: WelfordSums = field(default_factory=dict[ContractionOp, WelfordSum])

    @property
    def is_joined(self) -> bool:
        """Whether the pass joins two phases."""
        return bool(self.sums or self.welford)

    @property
    def held(self) -> int:
        """Most numbers that a lane holds without kept values."""
        return len(self.contractions) + additional_numbers(self.welford, self.contractions)

    @cached_property
    def deviations(self) -> dict[SSAValue, Deviation]:
        """The differences to means that are not known yet."""
        return deviations(self.welford)

    def operands(self, op: Operation) -> Sequence[SSAValue]:
        """Operands of an op, without a maximum or mean that is not known yet."""
        (value,) = op.results
        if value in self.deviations:
            return [self.deviations[value].x]
        return numbers(op) if maximum_of(value) in self.sums.values() else operands(op)


NO_ROW_PASS = RowPass()


def passes_of(ops: Iterable[Operation], axes: Axes) -> list[RowPass]:
    """A pass for the contractions that aggregate and need no other's result, and so on."""
    number: dict[SSAValue, int] = {}
    found: list[list[ContractionOp]] = []
    for op in ops:
        before = max((number.get(v, 0) for v in operands(op)), default=0)
        if isinstance(op, ContractionOp) and reduced_by(op, axes):
            found += [[]] if before == len(found) else []
            found[before].append(op)
            before += 1
        number[op.results[0]] = before
    return [RowPass(phase) for phase in found]


def joined(found: Iterable[RowPass], axes: Axes, *, guess: bool) -> list[RowPass]:
    """Fewer passes: sums may know no maximum yet, or, where it may be a ``guess``, no mean."""
    passes: list[RowPass] = []
    for own in found:
        last = passes[-1] if passes and not passes[-1].is_joined else NO_ROW_PASS
        sums = online(own.contractions, last.contractions, axes)
        later = (
            welford_sums(own.contractions, last.contractions, axes) if guess else NO_WELFORD_SUMS
        )
        if sums or later:
            passes[-1] = RowPass([*last.contractions, *own.contractions], sums, later)
        else:
            passes.append(own)
    return passes


def operands(op: Operation) -> Sequence[SSAValue]:
    """The operands whose elements an op takes."""
    return () if isinstance(op, IndexOp) else op.operands
