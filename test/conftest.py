"""Fixtures that all tests share: the devices, and what Oclgrind has to say."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import known_devices
import pytest
from hypothesis import settings
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

# The same examples every time, so that a failure is of the change and not of the day:
# `--hypothesis-profile default`, `--examples` and `make fuzz` look further.
settings.register_profile("same", derandomize=True, database=None)
settings.load_profile("same")

SCRATCH = Path(tempfile.mkdtemp(prefix="tiledialect-test-"))
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
OCLGRIND_LOG = SCRATCH / "oclgrind.log"

if not IS_WORKER:
    known_devices.share(SCRATCH / "cache")

# Processes that tests start need not compile the package each where Python is to leave no files.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = str(SCRATCH / "bytecode")

# These are read when the first OpenCL context is made, when JAX is imported, or at every use.
os.environ.update(
    # JAX on a GPU takes most of its memory at once.
    JAX_PLATFORMS="cpu",
    # Of several processes the first one's, so that it alone tries the devices.
    TILE_CACHE_DIR=os.environ["TILE_CACHE_DIR"] if IS_WORKER else str(SCRATCH / "cache"),
    # What is chosen for a device must not depend on how fast it is today.
    TILE_MEASURE="0",
    OCLGRIND_DATA_RACES="1",
    OCLGRIND_UNINITIALIZED="1",
    OCLGRIND_NUM_THREADS="1",
    OCLGRIND_LOG=str(OCLGRIND_LOG),
)
os.environ.pop("TILE_DEVICE", None)

import case_samples  # noqa: E402
import device_turns  # noqa: E402
import oclgrind  # noqa: E402
import tool_server  # noqa: E402

import tiledialect as td  # noqa: E402
from tiledialect.errors import TileError  # noqa: E402
from tiledialect.ir.verification import check_dominance  # noqa: E402
from tiledialect.lowering import compilation  # noqa: E402
from tiledialect.lowering.runtime.device.devices import choose, unusable  # noqa: E402
from tiledialect.lowering.runtime.program import garbage, isolation  # noqa: E402

# Tests leave more garbage than programs: each round takes as long as there are objects.
garbage.MOST_WAITING = 2_000_000
gc.set_threshold(20_000, 20, 50)


def pytest_configure() -> None:
    try:
        choose()
    except td.TileError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_report_header() -> list[str]:
    """The devices that the tests run on, and those that they leave out."""
    working = ", ".join(map(str, td.devices()))
    left_out = [f"left out: {device} {reason}" for device, reason in unusable().items()]
    return [f"devices: {working}", *left_out]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples",
        type=int,
        default=40,
        help="random contractions that the devices compute, each its share (test_random_programs.py)",
    )
    parser.addoption(
        "--every-device",
        action="store_true",
        help="run tests of several cases on every device: else each case is left to the default one "
        "or to Oclgrind, by turns",
    )
    parser.addoption(
        "--every-case",
        type=int,
        metavar="SEED",
        help="run all cases of tests marked `covering`, in an order by this number",
    )
    parser.addoption(
        "--left-out",
        type=int,
        metavar="SEED",
        help="run the cases alone that are left out otherwise, in an order by this number",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of tests that have many, and leave each case to one of two devices."""
    every, wanted = config.getoption("--every-case"), config.getoption("--left-out")
    gone = set[pytest.Item]() if every is not None else case_samples.left_out(items)
    if not config.getoption("--every-device"):
        gone |= device_turns.left_out([item for item in items if item not in gone])
    if wanted is not None:
        gone = {*items} - gone
    config.hook.pytest_deselected(items=list(gone))
    items[:] = [item for item in items if item not in gone]
    if (seed := every if wanted is None else wanted) is not None:
        Random(seed).shuffle(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process a run of neighbours: what they share is made once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(params=td.devices(), ids=lambda device: device.id)
def device(request: pytest.FixtureRequest) -> td.Device:
    """Every OpenCL device that works, one after the other."""
    return request.param


@pytest.fixture(autouse=True)
def no_oclgrind_report() -> Iterator[None]:
    """Fail a test in which Oclgrind saw an invalid access, a race or an uninitialized read."""
    before = len(oclgrind.log())
    yield
    report = oclgrind.report(before)
    assert not report, f"Oclgrind reports:\n{report[:2000]}"


@pytest.fixture(autouse=True)
def in_this_process(
    no_oclgrind_report: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build the kernels of given schedules here alone, but in tests marked `tries_kernels`.

    What tests set ends before the simulator's reports are looked at: some have a log of their own.
    """
    if request.node.get_closest_marker("tries_kernels") is None:
        monkeypatch.setattr(isolation, "find", lambda kernels: isolation.Verdict(""))


@pytest.fixture
def ready_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that the package starts have it at once, each still one of its own."""
    # Its processes get more than standard files. It looks for Python when it is imported.
    import multiprocessing.spawn  # noqa: F401

    monkeypatch.setattr(sys, "executable", tool_server.python())


def _in_order(previous: ModulePass | None, module: ModuleOp, _: ModulePass | None) -> None:
    try:
        check_dominance(module)
    except TileError as error:
        # Not a TileError: what is refused by tests that expect that is another matter.
        after = "before all passes" if previous is None else f"after {previous.name}"
        raise AssertionError(f"{after}: {error}") from error


@pytest.fixture(autouse=True, scope="session")
def definitions_before_uses() -> Iterator[None]:
    """Fail a test in which a pass leaves a use before its definition: xDSL's verifier lets it be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilation, "PassPipeline", partial(PassPipeline, callback=_in_order))
        yield


def pytest_sessionfinish() -> None:
    import shutil

    shutil.rmtree(SCRATCH, ignore_errors=True)
    # pytest and Python look for garbage again and again before they end.
    gc.freeze()
