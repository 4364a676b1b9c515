"""Bounds of values: no finite number is larger than its bound."""

from __future__ import annotations

import numpy as np
import pytest
from building import type_of
from hypothesis import given
from hypothesis import strategies as st
from running import reference

from tiledialect.analysis.value_bounds import magnitude
from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize

MOST = "A[n, 0: N, 1] = >(X[n, m]);"
PROGRAMS = {
    "softmax": (f"{MOST} E = exp(X - A); O[n, 0: N, 1] = +(E[n, m]);", 63.0),
    "scaled": (f"{MOST} E = exp(X - A); S[n, 0: N, 1] = +(E[n, m]); O = -S / 4 + 1;", 62.0),
    "product": (f"{MOST} E = exp(X - A); O[n, 0: N, 1] = +(E[n, m] * X[n, m]);", 128.0),
    "root": ("V[n: N] = +(X[n, m] * X[n, m]); O = sqrt(V / M + 0.00001);", 63.5),
    "length": ("V[n: N] = +(X[n, m] * X[n, m]); O = reshape(sqrt(V), N, 1) + 0.001;", 65.0),
    "squared": ("R = sqrt(abs(X)); O = R * R * 0.5;", 127.0),
    "least": ("A[n, 0: N, 1] = <(X[n, m]); O = exp(X - A);", 128.0),
    "columns": ("A[m: M] = >(X[n, m]); O = exp(X - reshape(A, M, 1));", 128.0),
    "some": ("A[n, 0: N, 1] = >(X[n, m]), m < 2; O = exp(X - A);", 128.0),
    "first row": ("A[n, 0: 1, 1] = >(X[n, m]); O = exp(X - A);", 128.0),
    "first column": ("A[n, 0: N, M] = >(X[n, m]); O = exp(X - A);", 128.0),
    "exponential": ("O = exp(X);", 128.0),
    "quotient": ("A[n, 0: N, 1] = +(X[n, m]); O = sqrt(abs(X)) / A;", 128.0),
}
NUMBERS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    st.integers(-90, 90).map(float),
)


def said(source: str, shape: tuple[int, int]) -> float:
    module = load(source)
    function = find_function(module)
    specialize(function, [type_of(np.zeros(shape, np.float32))])
    returned = function.get_return_op()
    assert returned is not None
    return magnitude(returned.operands[0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_said(name: str):
    text, most = PROGRAMS[name]
    assert said(f"function (X[N, M]) -> (O) {{ {text} }}", (4, 4)) == most


@given(st.sampled_from(sorted(PROGRAMS)), st.lists(NUMBERS, min_size=16, max_size=16))
def test_no_number_is_larger(name: str, numbers: list[float]):
    text, most = PROGRAMS[name]
    x = np.array(numbers, np.float32).reshape(4, 4)
    with np.errstate(all="ignore"):
        (found,) = reference(f"function (X[N, M]) -> (O) {{ {text} }}", [x])
    assert float(np.abs(found[np.isfinite(found)]).max(initial=0)) <= 2.0**most
