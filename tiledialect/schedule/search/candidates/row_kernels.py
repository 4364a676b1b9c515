"""Row kernels: softmax, layer normalization, several sums of one row.

A row belongs to a work-group, whose work-items share it out and keep their part in registers
between the phases. Rows that are too long for that are read again in each phase. Where neighbouring
rows are neighbours in memory, work-items have neighbouring rows; so they do where rows are short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import gcd, prod

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import (
    LEAST_ALIGNED_ROW,
    Role,
    Schedule,
    Stage,
    ends_in_power_of_two,
    is_last_group_short,
)
from tiledialect.schedule.search.candidates.levels import (
    ACCESS,
    ITEMS,
    Levels,
    even_share,
    lanes,
    power_above,
    unrolls,
    work_of_group,
)
from tiledialect.schedule.search.candidates.roles import Roles, largest
from tiledialect.schedule.search.candidates.sums import columns_on_cpu

GPU_ROW_ELEMENTS = 96
"""Number of elements of rows that a work-item of a GPU keeps in registers."""
OTHER_REGISTERS = 12
"""Number of registers for other values."""
MOST_ITEMS = 1024
"""Most work-items of a GPU that share a row."""
MOST_STEPS = 32
"""Most unrolled accesses of a work-item, twice as many where no more could share."""
MOST_UNROLLED = 8
"""Most steps of a loop that compilers unroll, and for which large groups lack registers."""
PAST_END = 8
"""Steps go past the end of a row by one of so many parts of it at most, if shorter ones do not."""
WAVES = 8
"""Fewest successive groups of a unit of a GPU that has one at a time."""
LEAST_LANES = 8
"""Fewest work-items of a GPU that share a row, so that they read whole lines."""
TOGETHER = {128: 8, 256: 4, 1024: 2}
"""Number of rows of at most so many elements that a work-item of a CPU computes at the same time:
the latency of joining one is hidden by the others."""
COMPUTED = 64
"""Fewest operations for a CPU to compute one vector of columns at a time, where no rows are read
for them: their operands are not in registers otherwise. The gradient of forces between all pairs
has 66 for each, and takes 2.1 ms by one vector, 3.7 by two, 5.8 by four."""
STEPS_OF_ROWS = 8
"""Fewest rows, in multiples of the rows at a time, for the last ones to be shifted inwards."""
ALWAYS_TOGETHER = 4
"""Number of rows at a time that may need more registers than there are."""
STEPS_OF_GUESS = 32
"""Most steps after which a work-item of a CPU guesses means anew."""
STEPS_BEFORE_END = 8
"""Fewest steps of a loop over a row of a CPU whose body is unrolled again behind it: rows of 127
elements, eight at a time, take a twentieth more with two vectors a step, rows of 777 a fifth
less."""
CPU_ROW_BUFFER = 1 << 16
"""Number of elements of rows that a work-item of a CPU keeps in memory of its own."""


def columns_of_rows_on_cpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Columns of vectors: few at a time where much is computed of no rows."""
    are_read = any(t.names >= facts.extents.keys() for t in facts.inputs)
    few = max(1, min(4, int(COMPUTED // max(facts.operations, 1))))
    yield from columns_on_cpu(facts, r, device, most=4 if are_read else few)


def stages(facts: Facts, width: int) -> list[Stage]:
    """Stages in registers of the values that a work-item needs again."""
    inputs = {t.number for t in facts.inputs}
    return [Stage(n, False, vector=width if n in inputs else 1) for n in facts.kept]


def room(device: Device, items: int) -> int:
    """Number of elements of rows that each of so many work-items of a GPU can keep."""
    return min(GPU_ROW_ELEMENTS, device.registers_unit // items - OTHER_REGISTERS)


def short_rows(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Schedules of rows of a few elements, all in registers of a work-item, with several
    neighbours."""
    source, extents = largest(facts), facts.extents
    rows = r.rows if r.along in r.sums else r.outputs
    length = prod(extents[n] for n in r.sums)
    if not rows or length > MOST_STEPS:
        return
    vectors, apart = device.traits.has_vectors, source.strides.get(rows[0], 0)
    widest = lanes(device, [source], extents[rows[0]])
    if apart > max(1, widest // 2 if vectors else ACCESS // source.bytes):
        # Elements between two accesses are evicted before they are accessed.
        return
    widest = widest if vectors or apart <= 1 else 1
    most = device.whole_vectors if vectors else room(device, ITEMS // 2)
    for width in dict.fromkeys((widest, gcd(widest, extents[rows[0]]))):
        if length * facts.live * (1 if vectors else width) <= most:
            levels = Levels(facts).vector(rows[0], width).whole(r.sums, Role.UNROLL)
            if vectors:
                levels.work(rows, work_of_group(facts, device, length * width))
                yield levels.schedule()
            else:
                yield levels.share(rows, ITEMS // 2).schedule(stages(facts, width))


def rows_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Rows that work-items share and keep, or read in each phase."""
    first, extent = r.along, facts.extents[r.along]
    width = lanes(device, [largest(facts)], extent)
    other = prod(facts.extents[n] for n in r.sums[1:])
    fits, items = False, min(LEAST_LANES, power_above(extent // width))
    while items <= min(MOST_ITEMS, power_above(extent // width)):
        levels = Levels(facts).vector(first, width).share([first], items)
        levels.share(r.rows, max(1, ITEMS // 2 // items))
        count = levels.rest(first)
        words = count * width * other * facts.live
        most = MOST_STEPS * (2 if items == MOST_ITEMS else 1)
        if words <= room(device, items) and count * other <= most:
            fits = True
            yield levels.whole(r.sums, Role.UNROLL).schedule(stages(facts, width))
        items *= 2
    if fits:
        return
    yield from _kept_in_part(facts, r, device, width)
    # Few work-items a row mean many rows at a time, which the last cache does not hold.
    least = ITEMS if extent > 4 * width * ITEMS * MOST_UNROLLED else ITEMS // 2
    for items in (n for n in (ITEMS // 2, ITEMS, 2 * ITEMS, 4 * ITEMS) if n >= least):
        levels = Levels(facts).vector(first, width).share(r.sums, items)
        count = _in_a_step(levels.rest(first))
        levels.unroll(first, count)
        steps, words = levels.rest(first), width * (facts.held + count * len(facts.inputs))
        # Sums have registers, and so have the operands of a step, or all of unrolled loops.
        if words > device.registers_unit // items - OTHER_REGISTERS:
            continue
        if steps > MOST_UNROLLED or count * width * steps <= room(device, items):
            yield levels.whole(r.sums).schedule()


def _in_a_step(count: int) -> int:
    """Number of accesses of so many to unroll: four, two if four reach far past the end."""
    return min(count, 4 if (-count % 4) * PAST_END <= count else 2)


def _kept_in_part(facts: Facts, r: Roles, device: Device, width: int) -> Iterator[Schedule]:
    """Stages of the most frequent values of rows that do not fit in registers.

    A unit has one such group, so there must be many; and the last cache is too small for the values
    that two read again.
    """
    passes = {t.number: n for t, n in zip(facts.inputs, facts.passes, strict=False)}
    number = max(facts.kept, key=lambda n: passes.get(n, 0), default=None)
    count = prod(facts.extents[n] for n in r.rows)
    again = sum(t.size for t in facts.inputs if passes.get(t.number, 1) > 1) / count
    fits = 2 * device.compute_units * again <= device.cache_sizes[-1]
    if number not in passes or len(r.sums) > 1 or count < WAVES * device.compute_units or fits:
        return
    for items in (MOST_ITEMS // 2, MOST_ITEMS):
        levels = Levels(facts).vector(r.along, width).share(r.sums, items)
        steps = levels.rest(r.along)
        if steps * width <= room(device, items) and steps <= 2 * MOST_STEPS:
            levels.unroll(r.along, steps)
            yield levels.schedule([Stage(number, False, vector=width)])
            return


def kept_columns_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Columns of neighbouring work-items, of which several share the rows."""
    longest = max(r.sums, key=lambda n: facts.extents[n])
    other = prod(facts.extents[n] for n in r.sums if n != longest)
    for parts in (n for n in (1, 4, 8, 16, 32) if n < 2 * facts.extents[longest]):
        kept, read = (
            Levels(facts).share(r.outputs, 32).item(longest, parts, "y") for _ in range(2)
        )
        count = kept.rest(longest) * other
        if count * facts.live <= room(device, 32 * parts) and count <= 32:
            yield kept.whole(r.sums, Role.UNROLL).schedule(stages(facts, 1))
        yield read.unroll(longest, 4).whole(r.sums).schedule()


def rows_on_cpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Rows of vectors, several short ones at a time."""
    extent, length = facts.extents[r.along], prod(facts.extents[n] for n in r.sums)
    width = lanes(device, [largest(facts)], extent)
    # Inputs stay in a cache.
    inputs = {t.number for t in facts.inputs}
    kept = [Stage(number, False) for number in facts.kept if number not in inputs]
    kept = kept[: CPU_ROW_BUFFER // max(length, 1)]
    together = _together(facts, r, device)
    guess = facts.guessed and _is_evicted(facts, r, device)
    kept = [] if guess else kept
    for count in _vectors_together(extent, width):
        if not _fits(facts, device, together, count):
            continue
        for stages in (kept, []) if kept else ([],):
            levels = Levels(facts).vector(r.along, width)
            for row in r.rows[:1]:
                levels.unroll(row, together)
            levels.unroll(r.along, count)
            if guess:
                levels.loop(r.along, _steps_of_guess(levels.rest(r.along)))
            levels.whole(r.sums)
            _share_rows(levels, r, work_of_group(facts, device, length * together))
            yield replace(levels.schedule(stages), one_pass=guess)


def _share_rows(levels: Levels, r: Roles, points: int) -> None:
    """Loops over rows, as far as a work-item has no more than so many points.

    Where the last unrolled rows are shifted inwards, it is over rows of the same group.
    """
    for row in r.rows[:1]:
        steps, extent, together = levels.rest(row), levels.facts.extents[row], levels.reach[row]
        count = even_share(steps, points)
        counts = (*range(count, 0, -1), *range(count + 1, steps + 1))
        count = next(n for n in counts if not is_last_group_short(extent, n * together, together))
        levels.loop(row, count)
        points = max(1, points // count)
    levels.work(r.rows[1:], points)


def _vectors_together(extent: int, width: int) -> Iterable[int]:
    """Numbers of vectors of a row to unroll.

    Where the last vector is shifted inwards, there is no edge to test for; but the row's end is as
    much code as the loop, which must be worth it.
    """
    is_long = extent >= 2 * width * STEPS_BEFORE_END
    # Vectors of long rows begin at multiples of themselves, so that no part is left.
    in_part = ends_in_power_of_two(extent, width) and extent < LEAST_ALIGNED_ROW
    return unrolls(extent, width, 2) if in_part or not is_long else (1, 2)


def _is_evicted(facts: Facts, r: Roles, device: Device) -> bool:
    """Whether rows are evicted from a core's second cache before they are read again: half of it is
    enough.

    Rows of 1 MiB on cores with as much take a third less in one pass, of a quarter no less.
    """
    count = prod(facts.extents[n] for n in r.rows)
    again = sum(t.size for t in facts.inputs if set(t.names) & set(facts.reduced_indices))
    return not device.is_near(again, count)


def _steps_of_guess(steps: int) -> int:
    """Number of steps after which to guess means anew: a divisor of the number of steps."""
    return next((n for n in range(STEPS_OF_GUESS, 1, -1) if steps % n == 0), 1)


def _together(facts: Facts, r: Roles, device: Device) -> int:
    """Numbers of rows to compute at the same time, of which there are a multiple, or many.

    Rows between whose elements the next ones of a row lie are read together, line after line.
    """
    if not r.rows:
        return 1
    between = _lie_between(largest(facts), r)
    length = prod(facts.extents[n] for n in (r.sums[:1] if between else r.sums))
    numbers = (n for longest, n in TOGETHER.items() if length <= longest)
    most = next((n for n in numbers if _fits(facts, device, n, 1)), 1)
    count = facts.extents[r.rows[0]]
    if not between:
        return most if count >= STEPS_OF_ROWS * most else gcd(most, count)
    return max(n for n in range(1, most + 1) if count % n == 0)


def _lie_between(source: Tensor, r: Roles) -> bool:
    """Whether neighbouring rows lie between elements of a row."""
    apart = [abs(source.strides.get(n, 0)) for n in (*r.rows[:1], *r.sums[1:2])]
    return len(apart) == 2 and 0 < apart[0] < apart[1]


def _fits(facts: Facts, device: Device, rows: int, count: int) -> bool:
    """Whether registers hold the values of so many rows at the same time, and some constants.

    The values are vectors of each sum, and the maximum or mean that elements are compared with.
    """
    return rows <= ALWAYS_TOGETHER or rows * (facts.sums * count + 1) < device.whole_vectors
