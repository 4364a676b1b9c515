"""Fusion and fission: of maps, of a reduction and a map, in zips and in tuples."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence

from tiledialect import lift
from tiledialect.dialects.lift import maps, reductions
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.values import GetOp, ZipOp
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.function_properties import cut, depends, ingredients
from tiledialect.passes.lift.rules.matching import Like
from tiledialect.passes.lift.rules.refusal import Mismatch, NotApplicable, require
from tiledialect.passes.lift.rules.rule import rule


@rule(p.any_map("m", "g") >> p.any_map("m", "f"))
def map_fusion(x: Value, m: Like, g: Function, f: Function) -> Value:
    """`map(g) >> map(f) = map(g >> f)`, for two maps by the same."""
    return x >> m(g >> f)


@rule(p.any_map("m", "f"))
def map_fission(x: Value, m: Like, f: Captured, *, last: int = 1) -> Value:
    """`map(g >> h) = map(g) >> map(h)`, where `h` is the last op, or the `last` ops."""
    g, h = cut(f, last)
    return x >> m(g) >> m(h)


@rule(p.any_map("m", "f"))
def map_fission_zip(x: Value, m: Like, f: Captured, *, last: int = 1) -> Value:
    """`map(e ⇒ h(e, g(e))) = zip(x, x >> map(g)) >> map(h)`, where `h` is the `last` ops."""
    g, h = cut(f, last)
    element = Value(f.arguments[0])
    require(h.uses(element), "the last op does not take the element, too: use map_fission")
    both = h.over(element)
    return lift.zip(x, x >> m(g)) >> m(lambda e, y: both(e, y))


@rule(p.any_map("m", "f"))
def map_fission_in_zip(x: Value, m: Like, f: Captured) -> Value:
    """`map(e ⇒ h(zip(…, g(e), …))) = map(g) >> map(y ⇒ h(zip(…, y, …)))`."""
    for op in f.ops:
        made = ingredients(op, f) if isinstance(op, ZipOp) else []
        if len(made) == 1 and made[0] not in f.arguments:
            g, h = Captured(f.home, f.arguments, made[0]), Captured(f.home, made, f.result)
            return x >> m(g) >> m(h)
    raise NotApplicable("the function has no zip of one array that depends on the element")


@rule(p.zip >> p.any_map("m", "f"))
def map_fission_with_zip(xs: Sequence[Value], m: Like, f: Captured) -> Value:
    """`zip(…, y, …) >> map((…, e, …) ⇒ h(…, g(e), …)) = zip(…, y >> map(g), …) >> map(h)`."""
    k, get, made = _computed_component(f)
    g = Captured(f.home, [get.result], made.results[0])
    h = Captured(f.home, [*f.arguments, made.results[0]], f.result)
    require(get not in h.ops, f"component {k} of the zip is used elsewhere, too")
    arrays = [x >> m(g) if j == k else x for j, x in enumerate(xs)]
    return lift.zip(*arrays) >> m(lambda t: h(t, t[k]))


@rule(p.map("f"))
def map_reduce_fission(x: Value, f: Captured) -> Value:
    """`x >> map(a ⇒ y >> map(b ⇒ h(b, r(a, b))))`, where `r` ends with a reduction, as two maps.

    The first has the results of all reductions: `x >> map(a ⇒ y >> map(b ⇒ r(a, b))) >> map(s ⇒
    zip(y, s) >> map((b, t) ⇒ h(b, t)))`. Where `h` or `y` depends on `a`, there is a zip with `x`.
    """
    inner = f.result.owner
    if not isinstance(inner, maps.MapOp):
        raise Mismatch("the function ends with no map")
    a, b = Value(f.arguments[0]), Value(inner.block.args[0])
    ops = Captured(f.home, (), inner.yielded).ops
    found = [op for op in ops if isinstance(op, reductions.ReduceBase)]
    sums = [op.results[0] for op in found if op.parent is inner.block]
    require(
        len(sums) == 1 and sums[0] is not inner.yielded,
        "the inner function has no single reduction whose result it goes on with",
    )
    y = Captured(f.home, (), inner.input).over(a)
    r = Captured(f.home, (), sums[0]).over(a, b)
    h = Captured(f.home, sums, inner.yielded).over(a, b)
    takes_b = h.uses(b)

    def finished(e: Value, row: Value) -> Value:
        if takes_b:
            return lift.zip(y(e), row) >> lift.map(lambda c, t: h(e, c, t))
        return row >> lift.map(lambda t: h(e, b, t))

    rows = x >> lift.map(lambda e: y(e) >> lift.map(lambda c: r(e, c)))
    if h.uses(a) or (takes_b and y.uses(a)):
        return lift.zip(x, rows) >> lift.map(finished)
    return rows >> lift.map(lambda row: finished(a, row))


def _computed_component(f: Captured) -> tuple[int, GetOp, LiftOp]:
    """Component of the tuple that a function takes, and the op that uses it."""
    for op in f.ops:
        made = ingredients(op, f)
        get = made[0].owner if len(made) == 1 else None
        if isinstance(get, GetOp) and get.input in f.arguments and len(op.results) == 1:
            return get.index.data, get, op  # pyright: ignore[reportReturnType]
    raise NotApplicable("no op of the function takes one component of the zip alone")


@rule(p.zip >> p.any_map("m", "f"))
def map_fusion_with_zip(xs: Sequence[Value], m: Like, f: Function) -> Value:
    """`zip(…, y >> map(g), …) >> map(f) = zip(…, y, …) >> map((…, e, …) ⇒ f(…, g(e), …))`."""
    inner = [p.found_in(x, p.any_map("m", "g")) for x in xs]
    k = next((k for k, found in enumerate(inner) if found and found["m"] == m), None)
    found = None if k is None else inner[k]
    if k is None or found is None:
        raise NotApplicable("no array of the zip is the result of a map of the same kind")
    g, y = found["g"], found["x"]
    arrays = [y if j == k else x for j, x in enumerate(xs)]
    return lift.zip(*arrays) >> m(lambda t: f(_with_component(t, k, g(t[k]))))


def _with_component(t: Value, k: int, component: Value) -> Value:
    return lift.tuple(*(component if j == k else part for j, part in enumerate(t)))


@rule(p.zip)
def map_fusion_in_zip(xs: Sequence[Value]) -> Value:
    """`zip(x >> map(f), y >> map(g), …) = zip(x, y, …) >> map((a, b, …) ⇒ (f(a), g(b), …))`."""
    arrays, functions, m = _maps(xs)
    return lift.zip(*arrays) >> m(lambda t: _each(functions, t))


@rule(p.tuple)
def tuple_map(xs: Sequence[Value]) -> Value:
    """`(x >> map(f), y >> map(g), …) = unzip(zip(x, y, …) >> map((a, b, …) ⇒ (f(a), g(b), …)))`."""
    arrays, functions, m = _maps(xs)
    return lift.tuple(*lift.unzip(lift.zip(*arrays) >> m(lambda t: _each(functions, t))))


def _maps(xs: Sequence[Value]) -> tuple[list[Value], list[Function], Like]:
    found = [p.found_in(x, p.any_map("m", "f")) for x in xs]
    maps = [f for f in found if f is not None]
    require(len(maps) == len(xs), "not all components are results of maps")
    m = maps[0]["m"]
    require(all(f["m"] == m for f in maps), "the maps are of different kinds")
    return [f["x"] for f in maps], [f["f"] for f in maps], m


def _each(functions: Sequence[Function], t: Value) -> Value:
    return lift.tuple(*(f(part) for f, part in zip(functions, t, strict=True)))


@rule(p.tuple)
def tuple_fission(xs: Sequence[Value]) -> Value:
    """`(f(x), g(y), …) = (x, y, …) >> let((a, b, …) ⇒ (f(a), g(b), …))`, for patterns `f`, `g`."""
    ops = [x.ssa.owner for x in xs]
    patterns = [op for op in ops if isinstance(op, LiftOp) and len(op.operands) == 1]
    require(len(patterns) == len(xs), "not all components are results of patterns of one value")
    inputs = [op.operands[0] for op in patterns]
    functions = [
        Captured(_around(op), [x], op.results[0]) for op, x in zip(patterns, inputs, strict=True)
    ]
    return lift.tuple(*map(Value, inputs)) >> lift.let(lambda t: _each(functions, t))


def _around(op: LiftOp) -> LiftOp:
    around = op.parent_op()
    assert around is not None
    return around  # pyright: ignore[reportReturnType]


@rule(p.tuple)
def reduce_fusion(xs: Sequence[Value]) -> Value:
    """`(x >> reduce(f, d), y >> reduce(g, e)) = zip(x, y) >> reduce((f, g), (d, e))`, of any."""
    found = [p.found_in(x, p.any_reduce("r", "f", "e")) for x in xs]
    reductions = [f for f in found if f is not None]
    require(len(reductions) == len(xs), "not all components are results of reductions")
    r = reductions[0]["r"]
    require(all(f["r"] == r for f in reductions), "the reductions are of different kinds")

    def all_of_them(a: Value, b: Value) -> Value:
        return lift.tuple(*(f["f"](a[k], b[k]) for k, f in enumerate(reductions)))

    initial = lift.tuple(*(f["e"] for f in reductions))
    return lift.zip(*(f["x"] for f in reductions)) >> r(all_of_them, initial)


@rule(p.map("g") >> p.reduce("f", "e"))
def reduce_map_fusion(x: Value, g: Function, f: Function, e: Value) -> Value:
    """`map(g) >> reduce(f, e) = reduce_seq((a, b) ⇒ f(a, g(b)), e)`."""
    return x >> lift.reduce_seq(lambda a, b: f(a, g(b)), e)


@rule(p.any_map("m", "g") >> p.reduce_seq("f", "e"))
def reduce_seq_map_fusion(x: Value, g: Function, f: Function, e: Value, m: Like) -> Value:
    """`map(g) >> reduce_seq(f, e) = reduce_seq((a, b) ⇒ f(a, g(b)), e)`, also for `map_seq`."""
    require(str(m) in ("map", "map_seq", "map_seq_unroll"), f"{m} is done by several")
    return x >> lift.reduce_seq(lambda a, b: f(a, g(b)), e)


@rule(p.reduce_seq("f", "e"))
def reduce_map_fission(x: Value, f: Captured, e: Value) -> Value:
    """`reduce_seq((a, b) ⇒ h(a, g(b)), e) = map(g) >> reduce_seq(h, e)`."""
    accumulator, element = f.arguments
    of_element = Captured(f.home, [element], f.result)
    made = [
        v
        for op in f.ops
        if depends(op.results[0], Captured(f.home, [accumulator], f.result))
        for v in ingredients(op, of_element)
        if not Captured(f.home, (), v).uses(Value(accumulator)) and v is not accumulator
    ]
    made = list(dict.fromkeys(made))
    require(len(made) == 1 and made[0] is not element, "no op depends on the element alone")
    g = Captured(f.home, [element], made[0])
    return x >> lift.map(g) >> lift.reduce_seq(Captured(f.home, [accumulator, *made], f.result), e)


@rule(p.any_map("m", "f"))
def extract_from_map(x: Value, m: Like, f: Captured) -> Value:
    """`map(e ⇒ h(e, y)) = y >> let(z ⇒ map(e ⇒ h(e, z)))`, where `y` is not made of `e`."""
    same = [op for op in f.ops if isinstance(op, LiftOp) and not depends(op.results[0], f)]
    require(bool(same), "all patterns of the function depend on the element")
    (value,) = same[-1].results
    h = Captured(f.home, [*f.arguments, value], f.result)
    return Captured(f.home, (), value)() >> lift.let(lambda z: x >> m(lambda e: h(e, z)))


@rule(p.let("f"))
def let_inlining(x: Value, f: Function) -> Value:
    """`x >> let(f) = f(x)`."""
    return f(x)
