"""Tile programs as linalg: the same meaning, for upstream's tools and back in the tile dialect."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import upstream
from xdsl.dialects import scf
from xdsl.dialects.arith import MulUIExtendedOp
from xdsl.dialects.builtin import ModuleOp, TensorType

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.mlir_text import all_dialects, parse_mlir, print_module
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import find_function, parse_type
from tiledialect.ir.verification import verify
from tiledialect.language.to_ir import load
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.passes.convert.convert_linalg_to_tile import ConvertLinalgToTilePass
from tiledialect.passes.specialize.tile_specialize import specialize

Array = npt.NDArray[Any]

PROGRAMS: Sequence[tuple[str, Sequence[str]]] = (
    ("(A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }", ("4x8xf32", "8x3xf32")),
    ("(I[N]) -> (O) { O[i: N] = +(I[k]), i - k < N; }", ("9xf32",)),
    ("(I[N]) -> (O) { O[i: N] = *(I[k]), k - i < N; }", ("9xf32",)),
    ("(I[N, M]) -> (O) { O[i, j: N, M] = >(I[k, j]), i - k < N; }", ("5x4xi32",)),
    ("(I[N]) -> (O) { O[i: N] = +(I[2*i + j - 1]), j < 3; }", ("9xf32",)),
    ("(I[N]) -> (O) { O[i: N + 3] = >(I[i - 1]); }", ("9xf32",)),
    ("(I[N]) -> (O) { O[2*i: 2*N] = >(I[i]); }", ("9xf32",)),
    ("(I[N]) -> (O) { O[2*i + 1: 2*N] = =(I[i]); }", ("9xf32",)),
    ("(I[N]) -> (O) { O[i: N] = +(I[i/2]); }", ("9xf32",)),
    ("(A[N, M], I[K]) -> (O) { O = gather(A, I); }", ("9x3xf32", "4xi32")),
    ("(U[K, M], I[K], A[N, M]) -> (O) { O = scatter(U, I, A); }", ("4x3xf32", "4xi32", "5x3xf32")),
    ("(I[K], A[N]) -> (O) { O = scatter(1.0, I, A); }", ("4xi32", "5xf32")),
    ("(A[N, M]) -> (O) { O = reshape(A, M, N) + index(reshape(A, M, N), 0); }", ("4x3xf32",)),
    ("(A[N, M]) -> (O) { O = shape(A); }", ("4x3xf32",)),
    (
        "(A[N], B[N]) -> (O, P, Q) { O = A / B; P = A % B; Q = (A < B) ? A : B << 2; }",
        ("7xi32", "7xi32"),
    ),
    (
        "(A[N], B[N]) -> (O, P) { O = A / B + max(A, B);"
        " P = as_float(A > B, 32) + as_int(A / 2.0, 8); }",
        ("7xu8", "7xu8"),
    ),
    ("(A[N, M]) -> (O) { O = softmax(A, 1); }", ("4x3xf32",)),
    (
        "(A[N]) -> (O, P) { O = sigmoid(A) + relu(A) * pow(A, 2) + round(A); P = A; }",
        ("7xf64",),
    ),
    (
        "(S[N]) -> (V, T) { X = prng_step(S, 3, 5); V = prng_value(X); T = prng_state(X); }",
        ("4xu32",),
    ),
    ("(A[N, M]) -> (O) { O[] = +(A[i, j]); }", ("4x3xi8",)),
    ("(A[N, M]) -> (O) { O[] = +(A[i, j]); }", ("4x3xf16",)),
    (
        "(A[N, K], B[K, M]) -> (O) { O[i, j: N, M] = +(A[i, k] * B[k, j]); }",
        ("4x3xbf16", "3x5xbf16"),
    ),
    ("(A[N], B[M]) -> (O) { O[i: N] = +(A[i] == B[j]); }", ("4xi32", "6xi32")),
    (
        "(A[N], B[M], C[M]) -> (O) { O[i: N] = +(A[i] == B[j] ? C[j]); }",
        ("4xi32", "6xi32", "6xf32"),
    ),
    ("(A[N], B[M]) -> (O) { O[i: N + 4] = =(A[i - 2]) default B; }", ("4xf32", "8xf32")),
    ("(A[N], B[M]) -> (O) { O[i: N + 4] = >(A[i - j]), j < 2 default B; }", ("4xf32", "8xf32")),
    # Its loops leave the result.
    *(
        (
            "(A[Y, X], B[J, I], D[N, M]) -> (O) { O[3*y + 2*j, 3*x + 2*i: N, M] = "
            f"{sign}(A[y, x] * B[j, i]){default}; }}",
            ("5x5xf32", "3x3xf32", f"{size}x{size}xf32"),
        )
        for sign, default, size in (("+", "", 17), ("+", " default D", 15), (">", "", 9))
    ),
    ("(A[N, M]) -> (O) { O = sum_to(A, A) + 1.5; }", ("4x3xf32",)),
    (
        "(I[N, H, W, C], K[Y, X, C, F]) -> (O) { O[n, y, x, f: N, H, W, F] = "
        "+(I[n, y + j - 1, x + i - 1, c] * K[j, i, c, f]); }",
        ("1x5x6x2xf32", "3x3x2x3xf32"),
    ),
)


def specialized(number: int) -> tuple[ModuleOp, list[TensorType]]:
    """A program for its types."""
    text, types = PROGRAMS[number]
    module = load(f"function {text}", name=f"f{number}")
    found = [parse_type(t) for t in types]
    specialize(find_function(module), found)
    return module, found


@cache
def lowered(number: int) -> ModuleOp:
    """A program as linalg."""
    module, _ = specialized(number)
    ConvertTileToLinalgPass().apply(all_dialects(), module)
    verify(module)
    return module


def random_inputs(types: Sequence[TensorType]) -> list[Array]:
    rng = np.random.default_rng(0)
    made: list[Array] = []
    for t in types:
        kind = np.dtype(NUMPY_TYPES[t.element_type])
        if kind.kind in "iu":
            made.append(rng.integers(0 if kind.kind == "u" else -3, 7, t.get_shape()).astype(kind))
        else:
            made.append(rng.normal(size=t.get_shape()).astype(kind))
    return made


def signless(array: Array) -> Array:
    return array.view(array.dtype.str.replace("u", "i")) if array.dtype.kind == "u" else array


def test_upstream_takes_all_programs():
    texts = [print_module(lowered(number)) for number in range(len(PROGRAMS))]
    assert not any("tile." in text for text in texts)
    upstream.mlir_opt("\n".join(texts).replace("builtin.module", "module"))


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_round_trip(number: int):
    module, types = specialized(number)
    text = print_module(lowered(number))
    back = parse_mlir(text, "linalg.mlir")
    if ops_of(back, scf.ForOp, MulUIExtendedOp):
        pytest.skip("loops and wide products do not become tile ops again")
    ConvertLinalgToTilePass().apply(all_dialects(), back)
    verify(back)
    arrays = random_inputs(types)
    wanted = interpret(module, f"f{number}", arrays)
    results = interpret(back, f"f{number}", [signless(a) for a in arrays])
    for result, expected in zip(results, wanted, strict=True):
        assert result.shape == expected.shape
        assert result.dtype == signless(expected).dtype
        # Sums of up to 20 terms, in another order.
        np.testing.assert_allclose(
            result.view(expected.dtype).astype("f8"), expected.astype("f8"), rtol=1e-5, atol=1e-5
        )


RUN = """
func.func @scans(%x: tensor<2x7xf32>, %k: tensor<2x7xi32>, %s: tensor<2x3xf32>)
    -> (tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<5x2xf32>, tensor<2x7xf32>) {
  %a = tile.scan add %x axis 1 : (tensor<2x7xf32>) -> tensor<2x7xf32>
  %b = tile.scan max %x axis 1 reverse every 3 from %s
       : (tensor<2x7xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  %c = tile.scan add %x axis 1 runs %k : (tensor<2x7xf32>, tensor<2x7xi32>) -> tensor<2x7xf32>
  %t = tile.contraction assign(%x[i, j]) -> [j, i] : (tensor<2x7xf32>) -> tensor<7x2xf32>
  %u = tile.contraction assign(%k[0, j]) -> [j] : (tensor<2x7xi32>) -> tensor<7xi32>
  %v = tile.contraction assign(%x[i, j]) -> [j, i] : (tensor<2x7xf32>) -> tensor<5x2xf32>
  %d = tile.scatter %t, %u, %v : (tensor<7x2xf32>, tensor<7xi32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %e = tile.sigmoid %x : (tensor<2x7xf32>) -> tensor<2x7xf32>
  func.return %a, %b, %c, %d, %e : tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>,
    tensor<5x2xf32>, tensor<2x7xf32>
}
"""


def test_upstream_runs_scans_and_scatters():
    module = parse_mlir(RUN, "scans.mlir")
    verify(module)
    rng = np.random.default_rng(3)
    x, s = rng.normal(size=(2, 7)).astype("f"), rng.normal(size=(2, 3)).astype("f")
    k = np.int32([[0, 0, 3, 3, 9, 1, 1], [-1, 2, 2, 2, 4, 4, 0]])
    wanted = interpret(module, "scans", [x, k, s])
    ConvertTileToLinalgPass().apply(all_dialects(), module)
    verify(module)
    shapes = [array.shape for array in wanted]
    results = upstream.run_f32(print_module(module), "scans", [x, k, s], shapes)
    for result, expected in zip(results, wanted, strict=True):
        # Numbers are printed with six digits.
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_open_sizes_are_refused():
    module = load("function f(A[N]) -> (O) { O = A + 1; }")
    with pytest.raises(TileError, match="give the type of A, which is declared as"):
        ConvertTileToLinalgPass().apply(all_dialects(), module)


def test_kernels_are_refused():
    text = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tile.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    tile.yield %e : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}"""
    with pytest.raises(TileError, match=r"tile\.kernel has no counterpart in linalg"):
        ConvertTileToLinalgPass().apply(all_dialects(), parse_mlir(text, "k.mlir"))
