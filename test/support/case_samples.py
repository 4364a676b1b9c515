"""Tests marked `covering`: of many cases the suite runs few, and `make fuzz` all.

The few have every value of each parameter (`covering(1)`) or every pair of values of two of them
(`covering(2)`), or every word of the cases' names (`covering(1, words=True)`). With `--every-case`
all cases run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import pytest
from covering import covering, words

import tiledialect as td

Case = tuple[tuple[int, ...], ...] | frozenset[Hashable]
"""The values of each `parametrize` of a test, by their identities, or the words of a case's name."""


def left_out(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items of the cases that are left to `make fuzz`; a case has all devices, or none."""
    tests: dict[str, dict[Case, set[pytest.Item]]] = defaultdict(lambda: defaultdict(set))
    strengths = dict[str, int]()
    for item in items:
        if mark := item.get_closest_marker("covering"):
            test = item.nodeid.partition("[")[0]
            case = _words(item) if mark.kwargs.get("words") else _case(item)
            tests[test][case].add(item)
            (strengths[test],) = mark.args
    found = set[pytest.Item]()
    for test, cases in tests.items():
        kept = {*covering([*cases], strengths[test])}
        found.update(*(group for k, group in enumerate(cases.values()) if k not in kept))
    return found


def _words(item: pytest.Item) -> Case:
    """Words of a case's name, which is without the device."""
    callspec: Any = item.callspec  # pyright: ignore[reportAttributeAccessIssue]
    device = callspec.params.get("device") or callspec.params.get("queue")
    return words(callspec.id.replace(getattr(device, "id", ""), "", 1))


def _case(item: pytest.Item) -> Case:
    """The values of each `parametrize`, which may have several names; but for the device."""
    params: dict[str, Any] = item.callspec.params  # pyright: ignore[reportAttributeAccessIssue]
    given = (mark.args[0] for mark in item.iter_markers("parametrize"))
    together = [re.findall(r"\w+", names) if isinstance(names, str) else names for names in given]
    # A value is the same object in all its cases.
    return tuple(
        tuple(id(params[name]) for name in names)
        for names in together
        if not any(isinstance(params[name], td.Device) for name in names)
    )
