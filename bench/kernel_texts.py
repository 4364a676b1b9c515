"""Kernels of every program for described devices: the effect of a change of the compiler.

`python bench/kernel_texts.py --save before.json.gz` compiles every workload with its gradients, the
examples, the derivations and the schedules written by hand for the devices of `bench/devices/`.
Nothing runs. The table has the OpenCL C, the schedule and the estimated time of each kernel.
`--compare before.json.gz` prints differences, `--diff` with the texts; the status is 1 if there are
any.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path

import derivations
import numpy as np
from frame import Scale, Task, tasks
from hand_schedules import SCHEDULES
from workloads.by_hand import TASKS
from workloads.table import WORKLOADS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.api.loading import load
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.errors import TileError
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.pipeline import local_size_of, pipeline
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.lowering.runtime.program.program_text import KernelTexts
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.traits import kind_of

ROOT = Path(__file__).parents[1]
DEVICES = {path.stem: path for path in sorted((ROOT / "bench" / "devices").glob("*.mlir"))}
HAND_WRITTEN = {"avx512": "intel", "pocl": "pocl", "h100": "nvidia"}
"""Devices with schedules written by hand, by the names in their files."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "adam": ("1000x64xf32",) * 4 + ("f32",),
    "bilinear": ("128x64xf32", "64x64xf32", "96x64xf32"),
    "conv": ("4x57x57x32xf32", "2x2x32x64xf32"),
    "edges": ("480x640x3xui8", "3xf32", "3x3xf32"),
    "norm": ("100000xf32",),
    "pool": ("100000xf32",),
    "repeat": ("1000xf32",),
    "softmax": ("1000x300xf32",),
}
"""The types of the inputs of `examples/`."""


@dataclass(frozen=True)
class Kernel:
    """A kernel as it is printed."""

    device: str
    program: str
    name: str
    text: str
    schedule: str = ""
    seconds: float = 0.0
    """The time that the cost model estimates; 0 where there is no schedule."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The kernel's place in the table."""
        return self.device, self.program, self.name

    @property
    def hash(self) -> str:
        """The beginning of the text's SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def __str__(self) -> str:
        place = f"{self.device:7} {self.program:34} {self.name:26}"
        return f"{place} {self.hash} {self.seconds * 1e6:10.1f} us  {self.schedule}"


@dataclass(frozen=True)
class Program:
    """A function, the types of its inputs, and the device that it is compiled for."""

    device: str
    name: str
    make: Callable[[], tuple[td.Function, Sequence[str]]]


# -- programs ----------------------------------------------------------------------------------


def programs() -> Iterator[Program]:
    """Every program for every device."""
    for device in DEVICES:
        kind = kind_of(description(device)).value
        yield from (_of_task(device, task.name, task) for task in tasks(WORKLOADS, kind))
        yield from (_of_example(device, name) for name in EXAMPLES)
        yield from (_of_derivation(device, name, kind) for name in derivations.WORKLOADS)
        yield from _by_hand(device, kind)


def _of_task(device: str, name: str, task: Task, schedules: Path | None = None) -> Program:
    def make() -> tuple[td.Function, Sequence[str]]:
        function = task.function(None)
        return function.with_schedules(schedules) if schedules else function, _types(task)

    return Program(device, name, make)


def _types(task: Task) -> list[str]:
    """The types of a task's inputs, as texts."""
    w = task.workload
    given = [
        (shape, np.dtype(np.int32 if name in w.integers else w.dtype))
        for name, shape in task.problem.shapes.items()
    ]
    cotangents = task.output_types() if task.wrt else []
    return [_type(shape, dtype) for shape, dtype in (*given, *cotangents)]


def _type(shape: Sequence[int], dtype: np.dtype[np.generic]) -> str:
    return "x".join([*map(str, shape), str(ELEMENT_TYPES[dtype])])


def _of_example(device: str, name: str) -> Program:
    return Program(
        device,
        f"examples/{name}",
        lambda: (td.compile(ROOT / "examples" / f"{name}.tile"), EXAMPLES[name]),
    )


def _of_derivation(device: str, name: str, kind: str) -> Program:
    shapes = derivations.WORKLOADS[name].shapes
    types = [_type(shape, np.dtype(np.float32)) for shape in shapes]
    return Program(device, f"derivation/{name}", lambda: (derivations.derived(name, kind), types))


def _by_hand(device: str, kind: Scale) -> Iterator[Program]:
    for path in sorted(SCHEDULES.glob(f"*.{HAND_WRITTEN.get(device, ' ')}.schedules")):
        name = path.name.partition(".")[0]
        yield _of_task(device, f"by hand/{name}", TASKS[name], path)


# -- compiling -----------------------------------------------------------------------------------


def description(device: str) -> ModuleOp:
    return load(DEVICES[device]).module


