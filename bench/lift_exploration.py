"""High-level Lift programs, explored, beside our scheduler's kernels of the same in Tile.

`python bench/lift_exploration.py --only gemv --trials 100` explores each program from its
high-level form alone, and measures what was found and the scheduled program in turns; the ratio is
the median of rounds. A ratio above 1 is faster than the scheduler.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

import tiledialect as td
from tiledialect import lift
from tiledialect.errors import TileError
from tiledialect.exploration.lift.settings import Settings

Array = npt.NDArray[np.float32]
ROUNDS = 9


@dataclass(frozen=True)
class Pair:
    """A Lift program, the same in Tile, and the shapes of their inputs for tests, CPUs and GPUs."""

    pattern: Callable[..., Any]
    tile: str
    types: tuple[tuple[str | int, ...], ...]
    """Sizes of the inputs; a number is an array without axes."""
    sizes: tuple[dict[str, int], dict[str, int], dict[str, int]]

    @property
    def lift(self) -> lift.Program:
        """The Lift program."""
        kinds = [lift.array(*t) if t else lift.f32 for t in self.types]
        return lift.fun(*kinds, self.pattern)

    def inputs(self, scale: int) -> list[Array]:
        """Random inputs."""
        random, sizes = np.random.default_rng(0), self.sizes[scale]
        shapes = [tuple(s if isinstance(s, int) else sizes[s] for s in t) for t in self.types]
        return [np.asarray(random.random(shape), np.float32) for shape in shapes]


def dot(x: Any, y: Any) -> Any:
    """Sum of products."""
    return lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)


def product(a: Any, b: Any) -> Any:
    """Rows by columns."""
    columns = b >> lift.transpose
    return a >> lift.map(lambda row: columns >> lift.map(lambda column: dot(row, column)))


def jacobi(image: Any) -> Any:
    """Mean of four neighbours, with 0 around."""
    windows = image >> lift.pad_constant2(1, 1, 0.0) >> lift.slide2(3, 1)
    return windows >> lift.map2(lambda w: 0.25 * (w[0][1] + w[1][0] + w[1][2] + w[2][1]))


def hotspot(temperature: Any, power: Any) -> Any:
    """A step of the temperature of a chip."""

    def heated(w: Any, p: Any) -> Any:
        centre = w[1][1]
        vertical = w[0][1] + w[2][1] - 2.0 * centre
        horizontal = w[1][0] + w[1][2] - 2.0 * centre
        return centre + 0.1 * (p + 0.3 * vertical + 0.2 * horizontal + 0.01 * (80.0 - centre))

    windows = temperature >> lift.pad2(1, 1, lift.clamp) >> lift.slide2(3, 1)
    return lift.zip2(windows, power) >> lift.map2(heated)


HOTSPOT = """function (T[N, M], P[N, M]) -> (O) {
  Q = -T;
  V[i, j: N, M] = +(T[i + 2*d - 1, j] + Q[i, j]), d < 2;
  H[i, j: N, M] = +(T[i, j + 2*d - 1] + Q[i, j]), d < 2;
  O = T + 0.1 * (P + 0.3 * V + 0.2 * H + 0.01 * (80.0 - T));
}"""


def seven_points(space: Any) -> Any:
    """The centre and its six neighbours, weighted, with 0 around."""

    def point(w: Any) -> Any:
        around = w[0][1][1] + w[2][1][1] + w[1][0][1] + w[1][2][1] + w[1][1][0] + w[1][1][2]
        return 0.5 * w[1][1][1] + 0.1 * around

    windows = space >> lift.pad_constant3(1, 1, 0.0) >> lift.slide3(3, 1)
    return windows >> lift.map3(point)


SEVEN = """function (P[L, M, N]) -> (O) {
  A[k, i, j: L, M, N] = +(P[k + 2*d - 1, i, j]), d < 2;
  B[k, i, j: L, M, N] = +(P[k, i + 2*d - 1, j]), d < 2;
  D[k, i, j: L, M, N] = +(P[k, i, j + 2*d - 1]), d < 2;
  O = 0.5 * P + 0.1 * (A + B + D);
}"""


def nbody(positions: Any) -> Any:
    """Accelerations of bodies; a position is x, y, z and the mass."""

    def force(p: Any, q: Any) -> Any:
        dx, dy, dz = (q[k] - p[k] for k in range(3))
        s = lift.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
        scale = q[3] * s * s * s
        return scale * dx, scale * dy, scale * dz

    def total(a: Any, b: Any) -> Any:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def pulled(p: Any) -> Any:
        forces = positions >> lift.map(lambda q: force(p, q))
        return forces >> lift.reduce(total, (0.0, 0.0, 0.0))

    x, y, z = lift.unzip(positions >> lift.map(pulled))
    return {"X": x, "Y": y, "Z": z}


NBODY = """function (P[N, 4]) -> (X, Y, Z) {
  XI[i, 0: N, 1] = =(P[i, 0]); XJ[0, j: 1, N] = =(P[j, 0]);
  YI[i, 0: N, 1] = =(P[i, 1]); YJ[0, j: 1, N] = =(P[j, 1]);
  ZI[i, 0: N, 1] = =(P[i, 2]); ZJ[0, j: 1, N] = =(P[j, 2]);
  W[0, j: 1, N] = =(P[j, 3]);
  DX = XJ - XI; DY = YJ - YI; DZ = ZJ - ZI;
  R = 1.0 / sqrt(DX * DX + DY * DY + DZ * DZ + 0.01);
  S = W * R * R * R;
  FX = S * DX; FY = S * DY; FZ = S * DZ;
  X[i: N] = +(FX[i, j]); Y[i: N] = +(FY[i, j]); Z[i: N] = +(FZ[i, j]);
}"""


def kmeans(features: Any, clusters: Any) -> Any:
    """Least squared distance of each point to a centre."""

    def distance(point: Any, centre: Any) -> Any:
        squares = lift.map(lambda a, b: (a - b) * (a - b))
        return lift.zip(point, centre) >> squares >> lift.reduce(lift.add, 0.0)

    def nearest(point: Any) -> Any:
        distances = clusters >> lift.map(lambda centre: distance(point, centre))
        return distances >> lift.reduce(lift.min, np.inf)

    return features >> lift.transpose >> lift.map(nearest)


KMEANS = """function (X[F, P], C[K, F]) -> (O) {
  XP[p, 0, f: P, 1, F] = =(X[f, p]); CK[0, k, f: 1, K, F] = =(C[k, f]);
  D = XP - CK; S = D * D;
  Q[p, k: P, K] = +(S[p, k, f]);
  O[p: P] = <(Q[p, k]);
}"""


def convolution(image: Any, weights: Any) -> Any:
    """17 x 17 weights, with 0 around."""
    windows = image >> lift.pad_constant2(8, 8, 0.0) >> lift.slide2(17, 1)
    return windows >> lift.map2(lambda w: dot(w >> lift.join, weights >> lift.join))


def _sizes(test: dict[str, int], cpu: dict[str, int], gpu: dict[str, int]) -> Any:
    return test, cpu, gpu


def _squares(test: int, cpu: int, gpu: int, *names: str) -> Any:
    return tuple(dict.fromkeys(names, n) for n in (test, cpu, gpu))


PAIRS = {
    "sum": Pair(
        lambda x: x >> lift.reduce(lift.add, 0.0),
        "function (X[N]) -> (O) { O[] = +(X[i]); }",
        (("N",),),
        _squares(64, 1 << 24, 1 << 25, "N"),
    ),
    "dot": Pair(
        dot,
        "function (X[N], Y[N]) -> (O) { O[] = +(X[i] * Y[i]); }",
        (("N",), ("N",)),
        _squares(64, 1 << 23, 1 << 25, "N"),
    ),
    "gemv": Pair(
        lambda a, x: a >> lift.map(lambda row: dot(row, x)),
        "function (A[M, N], X[N]) -> (Y) { Y[i: M] = +(A[i, j] * X[j]); }",
        (("M", "N"), ("N",)),
        _squares(16, 4096, 8192, "M", "N"),
    ),
    "product": Pair(
        product,
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        (("M", "K"), ("K", "N")),
        _squares(16, 960, 2048, "M", "K", "N"),
    ),
    "jacobi": Pair(
        jacobi,
        """function (P[N, M]) -> (O) {
          A[i, j: N, M] = +(P[i + 2*d - 1, j]), d < 2;
          B[i, j: N, M] = +(P[i, j + 2*d - 1]), d < 2;
          O = 0.25 * (A + B);
        }""",
        (("N", "M"),),
        _squares(8, 4096, 4096, "N", "M"),
    ),
    "hotspot": Pair(hotspot, HOTSPOT, (("N", "M"), ("N", "M")), _squares(8, 4096, 4096, "N", "M")),
    "seven_points": Pair(
        seven_points, SEVEN, (("L", "M", "N"),), _squares(4, 256, 256, "L", "M", "N")
    ),
    "nbody": Pair(nbody, NBODY, (("N", 4),), _squares(16, 4096, 8192, "N")),
    "kmeans": Pair(
        kmeans,
        KMEANS,
        (("F", "P"), ("C", "F")),
        _sizes(
            {"F": 4, "P": 16, "C": 4},
            {"F": 32, "P": 1 << 17, "C": 8},
            {"F": 32, "P": 1 << 19, "C": 8},
        ),
    ),
    "convolution": Pair(
        convolution,
        """function (P[N, M], W[K, L]) -> (O) {
          O[i, j: N, M] = +(P[i + k - 8, j + l - 8] * W[k, l]);
        }""",
        (("N", "M"), (17, 17)),
        _squares(8, 1024, 1024, "N", "M"),
    ),
}


def line(name: str, device: td.Device, options: argparse.Namespace) -> str:
    """A line of the table, and the derivation that was found."""
    pair = PAIRS[name]
    arrays = pair.inputs(2 if device.type == "gpu" else 1)
    settings = Settings.read_or_default(options.settings)
    result = td.explore(
        td.compile(pair.lift.module, device=device),
        *arrays,
        trials=options.trials,
        time=options.time,
        workers=options.workers,
        settings=settings,
        seed=options.seed,
    )
    scheduled = td.compile(pair.tile, device=device)
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        a, b = (f.profile(*arrays)[1].seconds for f in (result.best, scheduled))
        times.append((a, b))
    ours, other = (median(t) * 1e6 for t in zip(*times, strict=True))
    ratio = median(b / a for a, b in times)
    steps = str(result.data.found.implementation).replace("\n", "\n    ")
    default = result.default_seconds * 1e6
    return (
        f"{name:14} {default:11.1f} us {ours:11.1f} us {other:11.1f} us {ratio:6.2f} "
        f"{len(result.trials):5} trials, {len(result.wrong)} wrong\n    {steps}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--device", default="")
    parser.add_argument("--time", default="1m", help="for each program")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--settings", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    device = next(d for d in td.devices() if options.device in d.id)
    print(f"{device}\n{'':14} {'default':>14} {'found':>14} {'scheduled':>14}  ratio")
    for name in options.only.split(",") if options.only else PAIRS:
        try:
            print(line(name, device, options), flush=True)
        except TileError as error:
            print(f"{name:14} {error.message.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
