"""Schedules of matrix products on tensor cores, where a device has them and the types allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, prod

from tiledialect.index.expr import IndexExpr
from tiledialect.rounding import ceil_div
from tiledialect.schedule.default import on_grid
from tiledialect.schedule.device import Device
from tiledialect.schedule.facts import Facts, Tensor
from tiledialect.schedule.instructions import find, refusal
from tiledialect.schedule.leaves import COPIED_BYTES, Leaf, Placement, Role, Schedule, Stage

PRECISIONS = ("f32", "tf32")
"""As what the factors of sums of f32 may be multiplied."""

BLOCKS = {128: 1.0, 64: 1.4}
"""The sides of the tiles of a work-group, and what a product costs there: smaller tiles are read
more often. Those of the group's four sub-groups are half as long."""
LEAST = 16
"""Fewer rows or columns than these waste most of a tile."""
TIMES = 8
"""How many times as fast as others tensor cores are: fewer of them than this share lose."""


@dataclass(frozen=True)
class Way:
    """How products of a type are computed."""

    instruction: str
    chunk: int
    """How many values of the summed index are staged at a time."""
    vector: int
    """How many elements are staged together, where rows are that long or a multiple of it."""
    columns: int = 1
    """How many neighbours a work-item loads of the second factor, a column of a box each, where
    these lie beside one another in memory."""


WAYS = {
    "f16": Way("mma_m16n16k16_f16", 32, 8),
    "bf16": Way("mma_m16n16k16_bf16", 32, 8),
    "tf32": Way("mma_m16n8k8_tf32", 16, 4, columns=4),
}


@dataclass(frozen=True)
class Product:
    """A product of matrices, perhaps one for each value of other indices."""

    first: Tensor
    second: Tensor
    """The factors that rows, and columns, of the result move."""
    m: str
    n: str
    k: str
    rest: tuple[str, ...]
    """The other indices of the output."""


def product_of(facts: Facts) -> Product | None:
    """The product that a contraction is: whose tensors are accessed by indices alone, each once."""
    if not facts.is_product or facts.constraints or facts.is_rows or len(facts.inputs) != 2:
        return None
    if len(facts.reduced_indices) != 1 or any(index.range.lower for index in facts.indices):
        return None
    accesses = [_names(t) for t in (*facts.inputs, facts.outputs[0])]
    if not all(accesses):
        return None
    # Work-items have neighbours of the output: its last index is that of the columns.
    *outer, n = accesses[-1]
    (k,) = facts.reduced_indices
    first, second = sorted(facts.inputs, key=lambda t: n in t.names)
    rows = [name for name in outer if name in first.names - second.names]
    if n in first.names or n not in second.names or not rows:
        return None
    m = max(rows, key=lambda name: facts.extents[name])
    found = Product(first, second, m, n, k, tuple(name for name in outer if name != m))
    ends = (_names(first)[-1] in (m, k), _names(second)[-1] in (n, k))
    return found if {k} <= first.names & second.names and all(ends) else None


def _names(tensor: Tensor) -> list[str]:
    """The indices by which a tensor is accessed; nothing if these are not all, or not alone."""
    names = [name for e in tensor.access or () for name in e.names]
    return names if tensor.access == tuple(map(IndexExpr.of, names)) else []


def tensor_core_schedule(facts: Facts, device: Device, precision: str) -> Schedule | None:
    """The schedule of a matrix product, if tensor cores may compute it and its sizes fit them.

    Products of f16, and of bf16, may always be computed there, as they are exact in f32, in which
    both ways add them up; those of f32 only with the precision ``tf32``, to which the factors are
    rounded.
    """
    types = {t.type for t in facts.inputs}
    kind = precision if types == {"f32"} else next(iter(types)) if len(types) == 1 else ""
    way, found = WAYS.get(kind), product_of(facts)
    if way is None or found is None:
        return None
    if refusal(find(way.instruction), device.platform, device.compute_capability):
        return None
    sizes = facts.extents
    m, n, units = sizes[found.m], sizes[found.n], device.compute_units
    if min(m, n) < LEAST or sizes[found.k] < 4 * way.chunk:
        return None
    others = prod(sizes[name] for name in found.rest)
    groups = {b: others * ceil_div(m, b) * ceil_div(n, b) for b in BLOCKS}
    block = min(BLOCKS, key=lambda b: ceil_div(groups[b], units) * b * b * BLOCKS[b])
    return _schedule(way, found, sizes, block) if TIMES * groups[block] >= units else None


def _schedule(way: Way, p: Product, sizes: Mapping[str, int], block: int) -> Schedule:
    beside = _names(p.second)[-1] == p.n
    wide = way.columns if beside else 1
    box = dict(find(way.instruction).box)
    depth, across, warp = box["k"], box["n"] * wide, block // 2
    pair = [Leaf(p.n, wide, 2, Role.UNROLL), Leaf(p.n, 1, wide, Role.VECTOR)]
    if wide == 1:
        pair = [Leaf(p.n, 1, 2, Role.VECTOR)]
    tiles = [(name, 1, sizes[name]) for name in p.rest]
    tiles += [(name, block, ceil_div(sizes[name], block)) for name in (p.m, p.n)]
    leaves = (
        *on_grid(tiles),
        Leaf(p.m, warp, 2, Role.LOCAL, "x"),
        Leaf(p.n, warp, 2, Role.LOCAL, "x"),
        Leaf(p.m, 1, 8, Role.LOCAL, "x"),
        Leaf(p.n, 2 * wide, 4, Role.LOCAL, "x"),
        Leaf(p.k, way.chunk, ceil_div(sizes[p.k], way.chunk), Role.SERIAL),
        Leaf(p.k, depth, way.chunk // depth, Role.UNROLL),
        Leaf(p.m, 16, warp // 16, Role.UNROLL),
        Leaf(p.n, across, warp // across, Role.UNROLL),
        Leaf(p.m, 8, 2, Role.UNROLL),
        Leaf(p.n, 8 * wide, box["n"] // 8, Role.UNROLL),
        *pair[:-1],
        Leaf(p.k, 1, depth, Role.UNROLL),
        pair[-1],
    )
    # What is both factors has one stage, of both.
    stages = {t.number: _stage(way, p, t) for t in sorted((p.second, p.first), key=_number)}
    leaves = tuple(leaf for leaf in leaves if leaf.extent > 1 or leaf.role is Role.GROUP)
    steps = ((p.m, 1), (p.n, wide), (p.k, 1))
    return Schedule(leaves, tuple(stages.values()), Placement(way.instruction, steps))


def _number(tensor: Tensor) -> int:
    return tensor.number


def _stage(way: Way, p: Product, tensor: Tensor) -> Stage:
    """Three tiles, so that two are on their way; their rows are rotated.

    Pieces of rows along the sum are 16 bytes, which work-items name; of others, what eight rows of
    four work-items read. What is copied together is in one row, and all rows begin so.
    """
    along_sum = _names(tensor)[-1] == p.k
    is_copied = gcd(way.vector, tensor.shape[-1]) * tensor.bytes in COPIED_BYTES
    return Stage(
        tensor.number,
        local=True,
        at=(p.k, way.chunk),
        copies=3,
        asynchronous=True,
        rotate=way.vector if along_sum else 8,
        vector=gcd(way.vector, tensor.shape[-1]) if is_copied else way.vector,
    )