def kernels_of(program: Program) -> list[Kernel]:
    """Kernels of a program; a single one that holds the message where it does not compile."""
    try:
        return list(_kernels_of(program))
    except TileError as error:
        return [Kernel(program.device, program.name, "refused", error.message)]


def _kernels_of(program: Program) -> Iterator[Kernel]:
    function, types = program.make()
    source = function._program  # pyright: ignore[reportPrivateUsage]
    target = description(program.device).attributes[SPEC]
    given = source.module, source.name, function.types(types, {}), target, source.transforms
    chosen = source.schedules, source.fusion
    module = compile_module(*given, "tile-loop-tiling", *chosen)
    schedules = {name: (text, seconds) for name, text, seconds in _schedules(module)}
    passes = pipeline(local_size_of(module), *chosen)
    names = [p.name for p in passes]
    rest = passes[names.index("tile-loop-tiling") + 1 :]
    PassPipeline(rest).apply(Context(), module)
    plan = make_plan(module, source.result_name)
    for name, text in split(plan.source):
        schedule, seconds = schedules.get(re.sub(r"^.*?_\d+_", "", name), ("", 0.0))
        yield Kernel(program.device, program.name, name, text, schedule, seconds)


def _schedules(module: ModuleOp) -> Iterator[tuple[str, str, float]]:
    device = device_of(module)
    for name, kernel in named_kernels(module).items():
        seconds = 0.0
        if device is not None and kernel.schedule is not None:
            facts = kernel_facts(kernel, device)
            seconds = estimate(facts, device, kernel.schedule.data).seconds
        yield name, schedule_text(kernel), seconds


def split(source: str) -> Iterator[tuple[str, str]]:
    """Kernels in an OpenCL text by name; the rest of the text as `helpers`."""
    texts = KernelTexts.of(source)
    if texts.rest.strip():
        yield "helpers", texts.rest
    yield from texts.kernels.items()


_all: list[Program] = []


def _compiled(number: int) -> list[Kernel]:
    """The kernels of a program by its number; in a process of the pool."""
    if not _all:
        os.environ["TILE_MEASURE"] = "0"
        _all.extend(programs())
    return kernels_of(_all[number])


def matching(pattern: str) -> Iterator[tuple[int, Program]]:
    """The programs whose device and name match, with their numbers."""
    for number, program in enumerate(programs()):
        if fnmatchcase(f"{program.device}:{program.name}", f"*{pattern}*"):
            yield number, program


def compiled(pattern: str, jobs: int) -> list[Kernel]:
    """The kernels of all programs whose device and name match, in their order."""
    wanted = [number for number, _ in matching(pattern)]
    found: list[Kernel] = []
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for number, kernels in enumerate(pool.map(_compiled, wanted), 1):
            found += kernels
            if sys.stderr.isatty():
                print(f"\r{number}/{len(wanted)} programs", end="", file=sys.stderr)
    return found


# -- the table -----------------------------------------------------------------------------------


def write(path: Path, kernels: Sequence[Kernel]) -> None:
    """Keep a table, with the texts."""
    path.write_bytes(gzip.compress(json.dumps([asdict(k) for k in kernels]).encode(), mtime=0))


def read(path: Path) -> list[Kernel]:
    """A table that was kept."""
    return [Kernel(**row) for row in json.loads(gzip.decompress(path.read_bytes()))]


def differences(
    before: Sequence[Kernel], after: Sequence[Kernel], texts: bool = False
) -> Iterator[str]:
    """A line for each kernel that is different, new or gone; with `texts`, the diff after it."""
    old, new = ({k.key: k for k in kernels} for kernels in (before, after))
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        yield from (f"{sign} {k}" for sign, k in (("-", was), ("+", now)) if k is not None)
        if texts and was is not None and now is not None:
            lines = unified_diff(was.text.splitlines(), now.text.splitlines(), lineterm="", n=2)
            yield from (f"    {line}" for line in list(lines)[2:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="DEVICE:PROGRAM, a part of it or a pattern")
    parser.add_argument("--save", type=Path, metavar="FILE.json.gz", help="keep the table")
    parser.add_argument("--compare", type=Path, metavar="FILE.json.gz", help="with one kept")
    parser.add_argument("--diff", action="store_true", help="show how texts differ")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    """Print the table, or the differences from one; 1 if there are any."""
    options = _arguments()
    started = time.monotonic()
    kernels = compiled(options.only, options.jobs)
    if options.save:
        write(options.save, kernels)
    if not options.compare:
        print("\n".join(map(str, kernels)))
        return 0
    chosen = {(k.device, k.program) for k in kernels}
    before = [
        k for k in read(options.compare) if not options.only or (k.device, k.program) in chosen
    ]
    lines = list(differences(before, kernels, options.diff))
    print("\n".join(lines))
    changed = sum(line.startswith(("- ", "+ ")) for line in lines)
    took = time.monotonic() - started
    print(f"{len(kernels)} kernels in {took:.0f} s, {changed} lines of the table differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
