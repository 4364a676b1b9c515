"""Recording of schedules of the benchmark's kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import recording
from replay import Replayed

import tiledialect as td


@pytest.mark.usefixtures("ready_python")
def test_schedules_are_recorded_once_with_the_default_first():
    device = next((d for d in td.devices() if d.type != "simulator"), None)
    if device is None:
        pytest.skip("no device has a speed")
    kernel = recording.recorded("product/small@M=8,L=8,N=8", device, 9)
    assert kernel.name == "C" and all(t.seconds > 0 for t in kernel.timings)
    assert len({t.schedule for t in kernel.timings}) == 9
    part = Replayed(kernel)
    assert part.count >= 8
    (first,) = [t.schedule for t in kernel.timings][:1]
    assert first == part.default


def test_lines_are_of_the_benchmark():
    device = td.devices()[0]
    assert [recording.task_of(name, device) for name in recording.LINES]
