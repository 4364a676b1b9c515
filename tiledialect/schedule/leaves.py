"""The loops of a schedule: which index each moves, by how much, and what runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.utils.str_enum import StrEnum

from tiledialect.index.expr import Range


class ScheduleError(ValueError):
    """Leaves that are no schedule of a kernel."""


class Role(StrEnum):
    """What runs the values of a leaf: a grid of work-groups or work-items, or a loop."""

    GROUP = "group"
    LOCAL = "local"
    SERIAL = "serial"
    UNROLL = "unroll"
    VECTOR = "vector"


@dataclass(frozen=True)
class Leaf:
    """One loop of a schedule: ``index`` grows by ``stride`` with each of ``extent`` steps.

    ``axis`` is ``x``, ``y`` or ``z`` for the roles ``group`` and ``local``, else empty. An index
    is its lower bound plus the sum of its leaves' steps times their strides.
    """

    index: str
    stride: int
    extent: int
    role: Role
    axis: str = ""

    def __str__(self) -> str:
        role = f"{self.role}.{self.axis}" if self.axis else str(self.role)
        step = self.index if self.stride == 1 else f"{self.stride}*{self.index}"
        return f"{role} {step} : {self.extent}"


@dataclass(frozen=True)
class LoopIndex:
    """An index of a kernel: its range, and whether it moves the output."""

    name: str
    range: Range
    is_output: bool


def check(indices: Sequence[LoopIndex], leaves: Sequence[Leaf]) -> None:
    """Refuse leaves that do not count through every index exactly once.

    The leaves of an index, by falling stride, must be a mixed-radix system: each stride is the
    next one's stride times its extent, the last is 1, and together they reach the whole range.

    Raises:
        ScheduleError: an index is unknown, has a gap or an overlap, or is not reached.
    """
    names = {index.name for index in indices}
    for leaf in leaves:
        if leaf.index not in names:
            raise ScheduleError(
                f"the schedule has a loop over {leaf.index}, which is no index here"
            )
    for index in indices:
        reach = 1
        for leaf in sorted((x for x in leaves if x.index == index.name), key=lambda x: x.stride):
            if leaf.stride != reach:
                raise ScheduleError(
                    f"the loops over {index.name} have a gap or an overlap at stride {leaf.stride}"
                )
            reach *= leaf.extent
        if reach < index.range.extent:
            raise ScheduleError(
                f"the loops over {index.name} reach {reach} of its {index.range.extent} values"
            )
