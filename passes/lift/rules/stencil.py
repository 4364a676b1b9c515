"""Stencils: windows in tiles that overlap, and windows of which the last is kept."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence

from tiledialect import lift
from tiledialect.dialects.lift.values import GetOp
from tiledialect.index.size import Size
from tiledialect.lift import Function
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.open_sizes import define
from tiledialect.passes.lift.rules.refusal import require
from tiledialect.passes.lift.rules.rule import rule


def tile_size(n: Size, s: Size, v: Size, u: Size | None) -> Size:
    """Size `u` of tiles that are `v` apart, for windows of `n` that are `s` apart."""
    needed = v + n - s
    if u is not None:
        define(u, needed, f"u - v == n - s must hold: with v = {v}, u is {needed}")
    return needed


@rule(p.slide("n", "s"))
def slide_tiling(x: Value, n: Size, s: Size, *, v: Size, u: Size | None = None) -> Value:
    """`slide(n, s) = slide(u, v) >> map(slide(n, s)) >> join`, where `u - v == n - s`.

    `s` divides `v`, and `v` divides the number of elements that the windows begin at.
    """
    return x >> lift.slide(tile_size(n, s, v, u), v) >> lift.map(lift.slide(n, s)) >> lift.join


SLIDE2 = p.map(p.slide("n", "s")) >> p.slide("n", "s") >> p.map(p.transpose)
"""Composition that ``lift.slide2`` stands for."""
SLIDE3 = p.map(SLIDE2) >> p.slide("n", "s") >> p.map(p.transpose >> p.map(p.transpose))
"""Composition that ``lift.slide3`` stands for."""

untile2 = lift.map(lift.transpose) >> lift.join >> lift.map(lift.join)
"""Composition that turns an array of tiles of a matrix into the matrix."""


@rule(SLIDE2)
def slide2_tiling(x: Value, n: Size, s: Size, *, v: Size, u: Size | None = None) -> Value:
    """`slide2(n, s) = slide2(u, v) >> map2(slide2(n, s)) >> untile2`, where `u - v == n - s`."""
    tiles = x >> lift.slide2(tile_size(n, s, v, u), v)
    return tiles >> lift.map2(lift.slide2(n, s)) >> untile2


@rule(SLIDE2 >> p.map(p.map("f")))
def tile_stencil_2d(
    x: Value, n: Size, s: Size, f: Function, *, v: Size, u: Size | None = None
) -> Value:
    """A stencil on a matrix in tiles of `u` x `u` that overlap, where `u - v == n - s`.

    `slide2(n, s) >> map2(f) = slide2(u, v) >> map2(slide2(n, s) >> map2(f)) >> untile2`
    """
    tiles = x >> lift.slide2(tile_size(n, s, v, u), v)
    return tiles >> lift.map2(lift.slide2(n, s) >> lift.map2(f)) >> untile2


@rule(p.zip >> p.map(p.zip_of("rows"), argument="t") >> p.map(p.map("f")))
def tile_stencil_2d_zip(
    xs: Sequence[Value], rows: Sequence[Captured], t: Value, f: Function, *, v: Size
) -> Value:
    """A stencil on windows and other matrices, `zip2(x >> slide2(n, s), y) >> map2(f)`, in tiles.

    It is `zip2(x >> slide2(u, v), y >> tiles(v / s)) >> map2((x, y) ⇒ zip2(x >> slide2(n, s), y) >>
    map2(f)) >> untile2`, where `u - v == n - s` and `v` is a multiple of `s`.
    """
    in_order = all(_is_component(row, t, k) for k, row in enumerate(rows))
    require(in_order, "the rows are not zipped as they come")
    found = [p.found_in(x, SLIDE2) for x in xs]
    steps = [windows["s"] for windows in found if windows]
    require(
        bool(steps) and len(set(steps)) == 1, "no array of the zip is of windows, or of several"
    )
    (step, *_) = steps
    tiles: list[Value] = []
    for x, windows in zip(xs, found, strict=True):
        if windows:
            u = tile_size(windows["n"], step, v, None)
            tiles.append(windows["x"] >> lift.slide2(u, v))
        else:
            tiles.append(x >> lift.slide2(v / step, v / step))

    def on_tile(*parts: Value) -> Value:
        inner = [
            part >> lift.slide2(windows["n"], step) if windows else part
            for part, windows in zip(parts, found, strict=True)
        ]
        return lift.zip2(*inner) >> lift.map2(f)

    function = lift.Function("on_tile", on_tile, None, len(xs))
    return lift.zip2(*tiles) >> lift.map2(function) >> untile2


def _is_component(value: Captured, t: Value, k: int) -> bool:
    """Whether a value is a component of a tuple."""
    op = value.result.owner
    return isinstance(op, GetOp) and op.input is t.ssa and op.index.data == k


def _untile3(tiles: Value) -> Value:
    planes = (
        tiles >> lift.map2(lift.transpose) >> lift.map(lift.transpose >> lift.map2(lift.transpose))
    )
    return planes >> lift.join >> lift.map(lift.join >> lift.map(lift.join))


@rule(SLIDE3 >> p.map(p.map(p.map("f"))))
def tile_stencil_3d(
    x: Value, n: Size, s: Size, f: Function, *, v: Size, u: Size | None = None
) -> Value:
    """A stencil on three axes in tiles of `u` x `u` x `u` that overlap, where `u - v == n - s`.

    `slide3(n, s) >> map3(f) = slide3(u, v) >> map3(slide3(n, s) >> map3(f)) >> untile3`
    """
    tiles = x >> lift.slide3(tile_size(n, s, v, u), v)
    return _untile3(tiles >> lift.map3(lift.slide3(n, s) >> lift.map3(f)))


@rule(SLIDE3 >> p.map(p.map(p.map("f"))))
def tile_stencil_25d(
    x: Value,
    n: Size,
    s: Size,
    f: Function,
    *,
    v: Size,
    u: Size | None = None,
    w: Size | None = None,
) -> Value:
    """A stencil on three axes in 2.5D: tiles along two axes, each gone through along the first.

    `slide3(n, s) >> map3(f)` is, for every tile of `u` x `u`, a `map_seq_slide` over its planes,
    of which the last `n` are at hand; `u - v == n - s`. With `w` the tiles are that far apart along
    the last axis.
    """
    columns = v if w is None else w
    tiling = lift.slide2(tile_size(n, s, v, u), v, tile_size(n, s, columns, None), columns)

    def on_planes(planes: Value) -> Value:
        windows = planes >> lift.map(lift.slide2(n, s)) >> lift.transpose
        return windows >> lift.map(lift.transpose) >> lift.map2(f)

    tiles = x >> lift.map(tiling) >> lift.transpose
    done = tiles >> lift.map(lift.transpose) >> lift.map2(lift.map_seq_slide(on_planes, n, s))
    return done >> lift.map(lift.transpose) >> lift.transpose >> lift.map(untile2)


@rule(p.slide("n", "s") >> p.map("f"))
def map_seq_slide(x: Value, n: Size, s: Size, f: Function) -> Value:
    """`slide(n, s) >> map(f) = map_seq_slide(f, n, s)`."""
    return x >> lift.map_seq_slide(f, n, s)


@rule(p.slide("n", "s") >> p.map_seq("f"))
def map_seq_slide_seq(x: Value, n: Size, s: Size, f: Function) -> Value:
    """`slide(n, s) >> map_seq(f) = map_seq_slide(f, n, s)`."""
    return x >> lift.map_seq_slide(f, n, s)


@rule(p.map_seq_slide("n", "s", "f"))
def map_seq_slide_tiling(
    x: Value, n: Size, s: Size, f: Function, *, v: Size, u: Size | None = None
) -> Value:
    """`map_seq_slide(f, n, s) = slide(u, v) >> map(map_seq_slide(f, n, s)) >> join`.

    `u - v == n - s`, and `s` divides `v`: parts that begin anew, which others may do.
    """
    parts = x >> lift.slide(tile_size(n, s, v, u), v)
    return parts >> lift.map(lift.map_seq_slide(f, n, s)) >> lift.join


@rule(SLIDE2 >> p.map(p.map("f")))
def map_seq_slide_2d(x: Value, n: Size, s: Size, f: Function) -> Value:
    """`slide2(n, s) >> map2(f)`, each row of windows gone through by `map_seq_slide`.

    `slide(n, s) >> map(transpose >> map_seq_slide(transpose >> f, n, s))`
    """
    along = lift.map_seq_slide(lambda columns: f(columns >> lift.transpose), n, s)
    return x >> lift.slide(n, s) >> lift.map(lift.transpose >> along)
