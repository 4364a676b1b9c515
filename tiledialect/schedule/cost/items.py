"""Time of a kernel as the work of its work-items and their groups.

The work of a schedule (counted by `counts`) is divided by the device's rates:

- *arithmetic*: the points' operations, the loads that feed them, the copies of stages, and the
  steps of loops; a compute unit issues as many as its arithmetic rate allows;
- *local*: reads near the items: from local memory on a GPU, from the first cache on a CPU;
- *cache*: fetches of groups from the last cache, each for itself;
- *memory*: each tensor once;
- *waiting*: each step of a loop that fetches from memory waits, and only other groups on the unit,
  or fetching ahead, hide that; a work-item that reads operands itself waits for each few of them,
  which other sub-groups hide.

Groups come in waves, of which the last may leave units idle, or the memory. The parts overlap, but
not wholly.
"""

from __future__ import annotations

from math import ceil, prod

from tiledialect.schedule.cost.banks import WORD, busiest_bank
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import AffineAccess
from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.cost.rates import Items
from tiledialect.schedule.cost.stores import written, written_again
from tiledialect.schedule.loops import Role

SCHEDULERS = 4
"""Number of sub-groups from which a unit of a GPU issues at a time."""
MOST_RESIDENT = 32
"""Most groups that a unit of a GPU has at a time, however small they are."""
CACHED_COPIES = 4096
"""Number of copies of the innermost body that the instruction cache holds."""


def items_estimate(m: Model) -> Estimate:
    """Estimate of a kernel by a schedule, without its launch."""
    facts, device, rates = m.facts, m.device, m.rates.items
    units = device.compute_units
    unit_rate = device.arithmetic * 1e9 / units
    unit_rate *= _lanes(m) / device.item_lanes
    groups_unit = ceil(m.groups / units)
    resident = max(1, min(_resident(m), groups_unit))
    fetched = [m.fetched(access) for access in m.accesses]
    copied = sum(
        chunks * _copy_instructions(m, access)
        for (_, chunks, _), access in zip(fetched, m.accesses, strict=True)
    )
    arithmetic = _group_flops(m, copied) / unit_rate
    local = _local(m) / (unit_rate / 2 * rates.local_rate)

    own = m.overlapped(arithmetic, local)
    waits = max((n for _, _, n in fetched), default=0)
    busy = _busy(m, own, waits, groups_unit, resident) + _ends(m, groups_unit, resident)

    bandwidth = device.bandwidth * 1e9
    again = written_again(m) / (bandwidth * rates.shared_rate)
    busy += rates.stored_again * again * resident / groups_unit
    near = m.groups * sum(
        b / _readers(m, access, resident)
        for (b, _, _), access in zip(fetched, m.accesses, strict=True)
    )
    cache = (near + written(m)) / (bandwidth * rates.shared_rate)
    memory = (facts.moved + _read_again(m)) / bandwidth
    if resident == 1:
        busy += _unhidden(m, waits, groups_unit, facts.read / max(near, 1.0))
    seconds = m.overlapped(busy, cache, memory)
    if max(cache, memory) > busy and m.traits.interleaves_groups:
        if resident == 1 < groups_unit and not facts.is_rows:
            seconds *= rates.lone
        seconds += memory * _last_wave(m)
    return Estimate(
        seconds=seconds,
        arithmetic=arithmetic * groups_unit,
        local=local * groups_unit,
        cache=cache,
        memory=memory,
        waiting=max(0.0, busy - own * groups_unit),
        groups=m.groups,
        resident=resident,
        registers=m.registers,
        local_memory=m.local_memory,
        copy_steps=m.copy_steps,
    )


def _readers(m: Model, access: AffineAccess, resident: int) -> int:
    """Number of groups of a unit that share reads by its first cache.

    An example is the vector of a product with a matrix, all of which each group reads.
    """
    is_alone = not m.traits.interleaves_groups
    if is_alone or m.copies(access.tensor) or _moves(m, access):
        return 1
    return resident


def _is_tile(m: Model, access: AffineAccess) -> bool:
    """Whether an operand is read from a tile in local memory."""
    return any(copy.stage.local for copy in m.copies(access.tensor))


def _moves(m: Model, access: AffineAccess) -> bool:
    """Whether groups read different parts of a tensor."""
    groups = {x.index for x in m.levels if x.role is Role.GROUP}
    return any(n in groups for axis in access.moves for n in axis)


def _lanes(m: Model) -> int:
    """Number of points of an instruction of a work-item."""
    return max(1, min(m.vector, m.device.item_lanes))


