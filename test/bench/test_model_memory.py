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
    whole = {"alive": 10e6, "ours": 11e6, "loaded": 120e6, "peak": 150e6, "calls": 111e6}
    parts = dict(zip(model_memory.PARTS, range(100, 107), strict=True))
    found = {key: int(value) for key, value in whole.items()}
    found |= {key: value * 10**6 for key, value in parts.items()}
    row = model_memory._row("net", "onnx", "warm", found)  # pyright: ignore[reportPrivateUsage]
    shares = ["10.0", "1.10", "120.0", "150.0", "111.0", "1.00"]
    assert row.split()[3:] == [*shares, *(f"{n}.0" for n in parts.values())]
    row = model_memory._row("net", "onnxruntime", "warm", found)  # pyright: ignore[reportPrivateUsage]
    assert row.split()[3:6] == ["120.0", "150.0", "111.0"]


def test_python_heap():
    found = model_memory._python_heap()  # pyright: ignore[reportPrivateUsage]
    assert found >= model_memory.ARENA and found % model_memory.ARENA == 0
