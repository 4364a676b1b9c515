"""Explanation of the schedule chosen for a kernel, as text for the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import schedule_text
from tiledialect.passes.diagnostics.value_text import described_contraction
from tiledialect.passes.fuse.kernel_fusion import notes_of
from tiledialect.schedule.cost.device import KIB, Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.parts import PARTS, Estimate
from tiledialect.schedule.cost.traffic import in_millions
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import TRANSFERRED, misfits

GIVEN = "given"
"""Family of a schedule that the user gave."""
SHOWN = 3
"""Number of the fastest candidates that are shown, beside the fastest of each other family."""
EQUAL_PERCENT = 0.05
"""Percentage below which a slower schedule is shown as equal."""
UNRANKED = {
    "tensor cores": "products on tensor cores come before all others",
    "scan": "the first schedule of scans comes before the others",
    "scatter": "the first schedule of scatters comes before the others",
}
"""Families whose schedules are taken unranked, with the reason."""


@dataclass(frozen=True)
class Column:
    """Column of the table: a number of an estimate."""

    title: str
    value: Callable[[Estimate], float]
    digits: int = 0

    def of(self, estimate: Estimate) -> str:
        """The number of an estimate, padded to the column's width."""
        return f"{self.value(estimate):{self.width}.{self.digits}f}"

    @property
    def width(self) -> int:
        """The column's width."""
        return max(len(self.title), 7) + 2


def _time(title: str, value: Callable[[Estimate], float]) -> Column:
    return Column(title, lambda e: value(e) * 1e6, 1)


COLUMNS = (
    _time("total", lambda e: e.seconds),
    _time("arithmetic", lambda e: e.arithmetic),
    _time("local", lambda e: e.local),
    _time("cache", lambda e: e.cache),
    _time("memory", lambda e: e.memory),
    _time("waiting", lambda e: e.waiting),
    _time("launch", lambda e: e.launch),
    Column("groups", lambda e: e.groups),
    Column("groups/unit", lambda e: e.resident),
    Column("registers", lambda e: e.registers),
    Column("local bytes", lambda e: e.local_memory),
)


def explanation(
    name: str, kernel: KernelOp, facts: Facts, device: Device, weighed: Sequence[Candidate]
) -> str:
    """Candidates weighed for a kernel, the chosen one first, and the reason for the choice."""
    if weighed[0].family in UNRANKED and len(weighed) == 1:
        lines = (f"{name}: {UNRANKED[weighed[0].family]}", f"  loops: {_loops(facts)}")
        return "\n".join((*lines, f"     {schedule_text(kernel)}"))
    shown = list(_shown(weighed))
    columns = [c for c in COLUMNS if any(c.value(x.estimate) for x in shown)]
    lines = [
        f"{name}: {_weighed_count(facts, device, weighed)}",
        *_contraction_line(kernel),
        f"  loops: {_loops(facts)}",
        f"  at least: {_lower_bound(facts, device)}",
        *(f"  fused: {note}" for note in notes_of(kernel)),
    ]
    lines.append("  us:" + "".join(c.title.rjust(c.width) for c in columns))
    chosen = kernel.schedule
    for number, candidate in enumerate(shown, 1):
        numbers = "".join(c.of(candidate.estimate) for c in columns)
        bound = f"bound by {candidate.estimate.bound}"
        lines.append(f"  {number}: {numbers}  {candidate.family}, {bound}")
        kernel.schedule = ScheduleAttr(candidate.schedule)
        lines.append(f"     {schedule_text(kernel)}")
    kernel.schedule = chosen
    end = f"chosen: 1, {_reason(shown)}"
    if weighed[0].family == GIVEN:
        end = f"given: 1, {_comparison(shown)}"
    return "\n".join((*lines, f"  {end}"))


def described_device(device: Device) -> str:
    """Rates that the model divides by, and the limits of schedules."""
    return (
        f"device: {device.compute_units} compute units, {device.arithmetic:.0f} GFLOP/s, "
        f"{device.bandwidth:.0f} GB/s, {device.launch:.0f} us to start a kernel; a group has at "
        f"most {device.local_mem_size / KIB:.0f} KiB of local memory and "
        f"{device.max_work_group_size} work-items"
    )


def _shown(weighed: Sequence[Candidate]) -> Iterator[Candidate]:
    """The fastest candidates, and the fastest of each family that is not among them."""
    seen = set[str]()
    for place, candidate in enumerate(weighed):
        if place < SHOWN or candidate.family not in seen:
            yield candidate
        seen.add(candidate.family)


def _weighed_count(facts: Facts, device: Device, weighed: Sequence[Candidate]) -> str:
    found = misfits(facts, device).items()
    more = (f"; {count} more would need more than {limit}" for limit, count in found)
    count = len(weighed) - (weighed[0].family == GIVEN)
    besides = " beside the one that is given" if count < len(weighed) else ""
    return f"{count} schedule{'s' * (count != 1)} weighed{besides}" + "".join(more)


def _contraction_line(kernel: KernelOp) -> Iterator[str]:
    """The contraction that the loops iterate, if there is one."""
    op = kernel.contraction
    if op is not None and kernel.axes is None:
        yield f"  computes: {described_contraction(op)}"


def _loops(facts: Facts) -> str:
    """Indices with their extents."""

    def of(names: Sequence[str]) -> str:
        return ", ".join(f"{name} < {facts.extents[name]}" for name in names) or "none"

    reduced = facts.reduced_indices
    return of(facts.output_indices) + (f"; aggregated over {of(reduced)}" if reduced else "")


def _lower_bound(facts: Facts, device: Device) -> str:
    """Work that every schedule must do, and its time at the device's rates."""
    elements = prod(facts.extents[n] for n in facts.output_indices)
    operations = facts.points * facts.operations + elements * facts.operations_after
    return (
        f"{operations / device.arithmetic / 1e3:.1f} us for {in_millions(operations)} million "
        f"operations, {facts.moved / device.bandwidth / 1e3:.1f} us to move "
        f"{in_millions(facts.moved)} MB"
    )


def _comparison(shown: Sequence[Candidate]) -> str:
    """Comparison of a given schedule with the best of the others."""
    if shown[1].family in UNRANKED:
        return "where 2 would be chosen"
    given, best = (candidate.estimate.seconds for candidate in shown[:2])
    if given <= best:
        return "by the model the fastest"
    return f"which takes {100 * (given / best - 1):.1f} % more by the model than 2, the fastest"


def _reason(shown: Sequence[Candidate]) -> str:
    first = shown[0]
    if first.family in UNRANKED:
        return UNRANKED[first.family]
    if len(shown) == 1:
        return "the only one that fits"
    if first.family == TRANSFERRED:
        return f"kept from other sizes, {_comparison(shown)}"
    a, b = (candidate.estimate for candidate in shown[:2])
    behind = 100 * (b.seconds / a.seconds - 1)
    if behind < EQUAL_PERCENT:
        return "the first of those that take the least time by the model"
    part = max(PARTS, key=lambda name: getattr(b, name) - getattr(a, name))
    here, there = (f"{1e6 * getattr(estimate, part):.1f}" for estimate in (a, b))
    more = f", as {part} takes {there} us instead of {here}" if there != here else ""
    return f"the fastest by the model: 2 would take {behind:.1f} % more{more}"