def _group_flops(m: Model, copied: float) -> float:
    """Instructions of a group, with those of its copies, each counted as two operations."""
    facts, rates = m.facts, m.rates.items
    loads = sum(times for _, times, _ in m.reads) / _lanes(m)
    loops = rates.loop_instructions * sum(
        m.trips(k + 1) for k in range(m.parallel, len(m.levels)) if m.levels[k].role is Role.SERIAL
    )
    outputs = m.points if facts.aggregation is None else m.accumulators * m.trips(m.first_reduction)
    per_item = m.points * facts.operations + 2 * loads + 2 * loops + 2 * rates.group_instructions
    per_item += outputs * (facts.operations_after + 2 * (len(facts.outputs) + len(facts.after)))
    # A tree joins the sums that items share.
    per_item += 2 * m.accumulators * rates.join_instructions * (m.sharing - 1).bit_length()
    flops = per_item * m.items + 2 * copied
    if m.registers > m.device.registers:
        flops *= rates.spill
    return flops * 2 if m.unrolled > CACHED_COPIES else flops


def _copy_instructions(m: Model, access: AffineAccess) -> float:
    """Instructions for a copy of a piece of an operand, besides its load and store."""
    rates, copies = m.rates.items, m.copies(access.tensor)
    is_word = bool(copies) and copies[0].stage.asynchronous and copies[0].width == 1
    return rates.word_instructions if is_word else rates.copy_instructions


def _busy(m: Model, own: float, waits: float, groups: int, resident: int) -> float:
    """Seconds of a unit for its groups, of which some are resident at a time.

    Each works for ``own`` seconds, which all share, and waits for its own fetches.
    """
    prefetches = not m.traits.interleaves_groups
    ahead = prefetches or any(s.copies > 1 for s in m.schedule.stages)
    alone, seen, barriers = group_waits(m.rates.items, m.device, own, waits, ahead)
    alone = max(alone, _own_seconds(m, own))
    rounds, last = divmod(groups, resident)
    return sum(
        times * (max(own * n / _issue(m, n), alone) + seen + barriers / n)
        for n, times in ((resident, rounds), (last, 1))
        if n
    )


def group_waits(
    rates: Items, device: Device, own: float, fetches: float, ahead: bool
) -> tuple[float, float, float]:
    """Seconds of a lone group that works for ``own`` seconds and waits for fetches, maybe ahead;
    of its waits that others do not hide; and of its barriers."""
    latency = device.latency * 1e-6
    wait = fetches * latency * rates.wait
    alone = max(own, wait) if ahead else own + wait
    seen = 0.0 if ahead else rates.seen * wait
    # A tile not fetched ahead overwrites one that is read: a barrier before, and one after.
    return alone, seen, fetches * latency * rates.barrier * (1 if ahead else 2)


def _own_seconds(m: Model, own: float) -> float:
    """Seconds of a sub-group of a group that works for ``own`` seconds.

    It waits for operands outside of tiles, of which it makes few loads at a time.
    """
    rates, device = m.rates.items, m.device
    loads = sum(times for access, times, _ in m.reads if not _is_tile(m, access))
    wait = loads / rates.loads_at_a_time * device.latency * 1e-6 * rates.wait
    return own / max(1.0, m.items / (SCHEDULERS * device.sub_group_size)) + wait


def _ends(m: Model, groups: int, resident: int) -> float:
    """Seconds in which a unit does less, as groups fetch their first tiles or store their sums.

    The sub-groups of others hide them, except for the first groups and the last.
    """
    rates = m.rates.items
    if not rates.ends or not all(_is_tile(m, access) for access in m.accesses):
        return 0.0
    others = (resident - 1) * m.items / m.device.sub_group_size
    hidden = min(1.0, others / rates.warps_for_ends)
    return rates.ends * m.device.latency * 1e-6 * (groups - resident) * (1 - hidden)


def _unhidden(m: Model, waits: float, groups: int, far: float) -> float:
    """Seconds for which lone groups wait for tiles fetched ahead, while others would multiply.

    A share of the fetches comes from global memory, the rest from the last cache.
    """
    device, rates = m.device, m.rates.items
    ahead = any(stage.copies > 1 for stage in m.schedule.stages)
    if not rates.unhidden or m.facts.is_rows or not ahead:
        return 0.0
    latency = device.latency * 1e-6 * (rates.near + (1 - rates.near) * min(1.0, far))
    products = m.points * m.facts.operations * m.items * device.compute_units
    step = waits * latency - products / (device.arithmetic * 1e9)
    return rates.unhidden * max(0.0, groups * step + m.facts.read / (device.bandwidth * 1e9))


