"""OpenCL: mapping to work-items, memories and vector instructions."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, UnitAttr, VectorType
from xdsl.ir import Operation, SSAValue

from tiledialect import lift
from tiledialect.dialects.discardable import AHEAD
from tiledialect.dialects.lift import maps, reductions
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.layout import AsScalarOp, AsVectorOp
from tiledialect.dialects.lift.memory import MEMORY_OPS, ToLocalOp
from tiledialect.dialects.lift.sharing import SHARED, holders, maps_own, set_most_groups
from tiledialect.dialects.lift.types import describe
from tiledialect.dialects.lift.values import GetOp
from tiledialect.ir.ancestors import ancestors
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.function_properties import (
    lanes,
    on_vectors,
    require_commutative,
    require_numbers,
)
from tiledialect.passes.lift.rules.matching import Like
from tiledialect.passes.lift.rules.refusal import NotApplicable, require
from tiledialect.passes.lift.rules.rule import rule

GROUPS = (maps.MapWrgOp, maps.MapLclOp, maps.MapWarpOp, maps.MapLaneOp)
ONE_WORK_ITEM = (
    maps.MapSeqOp,
    maps.MapSeqUnrollOp,
    maps.MapSeqSlideOp,
    maps.MapVecOp,
    maps.MapLaneOp,
    *reductions.REDUCE_OPS,
)
"""Patterns whose function one work-item does on its own, or several in turn."""


def _name(op: Operation) -> str:
    if isinstance(op, maps.DimensionMap):
        return f"{op.pattern()}({op.dim.data})"
    return op.name.removeprefix("lift.")


def _same(op: Operation, kind: type[Operation], dim: int | None) -> bool:
    return isinstance(op, kind) and (
        dim is None or not isinstance(op, maps.DimensionMap) or op.dim.data == dim
    )


def _not_in(op: Operation, *kinds: type[Operation], dim: int | None = None) -> None:
    """Refuse an op inside of such patterns (of this dimension, if one is given)."""
    for outer in ancestors(op):
        require(
            not any(_same(outer, kind, dim) for kind in kinds),
            f"the pattern is inside of {_name(outer)}",
        )


def _has_no(op: Operation, *kinds: type[Operation], dim: int | None = None) -> None:
    """Refuse an op with such patterns in its function."""
    for inner in op.walk():
        nested = inner is not op and any(_same(inner, kind, dim) for kind in kinds)
        require(not nested, f"the pattern contains {_name(inner)}")


def _is_in(op: Operation, kind: type[LiftOp]) -> None:
    inside = any(isinstance(outer, kind) for outer in ancestors(op))
    require(inside, f"the pattern is not inside of {kind.pattern()}")


def _has_map(op: Operation) -> None:
    nested = any(isinstance(o, p.PLAIN_MAPS) for o in op.walk() if o is not op)
    require(nested, "the pattern contains no map for the work-items to share")


# -- maps ------------------------------------------------------------------------------------------


@rule(p.map("f"))
def map_glb(x: Value, f: Function, here: Operation, *, dim: int = 0) -> Value:
    """`map(f) = map_glb(dim)(f)`, the elements shared out among all work-items."""
    _not_in(here, maps.MapGlbOp, dim=dim)
    _not_in(here, *GROUPS, *ONE_WORK_ITEM)
    _has_no(here, maps.MapGlbOp, dim=dim)
    _has_no(here, *GROUPS)
    return x >> lift.map_glb(dim)(f)


@rule(p.map("f"))
def map_wrg(x: Value, f: Function, here: Operation, *, dim: int = 0) -> Value:
    """`map(f) = map_wrg(dim)(f)`, shared out among work-groups; a map inside is for their items."""
    _has_map(here)
    _not_in(here, maps.MapWrgOp, dim=dim)
    _not_in(here, maps.MapGlbOp, maps.MapLclOp, maps.MapWarpOp, *ONE_WORK_ITEM)
    _has_no(here, maps.MapWrgOp, dim=dim)
    _has_no(here, maps.MapGlbOp)
    return x >> lift.map_wrg(dim)(f)


@rule(p.map_groups("m", "f"))
def limit_groups(x: Value, m: Like, f: Function, *, groups: int) -> Value:
    """`map_wrg(f)` or `map_glb(f)` by at most so many groups along its dimension.

    Each goes through elements that lie so far apart, and begins once for them all.
    """
    require(groups > 0, f"groups is {groups}, but there is one at least")
    limited = x >> m(f)
    op = limited.ssa.owner
    assert isinstance(op, Operation)
    set_most_groups(op, groups)
    return limited


@rule(p.map("f"))
def map_lcl(x: Value, f: Function, here: Operation, *, dim: int = 0) -> Value:
    """`map(f) = map_lcl(dim)(f)` inside of `map_wrg`, shared out among the group."""
    _is_in(here, maps.MapWrgOp)
    _not_in(here, maps.MapLclOp, dim=dim)
    _not_in(here, maps.MapWarpOp, maps.MapLaneOp)
    _has_no(here, maps.MapLclOp, dim=dim)
    _has_no(here, maps.MapGlbOp, maps.MapWrgOp, maps.MapWarpOp, maps.MapLaneOp)
    return x >> lift.map_lcl(dim)(f)


@rule(p.map("f"))
def map_warp(x: Value, f: Function, here: Operation) -> Value:
    """`map(f) = map_warp(f)`, shared out among warps; a map inside is for their lanes."""
    _has_map(here)
    _not_in(here, maps.MapGlbOp, maps.MapLclOp, maps.MapWarpOp, *ONE_WORK_ITEM)
    _has_no(here, maps.MapGlbOp, *GROUPS[:3])
    return x >> lift.map_warp(f)


@rule(p.map("f"))
def map_lane(x: Value, f: Function, here: Operation) -> Value:
    """`map(f) = map_lane(f)` inside of `map_warp`, shared out among a warp's lanes."""
    _is_in(here, maps.MapWarpOp)
    _not_in(here, maps.MapLaneOp)
    _has_no(here, maps.MapGlbOp, *GROUPS)
    return x >> lift.map_lane(f)


