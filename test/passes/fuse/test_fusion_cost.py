"""Bytes that kernels move, and the gain of kernels over others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.fuse.fusion_cost import moved, traffic
from tiledialect.schedule.cost.traffic import Gain, Machine, Traffic, in_millions

T = "tensor<1024x1024xf32>"
MODULE = f"""func.func @f(%X: {T}) -> {T} {{
  %Y = tile.kernel(%x = %X : {T}) -> {T} {{
    %y = tile.exp %x : ({T}) -> {T}
    tile.yield %y : {T}
  }}
  func.return %Y : {T}
}}"""
COMMON = Machine.of(None)


def test_a_kernel_costs_its_bytes_or_a_launch():
    (kernel,) = ops_of(parse_mlir(MODULE, "f.mlir"), KernelOp)
    assert moved(kernel) == 2 * 4 * 1024**2
    assert traffic(replace(COMMON, launch=1), kernel).time == moved(kernel)
    assert traffic(replace(COMMON, launch=10**9), kernel).time == 10**9


def test_the_gain_counts_repeated_operations():
    machine, apart = replace(COMMON, operations=10.0), Traffic(100, 100.0, 64)
    gain = machine.gain([apart, apart], [Traffic(150, 150.0, 64)], again=400.0)
    assert gain == Gain(200.0, 190.0, gain.why) and gain.saved == 10.0
    assert "0.0004 million operations again" in gain.why


@pytest.mark.parametrize(
    ("number", "text"), ((36, "3.6e-05"), (1.5e6, "1.5"), (1.2345e9, "1234"), (123456789, "123"))
)
def test_millions(number: float, text: str):
    assert in_millions(number) == text
