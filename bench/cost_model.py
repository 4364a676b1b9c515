"""Ranking quality of the cost model: candidates of some workloads, timed on the device.

For each workload the best candidates of its largest kernel, and some of the others, are compiled in
parallel and run; a line a candidate: the model's rank and time, the measured time, the schedule.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

import numpy as np

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.search.choice import ranked

Shapes = tuple[tuple[int, ...], ...]

CONV = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);
}"""
POINTS = """function conv(I[N, H, W, CI], K[CI, CO]) -> (O) {
  O[n, y, x, co: N, H, W, CO] = +(I[n, y, x, ci] * K[ci, co]);
}"""
STEM = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H/2, W/2, CO] = +(I[n, 2*y + j - 3, 2*x + i - 3, ci] * K[j, i, ci, co]);
}"""
STRIDED = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);
}"""
DEPTHWISE = """function conv(I[N, H, W, C], K[KH, KW, C]) -> (O) {
  O[n, y, x, c: N, H, W, C] = +(I[n, y + j - 1, x + i - 1, c] * K[j, i, c]);
}"""
PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
VECTOR = "function (A[M, L], B[L]) -> (C) { C[i: M] = +(A[i, k] * B[k]); }"

FORWARD: dict[str, tuple[str, Shapes]] = {
    "product_4096": (PRODUCT, ((4096, 4096), (4096, 4096))),
    "product_512": (PRODUCT, ((512, 512), (512, 512))),
    "product_odd": (PRODUCT, ((1000, 3000), (3000, 700))),
    "product_thin": (PRODUCT, ((4096, 64), (64, 4096))),
    "product_deep": (PRODUCT, ((64, 8192), (8192, 64))),
    "vector": (VECTOR, ((8192, 8192), (8192,))),
    "conv": (CONV, ((32, 56, 56, 64), (3, 3, 64, 64), (32, 56, 56, 64))),
    "conv_14": (CONV, ((32, 14, 14, 256), (3, 3, 256, 256), (32, 14, 14, 256))),
    "strided": (STRIDED, ((32, 56, 56, 64), (3, 3, 64, 64), (32, 18, 18, 64))),
    "points": (POINTS, ((32, 28, 28, 256), (256, 128), (32, 28, 28, 128))),
    "stem": (STEM, ((32, 224, 224, 3), (7, 7, 3, 64), (32, 112, 112, 64))),
    "depthwise": (DEPTHWISE, ((32, 56, 56, 96), (3, 3, 96), (32, 56, 56, 96))),
}
"""A program, and the shapes of its inputs and of its result's cotangent."""


def function(name: str, device: td.Device) -> tuple[td.Function, Shapes]:
    """The workload: a gradient if the name ends in `.I` or such."""
    base, _, gradient = name.partition(".")
    source, shapes = FORWARD[base]
    compiled = td.compile(source, device=device)
    if gradient:
        return compiled.gradient(gradient), shapes
    return compiled, shapes[:2]


def types(shapes: Shapes) -> tuple[str, ...]:
    """The inputs as texts."""
    return tuple("x".join(map(str, shape)) + "xf32" for shape in shapes)


def kernels(name: str, device: td.Device) -> tuple[Mapping[str, KernelOp], Device]:
    """The kernels of a workload before they are scheduled, and the device as the model sees it."""
    f, shapes = function(name, device)
    module = lowered(f._program, f.types(types(shapes), {}), device, "tile-fuse")  # pyright: ignore[reportPrivateUsage]
    described = device_of(module)
    assert described is not None
    return named_kernels(module), described


def build(task: tuple[str, str, str, str]) -> str:
    """Compile a candidate into the cache; return the error message, if any."""
    name, kernel, text, device = task
    f, shapes = function(name, td.compile("function (A) -> (B) { B = A; }", device=device).device)
    try:
        g = f.with_schedules({kernel: text})
        g(*(np.zeros(shape, np.float32) for shape in shapes))
    except td.TileError as error:
        return str(error).splitlines()[0]
    return ""


def sampled(
    name: str, device: td.Device, best: int, others: int
) -> list[tuple[str, str, int, float]]:
    """The candidates to look at: kernel, schedule, rank, and the model's microseconds."""
    found, described = kernels(name, device)
    kernel = max(found, key=lambda k: kernel_facts(found[k], described).points)
    op = found[kernel]
    candidates = ranked(kernel_facts(op, described), described)
    numbers = [*range(min(best, len(candidates)))]
    rest = range(len(numbers), len(candidates))
    numbers += sorted(random.Random(0).sample(rest, min(others, len(rest))))
    chosen: list[tuple[str, str, int, float]] = []
    for k in numbers:
        op.schedule = ScheduleAttr(candidates[k].schedule)
        text = schedule_text(op)
        chosen.append((kernel, text, k, candidates[k].estimate.seconds * 1e6))
    return chosen


def main() -> None:
    """Rank and time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="+",
        help=f"workloads: {', '.join(FORWARD)}; with .I and the like, the gradient by that input",
    )
    parser.add_argument("--best", type=int, default=16, help="how many of the best; 16")
    parser.add_argument("--others", type=int, default=8, help="how many others; 8")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    parser.add_argument("--device", help="an id of `tile-run --list-devices`, or part of a name")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name.partition(".")[0] not in FORWARD]:
        parser.error(f"there is no {', '.join(unknown)}; there is {', '.join(FORWARD)}")
    device = td.compile("function (A) -> (B) { B = A; }", device=args.device).device
    tasks = {name: sampled(name, device, args.best, args.others) for name in args.names}
    flat = [(n, k, text, device.id) for n, own in tasks.items() for k, text, *_ in own]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        errors = dict(zip(flat, pool.map(build, flat), strict=True))
    rng = np.random.default_rng(0)
    for name, own in tasks.items():
        f, shapes = function(name, device)
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        print(f"== {name}", flush=True)
        for kernel, text, rank, expected in own:
            if errors[name, kernel, text, device.id]:
                print(f"{rank:5} refused: {errors[name, kernel, text, device.id]}  {text}")
                continue
            _, profile = f.with_schedules({kernel: text}).profile(*arrays, repeat=3)
            seconds = [k.seconds for k in profile.kernels if k.kernel.endswith(f"_{kernel}")]
            measured = median(seconds or [profile.seconds]) * 1e6
            print(f"{rank:5} {expected:9.1f} {measured:9.1f} us  {text}", flush=True)


if __name__ == "__main__":
    main()
