"""Compile times of programs, cold and warm: of this package, and of the OpenCL compiler.

Each program is compiled in a separate process with nothing on disk (cold), then in another one with
the disk cache of the first (warm). Our time is from importing the package to having OpenCL C; the
import of dependencies (NumPy, pyopencl, xDSL, islpy, lark) has its own column and is not counted.
The measurement of the device, once for all programs, is a separate column.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from workloads.transformers import FUNCTIONS, attention_types, gpt, gpt_types

if TYPE_CHECKING:
    import tiledialect as td

BATCHES = 8, 6
"""The batch that a transformer is compiled for, and another one."""
REPEATED = 3
"""Number of measurements of a small program; the least counts."""
NEEDED = (
    *("islpy", "lark", "numpy", "pyopencl", "xdsl.parser", "xdsl.universe"),
    *(f"xdsl.dialects.{n}" for n in ("arith", "func", "gpu", "memref", "scf", "tensor", "vector")),
)
"""Dependencies, whose import is not ours to make shorter."""


@dataclass(frozen=True)
class Program:
    """A program with the types of its inputs, and how long it may take."""

    source: str
    types: Sequence[str]
    wrt: Sequence[str] = ()
    """Inputs by which the program's output is differentiated, in a function that gives both."""
    forward: bool = True
    """Whether the program is compiled without its gradient."""
    cold: float = 1.0
    """Seconds of our own."""
    warm: float = 1.0
    is_whole: bool = False
    """Whether `cold` is for the OpenCL compiler, too."""
    cotangent: str = "f32"
    """The type of the cotangent of the output."""
    other: Sequence[str] = ()
    """Types of the inputs for another batch, for which the last function is compiled, too."""
    name: str | None = None
    """The function of the source; may be left out if there is one alone."""


