"""Gain of exploring over the compiler's own choice, on workloads of the benchmark.

`python bench/exploration.py --only 'product/*' --time 2m` explores each line on the device. The
default and the fastest are measured in turns in the end, by `td.explore` itself; `--json` writes
all trials with their estimates, by which the cost model can be judged. `--replay FILE` compares the
search with random sampling instead, on times that `--record FILE` has kept.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from math import isfinite
from pathlib import Path

from frame import Task, tasks
from recording import LINES, record
from replay import compare
from workloads.table import WORKLOADS

import tiledialect as td
from tiledialect.errors import TileError


def explored(task: Task, device: td.Device, options: argparse.Namespace) -> td.Result:
    """Explore a task on a device."""
    return td.explore(
        task.function(device),
        *task.inputs(),
        trials=options.trials,
        time=options.time,
        workers=options.workers,
        storage=options.storage,
        sampler=options.sampler,
        seed=options.seed,
    )


def line(name: str, result: td.Result) -> str:
    """A line of the table."""
    failed = sum(not isfinite(trial.seconds) for trial in result.trials)
    return (
        f"{name:40} {result.default_seconds * 1e6:10.1f} us {result.seconds * 1e6:10.1f} us "
        f"{result.speedup:6.2f} {result.data.least / result.seconds:6.0%} "
        f"{len(result.trials):5} trials, {failed} failed, {len(result.wrong)} wrong"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="product/", help="beginning of the lines' names")
    parser.add_argument("--device")
    parser.add_argument("--time", default="2m", help="for each line")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--storage")
    parser.add_argument("--sampler", default="tpe")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--record", type=Path, metavar="FILE.json.gz", help="keep times of schedules"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="search recorded times instead")
    options = parser.parse_args()
    if options.replay is not None:
        for text in compare(options.replay):
            print(text, flush=True)
        return
    device = next(d for d in td.devices() if (options.device or "") in d.id)
    if options.record is not None:
        record(options.record, LINES, device, options.trials)
        return
    names = options.only.split(",")
    chosen = [
        t
        for t in tasks(WORKLOADS, "gpu" if device.type == "gpu" else "cpu")
        if t.name in names or (len(names) == 1 and t.name.startswith(names[0]))
    ]
    print(f"{device}\n{'':40} {'default':>13} {'explored':>13}   gain  limit")
    found: dict[str, object] = {}
    for task in chosen:
        try:
            result = explored(task, device, options)
        except TileError as error:
            print(f"{task.name:40} {error.message.splitlines()[0]}", flush=True)
            continue
        print(line(task.name, result), flush=True)
        print(f"    {result.data.found.implementation}".replace("\n", "\n    "), flush=True)
        found[task.name] = {
            "default": result.default_seconds,
            "seconds": result.seconds,
            "implementation": str(result.data.found.implementation),
            "trials": [
                {k: v for k, v in asdict(t).items() if k != "decisions"} for t in result.trials
            ],
        }
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
