"""Macro rules: compositions of several rules at the places that each leads to."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift import maps, reductions
from tiledialect.index.size import Size
from tiledialect.passes.lift.rules.cancellation import (
    as_scalar_as_vector_identity,
    as_vector_as_scalar_identity,
    empty_map,
    get_tuple,
    get_zip,
    join_split_identity,
    kept_twice,
    split_join_identity,
    transpose_transpose_identity,
    zip_duplicate,
    zip_flatten,
    zip_unused,
)
from tiledialect.passes.lift.rules.fusion import (
    map_fission,
    map_fusion,
    map_fusion_with_zip,
    map_reduce_fission,
    reduce_map_fusion,
    reduce_seq_map_fusion,
)
from tiledialect.passes.lift.rules.interchange import (
    map_map_interchange,
    map_map_transpose_zip_inside,
    map_reduce_interchange,
    map_zip_reduce_interchange,
    transpose_both_sides,
)
from tiledialect.passes.lift.rules.opencl import reduce_seq
from tiledialect.passes.lift.rules.refusal import Mismatch
from tiledialect.passes.lift.rules.reordering import (
    join_past_map,
    map_past_split,
    map_past_transpose,
    zip_past_split,
)
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy, macro
from tiledialect.passes.lift.rules.split_join import (
    join_split,
    partial_reduce,
    partial_reduce_strided,
    reduce_seq_in_parts,
    reorder_terms,
    split_join,
)
from tiledialect.passes.lift.rules.stencil import slide_tiling, tile_stencil_2d
from tiledialect.passes.lift.strategies.combinators import (
    Local,
    at_input,
    attempt,
    choice,
    everywhere,
    in_function,
    repeat,
    sequence,
    top_down,
)

CANCELLATIONS = (
    split_join_identity,
    join_split_identity,
    transpose_transpose_identity,
    as_vector_as_scalar_identity,
    as_scalar_as_vector_identity,
    empty_map,
    get_tuple,
    get_zip,
    zip_duplicate,
    zip_unused,
    zip_flatten,
    kept_twice,
)
"""Rules that make a program shorter."""

FUSIONS = (map_fusion, map_fusion_with_zip, reduce_map_fusion, reduce_seq_map_fusion)
"""Rules after which an array less is kept."""


def at_least_once(strategy: Strategy) -> Strategy:
    """Apply the strategy everywhere, but refuse where it applies nowhere."""
    return sequence(top_down(strategy), everywhere(strategy))


@macro
def simplify() -> Strategy:
    """Cancel identities everywhere."""
    return at_least_once(choice(*CANCELLATIONS))


@macro
def fuse() -> Strategy:
    """Fuse maps and reductions everywhere."""
    return at_least_once(choice(*CANCELLATIONS, *FUSIONS))


@macro
def fuse_parts() -> Strategy:
    """Fuse maps and reductions everywhere, but for a reduction of others' results.

    `map(reduce(f, e)) >> reduce(f, e)` stays, so that several work-items can do the map. A map
    before a split goes into the parts.
    """
    moved = (map_fusion, map_fusion_with_zip, map_past_split, map_past_transpose)
    return at_least_once(choice(*CANCELLATIONS, *moved, Local(_fuse_single)))


def _fuse_single(rewriting: Rewriting, value: SSAValue) -> SSAValue:
    """Fuse a reduction and a map whose function has no reduction."""
    op = value.owner
    made = op.operands[-1].owner if isinstance(op, reductions.ReduceBase) else None
    if isinstance(made, maps.MapBase) and _has_reduction(made):
        raise Mismatch("the map has a reduction")
    return choice(reduce_map_fusion, reduce_seq_map_fusion).run(rewriting, value)


def _has_reduction(op: Operation) -> bool:
    return any(isinstance(x, reductions.ReduceBase) for x in op.walk())


@macro
def tile_stencil(*, v: Size, u: Size | None = None) -> Strategy:
    """`slide(n, s) >> map(f) = slide(u, v) >> map(slide(n, s) >> map(f)) >> join`.

    `u - v == n - s`; by `slide_tiling`, `join_past_map` and `map_fusion`.
    """
    return sequence(at_input(slide_tiling(v=v, u=u)), join_past_map, at_input(map_fusion))


@macro
def reshape_maps(*, n: Size) -> Strategy:
    """`map(map(f)) = join >> split(n) >> map(map(f)) >> join >> split(m)`, for arrays of size `m`.

    By `join_split` and `split_join`; `n` divides the number of all elements.
    """
    return sequence(join_split, at_input(split_join(n=n)))


@macro
def block_rows(*, n: Size) -> Strategy:
    """`map(map(f)) = split(n) >> map(transpose >> map(map(f)) >> transpose) >> join`.

    Of `n` rows at a time, which divides the size, the elements of a column come together, as for a
    work-item: windows of theirs share elements. By `split_join` and the exchange of the maps.
    """
    exchange = choice(map_map_interchange, transpose_both_sides, map_map_transpose_zip_inside)
    return sequence(split_join(n=n), at_input(in_function(exchange)))


@macro
def reuse_from_map(*, n: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ f(a, b)))`: `n` elements of `y` serve all of `x` at a time.

    It is `y >> split(n) >> map(bs ⇒ x >> map(a ⇒ bs >> map(b ⇒ f(a, b))))`, then transposed and
    joined; by `split_join`, `map_fission` and `map_map_interchange`.
    """
    return sequence(in_function(split_join(n=n)), map_fission, at_input(map_map_interchange))


