"""Ranking quality of the cost model: candidates of some workloads, timed on the device.

For each line of the benchmark the best candidates of its largest kernel, and some of the others,
are compiled in parallel and run; a line a candidate: the model's rank and time, the measured time,
the schedule. `--record` keeps them, `--fit` fits the model's rates to what was kept.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from fitting import fit
from frame import Array, Task, resized, tasks
from timings import Kernel, Timing, read, write
from workloads.table import WORKLOADS

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import print_module
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import ranked

LINES = (
    *("product/square", "product/small", "product/skinny", "product/long and thin"),
    *("product/odd", "product/odd dA", "product/batched", "product/matrix-vector"),
    *("convolution/3x3", "convolution/3x3 dK", "convolution/1x1", "convolution/depthwise"),
    *("convolution/stride 3 dilation 2", "pooling/average", "stencil/9 points"),
    *("rows/softmax", "rows/layer norm", "reduction/row sums", "reduction/column sums"),
    *("move/transposition", "elementwise/chain"),
)
"""Lines of the benchmark that are timed unless others are named."""
ROUNDS = 3
"""Number of times that all candidates of a kernel have their turn; the least time counts."""
MOST_RUNS = 100
"""Largest number of runs in a turn."""
COPY = "function (A) -> (B) { B = A; }"
"""A program by which a device is found."""


def shapes(task: Task) -> list[Array]:
    """Inputs of zeros: they need not be random to compile."""
    return [np.zeros_like(a) for a in task.inputs()]


def task_of(name: str, device: td.Device) -> Task:
    """The line of the benchmark of a name, with its sizes for a device or those after an ``@``."""
    scale = "gpu" if device.type == "gpu" else "cpu"
    base, _, sizes = name.partition("@")
    try:
        task = next(task for task in tasks(WORKLOADS, scale) if task.name == base)
    except StopIteration:
        raise TileError(f"the benchmark has no line {base}") from None
    given = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", sizes)}
    return replace(task, workload=resized(task.workload, scale, given)) if given else task


def kernel_of(line: str, task: Task, device: td.Device) -> Kernel:
    """The kernel of a line with most points, before it is scheduled."""
    types = types_of(task.inputs())
    module = lowered(task.function(device)._program, types, device, "tile-join-axes")  # pyright: ignore[reportPrivateUsage]
    described = device_of(module)
    assert described is not None
    found = named_kernels(module)
    name = max(found, key=lambda k: kernel_facts(found[k], described).points)
    text = f"{device.name}, {device.driver}"
    return Kernel(line, text, date.today().isoformat(), print_module(module), name)


def sampled(kernel: Kernel, best: int, others: int) -> list[tuple[int, Candidate]]:
    """The best candidates of a kernel and others, with their ranks; none that copies operands by a
    kernel of its own."""
    found = ranked(kernel.facts, kernel.described)
    whole = [(k, c) for k, c in enumerate(found) if not c.schedule.global_stages]
    rest = whole[best:]
    chosen = random.Random(0).sample(rest, min(others, len(rest)))
    return [*whole[:best], *sorted(chosen, key=lambda pair: pair[0])]


def build(work: tuple[str, str, str, str]) -> str:
    """Compile a candidate into the cache; return the error message, if any."""
    name, kernel, text, id_ = work
    device = td.compile(COPY, device=id_).device
    task = task_of(name, device)
    try:
        task.function(device).with_schedules({kernel: text})(*shapes(task))
    except td.TileError as error:
        return str(error).splitlines()[0]
    return ""


def timed(
    task: Task, device: td.Device, kernel: Kernel, texts: Sequence[str], turn: float
) -> list[float]:
    """Seconds of a kernel by each schedule, whose turns take so many seconds."""
    arrays, plain = task.inputs(), task.function(device)
    functions = [plain.with_schedules({kernel.name: text}) for text in texts]

    def seconds(function: td.Function) -> float:
        _, profile = function.profile(*arrays)
        own = [k.seconds for k in profile.kernels if k.part == kernel.name]
        return sum(own) if own else profile.seconds

    found = [seconds(function) for function in functions]
    for _ in range(ROUNDS):
        for k, function in enumerate(functions):
            end = time.monotonic() + turn
            for _ in range(MOST_RUNS):
                found[k] = min(found[k], seconds(function))
                if time.monotonic() > end:
                    break
    return found


def record(args: argparse.Namespace) -> None:
    """Time candidates of lines, print them, and keep them where asked to."""
    device = td.compile(COPY, device=args.device).device
    end, kept = time.monotonic() + args.seconds, list[Kernel]()
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for name in args.names or LINES:
            if time.monotonic() > end:
                print(f"no time is left for {name} and those after it")
                break
            task = task_of(name, device)
            kernel = kernel_of(name, task, device)
            chosen = sampled(kernel, args.best, args.others)
            texts = [kernel.text(candidate.schedule) for _, candidate in chosen]
            works = [(name, kernel.name, text, device.id) for text in texts]
            bad = dict(zip(texts, pool.map(build, works), strict=True))
            good = [text for text in texts if not bad[text]]
            seconds = dict(zip(good, timed(task, device, kernel, good, args.turn), strict=True))
            print(f"== {name}")
            for (rank, candidate), text in zip(chosen, texts, strict=True):
                found = f"{seconds[text] * 1e6:9.1f} us" if text in seconds else bad[text]
                print(f"{rank:5} {candidate.estimate.seconds * 1e6:9.1f} {found}  {text}")
            sys.stdout.flush()
            kept.append(replace(kernel, timings=tuple(Timing(t, s) for t, s in seconds.items())))
            if args.record is not None:
                write(args.record, kept)


def main() -> None:
    """Rank and time, or fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="LINE[@N=64,…]", help=f"by default {', '.join(LINES)}"
    )
    parser.add_argument("--best", type=int, default=16, help="number of the best; 16")
    parser.add_argument("--others", type=int, default=8, help="number of others; 8")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    parser.add_argument("--device", help="an id of `tile-run --list-devices`, or part of a name")
    parser.add_argument("--seconds", type=float, default=3600.0, help="until no line is begun")
    parser.add_argument("--turn", type=float, default=0.05, help="seconds of a turn; 0.05")
    parser.add_argument("--record", type=Path, metavar="FILE.json.gz", help="keep the timings")
    parser.add_argument("--fit", type=Path, nargs="+", metavar="FILE.json.gz", help="timings")
    parser.add_argument("--write", action="store_true", help="write fitted rates that are better")
    args = parser.parse_args()
    if args.fit is not None:
        kernels = [kernel for path in args.fit for kernel in read(path)]
        fit(kernels, write=args.write)
        return
    record(args)


if __name__ == "__main__":
    main()
