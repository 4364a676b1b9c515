"""Accesses of a CPU's core: instructions for the lanes of a vector, and lines of its caches.

The lanes are the steps of a vector loop or, without one, work-items that are next to one another
along x, of which the driver makes vectors. Neighbours are one instruction for all lanes; lanes that
are apart, or of which each is tested by itself, are one instruction each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, gcd, prod

from xdsl.dialects.builtin import MemRefType

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Condition, Expr, map_expressions
from tiledialect.lowering.nest.cost.register_counts import steps
from tiledialect.lowering.nest.utils.access_strides import loops_around, stride_over, value_of
from tiledialect.lowering.nest.utils.conditions import conjuncts, is_uniform
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, element_bytes
from tiledialect.schedule.cost.cpu_caches import AHEAD, PREFETCH_DISTANCE, STREAMS, used_share
from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.rates import Core
from tiledialect.schedule.loops import Role

MOST_COPIES = 64
"""Most copies of an unrolled access whose tests are looked at one by one."""

Move = tuple[int, int]
"""Number of steps of a loop, and bytes by which each moves an access."""


@dataclass(frozen=True)
class Lanes:
    """Loop whose steps are the lanes of vectors, and their number in a vector."""

    loop: ForOp | None
    count: int


def operations_of(op: LoadOp | StoreOp, lanes: Lanes, device: Device, scope: NestScope) -> float:
    """Time of an access of one lane, in operations of a lane of full vectors."""
    rates, width = device.rates.of_cpu.accesses, device.native_vector_width
    own = lanes_of(value_of(op))
    used = max(lanes.count, min(own, width))
    together = device.rates.nests.access * own * width / used
    stride = 0 if lanes.loop is None else stride_over(lanes.loop, op, scope)
    apart = rates.apart * own * width / used * lanes.count
    # Vectors of elements a few places apart are put together from the vectors they are in.
    turns = lanes.count if stride is None else abs(stride)
    each = together if turns <= 1 else min(apart, turns * 2 * together)
    tested = _tested_share(op, lanes, scope)
    if tested is None:
        return each
    # Masks tell work-items apart, and branches the lanes of a vector loop.
    is_masked = lanes.loop is not None and lanes.loop.role.data.role is Role.LOCAL
    lane = rates.masked_lane if is_masked else rates.tested_lane
    alone = lane * own * width / used * lanes.count
    return each + rates.test * width / used + tested * max(0.0, alone - each)


def _tested_share(op: LoadOp | StoreOp, lanes: Lanes, scope: NestScope) -> float | None:
    """Share of the copies of an access in which a test tells lanes apart; None without a test."""
    parts = conjuncts(scope.condition(op))
    if not parts:
        return None
    if lanes.loop is None or lanes.count == 1:
        return 0.0
    lane = str(scope.name(lanes.loop.index))
    copies = [*_copies(op, scope)]
    if not copies:
        return 1.0
    apart = sum(
        not all(is_uniform(_at(part, copy), lane, lanes.count, scope.env) for part in parts)
        for copy in copies
    )
    return apart / len(copies)


def _copies(op: LoadOp | StoreOp, scope: NestScope) -> Iterator[dict[str, Expr]]:
    """Values of the indices of unrolled loops around an access, if there are not too many."""
    around = [x for x in loops_around(op) if x.role.data.role is Role.UNROLL]
    if prod(map(steps, around)) > MOST_COPIES:
        return
    names = [str(scope.name(loop.index)) for loop in around]
    for numbers in product(*(range(steps(loop)) for loop in around)):
        yield {name: Expr.const(k) for name, k in zip(names, numbers, strict=True)}


def _at(condition: Condition, values: dict[str, Expr]) -> Condition:
    return map_expressions(condition, lambda e: e.substitute(values))


# -- lines of caches -------------------------------------------------------------------------------


def moves_of(op: LoadOp | StoreOp, lanes: Lanes, scope: NestScope) -> tuple[Move, ...]:
    """Loops around an access, the innermost first: of work-items that are lanes a vector's."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    size, found, inner = element_bytes(t), list[Move](), list[Move]()
    for loop in loops_around(op):
        stride = stride_over(loop, op, scope)
        # Clamped places follow one another.
        moved, count = size * abs(1 if stride is None else stride), steps(loop)
        if loop is lanes.loop and loop.role.data.role is Role.LOCAL:
            inner.append((lanes.count, moved))
            moved, count = moved * lanes.count, ceil(count / lanes.count)
        found.append((count, moved))
    return (*inner, *((n, moved) for n, moved in found if n > 1))


def line_cycles(moves: Sequence[Move], nbytes: int, device: Device) -> float:
    """Cycles of all cores for the lines that an access of so many bytes brings to their caches."""
    core = device.rates.of_cpu.core
    near = _filled(moves, nbytes, device.cache_sizes[0] // 2, core, has_places=True)
    far = _filled(moves, nbytes, int(device.second_cache * core.reused_share), core)
    return max(near / core.second_bytes, far / core.far_bytes)


def begun_share(moves: Sequence[Move], nbytes: int) -> float:
    """Bytes that could be read while an access reads one from memory: the first ones of each piece
    are not prefetched.

    A piece goes on in the steps of a loop that begin where the one before ended, a few in turns.
    """
    run, streams = nbytes, 1
    for count, moved in moves:
        if moved > run:
            streams *= count
        elif moved:
            run += moved * (count - 1)
        if streams > STREAMS:
            break
    return 1.0 + min(1.0, PREFETCH_DISTANCE / run)


def _filled(
    moves: Sequence[Move], nbytes: int, size: int, core: Core, *, has_places: bool = False
) -> float:
    """Bytes that come into a cache of a size, in which lines may have few places; more for those
    that no prefetcher foresees.

    What the innermost loops touch, if it fits, is there for the next loop's steps.
    """
    kept = 0
    while kept < len(moves):
        lines, run, apart = _touched(moves[: kept + 1], nbytes)
        share = used_share(apart, run) if has_places and apart else 1.0
        if lines * LINE > size * share:
            break
        kept += 1
    lines, run, apart = _touched(moves[: kept + 1], nbytes)
    slower = core.scattered if apart and run < AHEAD else 1.0
    return lines * LINE * slower * prod(count for count, _ in moves[kept + 1 :])


def _touched(moves: Sequence[Move], nbytes: int) -> tuple[int, int, int]:
    """Lines that loops touch, bytes that are next to one another, and the distance of the next."""
    run, count, apart = nbytes, 1, 0
    for number, moved in sorted(moves, key=lambda move: move[1]):
        if moved == 0:
            continue
        if count == 1 and moved <= max(run, LINE):
            run += moved * (number - 1)
        else:
            count, apart = count * number, gcd(apart, moved)
    return count * ceil(run / LINE), run, apart
