"""Making ops inside an ``ImplicitBuilder``, which inserts them at once."""

from __future__ import annotations

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.nest.lanewise import LANEWISE
from tiledialect.dialects.tile.elementwise.ops import AddOp, ElementwiseOp, MulOp, ReluOp
from tiledialect.dialects.tile.special import GatherOp, SumToOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of


def test_ops_are_inserted_in_order():
    block = Block(arg_types=[TensorType(f32, [2, 3]), TensorType(f32, [3])])
    with ImplicitBuilder(block):
        a, b = block.args
        total = AddOp.make(ReluOp.make(a).result, b)
        sums = SumToOp.make(total.result, b)
    assert [op.name for op in block.ops] == ["tile.relu", "tile.add", "tile.sum_to"]
    assert total.result.type == TensorType(f32, [2, 3])
    assert sums.result.type == TensorType(f32, [3])
    for op in block.ops:
        op.verify()


@pytest.mark.parametrize("op", [MulOp, GatherOp])
def test_what_is_refused_leaves_nothing(op: type[ElementwiseOp]):
    block = Block(arg_types=[TensorType(f32, [2]), TensorType(f32, [3])])
    with ImplicitBuilder(block), pytest.raises(VerifyException):
        op.make(*block.args)
    assert not block.ops


def test_comparisons_of_a_text_use_their_operands_once():
    text = """
    func.func @f(%a: vector<4xf32>, %b: f32) -> (vector<4xi1>, i1) {
      %0 = arith.cmpf olt, %a, %a : vector<4xf32>
      %1 = arith.cmpf olt, %b, %b : f32
      func.return %0, %1 : vector<4xi1>, i1
    }"""
    (function,) = ops_of(parse_mlir(text, "f.mlir"), FuncOp)
    vectors, numbers, _ = function.body.block.ops
    assert [a.uses.get_length() for a in function.body.block.args] == [2, 2]
    assert type(numbers) is arith.CmpfOp and type(vectors) is LANEWISE[arith.CmpfOp]
