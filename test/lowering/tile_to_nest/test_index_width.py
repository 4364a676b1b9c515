"""Index arithmetic in numbers that fit no machine integer: computed so that it fits, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import reference, run

import tiledialect as td
from tiledialect.errors import TileError

HUGE = 2**63 - 1
A = np.arange(1, 6, dtype="f4")


@pytest.mark.parametrize(
    "statement",
    [
        f"O[i: N] = +(A[k]), i - k + {HUGE} < {HUGE}",
        f"O[i: N] = +(A[k]), i - k + {HUGE - 2} < {HUGE}",
        f"O[i: N] = +(A[{2**62}*i])",
        f"O[] = +(A[{2**62}*i])",
        f"O[i: N] = +(A[{2**61}*i - {2**61}])",
        f"O[i: N] = +(A[k]), {2**61}*i + {2**61}*k < {HUGE}",
        f"O[{10**12}*x + k: 2*N] = +(A[x]), k < 2",
        f"O[{2**40}*x + k + 3: 2*N] = +(A[x + 1]), k < 2",
    ],
)
def test_what_can_be_computed(statement: str, device: Any):
    source = f"function (A[N]) -> (O) {{ {statement}; }}"
    (expected,) = reference(source, [A])
    np.testing.assert_array_equal(run(source, [A], device)[0], expected)


def test_what_does_not_fit():
    apart = f"{2**62}*i - {2**62}*j + k"
    f = td.compile(f"function (A[N]) -> (O) {{ O[i, j: N, N] = +(A[{apart}]), k < 2; }}")
    with pytest.raises(TileError, match="the index arithmetic of O does not fit 64 bits"):
        f(A)


def test_the_width_is_that_of_the_largest_number():
    # So many that not all comparisons are decided by the compiler.
    many = np.ones(200, "f4")

    def width(scale: int) -> str:
        total, bound = f"{scale}*i + {scale + 1}*k", 100 * scale
        source = f"function (A[N]) -> (O) {{ O[i: N] = +(A[k]), {total} < {bound}; }}"
        return "long" if "long" in td.compile(source).opencl(many) else "int"

    assert [width(n) for n in (1, 2**22, 2**30, 2**40)] == ["int", "int", "long", "long"]


NUMBERS = st.sampled_from([0, 1, 1, 1, 2, 3, 2**30, 2**31 - 1, 2**31, 2**61, 2**62, HUGE])
SIGNED = st.builds(lambda n, sign: n * sign, NUMBERS, st.sampled_from([1, 1, -1]))


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A sum with numbers of any size in its index expressions and its constraint."""

    def affine() -> str:
        a, b, c = draw(SIGNED), draw(SIGNED), draw(SIGNED)
        return f"{a}*i + {b}*k + {c}".replace("+ -", "- ")

    statement = f"O[i: {draw(st.integers(1, 6))}] = +(A[{affine()}])"
    bound = draw(st.integers(1, 5))
    return f"function (A[N]) -> (O) {{ {statement}, k < {bound}, {affine()} < {draw(NUMBERS)}; }}"


@given(sources())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_numbers(source: str):
    try:
        actual = td.compile(source)(A)
    except TileError as error:
        assert "does not fit" in str(error)
        return
    np.testing.assert_array_equal(actual, reference(source, [A])[0])
