"""Pages of other projects' tests."""

from __future__ import annotations

from pathlib import Path

import linalg_oracle
import pytest
import stablehlo_oracle
from outcomes import Outcome, report

LINALG = """
%0, %1 = "test.op"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>)
%2 = linalg.add ins(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%1 : tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @exp(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
// -----
func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.fill_rng_2d ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
"""
STABLEHLO = """
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %1 = stablehlo.abs %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[1.0, 2.0]> : tensor<2xf32>
  func.return
}
"""


def test_pages_have_a_row_for_each_file(tmp_path: Path):
    folder, page = tmp_path / "tests", tmp_path / "page.md"
    folder.mkdir()
    (folder / "ops.mlir").write_text(LINALG)
    assert linalg_oracle.main([str(folder), "--page", str(page)]) == 0
    assert "| `ops` | 2 | 1 | an op that is not known |" in page.read_text()
    assert "Of 3 functions 2 pass, 1 are refused, and 0 give" in " ".join(page.read_text().split())
    pytest.importorskip("xdsl_jax")
    (folder / "ops.mlir").write_text(STABLEHLO)
    assert stablehlo_oracle.main([str(folder / "ops.mlir"), "--page", str(page)]) == 0
    assert "| `ops` | 1 | 0 |  |" in page.read_text()


def test_wrong_results_are_told(capsys: pytest.CaptureFixture[str]):
    assert report({"ops": [Outcome("passed"), Outcome("wrong", "1 is not 2")]}, "", None) == 1
    assert "ops: 1 is not 2" in capsys.readouterr().out
