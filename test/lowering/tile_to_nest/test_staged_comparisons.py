"""Windows in which elements are compared, with operands staged in each way: nothing is tested."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "O": """function (X[N], M[N]) -> (O) {
        O[x: N] = +(X[x + j - 2] == M[x]), j < 5;
    }""",
    "S": """function (X[N], M[N], D[N]) -> (S) {
        S[x: N] = +(X[x] == M[x + j - 2] ? D[x + j - 2]), j < 5;
    }""",
    "T": """function (X[N], M[N], D[N]) -> (T) {
        T[x: N] = +(X[x + j - 2] == M[x + 2 - j] ? D[x]), j < 5;
    }""",
}
STAGES = ("", "X", "M", "D", "XM", "XD", "MD", "XMD")
NUMBERS = {
    "zeros": np.zeros(50, np.float32),
    "specials": np.resize(np.float32([0, -0.0, np.nan, np.inf, 1, -np.inf, 1]), 50),
    "integers": np.resize(np.int32([0, 0, 1, 0, -1]), 50),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("staged", STAGES)
def test_what_is_outside_equals_nothing(staged: str, name: str, device: td.Device):
    f = td.compile(PROGRAMS[name], device=device)
    names = [n for n in ("X", "M", "D") if n in PROGRAMS[name].split("->")[0]]
    inputs = [
        [numbers, np.roll(numbers, 1), np.arange(1, 51, dtype=numbers.dtype)][: len(names)]
        for numbers in NUMBERS.values()
    ]
    stages = ", ".join(f"{n} local" for n in staged if n in names)
    stage = f" stage <{stages}>" if stages else ""
    schedule = f"<group.x 16*x : 4, unroll j : 5, vector x : 16>{stage}"
    scheduled = f.with_schedules({name: schedule})
    for arrays in inputs:
        np.testing.assert_array_equal(scheduled(*arrays), f.reference(*arrays))
