"""Growth of our time to compile residual networks with depth: it must be linear.

For each depth, forward and gradient are compiled to OpenCL C in a separate process, with nothing on
disk, then in another process from the disk cache. Nothing is built or run; `compile_time.py` builds
the 50-layer network. `--profile` shows where our time goes there, `--text` the network.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
import time

from compile_time import cold_and_warm, compiled, residual
from workloads.residual import STAGES, ResidualNetwork

LAYERS = 50
LINEAR = 1.5
"""Most time of a layer of the deepest network, in multiples of a layer of the 26-layer network."""


def profile() -> None:
    """Print the profile of a compilation."""
    program = residual(LAYERS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILE_CACHE_DIR"] = folder
        profiler = cProfile.Profile(time.process_time)
        profiler.runcall(compiled, program, build=False)
    for order in ("cumulative", "tottime"):
        pstats.Stats(profiler).sort_stats(order).print_stats(45)


def measure() -> int:
    """Measure each depth; 1 if the time grows faster than the network."""
    print("Seconds of our own, forward + gradient:\n")
    print("layers  contractions  launches  kernels   cold            a layer      warm")
    a_layer: dict[int, float] = {}
    for layers, blocks in STAGES.items():
        cold, warm = cold_and_warm(residual(layers), build=False)
        (f, g), (wf, wg) = cold.ours, warm.ours
        a_layer[layers] = (f + g) / layers
        contractions = ResidualNetwork(blocks).contractions
        print(
            f"{layers:6}  {contractions:12}  {cold.launches:8}  {cold.kernels:7}   "
            f"{f:5.2f} + {g:5.2f}   {(f + g) / layers * 1000:7.1f} ms   {wf:.2f} + {wg:.2f}",
            flush=True,
        )
    growth = a_layer[101] / a_layer[26]
    failed = growth > LINEAR
    print(
        f"\na layer takes {growth:.2f} times as long in 101 layers as in 26 (at most {LINEAR}): "
        f"{'missed' if failed else 'kept'}"
    )
    return int(failed)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="show where our time goes")
    parser.add_argument("--text", action="store_true", help="print the 50-layer network")
    args = parser.parse_args()
    if args.text:
        print(ResidualNetwork(STAGES[LAYERS]).text)
        return 0
    if args.profile:
        profile()
        return 0
    return measure()


if __name__ == "__main__":
    sys.exit(main())
