"""Each case of a test runs on the default device or on the simulator, by turns.

So both see half of the cases of each form of kernel. Tests of one case take turns within their file.
A test marked `every_device` is about the devices themselves, and runs on all, as all tests do with
`--every-device`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

import pytest

import tiledialect as td

Cases = dict[str, dict[str, pytest.Item]]
"""Items of cases, by the devices they run on."""

MANY = 2
"""Number of cases from which none of a test, or of a file's tests of one case, runs on both devices."""


def left_out(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The items that repeat a case on the one of both devices whose turn it is not."""
    default = td.devices()[0]
    simulator = next((d for d in td.devices() if d.type == "simulator"), default)
    tests: dict[str, Cases] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}  # pyright: ignore[reportAttributeAccessIssue]
        device = params.get("device") or params.get("queue")
        if device in (default, simulator) and not item.get_closest_marker("every_device"):
            case = item.nodeid.replace(device.id, "", 1)
            tests[case.partition("[")[0]][case][device.id] = item
    found = set[pytest.Item]()
    for cases in _together(tests):
        repeated = [case for case, on in cases.items() if len(on) == 2]
        if len(repeated) >= MANY:
            # In an order that has nothing to do with that of the parameters.
            repeated.sort(key=lambda case: crc32(case.encode()))
            found |= {cases[case][simulator.id] for case in repeated[::2]}
            found |= {cases[case][default.id] for case in repeated[1::2]}
    return found


def _together(tests: Mapping[str, Cases]) -> Iterator[Cases]:
    """Cases that take turns: those of a test, and those of a file's tests that have one."""
    alone: dict[str, Cases] = defaultdict(dict)
    for test, cases in tests.items():
        if len(cases) >= MANY:
            yield cases
        else:
            alone[test.partition("::")[0]].update(cases)
    yield from alone.values()
