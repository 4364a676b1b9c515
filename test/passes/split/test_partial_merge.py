"""Corrections that merge aggregates of parts, recognized by the aggregates' forms."""

from __future__ import annotations

import pytest

from tiledialect.analysis.reachability import Reachability
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.split.rewrites.partial_merge import (
    DeviationSum,
    ExponentialSum,
    Selected,
    correction,
)

M, R = "tensor<8x64xf32>", "tensor<8x1xf32>"
MAXIMUM = f"%A = tile.contraction max(%X[r, c]) -> [r, 0] : ({M}) -> {R}"
SUM = f"%A = tile.contraction add(%X[r, c]) -> [r, 0] : ({M}) -> {R}"
MEAN = f"""{SUM}
  %n = tile.constant 64 : tensor<index>
  %M = tile.div %A, %n : ({R}, tensor<index>) -> {R}
  %D = tile.sub %X, %M : ({M}, {R}) -> {M}
  %Q = tile.mul %D, %D : ({M}, {M}) -> {M}"""
EXP = f"""{MAXIMUM}
  %D = tile.sub %X, %A : ({M}, {R}) -> {M}
  %Q = tile.exp %D : ({M}) -> {M}"""
TOTAL = f"%S = tile.contraction add(%Q[r, c]) -> [r, 0] : ({M}) -> {R}"
COUNT = f"%S = tile.contraction add(%X[r, c] eq %A[r, 0]) -> [r, 0] : ({M}, {R}) -> tensor<8x1xi32>"


@pytest.mark.parametrize(
    ("ops", "kind"),
    (
        ((MEAN, TOTAL), DeviationSum),
        ((MEAN.replace("constant 64", "constant 63"), TOTAL), None),
        ((EXP, TOTAL), ExponentialSum),
        ((EXP.replace("tile.exp", "tile.sigmoid"), TOTAL), None),
        ((MAXIMUM, COUNT), Selected),
        ((SUM, COUNT), None),
    ),
    ids=("variance", "no mean", "softmax", "no exponential", "ties", "no extreme"),
)
def test_corrections(ops: tuple[str, ...], kind: type | None):
    result = "tensor<8x1xi32>" if COUNT in ops else R
    body = "\n  ".join(ops)
    text = f"func.func @f(%X: {M}) -> {result} {{\n  {body}\n  func.return %S : {result}\n}}"
    first, *_, last = ops_of(parse_mlir(text, "f.mlir"), ContractionOp)
    found = correction(last, Reachability([first.result]), 64)
    assert found is None if kind is None else isinstance(found, kind)
    assert found is None or found.needs == (first,)
