"""Changed index variables of a contraction, with the domain that follows."""

from __future__ import annotations

import pytest

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index.change import Change
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.passes.normalize.rewrites.change_indices import (
    change_indices,
    contractions_of,
    set_domain,
    set_space,
)

MODULE = """func.func @f(%X: tensor<8xf32>, %D: tensor<?xf32>) -> tensor<4xf32> {
  %O = tile.contraction add(%X[2*i + j]) -> [i] where 0 <= j < 2 : (tensor<8xf32>) -> tensor<4xf32>
  %U = tile.contraction add(%X[i]) -> [i + 0*k] : (tensor<8xf32>) -> tensor<8xf32>
  %K = tile.kernel(%o = %O : tensor<4xf32>) -> tensor<4xf32> {
    %c = tile.contraction add(%o[i]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>
    tile.yield %c : tensor<4xf32>
  }
  func.return %K : tensor<4xf32>
}"""


def _first() -> ContractionOp:
    return next(iter(contractions_of(parse_mlir(MODULE, "f.mlir"))))


def test_contractions_in_kernels_keep_their_indices():
    found = list(contractions_of(parse_mlir(MODULE, "f.mlir")))
    assert [op.result.name_hint for op in found] == ["O", "U"]


def test_a_domain_follows_the_space():
    op = _first()
    space = op.space()
    set_space(op, space)
    assert op.domain is None
    set_domain(op, space)
    assert op.domain is not None and op.domain.ranges == {"i": Range(0, 4), "j": Range(0, 2)}
    shifted = space.substitute({"i": IndexExpr.of("i") - 1})
    set_space(op, shifted)
    assert op.domain.ranges == {"i": Range(1, 5), "j": Range(0, 2)}


def test_indices_change_in_place():
    op = _first()
    change_indices(op, lambda space: Change(space.substitute({"i": IndexExpr.of("k") + 1})))
    assert op.index_names == ("k", "j")


def test_an_unbounded_index_is_an_error():
    op = _first()
    set_domain(op, op.space())
    both = IndexExpr.of("j") + IndexExpr.of("k")
    with pytest.raises(TileError, match="nothing bounds the index j of O"):
        change_indices(op, lambda space: Change(space.substitute({"j": both})))
