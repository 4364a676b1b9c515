"""Tests marked `covering`: of many cases the suite runs few, and `make fuzz` all.

The few have every value of each parameter (`covering(1)`) or every pair of values of two of them
(`covering(2)`). With `--every-case` all cases run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from covering import covering


def left_out(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items of the cases that are left to `make fuzz`; a case has all devices, or none."""
    tests: dict[str, dict[tuple[int, ...], set[pytest.Item]]] = defaultdict(
        lambda: defaultdict(set)
    )
    strengths = dict[str, int]()
    for item in items:
        if mark := item.get_closest_marker("covering"):
            test = item.nodeid.partition("[")[0]
            params: dict[str, Any] = item.callspec.params  # pyright: ignore[reportAttributeAccessIssue]
            # A value is the same object in all its cases.
            case = tuple(id(params[name]) for name in sorted({*params} - {"device", "queue"}))
            tests[test][case].add(item)
            (strengths[test],) = mark.args
    found = set[pytest.Item]()
    for test, cases in tests.items():
        kept = {*covering([*cases], strengths[test])}
        found.update(*(group for k, group in enumerate(cases.values()) if k not in kept))
    return found