@rule(p.map("f"))
def map_seq(x: Value, f: Function) -> Value:
    """`map(f) = map_seq(f)`, one element after the other; a map inside may be shared out."""
    return x >> lift.map_seq(f)


@rule(p.map_seq("f"))
def map_seq_unroll(x: Value, f: Function) -> Value:
    """`map_seq(f) = map_seq_unroll(f)`, for an array whose size is a number."""
    require(x.size.number is not None, f"the size of the array is {x.size}, no number")
    return x >> lift.map_seq_unroll(f)


# -- reductions ------------------------------------------------------------------------------------


@rule(p.reduce("f", "e"))
def reduce_seq(x: Value, f: Function, e: Value) -> Value:
    """`reduce(f, e) = reduce_seq(f, e)`, done by one work-item in order."""
    return x >> lift.reduce_seq(f, e)


@rule(p.reduce_seq("f", "e"))
def reduce_seq_unroll(x: Value, f: Function, e: Value) -> Value:
    """`reduce_seq(f, e) = reduce_seq_unroll(f, e)`, for an array whose size is a number."""
    require(x.size.number is not None, f"the size of the array is {x.size}, no number")
    return x >> lift.reduce_seq_unroll(f, e)


# -- memory ----------------------------------------------------------------------------------------


def _not_kept(here: Operation) -> None:
    kept = any(isinstance(use.operation, MEMORY_OPS) for use in here.results[0].uses)
    require(not kept, "the result has a memory already")
    require(not isinstance(here, MEMORY_OPS), f"it is {_name(here)} already")


@rule(p.whatever)
def to_global(x: Value, here: Operation) -> Value:
    """`f = to_global(f)`: the result of a pattern is kept in global memory."""
    _not_kept(here)
    return lift.to_global(x)


@rule(p.whatever)
def to_local(x: Value, here: Operation) -> Value:
    """`f = to_local(f)` inside of `map_wrg`: the result of a pattern is kept in local memory."""
    _not_kept(here)
    _is_in(here, maps.MapWrgOp)
    return lift.to_local(x)


@rule(p.kept("m"))
def fetch_ahead(x: Value, m: Like, here: Operation) -> Value:
    """`to_local(x)` in a step of `reduce_seq`, fetched while the step before computes.

    The group has two copies of it, which steps take in turns. `x` is no result of the step before.
    """
    require(isinstance(here, ToLocalOp), f"{_name(here)} is not to_local")
    require(AHEAD not in here.attributes, "it is fetched ahead already")
    loop = here.parent_op()
    require(isinstance(loop, reductions.ReduceSeqOp), "it is not in a step of reduce_seq")
    kept = m(x)
    op = kept.ssa.owner
    assert isinstance(op, Operation)
    op.attributes[AHEAD] = UnitAttr()
    return kept


@rule(p.whatever)
def to_private(x: Value, here: Operation) -> Value:
    """`f = to_private(f)` for one work-item: the result of a pattern is kept in private memory.

    That of a reduction may be shared out among those of a group, each of which holds its elements.
    """
    _not_kept(here)
    if holders(here):
        return lift.to_private(x)
    inside = any(
        isinstance(o, maps.MapGlbOp | maps.MapLclOp | maps.MapLaneOp) for o in ancestors(here)
    )
    require(inside, "no single work-item does it, inside of map_glb, map_lcl or map_lane")
    if not maps_own(here):
        _has_no(here, *SHARED)
        require(
            not isinstance(here, SHARED), "several work-items write the result, and others read"
        )
    return lift.to_private(x)


# -- vectors ---------------------------------------------------------------------------------------


def vector_width(value: SSAValue) -> int:
    """Number of lanes of a vector, or of the vectors of an array."""
    t = value.type.element_type if isinstance(value.type, TensorType) else value.type
    require(isinstance(t, VectorType), f"{describe(value)} holds no vectors")
    assert isinstance(t, VectorType)
    return t.get_shape()[0]


