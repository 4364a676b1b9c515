"""Kernels in upstream dialects, printed as OpenCL C, run on every device and compared with NumPy."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest
from op_cases import CASES, Case
from printing import NUMPY, build, gpu_module, launch, own_cases

from tiledialect.dialects.tile.elementwise.numeric import kind_of


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest, queue: cl.CommandQueue) -> cl.Program:
    # xDSL's verifier refuses vector comparisons, which upstream MLIR has.
    return build(
        queue, gpu_module(*(c.text for c in own_cases(request, queue, "case"))), verify=False
    )


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_op(queue: cl.CommandQueue, program: cl.Program, case: Case):
    arguments = case.arguments
    with np.errstate(all="ignore"):
        expected = np.asarray(case.expected(*arguments))
    assert expected.dtype == NUMPY[case.result]
    start = np.full(len(arguments[0]), 1, NUMPY[case.result])
    size = (len(start) // case.lanes,)
    result = launch(queue, program, case.name, [*arguments, start], size)[-1]
    wrong = ~same(result, expected, case.ulps)
    assert not wrong.any(), [
        (*(a[i] for a in arguments), "gives", result[i], "not", expected[i])
        for i in np.flatnonzero(wrong)[:5]
    ]


def same(a: np.ndarray, b: np.ndarray, ulps: float) -> np.ndarray:
    """Equal, to the sign of zero, or within some units in the last place."""
    if kind_of(a.dtype) != "f":
        return a == b
    with np.errstate(all="ignore"):
        equal = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
        if ulps:
            near = np.abs(a.astype(np.longdouble) - b) <= ulps * np.spacing(np.abs(b))
            equal |= near | (a == b)
    return equal
