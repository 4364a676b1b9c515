"""Schedules of matrix products on tensor cores, where a device has them and the types allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd, prod
from operator import itemgetter

from tiledialect.index.expr import IndexExpr
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.tiles import TilesWork
from tiledialect.schedule.cost.traits import TRAITS, Kind
from tiledialect.schedule.instructions import find, refusal
from tiledialect.schedule.loops import (
    COPIED_BYTES,
    GlobalStage,
    Placement,
    Role,
    Schedule,
    Stage,
)
from tiledialect.schedule.search.candidates.levels import Levels

PRECISIONS = ("f32", "tf32", "exact")
"""Types in which factors of sums of f32 may be multiplied: `exact` keeps their own."""

BLOCKS = ((128, 128), (64, 128), (128, 64), (64, 64))
"""Rows and columns of the tiles of a work-group. The tiles of its four sub-groups are half as long
and wide."""
LEAST = 16
"""Fewer rows or columns than these waste most of a tile."""
ROW = TRAITS[Kind.GPU].line
"""Bytes of which rows are multiples in copies of operands: lines of caches."""
SECTOR = TRAITS[Kind.GPU].sector
"""Bytes of alignment of rows: a row that begins elsewhere takes one more sector of this size, and
often one more line."""
PADS = ((4, 1 << 28, 256), (SECTOR, 1 << 33, 2048))
"""Rows that are no multiples of so many bytes are copied, with zeros at their ends, for products of
at least so many points that read each element so often. Those of the first are not copied to local
memory asynchronously: 777 x 777 x 777 takes 57 us so, with copies 39."""
LEAST_STEPS = 8
"""Fewest steps of the sum in a group that has a part of it."""
SPLIT_GAIN = 0.9
"""Most time of partial results and their sum, as a share of the time without parts: both times are
estimates."""


@dataclass(frozen=True)
class Method:
    """Method to compute products of a type."""

    instruction: str
    chunk: int
    """Number of values of the summed index that are staged at a time."""
    vector: int
    """Number of elements that are staged together, where rows are that long or a multiple of it."""
    columns: int = 1
    """Number of neighbours that a work-item loads of the second factor, a column of a box each,
    where these are adjacent in memory."""


METHODS = {
    "f16": Method("mma_m16n16k16_f16", 32, 8),
    "bf16": Method("mma_m16n16k16_bf16", 32, 8),
    "tf32": Method("mma_m16n8k8_tf32", 16, 4, columns=4),
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
    """The product of a contraction whose tensors are each accessed by indices alone, each once.

    The summed index may be within a part, whose number is an index of the output.
    """
    if not facts.is_product or facts.is_rows or len(facts.inputs) != 2:
        return None
    # A part of the sum has an additional test of its end.
    if any(facts.extents.get(c.expr.variable or "") != c.bound.constant for c in facts.constraints):
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
    if not all(_goes_over(t, k, facts.extents[k]) for t in (*facts.inputs, facts.outputs[0])):
        return None
    m = max(rows, key=lambda name: facts.extents[name])
    found = Product(first, second, m, n, k, tuple(name for name in outer if name != m))
    ends = (_names(first)[-1] in (m, k), _names(second)[-1] in (n, k))
    return found if {k} <= first.names & second.names and all(ends) else None


def _names(tensor: Tensor) -> list[str]:
    """The indices that move along the axes of a tensor, each alone, or in a part.

    Nothing if these are not all, or others.
    """
    names = [e.variable or _in_part(e)[0] for e in tensor.access or ()]
    return names if all(names) and len({*names}) == len(names) else []


def _in_part(e: IndexExpr) -> tuple[str, int]:
    """Index of a part that an expression names, its number times the size before it; empty for
    others."""
    inner = [name for name in e.names if e.coefficient(name) == 1]
    sizes = [int(e.coefficient(name)) for name in e.names if e.coefficient(name) > 1]
    is_one = len(e.terms) == 2 and len(inner) == len(sizes) == 1
    return (inner[0], sizes[0]) if is_one else ("", 0)


def _goes_over(tensor: Tensor, k: str, size: int) -> bool:
    """Whether indices are alone except for the summed one, which goes over parts of such a size."""
    return all(e.variable or _in_part(e) == (k, size) for e in tensor.access or ())


def tensor_core_schedule(facts: Facts, device: Device, precision: str) -> Schedule | None:
    """Schedule of a matrix product, if tensor cores may compute it and its sizes fit them.

    Products of f16, and of bf16, may always be computed there, as they are exact in f32, in which
    both methods add them up; those of f32 only with the precision ``tf32``, to which the factors
    are rounded.
    """
    found = _possible(facts, device, precision)
    if found is None:
        return None
    method, p = found
    tiles = _tiles(facts, method, p)
    block = min(tiles, key=lambda b: tiles[b].on(device).seconds)
    if not tiles[block].fills(device):
        return None
    # Reads after the sum are in place, too.
    after = {t.number for t in facts.after}
    factors = (p.first, p.second)
    pads = {t.number: _pad(t, facts.points) for t in factors if t.number not in after}
    return _schedule(method, p, facts, block, pads)


def _possible(facts: Facts, device: Device, precision: str) -> tuple[Method, Product] | None:
    """Method of tensor cores for a product, if they may compute it and tiles are not nearly
    empty."""
    types = {t.type for t in facts.inputs}
    kind = precision if types == {"f32"} else next(iter(types)) if len(types) == 1 else ""
    method, p = METHODS.get(kind), product_of(facts)
    if method is None or p is None:
        return None
    if refusal(find(method.instruction), device.platform, device.compute_capability):
        return None
    sizes = facts.extents
    # Sums of two steps gain, too, as in the scores of an attention: 512 x 64 x 512 31 us, not 112.
    if min(sizes[p.m], sizes[p.n]) < LEAST or sizes[p.k] <= method.chunk:
        return None
    # No step goes on into the next part.
    in_part = any(e.variable is None for e in p.first.access or ())
    return None if in_part and sizes[p.k] % method.chunk else (method, p)


def _tiles(facts: Facts, method: Method, p: Product) -> dict[tuple[int, int], TilesWork]:
    """The work in tiles of each size."""
    sizes = facts.extents
    others, steps = prod(sizes[name] for name in p.rest), ceil_div(sizes[p.k], method.chunk)
    return {
        (m, n): TilesWork(others * ceil_div(sizes[p.m], m) * ceil_div(sizes[p.n], n), m * n, steps)
        for m, n in BLOCKS
    }


@dataclass(frozen=True)
class SplitSum:
    """A product on tensor cores whose sum is split."""

    index: str
    count: int
    seconds: float
    """Seconds of the partial results and their sum."""


def parts_on_tensor_cores(facts: Facts, device: Device, precision: str) -> SplitSum | None:
    """Number of parts of the sum of a product on tensor cores, if that is faster there than one
    sum.

    Each unit has one group at most: a second one would save no more than its sum costs.
    """
    possible = _possible(facts, device, precision)
    if possible is None:
        return None
    method, p = possible
    tiles = _tiles(facts, method, p).values()
    whole = min(work.on(device).seconds for work in tiles)
    # Partial results of f32 are written, and read by a second kernel.
    once = 8 * facts.results
    split = [
        (n, _parts(work, n, once))
        for work in tiles
        if (n := min(device.compute_units // work.groups, work.steps // LEAST_STEPS)) > 1
    ]
    split = [(n, work.on(device).seconds) for n, work in split if work.fills(device)]
    if not split:
        return None
    parts, seconds = min(split, key=itemgetter(1))
    # Their sum is a kernel, and so are their initial values of f32, where factors are shorter.
    launches = 1 if {t.type for t in facts.inputs} == {"f32"} else 2
    seconds += launches * device.launch_seconds
    return SplitSum(p.k, parts, seconds) if seconds < SPLIT_GAIN * whole else None


def _parts(work: TilesWork, parts: int, written: int) -> TilesWork:
    """The work in parts of the sum, each of which writes its results."""
    steps = ceil_div(work.steps, parts)
    return replace(work, groups=parts * work.groups, steps=steps, written=parts * written)


def _pad(tensor: Tensor, points: int) -> int:
    """Number of elements by which the rows of a factor are too short."""
    *_, size = tensor.shape
    often = points // prod(tensor.shape)
    for multiple, least, times in PADS:
        if size * tensor.bytes % multiple and points >= least and often >= times:
            return -size % (ROW // tensor.bytes)
    return 0


def _padded(tensor: Tensor, pad: int) -> Tensor:
    *outer, size = tensor.shape
    return replace(tensor, shape=(*outer, size + pad))


def _schedule(
    method: Method, p: Product, facts: Facts, block: tuple[int, int], pads: Mapping[int, int]
) -> Schedule:
    adjacent = _names(p.second)[-1] == p.n
    wide = method.columns if adjacent else 1
    box = dict(find(method.instruction).box)
    depth, across = box["k"], box["n"] * wide
    rows, columns = (size // 2 for size in block)
    levels = Levels(facts)
    # The box: a work-item has neighbours, its sub-group the rest.
    if wide > 1:
        levels.vector(p.n, wide).add(p.k, depth, Role.UNROLL).add(p.n, 2, Role.UNROLL)
    else:
        levels.vector(p.n, 2).add(p.k, depth, Role.UNROLL)
    levels.item(p.n, 4).add(p.n, box["n"] // 8, Role.UNROLL)
    levels.item(p.m, 8).add(p.m, 2, Role.UNROLL)
    # Boxes of a sub-group, steps of a chunk, and sub-groups.
    levels.add(p.n, columns // across, Role.UNROLL).add(p.m, rows // 16, Role.UNROLL)
    levels.add(p.k, method.chunk // depth, Role.UNROLL).whole([p.k])
    levels.item(p.n, 2).item(p.m, 2)
    # An operand that is both factors has one stage, of both.
    factors = {t.number: t for t in sorted((p.second, p.first), key=_number)}
    stages = [_stage(method, p, _padded(t, pads.get(n, 0))) for n, t in factors.items()]
    copies = [
        GlobalStage(n, tuple(range(len(factors[n].shape))), pad) for n, pad in pads.items() if pad
    ]
    return replace(
        levels.schedule(stages, (*p.rest, p.m, p.n), has_all_axes=True),
        instruction=Placement(method.instruction, ((p.m, 1), (p.n, wide), (p.k, 1))),
        global_stages=tuple(copies),
    )


def _number(tensor: Tensor) -> int:
    return tensor.number


def _stage(method: Method, p: Product, tensor: Tensor) -> Stage:
    """Stage of an operand in three tiles, two of them in flight, with rotated rows.

    Pieces of rows along the sum are 16 bytes, which work-items name; along others, the reads of
    eight rows by four work-items. Each copy is inside one row, and all rows begin so.
    """
    along_sum = _names(tensor)[-1] == p.k
    is_copied = gcd(method.vector, tensor.shape[-1]) * tensor.bytes in COPIED_BYTES
    return Stage(
        tensor.number,
        local=True,
        at=(p.k, method.chunk),
        copies=3,
        asynchronous=True,
        rotate=method.vector if along_sum else 8,
        vector=gcd(method.vector, tensor.shape[-1]) if is_copied else method.vector,
    )
