"""Parts of a contraction's index: all values, each in one part, and reasons against a split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.split.rewrites.reduction_split import ReductionSplit, split_obstacle


def _sum(extent: int, kind: str = "add") -> ContractionOp:
    t, r = f"tensor<3x{extent}xf32>", "tensor<3xf32>"
    body = f"%S = tile.contraction {kind}(%X[i, k]) -> [i] : ({t}) -> {r}"
    text = f"func.func @f(%X: {t}) -> {r} {{ {body} func.return %S : {r} }}"
    (op,) = ops_of(parse_mlir(text, "f.mlir"), ContractionOp)
    return op


@given(st.integers(2, 100), st.integers(2, 12), st.sampled_from((1, 2, 8)))
def test_parts_cover_all_points(extent: int, parts: int, multiple: int):
    split = ReductionSplit(_sum(extent), "k", parts, multiple)
    assert split.parts <= parts and split.size % multiple == 0
    assert (split.parts - 1) * split.size < extent <= split.parts * split.size
    space = split.partial_space()
    ranges = sets.ranges(space)
    assert ranges[split.part].extent == split.parts
    # A part of one value needs no index.
    each = ReductionSplit(_sum(extent), "k", extent, each=True)
    assert "k" not in each.partial_space().variables


@pytest.mark.parametrize(
    ("op", "index", "reason"),
    (
        (_sum(8), "k", None),
        (_sum(8), "l", "it has no index l, but i, k"),
        (_sum(8), "i", "i is an index of the result"),
        (_sum(8, "assign"), "k", "every element is assigned once"),
    ),
)
def test_obstacles(op: ContractionOp, index: str, reason: str | None):
    assert split_obstacle(op, index) == reason


def test_one_value_cannot_be_split():
    with pytest.raises(TileError, match="S cannot be split: k takes one value"):
        ReductionSplit(_sum(1), "k", 2)
