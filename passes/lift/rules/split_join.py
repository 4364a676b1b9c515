"""Split and join: maps and reductions in pieces."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tiledialect import lift
from tiledialect.index.size import Size
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.function_properties import (
    inner_size,
    require_commutative,
    require_divides,
)
from tiledialect.passes.lift.rules.matching import Like
from tiledialect.passes.lift.rules.refusal import require
from tiledialect.passes.lift.rules.rule import rule


@rule(p.map("f"))
def split_join(x: Value, f: Function, *, n: Size) -> Value:
    """`map(f) = split(n) >> map(map(f)) >> join`, where `n` divides the size of the array."""
    return x >> lift.split(n) >> lift.map(lift.map(f)) >> lift.join


@rule(p.any_map("m", "f"))
def map_ends(x: Value, m: Like, f: Function, *, n: Size) -> Value:
    """`map(f)` as one of the first `n` elements, one of the last `n`, and one of those between.

    `concat(slice(0, n) >> map(f), slice(n, size - n) >> map(f), slice(size - n, size) >> map(f))`
    """
    cuts = (Size.of(0), n, x.size - n, x.size)
    return lift.concat(*(x >> lift.slice(a, b) >> m(f) for a, b in pairwise(cuts)))


@rule(p.map_seq("f"))
def split_join_map_seq(x: Value, f: Function, *, n: Size) -> Value:
    """`map_seq(f) = split(n) >> map(map_seq(f)) >> join`, where `n` divides the size."""
    return x >> lift.split(n) >> lift.map(lift.map_seq(f)) >> lift.join


@rule(p.map(p.map("f")))
def join_split(x: Value, f: Function) -> Value:
    """`map(map(f)) = join >> map(f) >> split(m)`, for an array of arrays of size `m`."""
    return x >> lift.join >> lift.map(f) >> lift.split(inner_size(x))


@rule(p.map(p.map("f")))
def split_join_both(x: Value, f: Function, *, m: Size, n: Size) -> Value:
    """`map(map(f))` in tiles of `m` x `n`; `m` and `n` divide the sizes.

    `map(map(f)) = tile(m, n) >> map(map(map(map(f)))) >> untile`
    """
    tiles = x >> lift.split(m) >> lift.map(lift.transpose >> lift.split(n))
    tiles = tiles >> lift.map(lift.map(lift.transpose))
    done = tiles >> lift.map2(lift.map2(f))
    rows = done >> lift.map(lift.map(lift.transpose) >> lift.join >> lift.transpose)
    return rows >> lift.join


@rule(p.transpose >> p.map(p.map("f")))
def tile_transpose(x: Value, f: Function, *, m: Size, n: Size) -> Value:
    """`transpose >> map(map(f))` in tiles of `m` x `n`, each transposed by itself.

    `transpose >> map2(f) = tile(m, n) >> transpose >> map2(transpose >> map2(f)) >> untile`
    """
    rows = x >> lift.split(m) >> lift.map(lift.transpose >> lift.split(n))
    tiles = rows >> lift.map2(lift.transpose) >> lift.transpose
    done = tiles >> lift.map2(lift.transpose >> lift.map2(f))
    return done >> lift.map(lift.map(lift.transpose) >> lift.join >> lift.transpose) >> lift.join


@rule(p.reduce("f", "e"))
def partial_reduce(x: Value, f: Function, e: Value, *, n: Size) -> Value:
    """`reduce(f, e) = split(n) >> map(reduce(f, e)) >> reduce(f, e)`; `n` divides the size."""
    parts = x >> lift.split(n) >> lift.map(lift.reduce(f, e))
    return parts >> lift.reduce(f, e)


@rule(p.reduce_seq("f", "e"))
def reduce_seq_in_parts(x: Value, f: Function, e: Value, *, n: Size) -> Value:
    """`reduce_seq(f, e) = split(n) >> reduce_seq((a, part) ⇒ part >> reduce_seq(f, a), e)`."""
    return x >> lift.split(n) >> lift.reduce_seq(lambda a, part: part >> lift.reduce_seq(f, a), e)


@rule(p.reduce("f", "e"))
def partial_reduce_strided(x: Value, f: Captured, e: Value, *, n: Size) -> Value:
    """`reduce(f, e) = split(n) >> transpose >> map(reduce(f, e)) >> reduce(f, e)`.

    Each part takes every `n`-th element: `n` divides the size, and `f` is commutative.
    """
    require_commutative(f)
    parts = x >> lift.split(n) >> lift.transpose >> lift.map(lift.reduce(f, e))
    return parts >> lift.reduce(f, e)


@rule(p.reduce("f", "e"))
def reduce_reorder(x: Value, f: Captured, e: Value, *, s: int) -> Value:
    """`reduce(f, e) = gather(reorder_stride(s)) >> reduce(f, e)`, for a commutative `f`."""
    require_commutative(f)
    require_divides(s, x)
    return x >> lift.gather(lift.reorder_stride(s)) >> lift.reduce(f, e)


@rule(p.zip >> p.map("g") >> p.reduce("f", "e"))
def reorder_terms(xs: Sequence[Value], g: Function, f: Captured, e: Value, *, k: Size) -> Value:
    """`zip(x, y) >> map(g) >> reduce(f, e)` with the terms in another order, of arrays of size `n`.

    Every `n / k`-th term comes next: `zip(x, y)` becomes `zip(r(x), r(y))` where `r` is
    `split(n / k) >> transpose >> join`. `k` divides `n`, and `f` is commutative.
    """
    require_commutative(f)
    ordered = (x >> lift.split(x.size / k) >> lift.transpose >> lift.join for x in xs)
    return lift.zip(*ordered) >> lift.map(g) >> lift.reduce(f, e)


@rule(p.split("n") >> p.any_map("m", p.any_map("k", "f")) >> p.join)
def join_of_split(x: Value, m: Like, k: Like, f: Function, n: Size) -> Value:
    """`split(n) >> map(map(f)) >> join = map(f)`, for maps that say nothing of by whom."""
    require(str(m) == str(k) == "map", f"{m} and {k} are not both open")
    return x >> lift.map(f)
