"""The patterns of schedules, and the generator of the candidates that they propose.

A pattern is a hierarchy of levels with the sizes to try. It applies to a kernel that has the roles
that it needs. It need not find the best, which the cost model does, nor test the limits of the
device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.search.candidates import (
    contraction_roles,
    cpu_contractions,
    gpu_contractions,
    gpu_sums,
    roles,
    row_kernels,
    streams,
    sums,
    windows,
)
from tiledialect.schedule.search.candidates.roles import Roles

T = TypeVar("T")
RolesOf = Callable[[Facts, Device], Iterable[Roles]]


@dataclass(frozen=True)
class Pattern(Generic[T]):
    """Hierarchy of levels."""

    family: str
    """The name that explanations have for it and similar ones."""
    kind: Kind | None
    """The kind of device that it is for; None: any."""
    roles: Callable[[Facts, Device], Iterable[T]]
    """The choices of roles, with sizes that are compared for all roles; none where the pattern does
    not apply."""
    schedules: Callable[[Facts, T, Device], Iterable[Schedule]]
    """Schedules of a choice, by the sizes of levels."""


def _rows(of: RolesOf) -> RolesOf:
    """Roles with lanes along a sum."""
    return lambda facts, device: (r for r in of(facts, device) if r.along in r.sums)


def _columns(of: RolesOf) -> RolesOf:
    """Roles with lanes along the output."""
    return lambda facts, device: (r for r in of(facts, device) if r.along not in r.sums)


CPU, GPU = Kind.CPU, Kind.GPU
ONCE, ROWS = roles.read_once_roles, roles.row_roles

PATTERNS: tuple[Pattern[Any], ...] = (
    Pattern("contractions", GPU, contraction_roles.gpu_roles, gpu_contractions.in_chunks),
    Pattern("shared sums", GPU, contraction_roles.shared_roles, gpu_sums.shared_sums),
    Pattern("tables", GPU, contraction_roles.table_roles, gpu_sums.tables),
    Pattern("contractions", CPU, cpu_contractions.best_tiles, cpu_contractions.in_blocks),
    Pattern("sums", CPU, roles.memory_roles, sums.sums_along_memory),
    Pattern("streams", CPU, roles.interleaved_roles, streams.interleaved),
    Pattern("streams", CPU, roles.stream_roles, streams.streams_on_cpu),
    Pattern("streams", GPU, roles.stream_roles, streams.streams_on_gpu),
    Pattern("transpositions", CPU, roles.square_roles, streams.squares_on_cpu),
    Pattern("transpositions", GPU, roles.square_roles, streams.squares_on_gpu),
    Pattern("sums", CPU, _columns(ONCE), sums.column_sums_on_cpu),
    Pattern("sums", GPU, _rows(ONCE), sums.row_sums_on_gpu),
    Pattern("sums", GPU, _columns(ONCE), sums.column_sums_on_gpu),
    Pattern("windows", None, roles.window_roles, windows.windows),
    Pattern("row kernels", None, ROWS, row_kernels.short_rows),
    Pattern("row kernels", CPU, _rows(ROWS), row_kernels.rows_on_cpu),
    Pattern("row kernels", CPU, _columns(ROWS), row_kernels.columns_of_rows_on_cpu),
    Pattern("row kernels", GPU, _rows(ROWS), row_kernels.rows_on_gpu),
    Pattern("row kernels", GPU, _columns(ROWS), row_kernels.kept_columns_on_gpu),
)
"""Every pattern, in the order in which equally fast schedules are preferred."""


def generated(
    facts: Facts, device: Device, patterns: Iterable[Pattern[Any]] = PATTERNS
) -> Iterator[tuple[str, Schedule]]:
    """The schedules of patterns for a kernel, with the names of their families."""
    for pattern in patterns:
        if pattern.kind in (None, device.kind):
            for choice in pattern.roles(facts, device):
                for schedule in pattern.schedules(facts, choice, device):
                    yield pattern.family, schedule
