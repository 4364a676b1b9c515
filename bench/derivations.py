"""Kernels derived by rewriting, compared with those of our own scheduler on the same device.

`python bench/derivations.py [DEVICE]` runs the derivations of `examples/derivations/` and
equivalent Tile programs, interleaved; times are those of the kernels, and the ratio is the median
of rounds. A derivation for the type of the device, such as `stencil_2d_cpu.txt`, is preferred. A
product of matrices has the schedule of `bench/schedules/` for the device.
"""

from __future__ import annotations

import argparse
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

import tiledialect as td
from tiledialect.passes.lift import replay

ROOT = Path(__file__).parents[1]
ROUNDS = 7


@dataclass(frozen=True)
class Workload:
    """A derivation, a Tile program of the same, and the inputs of both."""

    program: str
    tile: str
    shapes: tuple[tuple[int, ...], ...]
    sizes: dict[str, int] = field(default_factory=dict)
    """The sizes of tiles, and others that a derivation needs as numbers."""
    schedule: str = ""


NINE = """function (P[N, M]) -> (O) {
  O[i, j: N, M] = +(P[i + k - 1, j + l - 1]), k < 3, l < 3;
}"""

SEVEN = """function (P[L, M, N], C[W]) -> (O) {
  A[k, i, j: L, M, N] = +(P[k + d - 1, i, j]), d < 3;
  B[k, i, j: L, M, N] = +(P[k, i + d - 1, j]), d < 3;
  D[k, i, j: L, M, N] = +(P[k, i, j + d - 1]), d < 3;
  X[: ] = +(C[w]), w < 1;
  Y[: ] = +(C[w + 1]), w < 1;
  O = X * P + Y * (A + B + D - 3 * P);
}"""

WORKLOADS = {
    "matrix_product": Workload(
        "matmul",
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ((960, 960), (960, 960)),
        {"m": 96, "n": 96, "k": 16, "M": 960, "N": 960, "K": 960},
        "product_960",
    ),
    "stencil_2d": Workload("nine_points", NINE, ((2048, 2048),), {"v": 32}),
    "stencil_3d": Workload(
        "seven_points", SEVEN, ((128, 256, 256), (2,)), {"v": 8, "w": 32, "c": 16}
    ),
}


def derived(name: str, kind: str, device: td.Device | None = None) -> td.Function:
    """The function that the derivation for a kind of device ends with."""
    workload = WORKLOADS[name]
    program = runpy.run_path(str(ROOT / "examples" / "lift" / f"{name}.py"))[workload.program]
    folder = ROOT / "examples" / "derivations"
    own = folder / f"{name}_{kind}.txt"
    steps = (own if own.exists() else folder / f"{name}.txt").read_text()
    derivation = replay(program, steps)
    # Where there are no tiles, their sizes have no names.
    sizes = {n: size for n, size in workload.sizes.items() if n in derivation.sizes}
    return td.compile(derivation.bind(**sizes).module, device=device)


def scheduled(name: str, device: td.Device) -> td.Function:
    """Program scheduled by the scheduler, or by the schedule that was written for the device."""
    workload = WORKLOADS[name]
    function = td.compile(workload.tile, device=device)
    kind = device.id.partition(":")[0]
    path = ROOT / "bench" / "schedules" / f"{workload.schedule}.{kind}.schedules"
    return function.with_schedules(path) if path.exists() else function


def measure(name: str, device: td.Device) -> str:
    """A line of the table."""
    rng = np.random.default_rng(0)
    arrays = [rng.random(shape, np.float32) for shape in WORKLOADS[name].shapes]
    ours, other = derived(name, device.type, device), scheduled(name, device)
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        a, b = (f.profile(*arrays)[1].seconds for f in (ours, other))
        times.append((a, b))
    by_rules, by_schedule = (median(t) * 1e3 for t in zip(*times, strict=True))
    ratio = median(b / a for a, b in times)
    return f"{name:16} {by_rules:9.2f} ms {by_schedule:9.2f} ms {ratio:6.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", nargs="?")
    parser.add_argument("--only", choices=WORKLOADS)
    arguments = parser.parse_args()
    device = next(d for d in td.devices() if (arguments.device or "") in d.id)
    print(f"{device}\n{'':16} {'rules':>12} {'schedule':>12}  ratio")
    for name in [arguments.only] if arguments.only else WORKLOADS:
        print(measure(name, device))


if __name__ == "__main__":
    main()
