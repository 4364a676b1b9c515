"""Lanes that take every so many elements of a row: as the reference, on every device.

Also as compiled for described processors, whose vectors have other lengths. The last element that is
read is the tensor's last one, or has few behind it.
"""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close
from described import check_as, spec

import tiledialect as td

CONVOLUTION = """function (I[B, C, L], K[D, C, W]) -> (O) {{
  O[b, d, x: B, D, (L - W) / {0} + 1] = +(I[b, c, {0}*x + k] * K[d, c, k]);
}}"""
TAKEN = "function (X[N, M], W[V]) -> (O) {{ O[i, j: N, (M - 2) / {0} + 1] = =(X[i, {0}*j + 1]); }}"
POOLED = """function (X[N, M], W[V]) -> (O) {{
  O[i, j: N, (M - {0}) / {0} + 1] = >(X[i, {0}*j + k]), k < {0};
}}"""
CPU = {"type": "cpu", "compute_units": 2, "launch": 0.0, "fp16": False}
TARGETS = {
    "8 lanes": spec("CPU", {**CPU, "native_vector_width": 8}),
    "16 lanes": spec("CPU", {**CPU, "native_vector_width": 16}),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", *TARGETS))
@pytest.mark.parametrize("apart", (3, 5, 8))
def test_strided_lanes(apart: int, target: str, device: td.Device):
    random = np.random.default_rng(0)
    row = 1 + apart * 20
    sizes = {
        CONVOLUTION.format(apart): ((2, 3, row + 4), (9, 3, 5)),
        TAKEN.format(apart): ((3, row + 1), (1,)),
        POOLED.format(apart): ((3, row + apart - 1), (1,)),
    }
    for source, shapes in sizes.items():
        # Small whole numbers have exact sums, in whatever order.
        arrays = [random.integers(-8, 8, shape).astype(np.float32) for shape in shapes]
        function = td.compile(source, device=device)
        if target == "own":
            assert_close(function(*arrays), function.reference(*arrays), ulps=0)
        else:
            check_as(function, arrays, device, TARGETS[target], ulps=0)
