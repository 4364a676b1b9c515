"""Initial values of contractions that leave elements of their results unwritten."""

from __future__ import annotations

import pytest

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.views.initial_values import initialize_unwritten

X, D, S = "tensor<4xf32>", "tensor<8xf32>", "tensor<f32>"


def _initialized(output: str, default: str = "", t: str = "") -> ContractionOp:
    text = f"""func.func @f(%X: {X}, %D: {D}, %H: tensor<8xf16>) -> {D} {{
      %c = tile.constant 7.0 : {S}
      %O = tile.contraction assign(%X[i]) -> [{output}]{default} domain <i = 0 to 4> :
        ({X}{t}) -> {D}
      func.return %O : {D}
    }}"""
    *_, op = ops_of(parse_mlir(text, "f.mlir"), ContractionOp)
    initialize_unwritten(op)
    return op


@pytest.mark.parametrize(
    ("default", "t", "number"), (("", "", 0), (" default %c", f", {S}", 7)), ids=("zero", "number")
)
def test_numbers_fill_a_tensor(default: str, t: str, number: int):
    op = _initialized("2*i", default, t)
    assert op.default is not None and op.default.type == op.result.type
    fill = op.default.owner
    assert isinstance(fill, ContractionOp) and isinstance(fill.inputs[0].owner, ConstantOp)
    assert fill.inputs[0].owner.number == number and fill.domain is not None


def test_a_tensor_of_the_type_stays():
    op = _initialized("i + 4", " default %D", f", {D}")
    assert op.default is not None and op.default.name_hint == "D"


def test_another_type_is_converted():
    op = _initialized("i + 4", " default %H", ", tensor<8xf16>")
    assert op.default is not None and isinstance(op.default.owner, CastOp)
    assert op.default.type == op.result.type
