"""Steps of rounded numbers are computed once, as both the number of an element and its weight need
them."""

from __future__ import annotations

import numpy as np
import pytest
from given_schedules import parsed

import tiledialect as td
from tiledialect.analysis.rounded_steps import rounded_steps
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.ops_in import ops_of

BILINEAR = """function (T[M, C], S[N, 7, 2]) -> (O) {
  V = S * 2.0 / 15.0 - 1.0;
  Y[i, j, 0: N, 7, 1] = =(V[i, j, 1]);
  P = (reshape(Y, N, 7) + 1.0) * 7.5; F = floor(P); H = F + 1.0;
  A = reshape(P, N, 7, 1) - reshape(F, N, 7, 1);
  I = as_int(min(max(F, 0.0), 15.0), 32) * 16; J = as_int(min(max(H, 0.0), 15.0), 32) * 16;
  X[i, j, 0: N, 7, 1] = =(V[i, j, 0]);
  Q = (reshape(X, N, 7) + 1.0) * 7.5; G = floor(Q); E = G + 1.0;
  B = reshape(Q, N, 7, 1) - reshape(G, N, 7, 1);
  K = as_int(min(max(G, 0.0), 15.0), 32); L = as_int(min(max(E, 0.0), 15.0), 32);
  O = (1.0 - A) * (1.0 - B) * gather(T, I + K) + (1.0 - A) * B * gather(T, I + L)
    + A * (1.0 - B) * gather(T, J + K) + A * B * gather(T, J + L);
}"""


@pytest.mark.parametrize("again", [None, True])
@pytest.mark.parametrize("channels", [1, 3])
def test_places_in_two_kernels(channels: int, again: bool | None, device: td.Device):
    """Interpolation is continuous: only floors that differ in two places show."""
    random = np.random.default_rng(channels)
    table = random.uniform(-1, 1, (256, channels)).astype(np.float32)
    places = random.integers(0, 15, (40, 7, 2)) + random.integers(0, 2, (40, 1, 1)) / 4
    arguments = table, places.astype(np.float32)
    f = td.compile(BILINEAR, device=device).with_fusion(again=again)
    np.testing.assert_allclose(f(*arguments), f.reference(*arguments), 1e-4, 1e-4)
    kernels = str(f.ir("tile-fuse", *arguments))
    assert kernels.count("tile.floor") == 2 and kernels.count("= tile.kernel") > 2


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        ("P = X * 0.7 - 0.5; Y = floor(P);", 1),
        ("P = exp(X); Y = as_int(max(P, 0.0), 32);", 1),
        ("P = X * 0.7 - 0.5; Q = floor(P); Y = as_int(Q, 32);", 2),
        # One number is the nearest one everywhere.
        ("P = X * 0.7; Y = floor(abs(P));", 0),
        ("Y = round(X);", 0),
        ("P = floor(X); Y = as_int(P + 1.0, 32);", 0),
        ("P = X * 0.7 - 0.5; Y = P + 0.1;", 0),
    ],
)
def test_steps(program: str, steps: int):
    module = td.compile(f"function (X[N]) -> (Y) {{ {program} }}").ir("tile-fuse", "8xf32")
    (kernel,) = ops_of(parsed(module), KernelOp)
    assert len(rounded_steps(kernel.block.ops)) == steps