@dataclass(frozen=True)
class Times:
    """Processor seconds of a process, and its output."""

    imports: float
    device: float
    """Seconds to measure the device; 0 if the measurement was cached."""
    ours: Sequence[float]
    """Seconds for each function."""
    build: float
    launches: int
    kernels: int
    other: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Our own, and the OpenCL compiler's, for another batch in the same process; and the time that
    a call waits for both."""


TUTORIAL = {
    "matrix product": Program(
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ["64x32xf32", "32x48xf32"],
    ),
    "max pool": Program(
        "function (I[N]) -> (O) { O[i: N / 2] = >(I[2 * i + j]), j < 2; }",
        ["64xf32"],
    ),
    "convolution": Program(
        "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {\n"
        "  O[n, y, x, co: N, (H - 2 * (KH - 1) + 2) / 3, (W - 2 * (KW - 1) + 2) / 3, CO] =\n"
        "    +(I[n, 3 * y + 2 * j, 3 * x + 2 * i, ci] * K[j, i, ci, co]);\n}",
        ["2x9x9x5xf32", "2x2x5x7xf32"],
    ),
    "softmax": Program(
        "function (X[I, J]) -> (R) { M[i, 0: I, 1] = >(X[i, j]); E = exp(X - M);\n"
        "  S[i, 0: I, 1] = +(E[i, j]); R = E / S; }",
        ["64x32xf32"],
    ),
}


def digits_step() -> Program:
    """The loss of the network that reads digits, with its gradient by all weights."""
    from workloads.networks import WORKLOADS

    network = next(w for w in WORKLOADS if w.name == "network/digits")
    problem = network.problems["cpu"]
    types = {name: "x".join(map(str, shape)) for name, shape in problem.shapes.items()}
    given = [f"{t}x{'i32' if name in network.integers else 'f32'}" for name, t in types.items()]
    return Program(
        problem.source,
        given,
        network.gradients,
        forward=False,
        cold=2.0,
        other=[*(f"48{t.removeprefix('64')}" for t in given[:2]), *given[2:], "f32"],
    )


def attention(*, gradient: bool) -> Program:
    """Attention with heads over a batch, or its gradient by all inputs."""
    types, other = (attention_types(batch) for batch in BATCHES)
    program = Program(
        FUNCTIONS, [*types.values()], cold=2.0, other=[*other.values()], name="attention"
    )
    if not gradient:
        return program
    # Cotangents have the shape of X, as the output has.
    return replace(
        program,
        wrt=[*types],
        forward=False,
        cold=3.0,
        cotangent=types["X"],
        other=[*program.other, other["X"]],
    )


def gpt_of(layers: int, *, gradient: bool) -> Program:
    """The loss of a GPT, or that with its gradient by all weights."""
    types, other = (gpt_types(layers, batch) for batch in BATCHES)
    source, given = gpt(layers), [*types.values()]
    program = Program(source, given, cold=2.0, other=[*other.values()], name="gpt")
    if not gradient:
        return program
    weights = [name for name in types if name not in ("X", "N")]
    own = [*program.other, program.cotangent]
    return replace(program, wrt=weights, forward=False, cold=6.0, other=own)


def residual(layers: int) -> Program:
    """A residual network of so many layers, with its gradient by all weights."""
    from workloads.residual import STAGES, ResidualNetwork

    network = ResidualNetwork(STAGES[layers])
    types = [*network.inputs.values()]
    return Program(network.text, types, network.weights, cold=30.0, is_whole=True)


def compiled(program: Program, build: bool) -> Times:
    """Compile in this process, which has imported nothing yet."""
    started = time.thread_time()
    for name in NEEDED:
        import_module(name)
    imported = time.thread_time()
    import tiledialect as td
    from tiledialect.lowering.runtime.device.devices import target_system_spec
    from tiledialect.lowering.runtime.device.queue_state import state_of
    from tiledialect.lowering.runtime.device.queues import queue_for
    from tiledialect.lowering.runtime.program import cache

    program_itself = td.compile(program.source, name=program.name)
    loaded = time.thread_time()
    target_system_spec(program_itself.device)
    ends = [time.thread_time()]
    functions: list[td.Function] = []
    if program.forward:
        functions.append(program_itself)
        program_itself.opencl(*program.types)
        ends.append(time.thread_time())
    if program.wrt:
        functions.append(program_itself.gradient(wrt=program.wrt, with_outputs=True))
        functions[-1].opencl(*program.types, program.cotangent)
        ends.append(time.thread_time())
    ours = [b - a for a, b in pairwise(ends)]
    ours[0] += loaded - imported
    building = time.process_time()
    made = [next(iter(f._specializations.values())) for f in functions]  # pyright: ignore[reportPrivateUsage]
    for function, own in zip(functions, made, strict=True):
        if build:
            own.executable(state_of(queue_for(function.device)), True)
        else:
            # A program is kept when a device has built it, which is left out here.
            cache.store(own.key, own.plan, ())
    taken = time.process_time() - building
    return Times(
        imports=imported - started,
        device=ends[0] - loaded,
        ours=ours,
        build=taken,
        launches=len(made[-1].plan.steps),
        kernels=made[-1].plan.source.count("__kernel"),
        other=other_batch(functions[-1], program.other)
        if program.other and build
        else (0.0, 0.0, 0.0),
    )


def other_batch(function: td.Function, types: Sequence[str]) -> tuple[float, float, float]:
    """The times for another batch: our own part, the OpenCL compiler's, and the clock's."""
    from tiledialect.lowering.runtime.device.queue_state import state_of
    from tiledialect.lowering.runtime.device.queues import queue_for

    state = state_of(queue_for(function.device))
    own, all_threads, clock = time.thread_time(), time.process_time(), time.perf_counter()
    given = function.types(types, {})
    made = function._specialize(given, function.device, state)  # pyright: ignore[reportPrivateUsage]
    made.executable(state, True)
    ours = time.thread_time() - own
    return ours, time.process_time() - all_threads - ours, time.perf_counter() - clock


def cold_and_warm(program: Program, build: bool = True) -> tuple[Times, Times]:
    """Times of two processes, of which the second has the cache of the first."""
    from tiledialect.lowering.runtime.device.probe import share

    with tempfile.TemporaryDirectory() as folder:
        # Trying the device is no part of compiling.
        share(Path(folder))
        # PoCL has a cache of its own; installed packages have their bytecode.
        settings = {
            "TILE_CACHE_DIR": folder,
            "POCL_CACHE_DIR": os.path.join(folder, "pocl"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        command = [sys.executable, "-W", "ignore", __file__, "--child"]
        given = json.dumps([asdict(program), build])

        def process() -> Times:
            result = subprocess.run(
                command,
                env={**os.environ, **settings},
                input=given,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            return Times(**json.loads(result.stdout))

        return process(), process()


def report(name: str, program: Program, repeated: int) -> bool:
    """Print a line; whether the program took no longer than it may."""
    found = [cold_and_warm(program) for _ in range(repeated)]
    cold, warm = (min(times, key=lambda t: sum(t.ours)) for times in zip(*found, strict=True))
    counted = sum(cold.ours) + (cold.build if program.is_whole else cold.device)
    print(
        f"{name:16}{sum(cold.ours):8.2f}{cold.device:9.2f}{cold.build:11.2f}{program.cold:9.0f}"
        f"{sum(warm.ours):10.2f}{warm.build:11.2f}{program.warm:9.0f}"
        f"{cold.other[0]:10.2f}{cold.other[1]:11.2f}{cold.other[2]:8.2f}{cold.imports:10.2f}",
        flush=True,
    )
    return counted <= program.cold and sum(warm.ours) <= program.warm


def main() -> int:
    """Measure; 1 if something takes longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; by default all of a few seconds")
    parser.add_argument("--deep", action="store_true", help="the 50-layer network, too: minutes")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        program, build = json.loads(sys.stdin.read())
        print(json.dumps(asdict(compiled(Program(**program), build))))
        return 0
    programs = {
        **TUTORIAL,
        "digits step": digits_step(),
        "attention": attention(gradient=False),
        "its gradient": attention(gradient=True),
        "GPT, 2 layers": gpt_of(2, gradient=False),
        "its step": gpt_of(2, gradient=True),
        "50 layers": residual(50),
    }
    names = args.names or [n for n in programs if args.deep or n != "50 layers"]
    if unknown := set(names) - set(programs):
        parser.error(f"there is no {', '.join(unknown)}; there is {', '.join(programs)}")
    # So that Python has its bytecode.
    cold_and_warm(TUTORIAL["matrix product"], build=False)
    print("Seconds of processors. Allowed is ours with the device's; for 50 layers ours with the")
    print("OpenCL compiler's.\n")
    print(
        f"{'program':16}{'ours':>8}{'device':>9}{'compiler':>11}{'allowed':>9}"
        f"{'warm':>10}{'compiler':>11}{'allowed':>9}{'other':>10}{'compiler':>11}{'call':>8}{'imports':>10}"
    )
    kept = [report(n, programs[n], REPEATED if n in TUTORIAL else 1) for n in names]
    print("kept" if all(kept) else "missed")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
