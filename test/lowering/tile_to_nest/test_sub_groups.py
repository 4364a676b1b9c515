"""Reductions in sub-groups on every device, which has them or the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.device.devices import target_system_spec

ROWS, LENGTH = 6, 200
AGGREGATIONS: dict[str, Any] = {"+": np.sum, "*": np.prod, ">": np.max, "<": np.min}
SCHEDULES = (
    # One sub-group shares a row; several rows share a sub-group.
    "<local.y i : 6, local.x k : 16, serial 16*k : 13> sub_groups 16",
    "<local.x i : 6, local.x k : 8, serial 8*k : 25> sub_groups 16",
    # Parts that a sub-group joins once more, and those that a tree must.
    "<group.x i : 6, local.x k : 128, serial 128*k : 2> sub_groups 16",
    "<group.x 2*i : 3, local.x k : 96, serial 96*k : 3, unroll i : 2> sub_groups 32",
    # Work-items of three axes.
    "<local.x 2*k : 8, local.y 16*k : 3, local.x k : 2, local.z i : 3, serial 48*k : 5, "
    "vector 3*i : 2> sub_groups 4",
)


def numbers(dtype: str) -> np.ndarray[Any, Any]:
    """Numbers of which sums are exact."""
    return np.random.default_rng(0).integers(1, 4, (ROWS, LENGTH)).astype(dtype)


def program(aggregation: str, device: td.Device) -> td.Function:
    return td.compile(
        f"function (A[N, K]) -> (S) {{ S[i: N] = {aggregation}(A[i, k]); }}", device=device
    )


CASES = [
    *(
        (aggregation, "float32", schedule)
        for aggregation, schedule in zip("+>*<+", SCHEDULES, strict=True)
    ),
    ("+", "float64", SCHEDULES[2]),
    (">", "float16", SCHEDULES[2]),
    ("*", "int32", SCHEDULES[3]),
    ("<", "int64", SCHEDULES[0]),
    ("+", "uint16", SCHEDULES[1]),
]
"""Every aggregation, every schedule, and every width of an element."""


@pytest.mark.parametrize(("aggregation", "dtype", "schedule"), CASES)
@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_aggregations(device: td.Device, aggregation: str, dtype: str, schedule: str):
    a = numbers(dtype)
    if aggregation == "*":
        a[:, 5:195] = 1
    expected = AGGREGATIONS[aggregation](a, axis=1).astype(dtype)
    f = program(aggregation, device).with_schedules({"S": schedule})
    np.testing.assert_array_equal(f(a), expected)


def test_only_where_the_device_has_them(device: td.Device):
    a = numbers("float32")
    f = program("+", device).with_schedules({"S": SCHEDULES[0]})
    assert f.schedules(a)["S"] == SCHEDULES[0]
    assert ("shuffle_xor" in f.opencl(a)) == (16 in device.sub_group_sizes)
    spec = str(target_system_spec(device))
    assert ("sub_group_sizes" in spec) == bool(device.sub_group_sizes)
