"""The views of a program from Python: as text, and drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import tiledialect as td
from tiledialect import lift


@lift.fun
def reversed_rows(a: lift.array("N", "M")):
    return a >> lift.map(lift.gather(lift.reverse)) >> lift.map(lift.map(lambda e: 2.0 * e))


@lift.fun
def kept(a: lift.array("N", "M")):
    def on(row):
        return row >> lift.to_private(lift.map_seq(lambda e: 2.0 * e)) >> lift.map_seq(lift.id)

    return a >> lift.map_glb(on)


def test_text_and_drawing():
    views = td.compile(reversed_rows).views()
    assert "a is read:" in str(views) and "[x, M - y - 1]" not in str(views)
    drawn = "".join(ET.fromstring(views.svg).itertext())
    assert "gather(i -> M - i - 1)" in drawn and "a[M*y + M - x - 1]" in drawn
    assert views._repr_svg_() == views.svg


def test_for_the_sizes_of_a_call():
    """Programs that keep an array of open size in private memory have views for each size."""
    views = td.compile(kept).views("3x4xf32")
    with pytest.raises(td.TileError, match="so that M must be a number"):
        td.compile(kept).views()
    assert "[4*lx + i]" in str(views)


def test_without_patterns():
    f = td.compile("function (A[N]) -> (B) { B[i: N] = +(A[i]); }")
    with pytest.raises(td.TileError, match="the program has no patterns of lift"):
        f.views("3xf32")
