"""Reordering: layouts past maps and past each other, which makes way for other rules."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiledialect import lift
from tiledialect.dialects.lift.attributes import BoundaryAttr, IndexMap, Order
from tiledialect.index.size import Size
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.function_properties import indexed, require_divides
from tiledialect.passes.lift.rules.refusal import require
from tiledialect.passes.lift.rules.rule import rule

# -- past a map ------------------------------------------------------------------------------------


@rule(p.join >> p.map("f"))
def join_past_map(x: Value, f: Function) -> Value:
    """`join >> map(f) = map(map(f)) >> join`."""
    return x >> lift.map2(f) >> lift.join


@rule(p.map(p.map("f")) >> p.join)
def map_past_join(x: Value, f: Function) -> Value:
    """`map(map(f)) >> join = join >> map(f)`."""
    return x >> lift.join >> lift.map(f)


@rule(p.map("f") >> p.split("n"))
def map_past_split(x: Value, f: Function, n: Size) -> Value:
    """`map(f) >> split(n) = split(n) >> map(map(f))`."""
    return x >> lift.split(n) >> lift.map2(f)


@rule(p.split("n") >> p.map(p.map("f")))
def split_past_map(x: Value, n: Size, f: Function) -> Value:
    """`split(n) >> map(map(f)) = map(f) >> split(n)`."""
    return x >> lift.map(f) >> lift.split(n)


@rule(p.map("f") >> p.slide("n", "s"))
def map_past_slide(x: Value, f: Function, n: Size, s: Size) -> Value:
    """`map(f) >> slide(n, s) = slide(n, s) >> map(map(f))`."""
    return x >> lift.slide(n, s) >> lift.map2(f)


@rule(p.slide("n", "s") >> p.map(p.map("f")))
def slide_past_map(x: Value, n: Size, s: Size, f: Function) -> Value:
    """`slide(n, s) >> map(map(f)) = map(f) >> slide(n, s)`."""
    return x >> lift.map(f) >> lift.slide(n, s)


@rule(p.map(p.map("f")) >> p.transpose)
def map_past_transpose(x: Value, f: Function) -> Value:
    """`map(map(f)) >> transpose = transpose >> map(map(f))`."""
    return x >> lift.transpose >> lift.map2(f)


@rule(p.transpose >> p.map(p.map("f")))
def transpose_past_map(x: Value, f: Function) -> Value:
    """`transpose >> map(map(f)) = map(map(f)) >> transpose`."""
    return x >> lift.map2(f) >> lift.transpose


@rule(p.map("f") >> p.pad("l", "r", "b"))
def map_past_pad(x: Value, f: Function, l: Size, r: Size, b: BoundaryAttr) -> Value:  # noqa: E741
    """`map(f) >> pad(l, r, b) = pad(l, r, b) >> map(f)`."""
    return x >> lift.pad(l, r, b.data) >> lift.map(f)


@rule(p.pad("l", "r", "b") >> p.map("f"))
def pad_past_map(x: Value, l: Size, r: Size, b: BoundaryAttr, f: Function) -> Value:  # noqa: E741
    """`pad(l, r, b) >> map(f) = map(f) >> pad(l, r, b)`."""
    return x >> lift.map(f) >> lift.pad(l, r, b.data)


@rule(p.map("f") >> p.slice("a", "b"))
def map_past_slice(x: Value, f: Function, a: Size, b: Size) -> Value:
    """`map(f) >> slice(a, b) = slice(a, b) >> map(f)`."""
    return x >> lift.slice(a, b) >> lift.map(f)


@rule(p.map("f") >> p.gather("i"))
def map_past_gather(x: Value, f: Function, i: IndexMap) -> Value:
    """`map(f) >> gather(i) = gather(i) >> map(f)`."""
    return x >> indexed(lift.gather, i) >> lift.map(f)


@rule(p.gather("i") >> p.map("f"))
def gather_past_map(x: Value, i: IndexMap, f: Function) -> Value:
    """`gather(i) >> map(f) = map(f) >> gather(i)`."""
    return x >> lift.map(f) >> indexed(lift.gather, i)


@rule(p.map("f") >> p.scatter("i"))
def map_past_scatter(x: Value, f: Function, i: IndexMap) -> Value:
    """`map(f) >> scatter(i) = scatter(i) >> map(f)`."""
    return x >> indexed(lift.scatter, i) >> lift.map(f)


@rule(p.scatter("i") >> p.map("f"))
def scatter_past_map(x: Value, i: IndexMap, f: Function) -> Value:
    """`scatter(i) >> map(f) = map(f) >> scatter(i)`."""
    return x >> lift.map(f) >> indexed(lift.scatter, i)


@rule(p.map("f"))
def reorder_both_sides(x: Value, f: Function, *, s: int) -> Value:
    """`map(f) = gather(i) >> map(f) >> scatter(i)`, where `i` takes every `s`-th element first."""
    require_divides(s, x)
    order = lift.reorder_stride(s)
    return x >> lift.gather(order) >> lift.map(f) >> lift.scatter(order)


@rule(p.concat >> p.map("f"))
def concat_past_map(xs: Sequence[Value], f: Function) -> Value:
    """`concat(x, y) >> map(f) = concat(x >> map(f), y >> map(f))`."""
    return lift.concat(*(x >> lift.map(f) for x in xs))


# -- layouts past each other -----------------------------------------------------------------------


@rule(p.transpose >> p.map(p.split("n")))
def transpose_map_split(x: Value, n: Size) -> Value:
    """`transpose >> map(split(n)) = split(n) >> map(transpose) >> transpose`."""
    return x >> lift.split(n) >> lift.map(lift.transpose) >> lift.transpose


@rule(p.split("n") >> p.map(p.transpose))
def split_map_transpose(x: Value, n: Size) -> Value:
    """`split(n) >> map(transpose) = transpose >> map(split(n)) >> transpose`."""
    return x >> lift.transpose >> lift.map(lift.split(n)) >> lift.transpose


@rule(p.map(p.split("n")) >> p.transpose)
def map_split_transpose(x: Value, n: Size) -> Value:
    """`map(split(n)) >> transpose = transpose >> split(n) >> map(transpose)`."""
    return x >> lift.transpose >> lift.split(n) >> lift.map(lift.transpose)


@rule(p.transpose >> p.split("n"))
def transpose_split(x: Value, n: Size) -> Value:
    """`transpose >> split(n) = map(split(n)) >> transpose >> map(transpose)`."""
    return x >> lift.map(lift.split(n)) >> lift.transpose >> lift.map(lift.transpose)


@rule(p.map(p.transpose) >> p.transpose >> p.map(p.transpose))
def three_transposes(x: Value) -> Value:
    """`map(transpose) >> transpose >> map(transpose)` exchanges the first and the third axis.

    It is `transpose >> map(transpose) >> transpose`.
    """
    return x >> lift.transpose >> lift.map(lift.transpose) >> lift.transpose


@rule(p.map(p.join) >> p.transpose)
def map_join_transpose(x: Value) -> Value:
    """`map(join) >> transpose = transpose >> map(transpose) >> join`."""
    return x >> lift.transpose >> lift.map(lift.transpose) >> lift.join


@rule(p.join >> p.transpose)
def join_transpose(x: Value) -> Value:
    """`join >> transpose = map(transpose) >> transpose >> map(join)`."""
    return x >> lift.map(lift.transpose) >> lift.transpose >> lift.map(lift.join)


@rule(p.map(p.join) >> p.join)
def map_join_join(x: Value) -> Value:
    """`map(join) >> join = join >> join`."""
    return x >> lift.join >> lift.join


@rule(p.join >> p.join)
def join_join(x: Value) -> Value:
    """`join >> join = map(join) >> join`."""
    return x >> lift.map(lift.join) >> lift.join


@rule(p.split("n") >> p.split("m"))
def split_split(x: Value, n: Size, m: Size) -> Value:
    """`split(n) >> split(m) = split(n * m) >> map(split(n))`."""
    return x >> lift.split(n * m) >> lift.map(lift.split(n))


@rule(p.transpose >> p.map(p.slide("n", "s")))
def transpose_map_slide(x: Value, n: Size, s: Size) -> Value:
    """`transpose >> map(slide(n, s)) = slide(n, s) >> map(transpose) >> transpose`."""
    return x >> lift.slide(n, s) >> lift.map(lift.transpose) >> lift.transpose


@rule(p.map(p.slide("n", "s")) >> p.transpose)
def map_slide_transpose(x: Value, n: Size, s: Size) -> Value:
    """`map(slide(n, s)) >> transpose = transpose >> slide(n, s) >> map(transpose)`."""
    return x >> lift.transpose >> lift.slide(n, s) >> lift.map(lift.transpose)


@rule(p.transpose >> p.slide("n", "s"))
def transpose_slide(x: Value, n: Size, s: Size) -> Value:
    """`transpose >> slide(n, s) = map(slide(n, s)) >> transpose >> map(transpose)`."""
    return x >> lift.map(lift.slide(n, s)) >> lift.transpose >> lift.map(lift.transpose)


@rule(p.gather("i") >> p.transpose)
def gather_transpose(x: Value, i: IndexMap) -> Value:
    """`gather(i) >> transpose = transpose >> map(gather(i))`."""
    return x >> lift.transpose >> lift.map(indexed(lift.gather, i))


@rule(p.scatter("i") >> p.transpose)
def scatter_transpose(x: Value, i: IndexMap) -> Value:
    """`scatter(i) >> transpose = transpose >> map(scatter(i))`."""
    return x >> lift.transpose >> lift.map(indexed(lift.scatter, i))


@rule(p.transpose >> p.map(p.transpose >> p.gather("i")))
def transposes_gather(x: Value, i: IndexMap) -> Value:
    """`transpose >> map(transpose >> gather(i))`: the gather comes first.

    It is `map(map(gather(i))) >> transpose >> map(transpose)`.
    """
    gathered = x >> lift.map2(indexed(lift.gather, i))
    return gathered >> lift.transpose >> lift.map(lift.transpose)


# -- past a zip ------------------------------------------------------------------------------------


@rule(p.zip >> p.split("n"))
def zip_past_split(xs: Sequence[Value], n: Size) -> Value:
    """`zip(x, y) >> split(n) = zip(x >> split(n), y >> split(n)) >> map(zip)`."""
    return lift.zip(*(x >> lift.split(n) for x in xs)) >> lift.map(lambda t: lift.zip(*t))


@rule(p.zip)
def join_past_zip(xs: Sequence[Value]) -> Value:
    """`zip(x >> join, y >> join) = zip(x, y) >> map(zip) >> join`, for pieces of the same size."""
    arrays = [found["x"] for found in (p.found_in(x, p.join) for x in xs) if found]
    require(len(arrays) == len(xs), "not all arrays of the zip are joined")
    return lift.zip(*arrays) >> lift.map(lambda t: lift.zip(*t)) >> lift.join


@rule(p.zip)
def slide_past_zip(xs: Sequence[Value]) -> Value:
    """`zip(x >> slide(n, s), y >> slide(n, s)) = zip(x, y) >> slide(n, s) >> map(unzip)`."""
    found = [f for f in (p.found_in(x, p.slide("n", "s")) for x in xs) if f]
    require(len(found) == len(xs), "not all arrays of the zip are windows")
    n, s = found[0]["n"], found[0]["s"]
    require(all((f["n"], f["s"]) == (n, s) for f in found), "the windows are different")
    windows = lift.zip(*(f["x"] for f in found)) >> lift.slide(n, s)
    return windows >> lift.map(lambda w: lift.unzip(w))


# -- search ----------------------------------------------------------------------------------------


def _searched(x: Value, f: Function, d: Value, order: Any, wanted: Order) -> Value:
    require(order.data != wanted, f"the search is {wanted} already")
    return x >> lift.search(f, d, wanted.value)


@rule(p.search("o", "f", "d"))
def search_linear(x: Value, f: Function, d: Value, o: Any) -> Value:
    """`search(f, binary) = search(f, linear)`, if the function gives 0 for one element at most."""
    return _searched(x, f, d, o, Order.linear)


@rule(p.search("o", "f", "d"))
def search_binary(x: Value, f: Function, d: Value, o: Any) -> Value:
    """`search(f, linear) = search(f, binary)`, if the function gives 0 for one element at most."""
    return _searched(x, f, d, o, Order.binary)
