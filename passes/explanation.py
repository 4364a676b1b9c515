"""Why a kernel has its schedule, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import schedule_text
from tiledialect.schedule.choice import DEFAULT, Candidate
from tiledialect.schedule.cost import Estimate

SHOWN = 4
"""How many candidates are shown beside the default one."""

COLUMNS = ("total", "arithmetic", "near", "shared", "far", "waiting")


def explained(name: str, kernel: KernelOp, weighed: Sequence[Candidate]) -> str:
    """A table of the candidates that were weighed, the chosen one first, and their schedules."""
    chosen = kernel.schedule
    lines = [f"{name}: {len(weighed)} schedules weighed; microseconds and what is used:"]
    lines.append(
        "  " + "".join(f"{c:>11}" for c in COLUMNS) + "   groups  a unit  registers  local B"
    )
    default = [candidate for candidate in weighed[SHOWN:] if candidate.family == DEFAULT]
    shown = [*weighed[:SHOWN], *default]
    for candidate in shown:
        lines.append("  " + _row(candidate.estimate) + f"  {candidate.family}")
        kernel.schedule = ScheduleAttr(candidate.schedule)
        lines.append(f"    {schedule_text(kernel)}")
    kernel.schedule = chosen
    best = weighed[0].estimate
    lines.append(f"  chosen: the first, bound by {best.bound}")
    return "\n".join(lines)


def _row(e: Estimate) -> str:
    return "".join(_numbers(e))


def _numbers(e: Estimate) -> Iterator[str]:
    for part in (e.seconds, e.arithmetic, e.near, e.shared, e.far, e.waiting):
        yield f"{part * 1e6:11.1f}"
    yield f"{e.groups:9}{e.resident:8}{e.registers:11}{e.local_memory:9}"
