"""Copies of whole pieces of intermediates, which are left out where they share memory."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir

JOINED = """
  E[n, o, x: N, 96, W] = +(B[n, o, x]); F[n, o, x: N, 96, W] = +(D[n, o - 32, x]); G = E + F;
"""
TAKEN = "Y[n, o, x: N, 8, W] = +(G[n, c, x] * L[o, c]);"


def program(text: str, result: str = "Y") -> str:
    return f"""
function f(X[N, C, W], K[O, C], M[P, C], L[Q, R]) -> ({result}) {{
  B[n, o, x: N, O, W] = +(X[n, c, x] * K[o, c]);
  D[n, o, x: N, P, W] = +(X[n, c, x] * M[o, c]);
  {text}
}}
"""


PIECE = """
func.func @f(%X: tensor<256xf32> {{tile.name = "X"}}) -> (tensor<256xf32> {{tile.name = "Y"}}, tensor<{size}xf32> {{tile.name = "Z"}}) {{
  %D = tile.kernel @D(%x = %X : tensor<256xf32>) -> tensor<256xf32> {{
    %d = tile.mul %x, %x : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    tile.yield %d : tensor<256xf32>
  }}
  %E = tile.kernel @E(%x = %D : tensor<256xf32>) -> tensor<{size}xf32> {{
    %e = tile.contraction assign(%x[i + {first}]) -> [i] domain <i = 0 to {size}> : (tensor<256xf32>) -> tensor<{size}xf32>
    tile.yield %e : tensor<{size}xf32>
  }}
  %Y = tile.kernel @Y(%x = %D : tensor<256xf32>) -> tensor<256xf32> {{
    %y = tile.add %x, %x : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    tile.yield %y : tensor<256xf32>
  }}
  %Z = tile.kernel @Z(%x = %E : tensor<{size}xf32>) -> tensor<{size}xf32> {{
    %z = tile.add %x, %x : (tensor<{size}xf32>, tensor<{size}xf32>) -> tensor<{size}xf32>
    tile.yield %z : tensor<{size}xf32>
  }}
  func.return %Y, %Z : tensor<256xf32>, tensor<{size}xf32>
}}
"""


CASES = {
    "side by side": (program(JOINED + TAKEN), 1),
    # All of a part and all of the whole are read afterwards.
    "both": (program(JOINED + TAKEN + "Z[n, x: N, W] = +(D[n, o, x] * B[n, p, x]);", "Y, Z"), 1),
    # A whole is a part of another.
    "nested": (
        program(
            JOINED + "H[n, o, x: N, 8, W] = +(G[n, c, x] * L[o, c]);"
            "P1[n, o, x: N, 104, W] = +(G[n, o, x]); P2[n, o, x: N, 104, W] = +(H[n, o - 96, x]);"
            "J = P1 + P2; Y[n, x: N, W] = +(J[n, o, x] * J[n, o, x]);"
        ),
        2,
    ),
    # What is returned has memory of its own, as whole and as part.
    "returned whole": (program(JOINED + TAKEN, "Y, G"), 0),
    "returned part": (program(JOINED + TAKEN, "Y, D"), 0),
    # A piece that begins at a multiple of 512 bytes, which is aligned on every device.
    "piece": (PIECE.format(first=128, size=64), 1),
    "unaligned piece": (PIECE.format(first=127, size=64), 0),
    "given part": (
        program(
            "E[n, o, x: N, 80, W] = +(B[n, o, x]); F[n, o, x: N, 80, W] = +(X[n, o - 32, x]);"
            "G = E + F; Y[n, o, x: N, 8, W] = +(G[n, c, x] * G[n, o, x]);"
        ).replace(", L[Q, R]", ""),
        0,
    ),
    # Each has one place alone.
    "twice": (
        program(
            JOINED + TAKEN + "P1[n, o, x: N, 128, W] = +(D[n, o, x]);"
            "P2[n, o, x: N, 128, W] = +(D[n, o - 64, x]); J = P1 + P2;"
            "Z[n, x: N, W] = +(J[n, o, x] * J[n, o, x]);",
            "Y, Z",
        ),
        1,
    ),
}


SHAPES = (1, 48, 32), (32, 48), (64, 48), (8, 96)


def arrays(f: td.Function) -> list[np.ndarray]:
    """Small whole numbers for the inputs, whose sums are exact."""
    generator = np.random.default_rng(0)
    shapes = SHAPES if "K" in f.inputs else ((256,),)
    return [
        generator.integers(-2, 3, shape).astype(np.float32)
        for shape, _ in zip(shapes, f.inputs, strict=False)
    ]


def dropped(f: td.Function, given: list[np.ndarray]) -> int:
    """Number of copying kernels that are left out."""
    assert "nest.beside" not in str(f.ir("gpu-arena", *given))
    return str(f.ir("tile-to-gpu", *given)).count("nest.beside")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("device", td.devices(), ids=lambda d: d.id)
def test_copies_that_are_left_out(device: td.Device, case: str):
    text, count = CASES[case]
    source = text if text.strip().startswith("function") else parse_mlir(text, "f")
    f = td.compile(source, device=device.id)
    given = arrays(f)
    found, expected = f(*given), f.reference(*given)
    for ours, theirs in zip(_tuple(found), _tuple(expected), strict=True):
        assert np.array_equal(ours, theirs)
    assert dropped(f, given) == (0 if device.type == "simulator" else count)


def _tuple(found: object) -> tuple[np.ndarray, ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)  # pyright: ignore[reportReturnType]
