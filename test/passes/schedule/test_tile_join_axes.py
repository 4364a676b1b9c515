"""Kernels that run over joined axes, against the reference, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

CASES = {
    "channels": (
        """function (X[N, C, H, W], G[C, 1, 1]) -> (Y, T) {
          T[c, 0, 0: C, 1, 1] = +(X[n, c, h, w]); D = X - T / (N * H * W);
          S[c, 0, 0: C, 1, 1] = +(D[n, c, h, w] * D[n, c, h, w]);
          Y = D / sqrt(S + 1) * G;
        }""",
        ((3, 4, 5, 7), (4, 1, 1)),
    ),
    "lower rank": (
        """function (X[N, C, H, W]) -> (Y, M, E) {
          M[n, c: N, C] = >(X[n, c, h, w]); Y = exp(M) + 1; E = X * X - 2;
        }""",
        ((3, 4, 5, 7),),
    ),
    "broadcast": (
        """function (X[N, H, W], B[H, W], R[W], S[N, 1, 1], Z[N, H, 1]) -> (P, Q, O) {
          P = X * B + S; Q = X + R; O = tanh(X) * Z + B;
        }""",
        ((3, 5, 6), (5, 6), (6,), (3, 1, 1), (3, 5, 1)),
    ),
    "product of many indices": (
        """function (A[M, N, C, D], B[C, D, E, F], S[E, F], T[N, 1, 1]) -> (P, O) {
          X = A * A + T; P[m, n, e, f: M, N, E, F] = +(X[m, n, c, d] * B[c, d, e, f]); O = P + S;
        }""",
        ((3, 4, 5, 6), (5, 6, 7, 2), (7, 2), (4, 1, 1)),
    ),
    "planes": (
        """function (I[N, C, H, W], K[F, C, 1, 1], B[F, 1, 1]) -> (R) {
          O[n, f, y, x: N, F, H, W] = +(I[n, c, y + j, x + i] * K[f, c, j, i]); R = relu(O + B);
        }""",
        ((2, 5, 6, 7), (3, 5, 1, 1), (3, 1, 1)),
    ),
    "one point at a time": (
        """function (I[N, H, W, C], K[1, 1, C, F], B[F]) -> (R, D) {
          O[n, y, x, f: N, H, W, F] = +(I[n, y + j, x + i, c] * K[j, i, c, f]); R = O + B;
          D[j, i, c, f: 1, 1, C, F] = +(I[n, y + j, x + i, c] * R[n, y, x, f]);
        }""",
        ((2, 5, 7, 6), (1, 1, 6, 3), (3,)),
    ),
    "part": (
        """function (X[N, H, W, C]) -> (Y, Z) {
          A[n, y, x, c: N, H - 1, W - 3, C] = =(X[n, y + 1, x + 2, c]); Y = A * 2 + 1;
          Z[n, y, x + 1, c: N, H, W + 2, C] = =(X[n, y, x, c]);
        }""",
        ((2, 3, 7, 3),),
    ),
    "rows of weights": (
        """function (I[N, C, H, W], K[F, C, 3, 3], B[F, 1, 1]) -> (R, G, D) {
          O[n, f, y, x: N, F, (H + 1) / 2, (W + 1) / 2]
            = +(I[n, c, 2*y + j - 1, 2*x + i - 1] * K[f, c, j, i]);
          R = (O + B) / 100;
          G[n, c, 2*y + j - 1, 2*x + i - 1: N, C, H, W] = +(R[n, f, y, x] * K[f, c, j, i]);
          D[f, c, j, i: F, C, 3, 3] = +(I[n, c, 2*y + j - 1, 2*x + i - 1] * R[n, f, y, x]);
        }""",
        ((1, 3, 5, 5), (17, 3, 3, 3), (17, 1, 1)),
    ),
    "weights of one point": (
        """function (I[N, C, H, W], K[F, C, 1, 1]) -> (R) {
          R[n, f, y, x: N, F, (H + 1) / 2, (W + 1) / 2] = +(I[n, c, 2*y + j, 2*x + i] * K[f, c, j, i]);
        }""",
        ((1, 17, 5, 5), (18, 17, 1, 1)),
    ),
    "default": (
        """function (A[M, N, K], B[M, N], D[K]) -> (C) {
          C[k: K] = +(A[m, n, k] * B[m, n]) default D;
        }""",
        ((3, 4, 5), (3, 4), (5,)),
    ),
    "diagonal": (
        "function (A[M, M, K], B[M, M, K]) -> (C) { C[m: M] = +(A[m, m, k] * B[m, m, k]); }",
        ((4, 4, 5), (4, 4, 5)),
    ),
    "trace": (
        "function (A[N, N], B[M, K, K]) -> (S, T) { S[] = +(A[n, n]); T[m: M] = >(B[m, k, k]); }",
        ((9, 9), (3, 4, 4)),
    ),
    "parts of axes": (
        "function (A[M, N], B[M, N]) -> (C) { C[m, n: M, N - 1] = +(A[m, n] * B[m, n + 1]); }",
        ((4, 5), (4, 5)),
    ),
    "a scalar": (
        "function (A[M, N], B[N, L], S[]) -> (C) { C[m, l: M, L] = +(A[m, n] * B[n, l] * S[]); }",
        ((4, 5), (5, 3), ()),
    ),
    "ones": ("function (X[N, 1, 1], Y[N, M, 1]) -> (O) { O = X + 2 * Y; }", ((3, 1, 1), (3, 4, 1))),
    "places": ("function (X[N, H, W]) -> (O) { O = X + index(X, 1) * X; }", ((3, 5, 6),)),
}


@pytest.mark.parametrize("case", CASES)
def test_joined_axes(device: td.Device, case: str) -> None:
    program, shapes = CASES[case]
    function = td.compile(program, device=device)
    random = np.random.default_rng(0)
    inputs = [np.asarray(random.standard_normal(shape), np.float32) for shape in shapes]
    found, expected = function(*inputs), function.reference(*inputs)
    again = function.with_schedules(function.schedules(*inputs))(*inputs)
    for a, b, c in zip(*map(_listed, (found, again, expected)), strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(a, b)


def _listed(results: object) -> list[np.ndarray]:
    return list(results) if isinstance(results, tuple) else [np.asarray(results)]
