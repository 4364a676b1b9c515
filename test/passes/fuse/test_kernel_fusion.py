"""Positions of fused kernels in their block."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block

from tiledialect.dialects.tile.elementwise.ops import AddOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse import kernel_merging
from tiledialect.passes.fuse.fusion_rules import Order
from tiledialect.passes.fuse.kernel_fusion import merge_equal_values, place_of
from tiledialect.passes.fuse.tile_fuse import TileFusePass

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
    found = place_of(kernels[first], kernels[second], Order(block))
    assert found is (None if place is None else kernels[place])


M = "tensor<8x8xf32>"
ROWS = f"""
func.func @f(%A: {T}, %W: {M}) -> ({M}, {T}) {{
  %O, %S = tile.kernel(%a = %A : {T}, %w = %W : {M}) -> ({M}, {T})
      axes <d0 = 0 to 8, d1 = 0 to 8> {{
    %p = tile.add %a, %a : ({T}, {T}) -> {T}
    %o = tile.contraction add(%p[d0] mul %w[d0, d1]) -> [d0, d1] : ({T}, {M}) -> {M}
    %q = tile.add %a, %a : ({T}, {T}) -> {T}
    %s = tile.contraction add(%q[d1] mul %w[d0, d1]) -> [d0] : ({T}, {M}) -> {T}
    %r = tile.add %a, %a : ({T}, {T}) -> {T}
    %t = tile.contraction add(%r[d0] mul %s[d0]) -> [d0] : ({T}, {T}) -> {T}
    tile.yield %o, %t : {M}, {T}
  }}
  func.return %O, %S : {M}, {T}
}}
"""


def test_equal_values_along_other_axes_of_a_row_kernel_stay_apart():
    module = parse_mlir(ROWS, "f")
    (kernel,) = ops_of(module, KernelOp)
    merge_equal_values(kernel)
    module.verify()
    assert len(ops_of(kernel, AddOp)) == 2


def test_kernels_that_have_too_many_arguments_together_are_not_copied(
    monkeypatch: pytest.MonkeyPatch,
):
    """Many small kernels: each is tried with all that were merged before it."""
    made = list[Block]()
    share = kernel_merging._share_casts  # pyright: ignore[reportPrivateUsage]

    def counted(body: Block) -> None:
        made.append(body)
        share(body)

    monkeypatch.setattr(kernel_merging, "_share_casts", counted)
    count = 110
    given = ", ".join(f"A{k}[N]" for k in range(count))
    results = ", ".join(f"B{k}" for k in range(count))
    lines = " ".join(f"B{k} = sin(A{k}) + A{k};" for k in range(count))
    program = load(f"function f({given}) -> ({results}) {{ {lines} }}")
    types = [TensorType(f32, [8])] * count
    module = compile_module(program, "f", types, after=TileFusePass.name)
    kernels = ops_of(module, KernelOp)
    assert len(kernels) == 3
    assert len(made) == count - len(kernels)
