"""Chains of elementwise operations with broadcasting, their gradients, and transposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from frame import Workload, workload

GELU = (
    "function (X[R, C]) -> (Y) {"
    " Y = 0.5 * X * (1 + tanh(0.7978845608 * (X + 0.044715 * X * X * X))); }"
)
BIAS = "function (X[R, C], B[C], Z[R, C]) -> (Y) { Y = relu(X + B) + Z; }"
SCALE = "function (X[R, C], S[R, 1], T[C]) -> (Y) { Y = exp(X * S) * T; }"
CHAIN = "function (X[R, C]) -> (Y) { Y = tanh(X * X) * X; }"
TRANSPOSITION = "function (X[R, C]) -> (Y) { Y[c, r: C, R] = =(X[r, c]); }"
SIZES = {"R": 4, "C": 7}, {"R": 4096, "C": 2048}, {"R": 16384, "C": 4096}


def _gelu(x: Any) -> Any:
    from torch.nn.functional import gelu

    return gelu(x, approximate="tanh")


WORKLOADS: list[Workload] = [
    workload("elementwise/GELU", GELU, *SIZES, torch=_gelu, gradients=("X",)),
    workload(
        "elementwise/bias relu residual",
        BIAS,
        *SIZES,
        torch=lambda x, b, z: (x + b).relu() + z,
        numpy=lambda x, b, z: np.maximum(x + b, 0) + z,
        gradients=("X", "B"),
    ),
    workload(
        "elementwise/scaled exponential",
        SCALE,
        *SIZES,
        torch=lambda x, s, t: (x * s).exp() * t,
        numpy=lambda x, s, t: np.exp(x * s) * t,
        scales={"X": 0.5},
        gradients=("X", "S", "T"),
    ),
    workload(
        "elementwise/chain",
        CHAIN,
        *SIZES,
        torch=lambda x: (x * x).tanh() * x,
        numpy=lambda x: np.tanh(x * x) * x,
        gradients=("X",),
    ),
    workload(
        "move/transposition",
        TRANSPOSITION,
        *SIZES,
        torch=lambda x: x.t().contiguous(),
        numpy=lambda x: np.ascontiguousarray(x.T),
    ),
]
