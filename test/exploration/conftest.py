"""A device with a speed, a small program, and an exploration of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pytest
from explored import PRODUCT, Explored, random_inputs

import tiledialect as td
from tiledialect import disk
from tiledialect.exploration.explore import Progress
from tiledialect.exploration.subject import Subject


@pytest.fixture(autouse=True)
def _processes(ready_python: None) -> None:
    """Processes of searches are there at once."""


@pytest.fixture(scope="session")
def fast() -> td.Device:
    """A device whose times mean something."""
    found = [device for device in td.devices() if device.type != "simulator"]
    return found[0] if found else pytest.skip("there are simulators alone")


@pytest.fixture
def folder(fast: td.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of kept files, but for what is known of devices: that takes long to find."""
    td.compile("function (A) -> (B) { B = A; }", device=fast).schedules("8xf32")
    known, own = disk.folder(), tmp_path / "cache"
    for name in ("devices", "rates"):
        if (known / name).is_dir():
            shutil.copytree(known / name, own / name)
    monkeypatch.setenv("TILE_CACHE_DIR", str(own))
    return own


@pytest.fixture(scope="session")
def inputs() -> tuple[npt.NDArray[Any], ...]:
    return random_inputs()


@pytest.fixture(scope="session")
def product(fast: td.Device) -> td.Function:
    return td.compile(PRODUCT, device=fast)


@pytest.fixture(scope="session")
def subject(product: td.Function, inputs: tuple[Any, ...]) -> Subject:
    return product.subject(inputs, {})


@pytest.fixture(scope="session")
def explored(product: td.Function, inputs: tuple[Any, ...]) -> Explored:
    states: list[Progress] = []
    result = td.explore(product, *inputs, trials=3, progress=states.append)
    return Explored(product, inputs, result, states)
