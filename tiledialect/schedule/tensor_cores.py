"""Schedules of matrix products on tensor cores, where a device has them and the types allow it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.device import Device
from tiledialect.schedule.facts import Facts
from tiledialect.schedule.instructions import find, refusal
from tiledialect.schedule.leaves import Leaf, Placement, Role, Schedule, Stage

PRECISIONS = ("f32", "tf32")
"""As what the factors of sums of f32 may be multiplied."""

BLOCK, WARP = 128, 64
"""The sides of the tiles of a work-group and of a sub-group."""


@dataclass(frozen=True)
class Way:
    """How products are computed: the instruction, and how the factors are staged."""

    instruction: str
    chunk: int
    """How many values of the summed index are staged at a time."""
    first: Stage
    second: Stage
    columns: int
    """How many neighbours a work-item loads of the second factor, a column of a box each."""


WAYS = {
    "f16": Way(
        "mma_m16n16k16_f16",
        32,
        Stage(0, True, copies=3, asynchronous=True, rotate=8, vector=8),
        Stage(1, True, copies=3, asynchronous=True, rotate=8, vector=8),
        1,
    ),
    "tf32": Way(
        "mma_m16n8k8_tf32",
        16,
        Stage(0, True, copies=3, asynchronous=True, rotate=4, vector=4),
        Stage(1, True, copies=3, asynchronous=True, rotate=8, vector=4),
        4,
    ),
}
WAYS["bf16"] = replace(WAYS["f16"], instruction="mma_m16n16k16_bf16")


def tensor_core_schedule(facts: Facts, device: Device, precision: str) -> Schedule | None:
    """The schedule of a matrix product, if tensor cores may compute it and its sizes fit them.

    Products of f16, and of bf16, may always be computed there, as they are exact in f32, in which
    both ways add them up; those of f32 only with the precision ``tf32``, to which the factors are
    rounded.
    """
    if not facts.is_product or facts.constraints or facts.is_rows or len(facts.indices) != 3:
        return None
    types = {t.type for t in facts.inputs}
    kind = precision if types == {"f32"} else next(iter(types)) if len(types) == 1 else ""
    way = WAYS.get(kind)
    if way is None or refusal(find(way.instruction), device.platform, device.compute_capability):
        return None
    i, j, k = (*facts.output_indices, *facts.reduced_indices)
    sizes, plain = facts.extents, tuple(IndexExpr.of(n) for n in (i, j, k))
    a, b = facts.inputs
    in_order = (a.access, b.access) == ((plain[0], plain[2]), (plain[2], plain[1]))
    whole = sizes[i] % BLOCK == sizes[j] % BLOCK == sizes[k] % way.chunk == 0
    if not in_order or facts.outputs[0].access != plain[:2] or not whole:
        return None
    if any(index.range.lower for index in facts.indices) or sizes[k] < 4 * way.chunk:
        return None
    return _schedule(way, facts, (i, j, k))


def _schedule(way: Way, facts: Facts, names: tuple[str, str, str]) -> Schedule:
    (i, j, k), sizes, wide = names, facts.extents, way.columns
    box = dict(find(way.instruction).box)
    depth, across = box["k"], box["n"] * wide
    pair = [Leaf(j, wide, 2, Role.UNROLL), Leaf(j, 1, wide, Role.VECTOR)]
    if wide == 1:
        pair = [Leaf(j, 1, 2, Role.VECTOR)]
    leaves = (
        Leaf(i, BLOCK, sizes[i] // BLOCK, Role.GROUP, "y"),
        Leaf(j, BLOCK, sizes[j] // BLOCK, Role.GROUP, "x"),
        Leaf(i, WARP, BLOCK // WARP, Role.LOCAL, "x"),
        Leaf(j, WARP, BLOCK // WARP, Role.LOCAL, "x"),
        Leaf(i, 1, 8, Role.LOCAL, "x"),
        Leaf(j, 2 * wide, 4, Role.LOCAL, "x"),
        Leaf(k, way.chunk, sizes[k] // way.chunk, Role.SERIAL),
        Leaf(k, depth, way.chunk // depth, Role.UNROLL),
        Leaf(i, 16, WARP // 16, Role.UNROLL),
        Leaf(j, across, WARP // across, Role.UNROLL),
        Leaf(i, 8, 2, Role.UNROLL),
        Leaf(j, 8 * wide, box["n"] // 8, Role.UNROLL),
        *pair[:-1],
        Leaf(k, 1, depth, Role.UNROLL),
        pair[-1],
    )
    stages = tuple(
        replace(stage, operand=tensor.number, at=(k, way.chunk))
        for stage, tensor in zip((way.first, way.second), facts.inputs, strict=True)
    )
    leaves = tuple(leaf for leaf in leaves if leaf.extent > 1 or leaf.role is Role.GROUP)
    return Schedule(leaves, stages, Placement(way.instruction, ((i, 1), (j, wide), (k, 1))))
