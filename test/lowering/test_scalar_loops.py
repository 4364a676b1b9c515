"""Loops over scalars with calls of functions, which Intel's compiler vectorized wrongly or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from running import Case, reference, run_together

SUM = """function (I[N], V[L], Z[N, M]) -> (O) {{
  A = {key};
  O[l, m: L, M] = +(V[l] == A[n] ? Z[n, m]);
}}"""
OF_REALS = ("abs(I)", "exp(I)", "log(I)", "pow(I, 2.5)", "round(I)", "sin(I)", "sqrt(I)", "tanh(I)")
OF_INTEGERS = ("abs(I)", "I / 3", "I % 7", "I * I / (I + 4)", "pow(I, 5)")


def case(name: str, key: str, dtype: Any) -> Case:
    # Neither the rows nor the columns fill vectors.
    of_rows = np.random.default_rng(5).integers(1, 6, 50).astype(dtype)
    source = SUM.format(key=key)
    columns = np.random.default_rng(6).integers(-3, 4, (50, 3)).astype(np.float32)
    inputs = of_rows, np.array([1, 2], dtype), columns
    return Case(name, source, inputs, reference(source, inputs))


def test_on_devices(device: Any):
    reals = [case(f"real_{k}", key, np.float32) for k, key in enumerate(OF_REALS)]
    integers = [case(f"integer_{k}", key, np.int32) for k, key in enumerate(OF_INTEGERS)]
    run_together([*reals, *integers], device)
