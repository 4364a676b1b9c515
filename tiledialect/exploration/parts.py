"""Parts of a program that are searched by themselves: each has a space of candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tiledialect.schedule.search.decisions import Chooser, Decisions


@dataclass(frozen=True)
class Candidate:
    """A way to compute a part."""

    text: str
    """The schedule, or the derivation: equal candidates have equal texts."""
    estimate: float
    """Seconds by the cost model."""


class Part(Protocol):
    """A kernel, or a program of patterns."""

    @property
    def name(self) -> str:
        """Name of the part, by which implementations refer to it."""
        ...

    @property
    def weight(self) -> float:
        """Seconds that there are to gain, by the cost model: more trials are for heavy parts."""
        ...

    @property
    def least(self) -> float:
        """Lower bound of the seconds on the device."""
        ...

    @property
    def mutations(self) -> int:
        """Mutations that are estimated for one trial: fewer where an estimate takes long."""
        ...

    def candidate(self, chooser: Chooser) -> Candidate:
        """The candidate that decisions make; raises a ``DeadEndError`` if they make none."""
        ...

    @property
    def least_seeds(self) -> int:
        """Seeds that are measured before other candidates, if they are found in time."""
        ...

    @property
    def awaited_seeds(self) -> int:
        """Seeds that the search waits for: until then it measures no others while they are looked
        for."""
        ...

    def seeds(self) -> Iterator[Decisions | None]:
        """Decisions that are known to be good, the best first; the first is the default's.

        None is a pause: the next ones are being looked for, and others may be measured meanwhile.
        """
        ...
