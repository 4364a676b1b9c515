"""Residue classes that one work-item has are stored together: on every device as by the reference."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td
from tiledialect.rounding import ceil_div

CASES = (
    # stride, taps, those that a class may have, padding, steps, lanes
    (2, 4, 3, 1, 32, 8),
    (2, 3, 2, 1, 37, 8),
    (2, 5, 3, 2, 16, 4),
    (3, 4, 2, 1, 21, 8),
    (4, 7, 2, 3, 35, 16),
    (4, 4, 1, 0, 8, 8),
)
STAGED = ("", " stage <I local>")


@pytest.mark.covering(1)
@pytest.mark.parametrize("stages", STAGED, ids=["read", "staged"])
@pytest.mark.parametrize(("stride", "taps", "own", "pad", "steps", "lanes"), CASES)
def test_residue_classes_together(
    stride: int,
    taps: int,
    own: int,
    pad: int,
    steps: int,
    lanes: int,
    stages: str,
    device: td.Device,
) -> None:
    length = stride * (steps - 1) + taps - 2 * pad
    source = (
        f"function (I[A, X], K[A, C, T]) -> (O) "
        f"{{ O[c, {stride}*x + t - {pad}: C, {length}] = +(I[a, x] * K[a, c, t]); }}"
    )
    vectors = ceil_div(ceil_div(length, stride), lanes)
    schedule = (
        f"<group.x v0_0 : 5, serial {lanes}*v1_1 : {vectors}, serial v2_0 : 3, "
        f"unroll v3_0 : {own}, unroll v1_0 : {stride}, vector v1_1 : {lanes}>{stages}"
    )
    rng = np.random.default_rng(0)
    i, k = (rng.integers(-9, 9, s).astype(np.float32) for s in ((3, steps), (3, 5, taps)))
    function = td.compile(source, device=device).with_schedules({"O": schedule})
    np.testing.assert_array_equal(function(i, k), function.reference(i, k))
