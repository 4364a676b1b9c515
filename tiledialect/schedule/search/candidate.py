"""Candidates of the search for schedules."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.loops import Schedule


@dataclass(frozen=True)
class Candidate:
    """A schedule that a pattern proposes, and its estimate."""

    family: str
    schedule: Schedule
    estimate: Estimate
