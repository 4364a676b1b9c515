"""Results that are written at one place of an axis, alone and beside others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import case, run_together

import tiledialect as td

A, B = (np.random.default_rng(k).random((9, 7)) for k in range(2))


def ends(a: Any, b: Any) -> Any:
    result = np.pad(a[:, 1:6], ((0, 0), (1, 1))) + b
    result[:, 0] += a[:, 0]
    result[:, 6] += a[:, 6] * b[:, 6]
    return result


def corner(a: Any, b: Any) -> Any:
    result = np.zeros_like(a)
    result[8, 0] = a[0, :3].sum()
    return result, np.maximum(result, b)


HEADER = "function (A[N, M], B[N, M]) ->"
CASES = [
    case(
        "ends",
        f"""{HEADER} (O) {{ S[i, 0: 9, 7] = +(A[i, j]), j < 1; T[i, 6: 9, 7] = +(A[i, 6] * B[i, 6]);
            U[i, j + 1: 9, 7] = +(A[i, j + 1]), j < 5; O = S + T + U + B; }}""",
        (A, B),
        ends,
    ),
    case(
        "corner",
        f"{HEADER} (S, O) {{ S[8, 0: 9, 7] = +(A[0, j]), j < 3; O = max(S, B); }}",
        (A, B),
        corner,
    ),
    case(
        "greatest",
        f"{HEADER} (O) {{ S[2, j: 9, 7] = >(A[i, j]), i < 2; O = S + B; }}",
        (A, B),
        lambda a, b: b + np.pad(a[:2].max(0)[None], ((2, 6), (0, 0))),
    ),
]


@pytest.mark.parametrize("device", td.devices(), ids=str)
def test_numbers(device: Any):
    run_together(CASES, device)
