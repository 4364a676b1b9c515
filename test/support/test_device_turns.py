"""Cases of a test are left to one of two devices, each to half of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from device_turns import MANY, left_out

import tiledialect as td

BOTH = [td.devices()[0], *(d for d in td.devices() if d.type == "simulator")][:2]
needs_both = pytest.mark.skipif(len({*BOTH}) < 2, reason="there is no simulator besides")


class Item(SimpleNamespace):
    """An item of a test `t` with a case and a device."""

    __hash__ = object.__hash__

    def __init__(self, case: int, device: td.Device, marked: bool = False, test: str = "t"):
        callspec = SimpleNamespace(params={"device": device})
        super().__init__(nodeid=f"a.py::{test}[{device.id}-{case}]", callspec=callspec)
        self.case, self.device, self.marked = case, device, marked

    def get_closest_marker(self, name: str) -> bool:
        return self.marked


def kept(cases: int, devices: list[td.Device], **options: Any) -> list[tuple[int, str]]:
    items = [Item(case, device, **options) for case in range(cases) for device in devices]
    gone = left_out(items)
    return [(item.case, item.device.id) for item in items if item not in gone]


@needs_both
def test_each_case_runs_once_and_each_device_has_half():
    found = kept(20, BOTH)
    assert [case for case, _ in found] == list(range(20))
    assert [[device for _, device in found].count(d.id) for d in BOTH] == [10, 10]


@needs_both
def test_few_cases_run_on_both():
    assert len(kept(MANY - 1, BOTH)) == 2 * (MANY - 1)


@needs_both
def test_tests_of_one_case_take_turns_within_their_file():
    items = [Item(0, device, test=f"t{k}") for k in range(6) for device in BOTH]
    gone = left_out(items)
    left = [item for item in items if item not in gone]
    assert len({item.nodeid.partition("[")[0] for item in left}) == len(left) == 6
    assert [[item.device for item in left].count(d) for d in BOTH] == [3, 3]


@needs_both
def test_marked_tests_run_on_both():
    assert len(kept(20, BOTH, marked=True)) == 40


@pytest.mark.parametrize("device", BOTH, ids=str)
def test_one_device_has_all_cases(device: td.Device):
    assert len(kept(20, [device])) == 20
