"""How long residual networks take to compile, of our own time, and that it grows linearly.

For each depth, forward and gradient are compiled to OpenCL C in a process of its own, with nothing
on disk, then in another process from the disk cache. At 50 layers the default device's compiler
builds the kernels too; nothing runs. `--profile` shows instead where our time goes at 50 layers,
`--text` the network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from workloads.residual import STAGES, ResidualNetwork

LAYERS = 50
COLD_LIMIT, WARM_LIMIT = 30.0, 1.0
"""Seconds for forward and gradient together, at 50 layers."""
LINEAR = 1.5
"""How much longer a layer of the deepest network may take than one of the 26-layer network."""


def network(layers: int) -> ResidualNetwork:
    return ResidualNetwork(STAGES[layers])


def compile_both(net: ResidualNetwork, build: bool = False) -> dict[str, object]:
    """Seconds for forward and gradient, those of the OpenCL compiler, and the gradient's size."""
    import tiledialect as td
    from tiledialect.lowering.runtime import cache
    from tiledialect.lowering.runtime.devices import queue_for
    from tiledialect.lowering.runtime.launch import lane_of

    types = list(net.inputs.values())
    start = time.thread_time()
    function = td.compile(net.text)
    function.opencl(*types)
    forward = time.thread_time()
    gradient = function.gradient(wrt=net.weights, with_outputs=True)
    gradient.opencl(*types, "f32")
    end = time.thread_time()
    building = time.process_time()
    for f in (function, gradient):
        (made,) = f._specializations.values()
        if build:
            made.executable(lane_of(queue_for(f.device)), True)
        else:
            # A program is kept when a device has built it, which is left out here.
            cache.store(made.key, made.plan, b"")
    return {
        "seconds": [forward - start, end - forward],
        "build": time.process_time() - building,
        "launches": len(made.plan.steps),
        "kernels": made.plan.source.count("__kernel"),
    }


def child(layers: int) -> None:
    """Measure in this process, and print what came out."""
    start = time.thread_time()
    import numpy
    import pyopencl
    import xdsl.universe

    imported = time.thread_time()
    found = compile_both(network(layers), build=layers == LAYERS)
    del numpy, pyopencl, xdsl
    print(json.dumps({"imports": imported - start, **found}))


def measure(layers: int, folder: str) -> dict[str, object]:
    command = [sys.executable, __file__, "--child", str(layers)]
    environment = {**os.environ, "TILE_CACHE_DIR": folder}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def profile() -> None:
    """Where the time goes."""
    import cProfile
    import pstats

    net = network(LAYERS)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILE_CACHE_DIR"] = folder
        profiler = cProfile.Profile()
        profiler.runcall(compile_both, net)
    for order in ("cumulative", "tottime"):
        pstats.Stats(profiler).sort_stats(order).print_stats(45)


def main() -> int:
    print("Seconds of our own, forward + gradient; of the OpenCL compiler; of imports:\n")
    print(
        "layers  contractions  launches  kernels   cold            a layer   compiler   "
        "warm          compiler   imports"
    )
    a_layer: dict[int, float] = {}
    failed = False
    for layers in STAGES:
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = measure(layers, folder), measure(layers, folder)
        (f, g), (wf, wg) = cold["seconds"], warm["seconds"]
        a_layer[layers] = (f + g) / layers
        print(
            f"{layers:6}  {network(layers).contractions:12}  {cold['launches']:8}  "
            f"{cold['kernels']:7}   {f:5.2f} + {g:5.2f}   {(f + g) / layers * 1000:7.1f} ms   "
            f"{cold['build']:5.2f}      {wf:.2f} + {wg:.2f}   {warm['build']:5.2f}      "
            f"{warm['imports']:.2f}"
        )
        if layers == LAYERS:
            failed = f + g + cold["build"] > COLD_LIMIT or wf + wg > WARM_LIMIT
    growth = a_layer[101] / a_layer[26]
    failed |= growth > LINEAR
    print(
        f"\na layer takes {growth:.2f} times as long in 101 layers as in 26 (at most {LINEAR}); "
        f"{LAYERS} layers may take {COLD_LIMIT:.0f} s cold and {WARM_LIMIT:.0f} s warm: "
        f"{'missed' if failed else 'kept'}"
    )
    return int(failed)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--child", layers]:
            child(int(layers))
        case ["--profile"]:
            profile()
        case ["--text"]:
            print(network(LAYERS).text)
        case _:
            sys.exit(main())
