"""Processes that help with compilations: results are those without them, whatever ends them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from builds import noted_builds
from product_facts import product_facts
from threads import allow_threads

import tiledialect as td
from tiledialect.api.loading import load as load_file
from tiledialect.ir.target_spec import SPEC as TARGET
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.runtime.device import probe
from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.lowering.runtime.program import processes as program_processes
from tiledialect.lowering.runtime.program import specialization
from tiledialect.lowering.runtime.program.kernel_reuse import PrintedKernels, plan_of_nests
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.processes import (
    LEAST_JOBS,
    LEAST_PROCESSORS,
    NoAnswerError,
    Processes,
    helping,
    process_count,
)
from tiledialect.schedule import instructions
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.search.ahead import found_ahead, search_ahead
from tiledialect.schedule.search.choice import best_alone

H100 = load_file(Path(__file__).parents[4] / "bench" / "devices" / "h100.mlir").module
TWO = """function (X[N, K], W[K, M]) -> (C, S, T) {
  C[i, j: N, M] = +(X[i, k] * W[k, j]); S[j: M] = >(C[i, j]);
  T = X == -0.0 ? 1.0e-45 : (X == 3.4028235e38 ? 0.1 : 1.0 / 0.0); }"""
"""Two kernels, and numbers of which the text of the IR says the bits."""


pytestmark = pytest.mark.usefixtures("ready_python")


@pytest.fixture
def gpu(device: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> td.Device:
    """A device that is taken for one of its own memory, on a machine with enough processors."""
    monkeypatch.setattr(td.Device, "uses_host_memory", False)
    monkeypatch.setattr(program_processes, "processors", lambda: LEAST_PROCESSORS)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    probe.share(tmp_path)
    return replace(device, type="gpu", global_mem_size=80 << 30)


# -- searches ----------------------------------------------------------------------------------


def test_processes_find_the_same_schedules(gpu: td.Device) -> None:
    device = device_of(H100)
    assert device is not None
    wanted = product_facts()
    with helping(gpu) as own, helping(gpu) as inner:
        assert inner is own
        search_ahead(wanted, device)
        found = {**found_ahead()}
    assert found == {(facts, device): best_alone(facts, device) for facts in wanted}
    assert not found_ahead()


LATE = """
import threading, time
from tiledialect.lowering.runtime.program.processes import Processes

def late():
    threading.main_thread().join()
    time.sleep(0.2)
    processes = Processes(2)
    try:
        print(processes.submit(abs, -3).result())
    finally:
        processes.close()

threading.Thread(target=late).start()
"""
"""A thread that goes on when the main thread has ended, as one that trains."""


def test_threads_that_outlive_the_main_thread_are_helped() -> None:
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("3\n", "")


def test_what_processes_do_not_find_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_processes, "COMMAND", "raise SystemExit")
    device, processes = device_of(H100), Processes(2)
    assert device is not None
    try:
        assert processes.search(product_facts(), device) == {}
    finally:
        processes.close()


@pytest.mark.parametrize("count", [1, 2])
def test_a_process_that_cannot_be_started_leaves_jobs_to_others(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    processes = Processes(2)
    for server in processes._servers[:count]:  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(server, "running", lambda: None)
    try:
        jobs = [processes.submit(abs, -k) for k in range(5)]
        if count == 1:
            assert [job.result() for job in jobs] == [*range(5)]
        else:
            assert all("can be started" in str(job.exception()) for job in jobs)
    finally:
        processes.close()


def test_a_process_that_ends_fails_its_own_job_alone() -> None:
    processes = Processes(1)
    try:
        jobs = [processes.submit(*job) for job in ((abs, -1), (int, "no number"), (abs, -2))]
        assert jobs[0].result() == 1
        assert "ValueError" in str(jobs[1].exception())
        assert jobs[2].result() == 2
    finally:
        processes.close()


def test_processes_end_at_once_whatever_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the user interrupts a compilation."""
    processes = Processes(1)
    jobs = [processes.submit(sleep, 1000), processes.submit(sleep, 1000)]
    while not processes._servers[0]._child:  # pyright: ignore[reportPrivateUsage]
        sleep(0.01)
    processes.close()
    assert all(job.cancelled() or job.exception() for job in jobs)


# -- the decision ------------------------------------------------------------------------------


