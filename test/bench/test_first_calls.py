"""`bench/first_calls.py`: whose seconds a first call takes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import first_calls


def test_seconds_of_functions_are_without_those_that_they_call():
    def busy(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    def outer() -> None:
        holder.inner()
        busy(0.01)
        holder.inner()

    holder, watch = (
        argparse.Namespace(inner=lambda: busy(0.1), outer=outer),
        first_calls.Stopwatch(),
    )
    watch.watch(holder, "inner")
    watch.watch(holder, "outer")
    holder.outer()
    assert watch.inner == []
    assert watch.seconds["inner"] > 0.2 > watch.seconds["outer"] >= 0.01


def test_parts_of_a_call():
    times = first_calls.Times(clock=3.0, whole=2.0, aot=0.5, compiling=0.25, running=0.25)
    assert (times.dynamo, times.ours) == (1.0, 0.5)


def test_child():
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install tiledialect[torch]")
    command = [sys.executable, "-W", "ignore", first_calls.__file__]
    command += ["--child", "--small", "--models", "unet"]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    times = first_calls.Times(**json.loads(found.stdout.splitlines()[-1]))
    assert times.whole > times.ours > 0 and times.dynamo > 0 and times.aot > 0
