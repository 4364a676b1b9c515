"""Making ops inside an ``ImplicitBuilder``, which inserts them at once."""

from __future__ import annotations

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.elementwise.ops import AddOp, ElementwiseOp, MulOp, ReluOp
from tiledialect.dialects.tile.special import GatherOp, SumToOp


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
