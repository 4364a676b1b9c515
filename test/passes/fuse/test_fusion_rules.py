"""Pairs of kernels that rules of fusion try, in their order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.fuse import fusion_rules
from tiledialect.passes.fuse.fusion_rules import (
    Order,
    Partners,
    contractions_sharing_inputs,
    elementwise_sharing_inputs,
    kernels_sharing_inputs,
    producers,
    small_ones,
)
from tiledialect.passes.fuse.rules.horizontal_fusion import SmallKind, small_kind

T = "tensor<8xf32>"


def _kernel(name: str, operands: str, op: str = "tile.add") -> str:
    pairs = ", ".join(f"%{o.lower()}{name} = %{o} : {T}" for o in operands)
    values = ", ".join(f"%{o.lower()}{name}" for o in (operands * 2)[:2])
    body = f"%r{name} = tile.add {values} : ({T}, {T}) -> {T}"
    if op == "sum":
        first = values.split(", ", maxsplit=1)[0]
        body = f"%r{name} = tile.contraction add({first}[i - j]) -> [i] where 0 <= j < 2 "
        body += f"domain <i = 0 to 8, j = 0 to 2> : ({T}) -> {T}"
    return f"%{name} = tile.kernel({pairs}) -> {T} {{ {body} tile.yield %r{name} : {T} }}"


KERNELS = "\n".join(
    (
        _kernel("A", "X"),
        _kernel("B", "X"),
        _kernel("C", "AB"),
        _kernel("D", "X", "sum"),
        _kernel("E", "XA"),
        _kernel("F", "X", "sum"),
        _kernel("G", "AD"),
    )
)
MODULE = f"""func.func @f(%X: {T}) -> ({T}, {T}, {T}, {T}) {{
  {KERNELS}
  func.return %C, %E, %F, %G : {T}, {T}, {T}, {T}
}}"""


def _kernels() -> tuple[dict[str, KernelOp], Order]:
    kernels = {k.outputs[0].name_hint or "": k for k in ops_of(parse_mlir(MODULE, "f"), KernelOp)}
    block = kernels["A"].parent
    assert block is not None
    return kernels, Order(block)


@pytest.mark.parametrize(
    ("partners", "kernel", "wanted"),
    (
        (producers, "C", "BA"),
        (producers, "A", ""),
        (kernels_sharing_inputs, "E", "DCBA"),
        (contractions_sharing_inputs, "F", "D"),
        (contractions_sharing_inputs, "E", ""),
        (elementwise_sharing_inputs, "E", "CBA"),
        (elementwise_sharing_inputs, "F", ""),
        (small_ones, "G", "ECBA"),
        (small_ones, "F", ""),
    ),
    ids=lambda x: x.__name__ if isinstance(x, Callable) else x,
)
def test_partners_come_last_first(partners: Partners, kernel: str, wanted: str):
    kernels, order = _kernels()
    assert [k.outputs[0].name_hint for k in partners(kernels[kernel], order)] == [*wanted]


def test_the_kind_of_a_small_kernel_is_found_once(monkeypatch: pytest.MonkeyPatch):
    """Every kernel meets all later ones."""
    kernels, order = _kernels()
    asked: list[KernelOp] = []

    def kind(kernel: KernelOp) -> SmallKind | None:
        asked.append(kernel)
        return small_kind(kernel)

    monkeypatch.setattr(fusion_rules, "small_kind", kind)
    for kernel in kernels.values():
        list(small_ones(kernel, order))
    assert len(asked) == len(kernels)
