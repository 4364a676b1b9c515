"""Few cases of tests marked `covering` run, with every value, or every pair of values."""

from __future__ import annotations

from copy import copy
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from case_samples import left_out

import tiledialect as td


class Item(SimpleNamespace):
    """An item of a test `t` with some parameters, marked if there is a strength."""

    __hash__ = object.__hash__

    def __init__(self, strength: int, *names: str, words: str = "", **params: Any):
        callspec = SimpleNamespace(params=params, id=words)
        super().__init__(nodeid=f"a.py::t[{params}]", callspec=callspec)
        self.strength, self.names, self.words = strength, names, words

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        mark = SimpleNamespace(args=(self.strength,), kwargs={"words": bool(self.words)})
        return mark if self.strength else None

    def iter_markers(self, name: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(args=(names,)) for names in self.names]


def kept(strength: int, *names: str, device: bool = True) -> list[tuple[int, int, int]]:
    every = product(range(4), range(3), range(2))
    devices = [copy(td.devices()[0]), copy(td.devices()[0])] if device else ["CPU", "GPU"]
    items = [
        Item(strength, *names or ("a", "b"), "device", a=a, b=b, device=devices[k])
        for a, b, k in every
    ]
    gone = left_out(items)
    params = (item.callspec.params for item in items if item not in gone)
    return [(p["a"], p["b"], [d is p["device"] for d in devices].index(True)) for p in params]


def test_every_value_is_there():
    found = kept(1)
    assert {a for a, _, _ in found} == {0, 1, 2, 3} and {b for _, b, _ in found} == {0, 1, 2}
    assert len({(a, b) for a, b, _ in found}) == 4


@pytest.mark.parametrize("strength", (1, 2))
def test_a_case_keeps_its_devices(strength: int):
    found = kept(strength)
    assert all((a, b, 1 - device) in found for a, b, device in found)


def test_described_devices_are_values_as_others():
    found = kept(1, device=False)
    assert len(found) == 4 and {described for _, _, described in found} == {0, 1}


@pytest.mark.parametrize("strength", (0, 2))
def test_all_run_without_the_mark_and_with_every_pair_of_two(strength: int):
    assert len(kept(strength)) == 24


def test_values_of_one_list_stay_together():
    assert len(kept(1, "a, b")) == 24


def test_every_word_is_there():
    names = ("sum_f32", "sum_f64", "product_f32", "product_f64", "sum_3", "sum_4", "sum_3_f32")
    items = [Item(1, words=name, number=k) for k, name in enumerate(names)]
    gone = left_out(items)
    found = [item.words for item in items if item not in gone]
    assert found == ["product_f64", "sum_4", "sum_3_f32"]
