"""Kernels by the schedules in `bench/schedules/`, compared with peers in the same run.

A file `NAME.DEVICE.schedules` belongs to the task NAME of `workloads/by_hand.py` and to devices
whose id begins with DEVICE; `NAME.DEVICE.mlir` is the task's kernels with their schedules.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import limits
import peers
import report
from frame import Task
from limits import Limits
from measure import measure
from workloads.by_hand import TASKS

import tiledialect as td

SCHEDULES = Path(__file__).parent / "schedules"


def function(task: Task, device: td.Device, path: Path) -> td.Function:
    """Our function for a task, by the schedules in a file."""
    if path.suffix == ".mlir":
        return td.compile(path, device=device)
    return task.function(device).with_schedules(path)


def main() -> None:
    """Measure every file of schedules whose device is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tasks, by the beginnings of their names")
    names = tuple(parser.parse_args().names)
    for device in td.devices():
        found: Limits | None = None
        there, missing = peers.for_device(device)
        for path in sorted(SCHEDULES.iterdir()):
            name, kind, _ = path.name.split(".")
            if not device.id.startswith(kind) or (names and not name.startswith(names)):
                continue
            if found is None:
                found = limits.measure(device)
                print(f"{report.describe(device.id, found, missing)}\n{report.HEADER}")
            task = TASKS[name]
            row = measure(task, device, found, there, function=function(task, device, path))
            print(report.line(row, name), flush=True)


if __name__ == "__main__":
    main()
