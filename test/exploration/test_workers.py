"""Searches with workers of Dask."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker

import tiledialect as td
from tiledialect.exploration import workers
from tiledialect.exploration.evaluation import Evaluator, Outcome
from tiledialect.exploration.explore import Progress
from tiledialect.exploration.implementation import Implementation

PYTHON = sys.executable
"""That of the environment, which has modules as programs."""


def test_two_workers_search_together(product: td.Function, monkeypatch: pytest.MonkeyPatch):
    """A subject of some megabytes keeps no worker from its share."""
    used = set[str]()
    evaluate = Evaluator.evaluate

    def noted(self: Evaluator, implementation: Implementation, best: float = inf) -> Outcome:
        used.add(get_worker().address)
        return evaluate(self, implementation, best)

    monkeypatch.setattr(Evaluator, "evaluate", noted)
    inputs = np.ones((512, 1024), np.float32), np.ones((1024, 4), np.float32)
    result = td.explore(product, *inputs, trials=6, workers=2, seed=1)
    assert len(used) == 2
    assert len(result.trials) == 6 and not result.wrong
    assert result.seconds <= result.default_seconds


@pytest.fixture
def cluster(fast: td.Device) -> Iterator[Cluster]:
    """A scheduler and two workers with the device, as the documentation says to start them."""
    with ExitStack() as stack:
        yield Cluster(stack, fast)


class Cluster:
    """Processes of Dask's commands."""

    def __init__(self, stack: ExitStack, device: td.Device):
        self.stack = stack
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", port)
        resources = "--resources", f"{workers.resource(device.id)}=1"
        given = self.address, "--nthreads", "1", "--no-nanny", *resources
        self.workers = [self.start("worker", *given) for _ in range(2)]
        with Client(self.address, timeout=100) as client:
            client.wait_for_workers(2, timeout=100)

    def start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [PYTHON, "-m", f"distributed.cli.dask_{what}", "--no-dashboard"]
        out = subprocess.DEVNULL
        process = subprocess.Popen([*command, *arguments], stdout=out, stderr=out)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


def test_workers_and_schedulers_that_are_killed(
    cluster: Cluster,
    product: td.Function,
    inputs: tuple[Any, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Nothing is lost but what is in flight, and a search with the same storage goes on."""
    monkeypatch.setattr(workers, "CONNECTING", "8s")
    storage = tmp_path / "mm.log"

    def kill(progress: Progress) -> None:
        victims = {1: cluster.workers[0], 4: cluster.scheduler}
        if progress.count in victims:
            victims[progress.count].kill()

    with pytest.warns(td.TileWarning, match="ends early, as its workers are lost"):
        first = td.explore(
            *(product, *inputs), trials=50, workers=cluster.address, storage=storage, progress=kill
        )
    count = len(first.trials)
    assert 4 <= count <= 6 and {t.failure for t in first.trials} <= {"none", "slow"}
    assert first.seconds <= first.default_seconds
    again = td.explore(product, *inputs, trials=2, storage=storage)
    assert {t.text for t in first.trials} <= {t.text for t in again.trials}
    assert len(again.trials) == count + 2


@pytest.mark.parametrize("count", [0, 1])
def test_a_cluster_without_the_device_is_refused(
    count: int, product: td.Function, inputs: tuple[Any, ...]
):
    with (
        LocalCluster(n_workers=count, processes=False, dashboard_address=":0") as cluster,
        pytest.raises(td.TileError, match=r"start one with dask worker .* --resources device-"),
    ):
        td.explore(product, *inputs, workers=cluster.scheduler_address)


def test_an_address_without_a_scheduler_is_refused(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(workers, "CONNECTING", "1s")
    with pytest.raises(td.TileError, match=r"there is no scheduler at tcp://127\.0\.0\.1:9"):
        td.explore(product, *inputs, workers="tcp://127.0.0.1:9")


def test_a_cluster_without_a_client_is_closed(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    found = list[LocalCluster]()

    def refuse(cluster: LocalCluster, **_: object) -> None:
        found.append(cluster)
        raise TimeoutError("too late")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(td.TileError, match="there is no scheduler at 2: too late"):
        td.explore(product, *inputs, workers=2)
    assert [cluster.status.name for cluster in found] == ["closed"]


def test_dask_is_optional(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(td.TileError, match=r"pip install 'tiledialect\[explore\]'"):
        td.explore(product, *inputs, workers=2)


def test_trials_on_workers_are_interrupted(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    """All workers hear of it, and idle ones go on."""
    calls = list[str]()
    interrupt = Evaluator.interrupt

    def noted(self: Evaluator) -> None:
        calls.append("interrupt")
        interrupt(self)

    monkeypatch.setattr(Evaluator, "interrupt", noted)
    subject = product.subject([*inputs], {})
    with workers.workers_for(subject, 2) as found:
        assert found.count == 2
        assert workers.outcome_of(found.submit(Implementation(), inf)).is_good
        found.interrupt()
        assert workers.outcome_of(found.submit(Implementation(), inf)).is_good
    assert calls == ["interrupt"] * 2
