"""Functions as data: the same kernels, and the same names, with their text read and without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiledialect as td
from tiledialect.api.function import Function
from tiledialect.api.kept_function import KeptFunction, checked
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.records import from_json, to_json

NORMED = """
func.func @normed(%X: tensor<8x16xf32>, %W: tensor<16x4xf32> {tile.name = "W'"})
    -> (tensor<8x4xf32> {tile.name = "Y"}, tensor<8x1xf32>) {
  %P = tile.contraction add(%X[i, k] mul %W[k, j]) -> [i, j]
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32> loc("layer.0":0:0)
  %M = tile.contraction max(%P[i, j]) -> [i, 0] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %Y = tile.sub %P, %M : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %C = tile.neg %M : (tensor<8x1xf32>) -> tensor<8x1xf32>
  func.return %Y, %C : tensor<8x4xf32>, tensor<8x1xf32>
}
"""
ADDED = """
func.func @added(%X: tensor<8xf32> {tile.name = "X"}, %Y: tensor<8xf32> {tile.name = "Y"})
    -> (tensor<8xf32> {tile.name = "Z"}, tensor<8xf32> {tile.updates = "X"}) {
  %Z = tile.mul %X, %Y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %N = tile.add %X, %Y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %Z, %N : tensor<8xf32>, tensor<8xf32>
}
"""


@pytest.mark.parametrize("precision", [None, "exact"])
@pytest.mark.parametrize("text", [NORMED, ADDED])
def test_text_is_the_function(text: str, precision: str | None):
    module = checked(parse_mlir(text, "given"), precision)
    kept = KeptFunction.of(module)
    assert from_json(KeptFunction, to_json(kept)) == kept
    own = Function(kept.source(module), kept.name, None)
    # Plans on disk would be the same.
    read = Function(replace(kept, text=f"{kept.text}\n").source(), kept.name, None)
    plain = td.compile(parse_mlir(text, "given"), precision=precision)
    assert "module" not in vars(read._source)  # pyright: ignore[reportPrivateUsage]
    assert repr(own) == repr(read) == repr(plain)
    assert (own.inputs, own.outputs) == (plain.inputs, plain.outputs)
    assert own.opencl() == read.opencl() == plain.opencl()
    rng = np.random.default_rng(0)
    types = plain._known()  # pyright: ignore[reportPrivateUsage]
    arrays = [rng.random(t.get_shape(), np.float32) for t in types]
    found = [f(*(a.copy() for a in arrays)) for f in (own, read, plain)]
    for outputs in found[1:]:
        assert np.array_equal([*map(np.sum, outputs)], [*map(np.sum, found[0])])
