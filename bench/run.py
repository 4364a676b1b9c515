"""Table of workloads and devices: our time, the peers' in the same run, and the device's limit.

Every round runs all contestants in turn, on arrays that are on the device already; the ratio is the
median of the rounds'. The limit is the time to copy the bytes that must be read and written, or to
do the multiplications and additions in registers, whichever is longer, measured in this run.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import limits
import peers
import report
from frame import Scale, Task, tasks
from limits import Limits
from measure import Measurement, measure
from timing import ROUNDS
from workloads.table import WORKLOADS

import tiledialect as td


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help="lines that match: 'product/*'")
    parser.add_argument("--device", help="a device's id or type; by default all but simulators")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the ratios")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="by default %(default)s")
    parser.add_argument("--test-sizes", action="store_true", help="tiny tensors, to try this out")
    parser.add_argument("--list", action="store_true", help="only print the names of the lines")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def chosen(pattern: str | None, scale: Scale) -> list[Task]:
    """The tasks whose names match: the whole, or the beginning."""
    everything = tasks(WORKLOADS, scale)
    if pattern is None:
        return everything
    return [t for t in everything if fnmatchcase(t.name, pattern) or t.name.startswith(pattern)]


def _cannot_begin(options: argparse.Namespace, devices: list[td.Device]) -> str:
    """Reason for which nothing can be measured as asked for; empty if it can."""
    if not devices:
        there = ", ".join(d.id for d in td.devices() if d.type != "simulator")
        return f"there is no device {options.device}; there are: {there or 'none'}"
    if not chosen(options.only, "cpu"):
        return f"no workload is called {options.only}; `--list` prints their names"
    for path in filter(None, (options.json, options.plot)):
        try:
            path.open("a").close()
        except OSError as error:
            return f"cannot write {path}: {error.strerror}"
    return ""


def main() -> int:
    """Measure, print, and write the results; 1 if a program fails."""
    options = arguments()
    if options.list:
        print("\n".join(task.name for task in chosen(options.only, "cpu")))
        return 0
    devices = [d for d in td.devices() if d.type != "simulator"]
    if options.device:
        devices = [d for d in devices if options.device in (d.id, d.type, d.short_platform)]
    if problem := _cannot_begin(options, devices):
        print(problem, file=sys.stderr)
        return 1
    rows: list[Measurement] = []
    found: dict[str, Limits] = {}
    failed = False
    for device in devices:
        most = limits.BYTES >> 8 if options.test_sizes else limits.BYTES
        found[device.id] = limits.measure(device, options.rounds, most)
        there, missing = peers.for_device(device)
        print(report.describe(device.id, found[device.id], missing))
        print(report.HEADER, flush=True)
        scale: Scale = "gpu" if device.type == "gpu" else "cpu"
        todo = chosen(options.only, "test" if options.test_sizes else scale)
        for k, task in enumerate(todo):
            report.progress(k, len(todo), task.name)
            try:
                row = measure(task, device, found[device.id], there, options.rounds)
            except td.TileError as error:
                failed = True
                text = str(error).partition("\n")[0]
                report.progress(0, 0, "")
                print(f"{task.name:36} {device.id:10} fails: {text}", flush=True)
                continue
            rows.append(row)
            report.progress(0, 0, "")
            print(report.line(row), flush=True)
        print()
    if options.json:
        report.write_json(options.json, rows, found)
    if options.plot:
        report.write_plot(options.plot, rows)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
