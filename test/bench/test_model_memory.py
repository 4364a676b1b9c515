"""`bench/model_memory.py`: buffers that are needed together, and rows."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.dialects import func

from tiledialect.ir.mlir_text import parse_mlir

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import model_memory

HOST = """
func.func @main(%x: memref<100xf32> {tile.name = "primals_1"},
                %s: memref<10xf32> {tile.name = "relu"},
                %t: memref<1xf32> {tile.name = "tangents_1"})
    -> (memref<20xf32> {tile.name = "y"}) {
  %a = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<40xf32>
  %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20xf32>
  %b = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<30xf32>
  func.call @step(%x, %a) : (memref<100xf32>, memref<40xf32>) -> ()
  func.call @step(%s, %a, %b) : (memref<10xf32>, memref<40xf32>, memref<30xf32>) -> ()
  func.call @step(%b, %y) : (memref<30xf32>, memref<20xf32>) -> ()
  func.return %y : memref<20xf32>
}
"""


def test_buffers_that_are_needed_together():
    (host,) = parse_mlir(HOST, "host").ops
    assert isinstance(host, func.FuncOp)
    # The second step: what the forward pass gave, and two intermediates; not the parameter.
    assert model_memory.largest_alive(host) == 4 * (10 + 40 + 30)


def test_rows():
    numbers = ("weights", "alive", "ours", "loaded", "peak", "calls")
    found = dict(zip(numbers, (100e6, 10e6, 11e6, 120e6, 150e6, 111e6), strict=True))
    row = model_memory._row("net", "onnx", "warm", {k: int(v) for k, v in found.items()})  # pyright: ignore[reportPrivateUsage]
    assert row.split()[3:] == ["100.0", "10.0", "11.0", "1.10", "120.0", "150.0", "111.0", "1.00"]
