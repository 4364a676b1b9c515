"""Results of schedules that are chosen on CPUs."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "product": "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
    "transposed": "function (A[L, M], B[N, L]) -> (C) { C[i, j: M, N] = +(A[k, i] * B[j, k]); }",
    "second transposed": "function (A[M, L], B[N, L]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[j, k]); }",
    "vector": "function (A[M, L], B[L]) -> (C) { C[i: M] = +(A[i, k] * B[k]); }",
    "maxima": """function (A[H, W, C]) -> (O) {
        O[y, x, c: H/2, W/2, C] = >(A[2*y + j - 1, 2*x + i - 1, c]), j < 3, i < 3;
    }""",
    "weights": """function (A[N, H, W, C], D[N, H, W, K]) -> (O) {
        O[j, i, c, k: 3, 3, C, K] = +(A[n, y + j - 1, x + i - 1, c] * D[n, y, x, k]);
    }""",
    "weights of planes": """function (A[N, C, H, W], D[N, K, H, W]) -> (O) {
        O[k, c, j, i: K, C, 3, 3] = +(A[n, c, y + j - 1, x + i - 1] * D[n, k, y, x]);
    }""",
    "depthwise weights": """function (A[N, H, W, C], D[N, H, W, C]) -> (O) {
        O[j, i, c: 3, 3, C] = +(A[n, y + j - 1, x + i - 1, c] * D[n, y, x, c]);
    }""",
    "strided planes": """function (D[N, K, H, W], B[K, C, 5, 5]) -> (A) {
        A[n, c, 2*y + j - 2, 2*x + i - 2: N, C, 2*H, 2*W] = +(D[n, k, y, x] * B[k, c, j, i]);
    }""",
    "strided windows": """function (A[N, C, H, W], B[K, C, 4, 4]) -> (O) {
        O[n, k, y, x: N, K, H/2, W/2] = +(A[n, c, 2*y + j - 1, 2*x + i - 1] * B[k, c, j, i]);
    }""",
    "few planes": """function (A[N, C, H, W], B[K, C]) -> (O) {
        O[n, k, y, x: N, K, H/2, W/2] = +(A[n, c, 2*y, 2*x] * B[k, c]);
    }""",
    "columns": "function (A[M, N], X[M]) -> (Y) { Y[j: N] = +(X[i] * A[i, j]); }",
    "groups": "function (A[N, P, G, K]) -> (S) { S[n, g: N, G] = +(A[n, p, g, k]); }",
    "depthwise": """function (A[H, W, C], B[3, 3, C]) -> (O) {
        O[y, x, c: H, W, C] = +(A[y + j - 1, x + i - 1, c] * B[j, i, c]);
    }""",
    "depthwise planes": """function (A[C, H, W], B[C, 3, 3]) -> (O) {
        O[c, y, x: C, H, W] = +(A[c, y + j - 1, x + i - 1] * B[c, j, i]);
    }""",
    "maxima of planes": """function (A[C, H, W]) -> (O) {
        O[c, y, x: C, H, W] = >(A[c, y + j - 1, x + i - 1]), j < 3, i < 3;
    }""",
}
SHAPES = {
    "product": [
        *([(70, 33), (33, 50)], [(5, 700), (700, 17)], [(1, 40), (40, 40)]),
        *([(200, 330), (330, 3)], [(8, 90), (90, 333)], [(128, 100), (100, 10)]),
    ],
    "transposed": [((33, 40), (64, 33)), ((900, 5), (11, 900))],
    "second transposed": [((201, 130), (3, 130))],
    "vector": [((37, 100), (100,)), ((3, 15), (15,))],
    "weights": [((2, 8, 4, 4), (2, 8, 4, 16))],
    "weights of planes": [((2, 16, 6, 9), (2, 16, 6, 9))],
    "strided planes": [((2, 4, 7, 7), (4, 5, 5, 5))],
    "few planes": [((2, 4, 6, 10), (2, 4))],
    "strided windows": [((1, 4, 6, 64), (32, 4, 4, 4))],
    "depthwise weights": [((2, 8, 6, 16), (2, 8, 6, 16))],
    "columns": [((64, 256), (64,)), ((37, 100), (37,))],
    "maxima": [((11, 14, 24),)],
    "groups": [((3, 50, 16, 8),), ((2, 30, 12, 4),)],
    "depthwise": [((9, 17, 24), (3, 3, 24)), ((9, 17, 3), (3, 3, 3))],
    "depthwise planes": [
        *([((5, 9, 24), (5, 3, 3)), ((3, 20, 70), (3, 3, 3))]),
        *([((37, 7, 7), (37, 3, 3)), ((9, 5, 3), (9, 3, 3)), ((4, 40, 2), (4, 3, 3))]),
    ],
    "maxima of planes": [((5, 9, 24),), ((37, 7, 7),), ((9, 33, 5),)],
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_the_chosen_one_computes_the_same(name: str, k: int, device: td.Device):
    f = td.compile(PROGRAMS[name], device=device)
    rng, shapes = np.random.default_rng(0), SHAPES[name][k % len(SHAPES[name])]
    arrays = [rng.integers(-9, 9, shape).astype(np.float32) for shape in shapes]
    np.testing.assert_array_equal(f(*arrays), f.reference(*arrays))
