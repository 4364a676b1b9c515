"""Stores of a GPU's sub-groups: the sectors of memory that their work-items write at a time.

Vectors are stored whole where they begin at multiples of their size. Elsewhere there is a store for
each element, at a time the same one of all work-items. If a work-item has four neighbours, each of
these stores touches the sectors of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, prod

from tiledialect import caches
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.facts import Tensor, in_sectors


def written(m: Model) -> float:
    """The bytes that all groups write, in sectors."""
    total = 0.0
    for tensor in m.facts.outputs:
        run = m.run(tensor.affine_access) * tensor.bytes
        total += tensor.size * in_sectors(run, m.sector)
    return total


def written_again(m: Model) -> float:
    """The bytes in sectors that stores write besides their own, as each writes a part of them."""
    if m.traits.unaligned_vectors or not m.facts.aggregates:
        # Without sums the next stores of a work-item follow soon.
        return 0.0
    own = [tensor for tensor in m.facts.outputs if tensor.access is not None]
    return sum(tensor.size * (_share(m, tensor) - 1) for tensor in own)


def _share(m: Model, tensor: Tensor) -> float:
    """Bytes of the sectors that a store of a sub-group touches, over those of its elements."""
    taken = {(name, stride): extent for name, stride, extent in m.lanes}
    # Of a level's items a sub-group may have some: other ones begin after these.
    cut = ((n, s * (k := taken.get((n, s), 1)), -(-extent // k)) for n, s, extent in m.steps)
    others = [step for step in cut if step[2] > 1]
    width = m.vector if m.vector > 1 and _moves(tensor, others[-1:]) == [tensor.bytes] else 1
    apart = gcd(_begin(m, tensor), *_moves(tensor, others[:-1] if width > 1 else others))
    lanes = _moves(tensor, m.lanes)
    if gcd(apart, *lanes) % (width * tensor.bytes):
        width, apart = 1, gcd(apart, tensor.bytes)
    steps = tuple(zip(lanes, (extent for *_, extent in m.lanes), strict=True))
    return touched(steps, width * tensor.bytes, gcd(apart, m.sector), m.sector)


def _moves(tensor: Tensor, steps: Iterable[tuple[str, int, int]]) -> list[int]:
    """Bytes by which each step moves a tensor."""
    return [tensor.strides.get(name, 0) * stride * tensor.bytes for name, stride, _ in steps]


def _begin(m: Model, tensor: Tensor) -> int:
    """The byte at which the first element lies."""
    lowers = {index.name: index.range.lower for index in m.facts.indices}
    place = 0
    for axis, e in enumerate(tensor.access or ()):
        own = int(e.constant) + sum(int(e.coefficient(n)) * lowers[n] for n in e.names)
        place += own * prod(tensor.shape[axis + 1 :])
    return place * tensor.bytes


@caches.STORES
def touched(lanes: tuple[tuple[int, int], ...], width: int, begin: int, sector: int) -> float:
    """Bytes of the sectors that lanes touch, each a run of bytes, over the bytes of these runs.

    The first lane begins at any multiple of ``begin``. ``lanes`` are distances in bytes, with the
    numbers of lanes.
    """
    places = {0}
    for distance, extent in lanes:
        places = {place + k * distance for place in places for k in range(extent)}
    starts = range(0, sector, begin)
    found = sum(
        len(
            {k for p in places for k in range((s + p) // sector, (s + p + width - 1) // sector + 1)}
        )
        for s in starts
    )
    return found * sector / len(starts) / (len(places) * width)
