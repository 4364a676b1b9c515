"""Grid of work-groups and work-items that share out the maps of a low-level lift program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import gcd, prod

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift import maps, reductions
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.sharing import (
    BY_GROUPS,
    PARALLEL,
    most_groups,
    work_items_meet_in,
)
from tiledialect.dialects.lift.types import as_array, leading, names_in
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr, floordiv, maximum, minimum
from tiledialect.ir.ops_in import ops_of
from tiledialect.rounding import ceil_div

AXES = "xyz"

MAX_GROUPS = 1 << 16
"""Maximum number of work-groups along an axis: beyond that each takes several parts."""

WARP_SIZE = 32
"""Work-items of a warp."""

ACCESSES = 8
"""Ops that a load and a store of an element of a map count as."""
WAITING = 4
"""Warps that a step of a group costs, however few work-items take it."""

STEPS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of steps in which work-items go through the elements of a map."""

ITEM_SHARES: Mapping[int, Sequence[float]] = {1: (1,), 2: (1 / 4, 4), 3: (1 / 4, 2, 2)}
"""Shares of the work-items of a group along so many axes: of the first all, a part of them, …"""


@dataclass(frozen=True)
class Axis:
    """Work-groups and work-items along an axis."""

    groups: Expr = field(default_factory=lambda: Expr.const(1))
    items: int = 1
    warps: int | None = None
    """Number of warps into which the work-items are grouped."""


Grid = tuple[Axis, Axis, Axis]
ONE: Grid = (Axis(), Axis(), Axis())


def extent(value: SSAValue) -> Expr:
    """Number of elements of an array."""
    return expression(leading(as_array(value, "map")))


def axes_of(op: Operation) -> tuple[str, ...]:
    """Axes along which a map is shared out."""
    match op:
        case maps.MapGlbOp():
            return f"group.{AXES[op.dim.data]}", f"local.{AXES[op.dim.data]}"
        case maps.MapWrgOp():
            return (f"group.{AXES[op.dim.data]}",)
        case maps.MapLclOp():
            return (f"local.{AXES[op.dim.data]}",)
        case maps.MapWarpOp():
            return ("warp",)
        case _:
            return ("lane",)


def grid_of(op: Operation, local_size: int, most: int) -> Grid:
    """Grid of a program whose maps say who does them, and by how many work-groups at most.

    A group has at most so many work-items where the sizes of its maps are numbers; ``local_size``
    where they are open.
    """
    found = ops_of(op, *PARALLEL)
    unlimited = _unlimited(found, op, local_size, most)
    x, y, z = (_limited(axis, found, d) for d, axis in enumerate(unlimited))
    return x, y, z


def _limited(axis: Axis, found: Sequence[Operation], dim: int) -> Axis:
    """An axis with as many groups as the maps along it may have."""
    maps_along = (x for x in found if isinstance(x, BY_GROUPS) and x.dim.data == dim)
    limits = [n for x in maps_along if (n := most_groups(x)) is not None]
    return replace(axis, groups=minimum(axis.groups, *limits)) if limits else axis


