"""Loops that go past an index's range leave the elements there alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiledialect as td

DIAGONAL = """
func.func @f(%A: tensor<{n}xf32>, %D: tensor<9x9x{type}>) -> tensor<9x9xf32> {{
  %O = tile.contraction add(%A[i]) -> [i, i] where 0 <= i < 7 default %D
      : (tensor<{n}xf32>, tensor<9x9x{type}>) -> tensor<9x9xf32>
  func.return %O : tensor<9x9xf32>
}}
"""


@pytest.mark.parametrize("kind", ["f32", "i32", "ui8"])
def test_the_default_stays_beyond_the_range(device: td.Device, tmp_path: Path, kind: str) -> None:
    """The default schedule visits eight values of the seven."""
    path = tmp_path / "diagonal.mlir"
    path.write_text(DIAGONAL.format(n=9, type=kind))
    dtype = {"f32": np.float32, "i32": np.int32, "ui8": np.uint8}[kind]
    a, default = np.arange(1, 10, dtype=np.float32), np.full((9, 9), 5, dtype)
    schedule = {"O": "<group.x 4*i : 2, local.x i : 4>"}
    result = td.compile(path, device=device).with_schedules(schedule)(a, default)
    expected = default.astype(np.float32)
    np.fill_diagonal(expected[:7, :7], a[:7])
    np.testing.assert_array_equal(result, expected)