@macro
def tile_maps(*, m: Size, n: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ f(a, b)))` in tiles of `m` x `n`, which divide the sizes.

    It is `split(m) >> map(as ⇒ y >> split(n) >> map(bs ⇒ as >> map(a ⇒ bs >> map(b ⇒ f(a, b)))))`,
    then joined; by `split_join`, `map_fission` and `map_map_interchange`.
    """
    return sequence(split_join(n=m), at_input(in_function(reuse_from_map(n=n))))


@macro
def move_reduce_out() -> Strategy:
    """`map(g >> reduce(f, e))` as a map of `g` and a reduction of arrays.

    By `map_fission` and `map_reduce_interchange`, or by the latter alone.
    """
    return choice(
        map_reduce_interchange,
        map_zip_reduce_interchange,
        sequence(map_fission, map_reduce_interchange),
    )


@macro
def interchange() -> Strategy:
    """A map and the map or reduction that its function ends with, exchanged."""
    return choice(map_map_interchange, transpose_both_sides, move_reduce_out)


@macro
def reduce_outermost() -> Strategy:
    """`map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))` as a reduction of matrices.

    Each step adds the products of one column of both to all elements: register blocking in two
    dimensions, where the matrix is private. By `map_zip_reduce_interchange`, twice.
    """
    return sequence(in_function(map_zip_reduce_interchange), map_zip_reduce_interchange)


def of_results(strategy: Strategy) -> Strategy:
    """The strategy at nested maps, or at those of their reductions, whose results others finish."""
    rows = choice(at_input(strategy), at_input(at_input(strategy)))
    return choice(strategy, sequence(map_reduce_fission, rows))


@macro
def register_block_1d(*, n: Size) -> Strategy:
    """`map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))`, `n` elements to a work-item.

    By `split_join`, `map_map_interchange` and `map_zip_reduce_interchange`; `n` divides the size.
    """
    block = sequence(map_map_interchange, at_input(in_function(map_zip_reduce_interchange)))
    return sequence(split_join(n=n), at_input(in_function(block)))


@macro
def register_block_2d(*, m: Size, n: Size) -> Strategy:
    """`map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))`, `m` x `n` elements to a work-item.

    By `tile_maps` and `reduce_outermost`; `m` and `n` divide the sizes.
    """
    tile = in_function(at_input(at_input(in_function(of_results(reduce_outermost)))))
    return sequence(tile_maps(m=m, n=n), at_input(tile))


@macro
def reuse_block_2d(*, m: Size, n: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))` in panels of `n` elements of `y`.

    A panel serves all of `x`, in blocks of `m` x `n` elements to a work-item. By `reuse_from_map`,
    `split_join` and `reduce_outermost`; `m` and `n` divide the sizes.
    """
    blocks = sequence(split_join(n=m), at_input(in_function(of_results(reduce_outermost))))
    return sequence(reuse_from_map(n=n), at_input(at_input(in_function(blocks))))


@macro
def reduce_zip_in_parts(*, k: Size) -> Strategy:
    """`zip(x, y) >> reduce_seq(f, e)` in parts of `k`, which divides the size.

    `zip(x >> split(k), y >> split(k)) >> reduce_seq((s, (x, y)) ⇒ zip(x, y) >> reduce_seq(f, s))`
    """
    return sequence(reduce_seq_in_parts(n=k), at_input(zip_past_split), reduce_seq_map_fusion)


@macro
def finish_tiling(*, k: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))`, of a tile, in parts of `k`.

    The tile is a reduction of matrices, in parts of `k` columns of both. By `reduce_outermost` and
    `reduce_zip_in_parts`; `k` divides the size.
    """
    return sequence(reduce_outermost, reduce_zip_in_parts(k=k))


