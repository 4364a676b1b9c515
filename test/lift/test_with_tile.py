"""Ops of tile and patterns in one function."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.ir.mlir_text import parse_mlir

TYPES = "(tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>"
FROM_TILE = f"""
func.func @f(%A: tensor<4x6xf32>, %B: tensor<6x5xf32>) -> tensor<5x4xf32> {{
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : {TYPES}
  %T = lift.transpose %C : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %r = lift.map(%row in %T) : (tensor<5x4xf32>) -> tensor<5x4xf32> {{
    %s = lift.map(%x in %row) : (tensor<4xf32>) -> tensor<4xf32> {{
      %y = arith.addf %x, %x : f32
      lift.yield %y : f32
    }}
    lift.yield %s : tensor<4xf32>
  }}
  func.return %r : tensor<5x4xf32>
}}"""
TO_TILE = """
func.func @f(%A: tensor<4x6xf32>, %B: tensor<6x5xf32>) -> tensor<4x5xf32> {
  %r = lift.map(%row in %A) : (tensor<4x6xf32>) -> tensor<4x6xf32> {
    %two = tile.mul %row, %row : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    lift.yield %two : tensor<6xf32>
  }
  %At = lift.transpose %r : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %C = tile.contraction add(%At[k, i] mul %B[k, j]) -> [i, j]
     : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %D = tile.exp %C : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %D : tensor<4x5xf32>
}"""
A = np.random.default_rng(5).random((4, 6), np.float32)
B = np.random.default_rng(6).random((6, 5), np.float32)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(FROM_TILE, 2 * (A @ B).T), (TO_TILE, np.exp((A * A) @ B))],
    ids=["from tile", "to tile"],
)
def test_one_hands_to_the_other(text: str, expected: np.ndarray, device: td.Device):
    """Neither way is anything copied: there are two kernels."""
    f = td.compile(parse_mlir(text, "both.mlir"), device=device)
    np.testing.assert_allclose(f(A, B), expected, rtol=1e-5)
    assert f.opencl(A, B).count("__kernel ") == 2


def test_arithmetic_on_whole_arrays(device: td.Device):
    f = td.compile(
        lift.fun(lift.array("N", "M"), lambda a: a >> lift.map(lambda r: 2 * r + 1.0)),
        device=device,
    )
    np.testing.assert_allclose(f(A), 2 * A + 1)


def test_patterns_between_ops_of_one_shape(device: td.Device):
    """Operands of a pattern from a kernel are no part of a later kernel that takes the pattern's result."""

    def between(a: lift.Value) -> lift.Value:
        doubled = a * 2.0
        squares = doubled >> lift.map(lift.map(lambda x: x * x))
        return doubled + squares / a

    f = td.compile(lift.fun(lift.array("N", "M"), between), device=device)
    np.testing.assert_allclose(f(A), 2 * A + 4 * A, rtol=1e-5)
