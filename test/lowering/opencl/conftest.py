"""The queues that printed kernels run on."""

from __future__ import annotations

import pyopencl as cl
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.device.queues import queue_for


@pytest.fixture(scope="session", params=td.devices(), ids=lambda device: device.id)
def queue(request: pytest.FixtureRequest) -> cl.CommandQueue:
    return queue_for(request.param)
