"""Many batches of a program in one process: kernels of each are reused, and results are right."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import tiledialect as td

ATTENTION = """function (X[B, T, C], WQ[C, D], WK[C, D], WV[C, D]) -> (O) {
  Q[b, t, d: B, T, D] = +(X[b, t, c] * WQ[c, d]); K[b, t, d: B, T, D] = +(X[b, t, c] * WK[c, d]);
  V[b, t, d: B, T, D] = +(X[b, t, c] * WV[c, d]); L[b, s, t: B, T, T] = +(Q[b, s, d] * K[b, t, d]);
  P = softmax(L, 2); O[b, s, d: B, T, D] = +(P[b, s, t] * V[b, t, d]); }"""
LOSS = """function (X[B, C], W[C, N], G[N], Y[B, N]) -> (L) {
  Z[b, n: B, N] = +(X[b, c] * W[c, n]); A = max(Z + G, 0); D = A - Y; S[] = +(D[b, n] * D[b, n]);
  L = S / (B * N); }"""
POOL = """function (I[B, H, W], K[3, 3, F]) -> (P) {
  C[b, y, x, f: B, H - 2, W - 2, F] = +(I[b, y + j, x + i] * K[j, i, f]);
  P[b, y, x, f: B, (H - 2) / 2, (W - 2) / 2, F] = >(C[b, 2*y + j, 2*x + i, f]), j < 2, i < 2; }"""
SHAPES = {
    ATTENTION: ("X {}x16x32", "WQ 32x16", "WK 32x16", "WV 32x16"),
    LOSS: ("X {}x48", "W 48x32", "G 32", "Y {}x32"),
    POOL: ("I {}x10x10", "K 3x3x8"),
}
BATCHES = (8, 6, 7, 16, 1, 2, 48, 12, 33)


def batches_agree(seed: int, text: str, count: int) -> None:
    """The gradient of a program by its weights, for batches in random order, is the reference's."""
    generator = np.random.default_rng(seed)
    batches = Random(seed).sample(BATCHES, count)
    function = td.compile(text)
    weights = [s.split()[0] for s in SHAPES[text] if "{}" not in s]
    gradient = function.gradient(wrt=weights, with_outputs=True)
    for batch in batches:
        shapes = [tuple(map(int, s.format(batch).split()[1].split("x"))) for s in SHAPES[text]]
        # A softmax of large numbers would magnify the rounding of its exponents.
        arrays = [generator.standard_normal(s, np.float32) / 5 for s in shapes]
        (output,) = function.output_types(*arrays)
        arrays.append(generator.standard_normal(output.get_shape(), np.float32))
        pairs = zip(gradient(*arrays), gradient.reference(*arrays), strict=True)
        for found, expected in pairs:
            # Sums of at most some thousand products of f32 in another order.
            np.testing.assert_allclose(found, expected, 1e-3, 1e-3, err_msg=str(batches))


def any_batches_agree(seed: int) -> None:
    """The same for all of the batches and one of the programs."""
    batches_agree(seed, Random(seed).choice([*SHAPES]), len(BATCHES))


@pytest.mark.parametrize("text", SHAPES, ids=["attention", "loss", "pool"])
def test_batches_in_any_order_give_the_results_of_the_semantics(text: str) -> None:
    batches_agree(0, text, 3)