def test_processes_help_devices_of_own_memory_on_machines_with_processors(
    device: td.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = replace(device, id="nvidia:0", type="gpu", global_mem_size=80 << 30)

    def count(processors: int, own: td.Device) -> int:
        monkeypatch.setattr(program_processes, "processors", lambda: processors)
        return process_count(own)

    assert [count(n, card) for n in (1, LEAST_PROCESSORS - 1, LEAST_PROCESSORS, 9, 999)] == [
        *(0, 0, LEAST_PROCESSORS, 9, program_processes.MOST)
    ]
    # Each takes memory of the device.
    assert count(999, replace(card, global_mem_size=6 << 30)) == 6
    assert count(999, replace(card, global_mem_size=2 << 30)) == 0
    assert count(999, replace(card, id="intel:0", type="cpu")) == 0
    assert count(999, replace(card, type="simulator")) == 0
    with helping(card, budget=1.0) as others:
        assert others is None


def test_processes_have_the_instructions_that_the_user_adds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = instructions._TABLE  # pyright: ignore[reportPrivateUsage]
    first, name = instructions.table()[0], "of_the_user"
    added = replace(first, name=name, text=first.text.replace(first.name, name))
    monkeypatch.setitem(table, added.name, added)
    processes = Processes(1)
    try:
        assert processes.submit(instructions.find, added.name).result() == added
    finally:
        processes.close()


def test_few_kernels_start_no_process(gpu: td.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Processes, "submit", lambda *job: asked.append(job))
    x, w = (np.arange(12, dtype="f4").reshape(s) for s in ((3, 4), (4, 3)))
    td.compile(TWO, device=gpu.id)(x, w)
    assert not asked


def test_processes_that_work_take_few_jobs() -> None:
    processes = Processes(1)
    try:
        assert processes.for_jobs(1) is None
        assert processes.for_jobs(LEAST_JOBS) is processes
        processes.submit(abs, -1).result()
        assert processes.for_jobs(1) is processes
    finally:
        processes.close()


# -- kernels -----------------------------------------------------------------------------------


def _plan(others: Processes | None) -> Plan:
    types = td.compile(TWO).types(["64x32xf32", "32x48xf32"], {})
    module = compile_module(load(TWO), None, types, H100.attributes[TARGET], after="lift-to-nest")
    return plan_of_nests(module, "main", kept=PrintedKernels(), others=others)


@pytest.mark.parametrize("command", [program_processes.COMMAND, "raise SystemExit"])
def test_processes_lower_to_the_same_kernels(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """To the letter; and this one lowers what they leave."""
    monkeypatch.setattr(program_processes, "COMMAND", command)
    monkeypatch.setattr(program_processes, "LEAST_JOBS", 1)
    processes, lost = Processes(2), list[bool]()
    submit = processes.submit

    def noted(function: Any, *given: Any) -> Any:
        job = submit(function, *given)
        job.add_done_callback(lambda own: lost.append(own.exception() is not None))
        return job

    monkeypatch.setattr(processes, "submit", noted)
    try:
        assert _plan(processes) == _plan(None)
    finally:
        processes.close()
    assert len(lost) > 1
    assert {*lost} == {command == "raise SystemExit"}


@pytest.mark.parametrize("command", [program_processes.COMMAND, "raise SystemExit"])
def test_a_call_takes_binaries_that_processes_build(
    gpu: td.Device, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(program_processes, "COMMAND", command)
    monkeypatch.setattr(program_processes, "LEAST_JOBS", 1)
    built = noted_builds(monkeypatch)
    x, w = (np.arange(12, dtype="f4").reshape(s) for s in ((3, 4), (4, 3)))
    product, largest, _ = td.compile(TWO, device=gpu.id)(x, w)
    # Small integers: exact.
    assert np.array_equal(product, x @ w)
    assert np.array_equal(largest, (x @ w).max(0))
    assert bool(built) == (command == "raise SystemExit" or not _gives_binaries(gpu))


def _gives_binaries(device: td.Device) -> bool:
    """Whether other processes can build for a device."""
    is_kept = device.short_platform in specialization.KEEP_KERNELS
    return not is_kept and bool(process_count(choose(device.id)))


@pytest.mark.parametrize("count", range(8))
def test_jobs_end_however_many_threads_the_system_allows(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    allow_threads(monkeypatch, count)
    processes = Processes(2)
    try:
        jobs = [processes.submit(abs, -k) for k in range(3)]
        errors = [job.exception() for job in jobs]
    finally:
        processes.close()
    for k, (job, error) in enumerate(zip(jobs, errors, strict=True)):
        assert isinstance(error, NoAnswerError) or job.result() == k
    # Two work, and two read what a process says.
    assert count > 3 or all(errors)
    assert count < 5 or not any(errors)
