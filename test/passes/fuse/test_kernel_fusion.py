"""Positions of fused kernels in their block."""

from __future__ import annotations

import pytest

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.fuse.kernel_fusion import place_of
from tiledialect.passes.fuse.kernel_merging import order_of

T = "tensor<8xf32>"
OPERANDS = {"A": "XX", "B": "XX", "C": "AB", "D": "XX", "E": "XA", "F": "AD"}
BODY = "\n".join(
    f"%{name} = tile.kernel(%{a}l{name} = %{a} : {T}, %{b}r{name} = %{b} : {T}) -> {T} {{ "
    f"%v{name} = tile.add %{a}l{name}, %{b}r{name} : ({T}, {T}) -> {T} tile.yield %v{name} : {T} }}"
    for name, (a, b) in OPERANDS.items()
)


@pytest.mark.parametrize(
    ("first", "second", "place"),
    (("B", "C", "C"), ("A", "E", "A"), ("A", "F", None), ("A", "B", "B")),
)
def test_the_place_of_a_fused_kernel(first: str, second: str, place: str | None):
    """All operands of both come before it, and all of their other users after it."""
    text = f"func.func @f(%X: {T}) -> ({T}, {T}) {{ {BODY} func.return %C, %F : {T}, {T} }}"
    found = ops_of(parse_mlir(text, "f"), KernelOp)
    kernels = {k.outputs[0].name_hint: k for k in found}
    block = kernels["A"].parent
    assert block is not None
    found = place_of(kernels[first], kernels[second], order_of(block))
    assert found is (None if place is None else kernels[place])
