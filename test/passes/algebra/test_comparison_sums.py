"""Sums of selections by equality, recognized as contractions that compare."""

from __future__ import annotations

import pytest

from tiledialect.dialects.tile.attributes import Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.algebra.rewrites.comparison_sums import as_comparison

A, B, M = "tensor<4x1xi32>", "tensor<6xi32>", "tensor<4x6xf32>"
EQUAL = f"%E = tile.cmp_eq %A, %B : ({A}, {B}) -> tensor<4x6xi1>"


def _select(otherwise: str) -> str:
    return f"""%z = tile.constant {otherwise} : tensor<f32>
      %S = tile.select %E, %X, %z : (tensor<4x6xi1>, {M}, tensor<f32>) -> {M}"""


def _sum(kind: str, value: str, t: str, result: str) -> str:
    return f"%O = tile.contraction {kind}({value}[i, j]) -> [i] : ({t}) -> tensor<4x{result}>"


@pytest.mark.parametrize(
    ("ops", "combination"),
    (
        ((EQUAL, _sum("add", "%E", "tensor<4x6xi1>", "i32")), Combination.eq),
        ((EQUAL, _select("0.0"), _sum("add", "%S", M, "f32")), Combination.cond),
        ((EQUAL, _select("1.0"), _sum("add", "%S", M, "f32")), None),
        ((EQUAL, _select("0.0"), _sum("max", "%S", M, "f32")), None),
        ((_sum("add", "%X", M, "f32"),), None),
    ),
    ids=("count", "sum", "not 0 elsewhere", "no sum", "no selection"),
)
def test_recognized(ops: tuple[str, ...], combination: Combination | None):
    body = "\n".join(ops)
    text = f"func.func @f(%A: {A}, %B: {B}, %X: {M}) {{ {body} func.return }}"
    *_, op = ops_of(parse_mlir(text, "f.mlir"), ContractionOp)
    made = as_comparison(op)
    assert (made and made.combination.data) == combination
    if made is not None:
        # The comparison reads A along the rows, B along the columns.
        names = [[e.names for e in access.data] for access in made.accesses.data]
        assert names[0][0] == ("i",) and names[1] == [("j",)]
        assert made.result.type == op.result.type and made.parent is None
        made.erase()
