"""Products of sums with the same summand and factor: rounded as by the reference on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PLACES = "function (G[N]) -> (P) { P = (G + 1.0) * 7.5; }"
FACTORS = "function (G[N], A, B) -> (P) { P = (A - G) * B; }"
SCHEDULES = ("<group.x 2*d0 : 16, unroll d0 : 2>", "<serial 4*d0 : 8, unroll d0 : 4>")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_near_the_summand(schedule: str, dtype: type, device: td.Device):
    """Multiplied out, the products are wrong there in all of their digits."""
    near = (-1 + np.arange(32) * 4 * np.finfo(dtype).eps).astype(dtype)
    one, factor = dtype(-1), dtype(7.3)
    for source, arguments in ((PLACES, (near,)), (FACTORS, (near, one, factor))):
        f = td.compile(source, device=device).with_schedules({"P": schedule})
        np.testing.assert_allclose(f(*arguments), f.reference(*arguments), 1e-3)
