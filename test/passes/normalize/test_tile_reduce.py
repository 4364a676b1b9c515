"""Programs in which a value is come to in more ways than can be followed."""

from __future__ import annotations

import numpy as np
import pytest
from compare import LARGEST, assert_close

import tiledialect as td

DEPTH = 30


def _steps(step: str, count: int) -> str:
    return " ".join(f"A{k + 1} = {step.format(f'A{k}')};" for k in range(count))


SQUARES = _steps("{0} * {0} + {0} * 0.5", DEPTH)
SOURCES = {
    "sums": f"function (A0[N, M]) -> (S) {{ {SQUARES} S[i, 0: N, 1] = +(A{DEPTH}[i, j]); }}",
    "doubled": f"function (A0[N, M]) -> (S) {{ {_steps('{0} + {0}', 20)} "
    "T[i, 0: N, 1] = +(A0[i, j]); B = A20 * T; S[i, 0: N, 1] = +(B[i, j]); }",
    "repeated": "function (A[N, M], V[M]) -> (O) { A0[i, j: N, M] = =(V[j]); "
    f"{SQUARES} O = A{DEPTH} + A; }}",
    "two kernels": "function (A0[N, M]) -> (O) { "
    f"{_steps('cos({0}) * {0} - {0} * 0.5', 120)} O = A120; }}",
}


@pytest.mark.parametrize("source", SOURCES)
def test_gradients(source: str) -> None:
    function = td.compile(SOURCES[source]).gradient()
    rng = np.random.default_rng(0)
    shapes = [(7, 20), (20,)] if source == "repeated" else [(7, 20)]
    given = [rng.uniform(0.1, 0.4, shape).astype(np.float32) for shape in shapes]
    of = (7, 20) if source in ("repeated", "two kernels") else (7, 1)
    given.append(rng.uniform(0.5, 1, of).astype(np.float32))
    ours, expected = function(*given), function.reference(*given)
    ours, expected = (x if isinstance(x, tuple) else (x,) for x in (ours, expected))
    for a, b in zip(ours, expected, strict=True):
        assert_close(a, b, ulps=4000, scale=LARGEST)
