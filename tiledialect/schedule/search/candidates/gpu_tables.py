"""Sums of few elements times the numbers of a small table, on GPUs.

A work-item has all results of a few elements, such as the 16 sums of a tile of 4 x 4 places that
`tile-winograd` makes: it loads each element once, and the numbers lie in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from tiledialect import caches
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import Role, Schedule, Stage
from tiledialect.schedule.search.candidates.memory import Loops, are_known, by_stride

MOST_NUMBERS = 1024
"""Most elements of a table."""
MOST_RESULTS, MOST_TERMS = 16, 16
"""Most sums of a work-item, and most elements of each."""
LEAST_AXES = 3
"""Sums over one index with results along one are products of matrices."""
ITEMS = (128, 256)
"""Approximate number of work-items of a group."""
WIDE = 4
"""Number of elements that are read at once."""


@dataclass(frozen=True)
class Roles:
    """Roles of the tensors and indices of a sum of products by a table."""

    table: Tensor
    source: Tensor
    own: list[str]
    """The results of a work-item."""
    terms: list[str]
    """Summed indices."""
    rows: list[str]
    """The other indices of the result, the fastest first."""


def gpu_tables(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Schedules that give each work-item all results of a few elements, neighbours in memory to
    neighbours."""
    if not device.is_gpu or (roles := table_roles(facts)) is None:
        return
    for items in ITEMS:
        yield _schedule(facts, roles, items)


@caches.TABLE_ROLES
def table_roles(facts: Facts) -> Roles | None:
    """The roles of a sum of products by a table of several axes; None for other kernels."""
    if not facts.is_product or not facts.aggregates or not are_known(facts.inputs):
        return None
    table, source = sorted(facts.inputs, key=lambda t: t.size)
    own = [n for n in facts.output_indices if n in table.names - source.names]
    terms = [n for n in facts.reduced_indices if facts.extents[n] > 1]
    rows = by_stride(facts.outputs[0], [n for n in facts.output_indices if n not in own], facts)
    if not own or not terms or not rows or len(own) + len(terms) < LEAST_AXES:
        return None
    if not set(terms) <= source.names & table.names or set(rows) & table.names:
        return None
    is_small = table.size <= MOST_NUMBERS * table.bytes
    return (
        Roles(table, source, own, terms, rows) if is_small and _are_few(facts, own, terms) else None
    )


def _are_few(facts: Facts, own: list[str], terms: list[str]) -> bool:
    results, summed = (prod(facts.extents[n] for n in names) for names in (own, terms))
    return results <= MOST_RESULTS and summed <= MOST_TERMS


def _schedule(facts: Facts, roles: Roles, items: int) -> Schedule:
    loops, source = Loops(facts), roles.source
    own = sorted(roles.own, key=lambda n: facts.outputs[0].strides.get(n, 0))
    for k, name in enumerate(own):
        # Pixels next to one another are written together.
        extent, step = facts.extents[name], facts.outputs[0].strides.get(name)
        is_pair = k == 0 and step == 1 and facts.outputs[0].shape[-1] % extent == 0
        loops.add(name, extent, Role.VECTOR if is_pair and extent in (2, 3, 4) else Role.UNROLL)
    terms = sorted(roles.terms, key=lambda n: abs(source.strides[n]))
    for name in terms:
        loops.add(name, facts.extents[name], Role.UNROLL)
    for name in roles.rows:
        count = _share(loops.rest(name), items)
        loops.add(name, count, Role.LOCAL, "x")
        items //= count
    # All elements are loaded before the first is needed.
    elements = Stage(source.number, local=False, at=None)
    return loops.schedule((*_table(roles.table, own, (terms[0], 1)), elements))


def _share(extent: int, items: int) -> int:
    """Number of work-items of an index: all of its values, or a part that divides it."""
    if extent <= items:
        return extent
    return next(n for n in range(items, 0, -1) if extent % n == 0 or n <= items // 2)


def _table(table: Tensor, own: list[str], at: tuple[str, int]) -> tuple[Stage, Stage]:
    """Stage of the table in local memory, with the elements of a step of the sum adjacent."""
    axes = range(len(table.shape))
    moved = [any(n in own for n in e.names) for e in table.access or ()]
    order = tuple(sorted(axes, key=lambda k: moved[k]))
    local = Stage(table.number, local=True, at=None, vector=WIDE)
    if order != tuple(axes):
        local = replace(local, order=order)
    return local, Stage(table.number, local=False, at=at, vector=WIDE)
