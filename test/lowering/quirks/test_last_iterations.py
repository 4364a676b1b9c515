"""Loops of scalars with tests for their last iterations and others, which end a compiler's process."""

from __future__ import annotations

import numpy as np
from compare import LARGEST, assert_close

import tiledialect as td

SOURCE = """function (X[M, N]) -> (Y) {
  A[m, n: M, N] = +(X[m + i, n]), i < 3, n - i < 4; B[m, n: M, N] = +(X[m, n - 1]);
  Y = A * 2 - B;
}"""


def test_against_the_reference(device: td.Device):
    gradient, random = td.compile(SOURCE, device=device).gradient(), np.random.default_rng(0)
    for columns in (63, 64):
        x, dy = (random.uniform(-1, 1, (2, columns)).astype(np.float32) for _ in range(2))
        (kernel,) = gradient.schedules(x, dy)
        f = gradient.with_schedules(
            {kernel: f"<serial d0 : 2, serial 2*d0 : 2, serial d1 : {columns}>"}
        )
        # Sums of four terms.
        assert_close(f(x, dy), f.reference(x, dy), length=4, scale=LARGEST)