@macro
def tile_matrix_product(*, m: Size, n: Size, k: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))` in tiles of `m` x `n` x `k`.

    Each tile of the result is a reduction of matrices, in parts of `k`. By `tile_maps` and
    `finish_tiling`; `m`, `n` and `k` divide the sizes.
    """
    row_of_tiles = in_function(at_input(at_input(in_function(of_results(finish_tiling(k=k))))))
    return sequence(tile_maps(m=m, n=n), at_input(row_of_tiles))


@macro
def hold_blocks_2d(*, m: Size, n: Size, p: Size, q: Size, k: Size) -> Strategy:
    """`x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))` in tiles of `m` x `n`.

    Each tile is a reduction over parts of `k` columns of both, whose accumulator is of blocks of
    `p` x `q`: work-items can hold these while they share the parts. By `tile_maps`,
    `reduce_outermost`, `reduce_zip_in_parts` and `map_fission`; the sizes divide one another.
    """
    block = sequence(reduce_outermost, reduce_zip_in_parts(k=k))
    in_row = in_function(at_input(at_input(in_function(block))))
    blocks = at_input(sequence(in_row, map_fission(last=2), at_input(reduce_outermost)))
    held = of_results(sequence(tile_maps(m=p, n=q), blocks))
    tile = in_function(at_input(at_input(in_function(held))))
    return sequence(tile_maps(m=m, n=n), at_input(tile))


@macro
def block_sums_2d(*, m: Size, n: Size, k: Size) -> Strategy:
    """`map(g >> map(a ⇒ zip(h(a), y) >> reduce_seq(f, e)))` in blocks of `m` x `n` sums.

    Each block is a reduction of matrices, in parts of `k` terms, as of windows whose weights are
    `y`. By `split_join`, `map_fission`, `transpose_both_sides` and `finish_tiling`; `m` and `n`
    divide the sizes, and `k` the number of terms.
    """
    blocks = at_input(in_function(finish_tiling(k=k)))
    columns = sequence(map_fission(last=1), transpose_both_sides, blocks)
    rows = sequence(in_function(split_join(n=n)), map_fission(last=1), at_input(columns))
    return sequence(split_join(n=m), at_input(in_function(of_results(rows))))


@macro
def block_strided_sums_2d(*, m: Size, n: Size, k: Size) -> Strategy:
    """`map2(a ⇒ zip(h(a), y) >> map(g) >> reduce(f, e))` in blocks of `m` x `n` sums.

    Each part has `k` terms at equal distances, as columns of windows, which the sums of a block
    share. By `reorder_terms`, `fuse_parts` and `block_sums_2d`; `k` divides the number of terms.
    """
    ordered = in_function(in_function(top_down(reorder_terms(k=k))))
    return sequence(ordered, attempt(fuse_parts), block_sums_2d(m=m, n=n, k=k))


@macro
def block_stencil_2d(*, v: Size, m: Size, n: Size, k: Size) -> Strategy:
    """`slide2(d, s) >> map2(a ⇒ zip(h(a), y) >> map(g) >> reduce(f, e))` in tiles of `v` x `v`.

    Each tile is in blocks of `m` x `n` sums, in parts of `k` terms. By `tile_stencil_2d`,
    `fuse_parts` and `block_sums_2d`; the sizes divide one another.
    """
    tile = in_function(in_function(sequence(attempt(fuse_parts), block_sums_2d(m=m, n=n, k=k))))
    return sequence(tile_stencil_2d(v=v), at_input(at_input(at_input(tile))))


@macro
def block_sums_1d(*, n: Size) -> Strategy:
    """`reduce(f, e) = split(n) >> reduce((s, y) ⇒ zip(s, y) >> map(f), [e, …]) >> reduce(f, e)`.

    It is done to all reductions of numbers in a value: `n` sums at a time, so that none waits for
    the one before. By `partial_reduce_strided` and `map_reduce_interchange`; `n` divides the sizes.
    """
    block = sequence(partial_reduce_strided(n=n), at_input(map_reduce_interchange))
    return Local(lambda rewriting, value: _at_reductions(rewriting, value, block))


def _at_reductions(rewriting: Rewriting, value: SSAValue, strategy: Strategy) -> SSAValue:
    """Apply a strategy at every open reduction of the pattern that gives a value."""
    op = value.owner
    inner = op.walk() if isinstance(op, Operation) else ()
    opened = [x for x in inner if isinstance(x, reductions.ReduceOp)]
    found = [x for x in opened if not any(map(_has_reduction, x.block.ops))]
    if not found:
        raise Mismatch("there is no reduction")
    for x in found:
        new = strategy.run(rewriting, x.results[0])
        value = new if x is op else value
    return value


@macro
def reduce_in_parts(*, n: Size) -> Strategy:
    """`reduce(f, e) = split(n) >> map(reduce_seq(f, e)) >> reduce_seq(f, e)`; `n` divides the size.

    By `partial_reduce` and `reduce_seq`, with the producer fused.
    """
    parts = at_input(in_function(sequence(reduce_seq, attempt(repeat(reduce_seq_map_fusion)))))
    return sequence(partial_reduce(n=n), parts, reduce_seq)