@rule(p.any_map("m", "f"))
def vectorize(x: Value, m: Like, f: Captured, *, w: int = 4) -> Value:
    """`map(f) = as_vector(w) >> map(map_vec(f)) >> as_scalar`, for a function of a number."""
    require_numbers([*f.arguments, f.result])
    return x >> lift.as_vector(w) >> m(lift.map_vec(f)) >> lift.as_scalar


@rule(p.zip >> p.any_map("m", "f"))
def vectorize_zip(xs: Sequence[Value], m: Like, f: Captured, *, w: int = 4) -> Value:
    """`zip(x, y) >> map(f) = zip(x >> as_vector(w), …) >> map(f of vectors) >> as_scalar`."""
    require_numbers([f.result])
    vectors = lift.zip(*(x >> lift.as_vector(w) for x in xs))
    return vectors >> m(on_vectors(f, w)) >> lift.as_scalar


@rule(p.any_map("m", "f"))
def vectorize_arrays(x: Value, m: Like, f: Captured, *, w: int = 4) -> Value:
    """`map(f) = map(f of vectors) >> as_scalar`, for a function of arrays of numbers.

    `x >> transpose >> map(as_vector(w)) >> transpose >> map(f of vectors) >> as_scalar`, for arrays
    with an axis. Each vector has the numbers at the same place of `w` elements, as of windows.
    """
    require_numbers([f.result])
    return lanes(x, w) >> m(on_vectors(f, w)) >> lift.as_scalar


@rule(p.map(p.map_vec("f")))
def vectorize_function(x: Value, f: Captured) -> Value:
    """`map(map_vec(f)) = map(f of vectors)`, where the ops of `f` are done to whole vectors."""
    return x >> lift.map(on_vectors(f, vector_width(x.ssa)))


@rule(p.reduce("f", "e"))
def vectorize_reduce(x: Value, f: Captured, e: Value, *, w: int = 4) -> Value:
    """`reduce(f, e)` as one of vectors of `w`, and one of the numbers in its result.

    `as_vector(w) >> split(n / w) >> map(reduce(f of vectors)) >> as_scalar >> reduce(f, e)`; `w`
    divides the size `n`, and `f` is commutative.
    """
    require_commutative(f)
    require_numbers(f.arguments)
    vectors = x >> lift.as_vector(w)
    whole = vectors >> lift.split(vectors.size)
    initial = on_vectors(Captured(f.home, (), e.ssa), w)()
    sums = whole >> lift.map(lift.reduce(on_vectors(f, w), initial))
    return sums >> lift.as_scalar >> lift.reduce(f, e)


@rule(p.zip >> p.map("f") >> p.as_scalar >> p.any_reduce("r", "g", "e"))
def dot(xs: Sequence[Value], f: Captured, r: Like, g: Captured, e: Value) -> Value:
    """`zip(x, y) >> map(a * b of vectors) >> as_scalar >> reduce(g, e)` by products of vectors.

    It is `zip(x, y) >> map((a, b) ⇒ dot(a, b)) >> reduce(g, e)`, for a `g` that adds.
    """
    product, total = f.result.owner, g.result.owner
    parts = [v.owner for v in product.operands] if isinstance(product, arith.MulfOp) else []
    taken = {v.index.data for v in parts if isinstance(v, GetOp) and v.input is f.arguments[0]}
    require(len(parts) == 2 and taken == {0, 1}, "the vectors are not multiplied with one another")
    adds = isinstance(total, arith.AddfOp) and set(total.operands) == set(g.arguments)
    require(adds, "the products are not added")
    width = vector_width(f.result)
    zero = lift.cast(0, g.result.type)
    x, y = (v >> lift.as_scalar >> lift.split(width) for v in xs)

    def of_vectors(a: Value, b: Value) -> Value:
        return lift.zip(a, b) >> lift.reduce_seq_unroll(lambda s, t: s + t[0] * t[1], zero)

    return lift.zip(x, y) >> lift.map(of_vectors) >> r(g, e)


@rule(p.any_reduce("r", "f", "e"))
def vectors_past_reduce(x: Value, r: Like, f: Captured, e: Value) -> Value:
    """`reduce((s, y) ⇒ zip(s >> as_vector(w), y) >> map(f) >> as_scalar, e)`, all in vectors.

    It is `reduce((s, y) ⇒ zip(s, y) >> map(f), e >> as_vector(w)) >> as_scalar`.
    """
    total, element = f.arguments
    last = f.result.owner
    if not isinstance(last, AsScalarOp):
        raise NotApplicable("the function does not give numbers of vectors")
    taken = [op for op in f.ops if total in op.operands]
    vectors = [op.results[0] for op in taken if isinstance(op, AsVectorOp)]
    require(len(vectors) == len(taken) == 1, "the function does not take its sums as vectors alone")
    require(vectors[0].type == last.input.type, "the sums are vectors of other widths")
    width = vector_width(last.input)
    step = Captured(f.home, [vectors[0], element], last.input)
    # The summands are of another type than the sums.
    kind = lift.reduce_seq if str(r) == "reduce" else r
    return x >> kind(step, e >> lift.as_vector(width)) >> lift.as_scalar