def _last_wave(m: Model) -> float:
    """Slowdown of memory, as a share, by last groups that are too few to load it."""
    waves = m.groups / (m.device.compute_units * _resident(m))
    return max(0.0, m.rates.items.last_wave - (waves % 1.0 or 1.0)) / waves if waves > 1 else 0.0


def _issue(m: Model, groups: int) -> float:
    """Share of the issue rate that a unit reaches with some groups on it."""
    if not m.traits.interleaves_groups:
        return 1.0
    rates, size = m.rates.items, m.device.sub_group_size
    warps = groups * max(1.0, m.items / size)
    # Those of the schedulers that have one less wait for the others.
    whole = groups * ceil(m.items / size)
    idle = 1 - whole / (SCHEDULERS * ceil(whole / SCHEDULERS)) if whole > SCHEDULERS else 0.0
    even = 1 - rates.uneven * idle
    return even * min(1.0, warps / SCHEDULERS) * warps / (warps + rates.warps_for_half)


def _local(m: Model) -> float:
    """Words that a group reads near its items: words common to lanes count once."""
    total = 0.0
    lanes = prod(extent for _, _, extent in m.lanes) or 1
    for access, times, width in m.reads:
        if not m.traits.has_vectors:
            different = max(1, access.elements(m.lanes))
            # In a cycle of the unit as many words go by as a sub-group has items.
            cycles = max(
                1.0,
                width * m.rates.items.cycles_a_word,
                _lines(m, access),
                _bank_cycles(m, access, width),
            )
            times *= max(different * width, m.device.sub_group_size * cycles) / lanes
            total += _copied(m, access)
        total += times * m.items
    return total


def _copied(m: Model, access: AffineAccess) -> float:
    """The words that copies to local memory are worth: lines of the cache, and banks that meet."""
    for copy in m.copies(access.tensor):
        if copy.stage.local and access.tensor.bytes == WORD:
            steps, stores, width = copy.stores(access, m.device.sub_group_size)
            loads, row = m.copy_loads(copy, access)
            pieces = m.device.sub_group_size * (width * stores)
            lines = ceil(pieces / row) * ceil(row * WORD / m.device.line)
            cycles = loads * lines + stores * busiest_bank(steps, width)
            return m.rates.items.copies_seen * m.fetched(access)[1] * cycles
    return 0.0


def _lines(m: Model, access: AffineAccess) -> float:
    """Number of cache lines that a sub-group reads at once: each takes a cycle."""
    if _is_tile(m, access):
        return 1.0
    size = access.tensor.bytes
    if not access.run(m.neighbours):
        # Tensors without elements have no lines.
        return 1.0
    # Lanes whose elements are apart share lines with those that are accessed next.
    found = ((access.elements(s), access.run(s)) for s in {m.neighbours, m.together})
    return min(elements / run * ceil(run * size / m.device.line) for elements, run in found)


def _bank_cycles(m: Model, access: AffineAccess, width: int) -> int:
    """Number of cycles in which a sub-group reads a tile in local memory: a bank delivers a word in
    each."""
    tiles = [copy for copy in m.copies(access.tensor) if copy.stage.local]
    if not tiles or access.tensor.bytes != WORD:
        # Fragments of shorter elements are read by instructions, for which tiles are rotated.
        return 1
    extents = (extent for _, _, extent in m.lanes)
    steps = tuple(zip(tiles[-1].distances(m.lanes), extents, strict=True))
    return busiest_bank(steps, width)


def _resident(m: Model) -> int:
    """Number of groups that a compute unit runs at a time."""
    device = m.device
    if not m.traits.interleaves_groups:
        return 1
    limits = [device.work_items_unit // max(1, m.items), MOST_RESIDENT]
    if device.registers_unit:
        limits.append(device.registers_unit // (min(m.registers, device.registers) * m.items))
    if m.local_memory:
        limits.append(device.local_mem_unit // m.local_memory)
    return max(1, min(limits))


def _read_again(m: Model) -> float:
    """Bytes of rows that come from global memory again, after the last cache evicted them.

    The cache holds the rows of the groups that run at a time; of a larger working set that is read
    cyclically, it keeps less than fits.
    """
    device, kept = m.device, {stage.operand for stage in m.schedule.stages}
    again = [
        (tensor, count - 1)
        for tensor, count in zip(m.facts.inputs, m.facts.passes, strict=False)
        if count > 1 and tensor.number not in kept
    ]
    if not m.traits.interleaves_groups or not again:
        return 0.0
    at_a_time = device.compute_units * _resident(m) / m.groups
    needed = sum(tensor.size for tensor, _ in again) * min(1.0, at_a_time)
    lost = max(0.0, 1 - (device.cache_sizes[-1] / needed) ** 2)
    return lost * sum(tensor.size * count for tensor, count in again)
