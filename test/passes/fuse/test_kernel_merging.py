"""Kernels of ops that a pass, or a module that nobody verified, has out of order."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.verification import check_dominance
from tiledialect.passes.fuse.tile_fuse import TileFusePass

SUM = "%S = tile.contraction add(%Y[i]) -> [] domain <i = 0 to 8> : (tensor<8xf32>) -> tensor<f32>"
BEHIND = "%Y = tile.mul %X, %X : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>"
AROUND = "%Y = tile.mul %X, %S : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>"


def fused(*ops: str) -> None:
    """Fuse a function of some ops, which nothing has verified, and look at their order."""
    body = "\n".join(ops)
    text = (
        f"func.func @f(%X: tensor<8xf32>) -> tensor<f32> {{ {body} func.return %S : tensor<f32> }}"
    )
    module = parse_mlir(text, "order.mlir")
    TileFusePass(loads=False, rows=False).apply(Context(), module)
    check_dominance(module)


def test_what_stands_behind_its_use_is_put_before():
    fused(SUM, BEHIND)


def test_what_needs_itself_is_an_error():
    with pytest.raises(TileError, match="S needs itself"):
        fused(SUM, AROUND)
