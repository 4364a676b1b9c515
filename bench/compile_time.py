"""How long a cold compilation takes, of our own time: from Tile text to OpenCL C.

Each program is compiled in a process of its own, with nothing on disk, so that importing the
package counts too. Beside it, and not counted: importing what the package needs (NumPy, pyopencl,
xDSL, islpy, lark), and what the OpenCL implementation takes to build the kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

ALLOWED = 1.0
"""Seconds."""

PROGRAMS = {
    "matrix product": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ["64x32xf32", "32x48xf32"],
    ),
    "max pool": (
        "function (I[N]) -> (O) { O[i: N / 2] = >(I[2 * i + j]), j < 2; }",
        ["64xf32"],
    ),
    "convolution": (
        "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {\n"
        "  O[n, y, x, co: N, (H - 2 * (KH - 1) + 2) / 3, (W - 2 * (KW - 1) + 2) / 3, CO] =\n"
        "    +(I[n, 3 * y + 2 * j, 3 * x + 2 * i, ci] * K[j, i, ci, co]);\n}",
        ["2x9x9x5xf32", "2x2x5x7xf32"],
    ),
    "softmax": (
        "function (X[I, J]) -> (R) { M[i, 0: I, 1] = >(X[i, j]); E = exp(X - M);\n"
        "  S[i, 0: I, 1] = +(E[i, j]); R = E / S; }",
        ["64x32xf32"],
    ),
}

CHILD = """
import json, sys, time
clock = time.thread_time
started = clock()
import islpy, lark, numpy, pyopencl
import xdsl.dialects.arith, xdsl.dialects.func, xdsl.dialects.gpu, xdsl.dialects.memref
import xdsl.dialects.scf, xdsl.dialects.tensor, xdsl.dialects.vector, xdsl.parser, xdsl.universe
imported = clock()
import tiledialect as td
source, types = json.loads(sys.argv[1])
function = td.compile(source)
function.opencl(*types)
compiled = clock()
from tiledialect.lowering.runtime.launch import lane_of
from tiledialect.lowering.runtime.devices import queue_for
(specialization,) = function._specializations.values()
wall = time.perf_counter()
specialization.executable(lane_of(queue_for(function.device)), True)
built = time.perf_counter()
print(json.dumps([compiled - imported, imported - started, built - wall]))
"""


def measure(source: str, types: list[str]) -> tuple[float, ...]:
    """Seconds of our own, of importing what we need, and of the OpenCL compiler."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TILE_CACHE_DIR": folder}
        command = [sys.executable, "-W", "ignore", "-c", CHILD, json.dumps([source, types])]
        output = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        )
    return tuple(json.loads(output.stdout))


def main() -> int:
    """Measure every program."""
    worst = 0.0
    for name, (source, types) in PROGRAMS.items():
        ours, imports, build = min(measure(source, types) for _ in range(3))
        worst = max(worst, ours)
        print(f"{name:16} {ours:6.3f} s; imports {imports:.3f} s, OpenCL compiler {build:.3f} s")
    print(f"allowed: {ALLOWED:.0f} s of our own")
    return 0 if worst <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
