"""Cumulative sums."""

from __future__ import annotations

import numpy as np
from frame import Workload, workload

ROWS = "function (X[R, C]) -> (S) { S[r, i: R, C] = +(X[r, k]), i - k < C; }"
VECTOR = "function (X[N]) -> (S) { S[i: N] = +(X[k]), i - k < N; }"

WORKLOADS: list[Workload] = [
    workload(
        "scan/rows",
        ROWS,
        {"R": 3, "C": 9},
        {"R": 4096, "C": 1024},
        {"R": 16384, "C": 4096},
        torch=lambda x: x.cumsum(1),
        numpy=lambda x: np.cumsum(x, 1),
        gradients=("X",),
    ),
    workload(
        "scan/one vector",
        VECTOR,
        {"N": 17},
        {"N": 1 << 20},
        {"N": 1 << 25},
        torch=lambda x: x.cumsum(0),
        numpy=lambda x: np.cumsum(x),
    ),
]
