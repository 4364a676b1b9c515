"""A device with a speed, a small program, and an exploration of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td
from tiledialect.api.exploring import Result
from tiledialect.exploration.explore import Progress
from tiledialect.exploration.subject import Subject

PRODUCT = "function mm(A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"


@dataclass
class Explored:
    """An exploration of the product, and the states that it reported."""

    function: td.Function
    inputs: tuple[npt.NDArray[Any], ...]
    result: Result
    states: list[Progress]


@pytest.fixture(scope="session")
def fast() -> td.Device:
    """A device whose times mean something."""
    found = [device for device in td.devices() if device.type != "simulator"]
    return found[0] if found else pytest.skip("there are simulators alone")


@pytest.fixture(scope="session")
def inputs() -> tuple[npt.NDArray[Any], ...]:
    random = np.random.default_rng(0)
    return tuple(random.normal(size=s).astype(np.float32) for s in ((4, 6), (6, 8)))


@pytest.fixture(scope="session")
def product(fast: td.Device) -> td.Function:
    return td.compile(PRODUCT, device=fast)


@pytest.fixture(scope="session")
def subject(product: td.Function, inputs: tuple[Any, ...]) -> Subject:
    return product.subject(inputs, {})


@pytest.fixture(scope="session")
def explored(product: td.Function, inputs: tuple[Any, ...]) -> Iterator[Explored]:
    states: list[Progress] = []
    result = td.explore(product, *inputs, trials=3, progress=states.append)
    yield Explored(product, inputs, result, states)
