"""Cancellation and identity: patterns without effect, removed or added."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tiledialect import lift
from tiledialect.dialects.lift.attributes import IndexMap
from tiledialect.dialects.lift.types import as_array
from tiledialect.dialects.lift.values import GetOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.size import Size
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.function_properties import inner_size, require_divides
from tiledialect.passes.lift.rules.matching import Like
from tiledialect.passes.lift.rules.refusal import require
from tiledialect.passes.lift.rules.rule import rule

# -- identities ------------------------------------------------------------------------------------


@rule(p.split("n") >> p.join)
def split_join_identity(x: Value, n: Size) -> Value:
    """`split(n) >> join = id`."""
    return x


@rule(p.join >> p.split("n"))
def join_split_identity(x: Value, n: Size) -> Value:
    """`join >> split(n) = id`, for pieces of `n`."""
    require(inner_size(x) == n, f"the pieces are of {inner_size(x)}, not of {n}")
    return x


@rule(p.transpose >> p.transpose)
def transpose_transpose_identity(x: Value) -> Value:
    """`transpose >> transpose = id`."""
    return x


@rule(p.scatter("i") >> p.gather("i"))
def scatter_gather_identity(x: Value, i: IndexMap) -> Value:
    """`scatter(i) >> gather(i) = id`."""
    return x


@rule(p.gather("i") >> p.scatter("i"))
def gather_scatter_identity(x: Value, i: IndexMap) -> Value:
    """`gather(i) >> scatter(i) = id`, as the map of a scatter is a permutation."""
    return x


def _unmoved(x: Value, i: IndexMap) -> Value:
    require(i.expr == Expr.var(i.variable), f"{i} is not the identity")
    return x


@rule(p.gather("i"))
def empty_gather(x: Value, i: IndexMap) -> Value:
    """`gather(i ⇒ i) = id`."""
    return _unmoved(x, i)


@rule(p.scatter("i"))
def empty_scatter(x: Value, i: IndexMap) -> Value:
    """`scatter(i ⇒ i) = id`."""
    return _unmoved(x, i)


@rule(p.as_vector("n") >> p.as_scalar)
def as_vector_as_scalar_identity(x: Value, n: Size) -> Value:
    """`as_vector(n) >> as_scalar = id`."""
    return x


@rule(p.as_scalar >> p.as_vector("n"))
def as_scalar_as_vector_identity(x: Value, n: Size) -> Value:
    """`as_scalar >> as_vector(n) = id`, for vectors of `n`."""
    t = as_array(x.ssa, "as_scalar").element_type
    assert isinstance(t, VectorType)
    require(n == Size.of(t.get_shape()[0]), f"the vectors are of {t.get_shape()[0]}, not of {n}")
    return x


@rule(p.any_map("m", "f"))
def empty_map(x: Value, m: Like, f: Captured) -> Value:
    """`map(id) = id`, for a map by whomever."""
    require(f.result is f.arguments[0], "the function is not the identity")
    return x


@rule(p.pad("l", "r", "b"))
def empty_pad(x: Value, l: Size, r: Size, b: object) -> Value:  # noqa: E741
    """`pad(0, 0) = id`."""
    require(l == r == Size(), f"the pad puts {l} and {r} elements at the ends")
    return x


@rule(p.slice("a", "b"))
def empty_slice(x: Value, a: Size, b: Size) -> Value:
    """`slice(0, n) = id`, for an array of `n` elements."""
    require(a == Size() and b == x.size, f"the array has {x.size} elements")
    return x


@rule(p.slide("n", "s"))
def slide_to_split(x: Value, n: Size, s: Size) -> Value:
    """`slide(n, n) = split(n)`."""
    require(n == s, f"the windows of {n} are {s} apart")
    return x >> lift.split(n)


@rule(p.split("n"))
def split_to_slide(x: Value, n: Size) -> Value:
    """`split(n) = slide(n, n)`."""
    return x >> lift.slide(n, n)


# -- iteration -------------------------------------------------------------------------------------


@rule(p.iterate(0, "f"))
def iterate_zero(x: Value) -> Value:
    """`iterate(0, f) = id`."""
    return x


@rule(p.iterate("n", "f"))
def iterate_one(x: Value, n: Size, f: Captured) -> Value:
    """`iterate(1, f) = f`."""
    require(n == Size.of(1), f"the function is applied {n} times")
    same = f.arguments[0].type == x.type
    require(same, "the function has a name for a size that changes: bind it first")
    return f(x)


@rule(p.iterate("n", "f"))
def iterate_decomposition(x: Value, n: Size, f: Captured, *, m: Size) -> Value:
    """`iterate(n, f) = iterate(m, f) >> iterate(n - m, f)`, for a function that keeps the type."""
    same = f.arguments[0].type == x.type == f.result.type
    require(same, "the function changes the size of the array")
    return x >> lift.iterate(m, f) >> lift.iterate(n - m, f)


# -- zips and tuples -------------------------------------------------------------------------------


@rule(p.tuple >> p.get("k"))
def get_tuple(xs: Sequence[Value], k: int) -> Value:
    """`(…, x, …) >> get(k) = x`."""
    return xs[k]


@rule(p.zip >> p.map(p.get("k")))
def get_zip(xs: Sequence[Value], k: int) -> Value:
    """`zip(…, x, …) >> map(get(k)) = x`."""
    return xs[k]


@rule(p.zip >> p.any_map("m", "f"))
def zip_duplicate(xs: Sequence[Value], m: Like, f: Captured) -> Value:
    """`zip(x, y, x) >> map(f) = zip(x, y) >> map((a, b) ⇒ f(a, b, a))`."""
    different = list(dict.fromkeys(x.ssa for x in xs))
    require(len(different) < len(xs), "all arrays of the zip are different")
    return _zipped(
        different, m, lambda parts: f(lift.tuple(*(parts[different.index(x.ssa)] for x in xs)))
    )


@rule(p.zip >> p.any_map("m", "f"))
def zip_unused(xs: Sequence[Value], m: Like, f: Captured) -> Value:
    """`zip(x, y) >> map((a, b) ⇒ f(a)) = x >> map(f)`."""
    (t,) = f.arguments
    gets = [op for outer in f.ops for op in outer.walk() if t in op.operands]
    only_gets = f.result is not t and all(isinstance(op, GetOp) for op in gets)
    require(only_gets, "the function takes the tuple as it is")
    used = sorted({op.index.data for op in gets if isinstance(op, GetOp)})
    require(0 < len(used) < len(xs), "all arrays of the zip are used")

    def on_parts(parts: list[Value]) -> Value:
        # Values in the other places are never used.
        return f(
            lift.tuple(*(parts[used.index(k)] if k in used else parts[0] for k in range(len(xs))))
        )

    return _zipped([xs[k].ssa for k in used], m, on_parts)


@rule(p.zip >> p.any_map("m", "f"))
def zip_flatten(xs: Sequence[Value], m: Like, f: Captured) -> Value:
    """`zip(zip(x, y), z) >> map(f) = zip(x, y, z) >> map((a, b, c) ⇒ f((a, b), c))`."""
    inner = [p.found_in(x, p.zip) for x in xs]
    require(any(inner), "no array of the zip is a zip")
    flat = [
        [v.ssa for v in found["xs"]] if found else [x.ssa]
        for x, found in zip(xs, inner, strict=True)
    ]

    def on_parts(parts: list[Value]) -> Value:
        rest = iter(parts)
        grouped = [[next(rest) for _ in group] for group in flat]
        return f(
            lift.tuple(
                *(
                    lift.tuple(*group) if found else group[0]
                    for group, found in zip(grouped, inner, strict=True)
                )
            )
        )

    return _zipped([v for group in flat for v in group], m, on_parts)


def _zipped(arrays: Sequence[SSAValue], m: Like, function: Callable[[list[Value]], Value]) -> Value:
    """Map of a function of a list of values over the arrays."""
    if len(arrays) == 1:
        return Value(arrays[0]) >> m(lambda e: function([e]))
    return lift.zip(*map(Value, arrays)) >> m(lambda t: function(list(t)))


# -- introduced ------------------------------------------------------------------------------------


@rule(p.anything)
def add_identity(x: Value) -> Value:
    """`x = x >> map(id)`, a copy."""
    return x >> lift.map(lift.id)


@rule(p.any_map("m", "f"))
def add_identity_inside(x: Value, m: Like, f: Function) -> Value:
    """`map(f) = map(a ⇒ f(a >> map(id)))`, a copy of every element, where these are arrays."""
    return x >> m(lambda a: f(a >> lift.map(lift.id)))


@rule(p.any_map("m", "f"))
def add_transposed_identity_inside(x: Value, m: Like, f: Function) -> Value:
    """`map(f) = map(a ⇒ f(a >> transpose >> map(map(id)) >> transpose))`, for matrices.

    The copy of every element has its columns for rows.
    """
    copied = lift.transpose >> lift.map2(lift.id) >> lift.transpose
    return x >> m(lambda a: f(a >> copied))


@rule(p.any_reduce("r", "f", "e"))
def add_identity_in_reduce(x: Value, r: Like, f: Function, e: Value) -> Value:
    """`reduce(f, e) = reduce((s, a) ⇒ f(s, a >> map(id)), e)`, where the elements are arrays."""
    return x >> r(lambda s, a: f(s, a >> lift.map(lift.id)), e)


@rule(p.map_seq_slide("n", "s", "f"))
def add_identity_in_slide(x: Value, n: Size, s: Size, f: Function) -> Value:
    """`map_seq_slide(f, n, s) = map(a ⇒ a >> map(id)) >> map_seq_slide(f, n, s)`, for arrays.

    Every element is copied when it is new in a window.
    """
    return x >> lift.map2(lift.id) >> lift.map_seq_slide(f, n, s)


@rule(p.zip >> p.any_reduce("r", "f", "e"))
def add_transposed_identity_in_reduce(
    xs: Sequence[Value], r: Like, f: Function, e: Value, *, k: int
) -> Value:
    """`zip(x, y) >> reduce(f, e)`, where the elements of array `k`, matrices, are copied.

    For `k = 1` it is `zip(x, y) >> reduce((s, (a, b)) ⇒ f(s, (a, b >> transpose >> map(map(id)) >>
    transpose)), e)`: the copies have their columns for rows.
    """
    require(k < len(xs), f"the zip has {len(xs)} arrays")
    copied = lift.transpose >> lift.map2(lift.id) >> lift.transpose

    def step(s: Value, t: Value) -> Value:
        return f(s, lift.tuple(*(c >> copied if j == k else c for j, c in enumerate(t))))

    return lift.zip(*xs) >> r(step, e)


@rule(p.anything)
def add_transposes(x: Value) -> Value:
    """`x = x >> transpose >> transpose`, for an array of arrays."""
    return x >> lift.transpose >> lift.transpose


@rule(p.anything)
def add_split_join(x: Value, *, n: Size) -> Value:
    """`x = x >> split(n) >> join`, where `n` divides the size."""
    return x >> lift.split(n) >> lift.join


@rule(p.anything)
def add_join_split(x: Value) -> Value:
    """`x = x >> join >> split(n)`, for an array of arrays of size `n`."""
    return x >> lift.join >> lift.split(inner_size(x))


@rule(p.anything)
def add_vectors(x: Value, *, w: int = 4) -> Value:
    """`x = x >> as_vector(w) >> as_scalar`, where `w` divides the size."""
    return x >> lift.as_vector(w) >> lift.as_scalar


@rule(p.anything)
def add_reorder(x: Value, *, s: int) -> Value:
    """`x = x >> gather(i) >> scatter(i)`, where `i` takes every `s`-th element first."""
    require_divides(s, x)
    return x >> lift.gather(lift.reorder_stride(s)) >> lift.scatter(lift.reorder_stride(s))


@rule(p.kept("m") >> p.kept("m"))
def kept_twice(x: Value, m: Like) -> Value:
    """`to_local >> to_local = to_local`, and so for each memory."""
    return m(x)
