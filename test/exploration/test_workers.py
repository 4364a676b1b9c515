"""Searches with workers of Dask."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from distributed import LocalCluster

import tiledialect as td
from tiledialect.exploration import workers


def test_two_workers_search_together(product: td.Function, inputs: tuple[Any, ...]):
    result = td.explore(product, *inputs, trials=4, workers=2, seed=1)
    assert len(result.trials) == 4 and not result.wrong
    assert result.seconds <= result.default_seconds


@pytest.mark.parametrize("count", [0, 1])
def test_a_cluster_without_the_device_is_refused(
    count: int, product: td.Function, inputs: tuple[Any, ...]
):
    with (
        LocalCluster(count, processes=False, dashboard_address=":0") as cluster,
        pytest.raises(td.TileError, match=r"start one with dask worker .* --resources 'device "),
    ):
        td.explore(product, *inputs, workers=cluster.scheduler_address)


def test_an_address_without_a_scheduler_is_refused(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(workers, "CONNECTING", "1s")
    with pytest.raises(td.TileError, match=r"there is no scheduler at tcp://127\.0\.0\.1:9"):
        td.explore(product, *inputs, workers="tcp://127.0.0.1:9")


def test_dask_is_optional(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(td.TileError, match=r"pip install 'tiledialect\[explore\]'"):
        td.explore(product, *inputs, workers=2)