def _unlimited(found: Sequence[maps.MapBase], op: Operation, local_size: int, most: int) -> Grid:
    """Grid with a group for each element of maps over groups."""
    across = {x.dim.data: x for x in found if isinstance(x, maps.MapGlbOp)}
    inside = next((x for x in found if not isinstance(x, maps.MapGlbOp)), None)
    if across and inside is not None:
        raise TileError.at(
            inside, f"{inside.pattern()} and map_glb share out the same work-items: use one"
        )
    if across:
        return spread([_extents(found, maps.MapGlbOp, d) for d in range(3)], local_size)
    warps = [extent(x.input) for x in found if isinstance(x, maps.MapWarpOp)]
    lanes = next((x for x in found if isinstance(x, maps.MapLaneOp | maps.MapWarpOp)), None)
    local = [_extents(found, maps.MapLclOp, d) for d in range(3)]
    if lanes is not None and local[0]:
        raise TileError.at(
            lanes, f"{lanes.pattern()} and map_lcl(0) share out the same work-items: use one"
        )
    items = _items(local, op, local_size, most)
    axes = [Axis(_groups(_extents(found, maps.MapWrgOp, d)), items[d]) for d in range(3)]
    if lanes is not None:
        most = max(1, most // WARP_SIZE)
        # All must come to the barriers inside as often.
        known = gcd(*(w.value or most for w in warps)) if warps else 1
        count = _divisors(known, most)[-1]
        axes[0] = Axis(axes[0].groups, count * WARP_SIZE, count)
    return axes[0], axes[1], axes[2]


def spread(extents: Sequence[Sequence[Expr]], local_size: int) -> Grid:
    """Grid in which all work-items share out so many elements along each axis."""
    used = [k for k, sizes in enumerate(extents) if sizes]
    shares = dict(zip(used, ITEM_SHARES.get(len(used), ()), strict=False))
    axes: list[Axis] = []
    for k, sizes in enumerate(extents):
        if not sizes:
            axes.append(Axis())
            continue
        share = shares[k]
        wanted = int(local_size * share) if share <= 1 else int(share)
        whole = maximum(*sizes)
        items = max(1, min(wanted, wanted if whole.value is None else whole.value))
        groups = floordiv(whole + (items - 1), items)
        axes.append(Axis(minimum(groups, MAX_GROUPS), items))
    return axes[0], axes[1], axes[2]


def _groups(extents: Sequence[Expr]) -> Expr:
    return minimum(maximum(*extents), MAX_GROUPS) if extents else Expr.const(1)


def _extents(ops: Iterable[Operation], kind: type[maps.DimensionMap], dim: int) -> list[Expr]:
    return [extent(x.input) for x in ops if isinstance(x, kind) and x.dim.data == dim]


def _items(
    extents: Sequence[Sequence[Expr]], op: Operation, local_size: int, most: int
) -> list[int]:
    """Work-items along each axis that take the fewest steps, counted with those that are idle."""
    ops = [*op.walk()]
    count = sum(map(bool, extents))
    steps = [x for x in ops if isinstance(x, reductions.IterateOp)]
    own = {name for x in steps for name in names_in(x.block.args[0].type)}
    shares = iter(ITEM_SHARES.get(count, ()))
    options: list[list[int]] = []
    for dim, sizes in enumerate(extents):
        if not sizes:
            options.append([1])
            continue
        share = next(shares)
        # An iteration's later values are no larger than its initial one, as a rule.
        known = [e.value for e in sizes if own.isdisjoint(e.names)] or [None]
        numbers = [n for n in known if n is not None]
        along = [int(local_size * share) if share <= 1 else int(share)]
        if len(numbers) == len(known):
            along = sorted({max(1, ceil_div(n, k)) for n in numbers for k in STEPS})
        # All work-items must come to the barriers inside as often.
        barriers = [extent(x.operands[0]).value or 1 for x in ops if _has_barriers(x, dim)]
        options.append(_divisors(gcd(*barriers), along[-1]) if barriers else along)
    nests = [*_nests(op, {}, 1)]

    def cost(items: Sequence[int]) -> tuple[int, ...]:
        each = (
            work * prod(ceil_div(size, items[dim]) for dim, size in sizes.items())
            for sizes, work in nests
        )
        warps = ceil_div(prod(items), WARP_SIZE)
        return ((warps + WAITING) * sum(each), *(-n for n in items))

    fitting = [items for items in product(*options) if prod(items) <= most]
    return list(min(fitting, key=cost, default=(1, 1, 1)))


def _nests(
    op: Operation, sizes: dict[int, int], times: int
) -> Iterator[tuple[dict[int, int], int]]:
    """Sizes by dimension of the maps that a group shares out, and the ops for each element."""
    for inner in (x for region in op.regions for x in region.block.ops):
        if isinstance(inner, maps.MapLclOp):
            own = {**sizes, inner.dim.data: extent(inner.input).value or 1}
            deeper = [*_nests(inner, own, times)]
            yield from deeper or [(own, times * (ACCESSES + _work(inner)))]
        elif inner.regions:
            yield from _nests(inner, sizes, times * _times(inner))


def _work(op: Operation) -> int:
    """Number of ops on numbers for an element of a map."""
    inner = [x for region in op.regions for x in region.block.ops]
    own = sum(not isinstance(x, LiftOp | arith.ConstantOp) for x in inner)
    return own + sum(_times(x) * _work(x) for x in inner if x.regions)


def _times(op: Operation) -> int:
    """Number of steps by one work-item, where it is known; all numbers of a vector are one."""
    if isinstance(op, (*PARALLEL, maps.MapVecOp)):
        return 1
    if not isinstance(op, maps.MapBase | reductions.ReduceBase):
        return 1
    return extent(op.input).value or 1


def _has_barriers(op: Operation, dim: int) -> bool:
    return isinstance(op, maps.MapLclOp) and op.dim.data == dim and work_items_meet_in(op)


def _divisors(number: int, most: int) -> list[int]:
    """Divisors of a number that are no larger than another."""
    return [d for d in range(1, max(1, most) + 1) if number % d == 0]
