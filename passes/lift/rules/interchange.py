"""Interchange: of nested maps, of a map and a reduction, by way of transposes."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence

from tiledialect import lift
from tiledialect.dialects.lift.values import GetOp
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.function_properties import alike
from tiledialect.passes.lift.rules.matching import Chain, Found, Like, MatchScope, match_backwards
from tiledialect.passes.lift.rules.refusal import require
from tiledialect.passes.lift.rules.rule import rule


@rule(p.any_map("m", p.value("y") >> p.any_map("k", "f"), argument="a"))
def map_map_interchange(x: Value, y: Captured, m: Like, k: Like, a: Value, f: Captured) -> Value:
    """`x >> map(a ⇒ y >> map(b ⇒ f(a, b))) = y >> map(b ⇒ x >> map(a ⇒ f(a, b))) >> transpose`."""
    both = f.over(a)
    return y() >> k(lambda b: x >> m(lambda e: both(e, b))) >> lift.transpose


@rule(p.map(p.map("f")))
def transpose_both_sides(x: Value, f: Function) -> Value:
    """`map(map(f)) = transpose >> map(map(f)) >> transpose`."""
    return x >> lift.transpose >> lift.map2(f) >> lift.transpose


@rule(p.zip >> p.map(p.get("k") >> p.map("f"), argument="t"))
def map_map_transpose_zip_outside(xs: Sequence[Value], k: int, t: Value, f: Captured) -> Value:
    """`zip(x, y) >> map((a, b) ⇒ a >> map(c ⇒ f(b, c)))` with the two maps exchanged.

    It is `x >> transpose >> map(a ⇒ zip(a, y) >> map((c, b) ⇒ f(b, c))) >> transpose`.
    """
    both = f.over(t)
    require(not _takes(f, t, k), f"the inner function takes all of component {k}")

    def on_column(column: Value) -> Value:
        return lift.zip(*(column if j == k else x for j, x in enumerate(xs))) >> lift.map(
            lambda pair: both(pair, pair[k])
        )

    return xs[k] >> lift.transpose >> lift.map(on_column) >> lift.transpose


def _takes(f: Captured, t: Value, k: int) -> bool:
    return any(
        isinstance(op, GetOp) and op.input is t.ssa and op.index.data == k
        for outer in f.ops
        for op in outer.walk()
    )


@rule(p.map(p.zip >> p.map("f")))
def map_map_transpose_zip_inside(x: Value, xs: Sequence[Captured], f: Captured) -> Value:
    """`x >> map(a ⇒ zip(g(a), y) >> map(f))` with the two maps exchanged.

    It is `zip(x >> map(g) >> transpose, y) >> map((a, b) ⇒ a >> map(c ⇒ f(c, b))) >> transpose`.
    """
    inner = [k for k, g in enumerate(xs) if g.uses(Value(g.arguments[0]))]
    require(len(inner) == 1, "no single array of the zip depends on the outer element")
    (k,) = inner
    arrays = [
        x >> lift.map(g) >> lift.transpose if j == k else Captured(g.home, (), g.result)()
        for j, g in enumerate(xs)
    ]

    def on_row(row: Value) -> Value:
        parts = list(row)
        return parts[k] >> lift.map(
            lambda c: f(lift.tuple(*(c if j == k else part for j, part in enumerate(parts))))
        )

    return lift.zip(*arrays) >> lift.map(on_row) >> lift.transpose


@rule(p.map(p.any_reduce("r", "f", "e"), argument="a"))
def map_reduce_interchange(x: Value, r: Like, f: Captured, e: Captured, a: Value) -> Value:
    """`map(reduce(f, e)) = transpose >> reduce((s, y) ⇒ zip(s, y) >> map(f), [e, …])`.

    The initial value of the reduction may depend on the outer element.
    """
    fixed = not e.uses(a)
    initial = lift.generate(x.size, lambda i: e()) if fixed else x >> lift.map(e.of(a))
    row = lift.map(lambda s, y: f(s, y))
    return x >> lift.transpose >> r(lambda s, y: lift.zip(s, y) >> row, initial)


@rule(p.zip >> p.map("g"))
def map_reduce_interchange_zip(xs: Sequence[Value], g: Captured) -> Value:
    """`zip(d, y) >> map((s, a) ⇒ a >> reduce(f, s))` as a reduction of arrays that starts from `d`.

    It is `y >> transpose >> reduce((s, a) ⇒ zip(s, a) >> map(f), d)`.
    """
    found: Found = {}
    inside = MatchScope(g.home, g.home.regions[0].block)
    reduction = p.get(1) >> p.any_reduce("r", "f", "e")
    rest = match_backwards(reduction.stages, g.result, found, inside)
    t, e, f, r = g.arguments[0], found["e"].result.owner, found["f"], found["r"]
    starts = isinstance(e, GetOp) and e.input is t and e.index.data == 0
    require(rest is t and len(xs) == 2 and starts, "no single array of the zip is reduced")
    require(not f.uses(Value(t)), "the function of the elements depends on their initial values")
    row = lift.map(lambda s, a: f(s, a))
    return xs[1] >> lift.transpose >> r(lambda s, a: lift.zip(s, a) >> row, xs[0])


@rule(p.map(p.map(p.reduce("f", "e")) >> p.reduce("g", "d")))
def map_reduce_partial_reduce(
    x: Value, f: Captured, e: Captured, g: Captured, d: Captured
) -> Value:
    """`map(map(reduce(f, e)) >> reduce(f, e))` as a reduction of arrays, a part of each at a time.

    It is `transpose >> reduce_seq((s, y) ⇒ zip(s, y) >> map((s, a) ⇒ a >> reduce(f, s)), [e, …])`.
    """
    require(alike(f, g), "the parts and their results are reduced by different functions")
    require(alike(e, d), "the two reductions have different initial values")
    parts = lift.map(lambda s, part: part >> lift.reduce(f, s))
    initial = lift.generate(x.size, lambda i: e())
    return x >> lift.transpose >> lift.reduce_seq(lambda s, y: lift.zip(s, y) >> parts, initial)


@rule(p.any_reduce("r", "f", "e"))
def reduce_map_interchange(x: Value, r: Like, f: Captured, e: Value) -> Value:
    """`reduce((s, y) ⇒ zip(s, y) >> map(f), e)` as reductions of numbers.

    It is `zip(e, x >> transpose) >> map((s, y) ⇒ y >> reduce(f, s))`.
    """
    found = Chain((p.zip, p.map("g"))).stages
    inner: Found = {}
    rest = match_backwards(found, f.result, inner, MatchScope(f.home, f.home.regions[0].block))
    assert rest is None
    arrays: Sequence[Captured] = inner["xs"]
    in_order = [g.result for g in arrays] == list(f.arguments)
    require(in_order, "the function does not zip the accumulator with an element")
    g: Function = inner["g"]

    def on_row(start: Value, row: Value) -> Value:
        return row >> r(lambda s, y: g(lift.tuple(s, y)), start)

    return lift.zip(e, x >> lift.transpose) >> lift.map(on_row)


@rule(p.any_map("m", p.zip >> p.any_reduce("r", "f", "e"), argument="a"))
def map_zip_reduce_interchange(
    x: Value, xs: Sequence[Captured], m: Like, r: Like, f: Captured, e: Captured, a: Value
) -> Value:
    """`x >> map(a ⇒ zip(a, y) >> reduce(f, e))` as a reduction of arrays.

    It is `zip(x >> transpose, y) >> reduce((s, (c, q)) ⇒ zip(s, c) >> map((s, p) ⇒ f(s, (p, q))),
    [e, …])`. The initial value of the reduction may depend on `a`.
    """
    inner = [k for k, g in enumerate(xs) if g.uses(a)]
    require(len(inner) == 1, "no single array of the zip depends on the outer element")
    (k,) = inner
    made = x if xs[k].result is a.ssa else x >> lift.map(xs[k])
    arrays = [
        made >> lift.transpose if j == k else Captured(g.home, (), g.result)()
        for j, g in enumerate(xs)
    ]
    initial = x >> lift.map(e.of(a)) if e.uses(a) else lift.generate(x.size, lambda i: e())

    def step(sums: Value, t: Value) -> Value:
        def on_element(s: Value, c: Value) -> Value:
            return f(s, lift.tuple(*(c if j == k else part for j, part in enumerate(t))))

        return lift.zip(sums, t[k]) >> m(on_element)

    return lift.zip(*arrays) >> r(step, initial)
