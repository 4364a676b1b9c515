"""How long residual networks take to compile, of our own time, and that it grows linearly.

The networks (He et al., 2015: bottleneck blocks, batch normalization in training, softmax and
cross-entropy) are written in a loop as Tile text; 50 layers make some 160 contractions. For each
depth, forward and gradient are compiled to OpenCL C in a process of its own, with nothing on
disk, then in another process from the disk cache. Nothing is built by an OpenCL compiler, and
nothing runs. `--profile` shows instead where the time goes at 50 layers, `--text` the network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

STAGES = {14: (1, 1, 1, 1), 26: (2, 2, 2, 2), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
"""The residual blocks in each of the four stages, by the number of layers."""
LAYERS = 50
WIDTH, PICTURES, SIZE, CLASSES = 4, 2, 32, 10
"""Channels, pictures and points: small, as the time to compile does not depend on them."""
COLD_LIMIT, WARM_LIMIT = 30.0, 1.0
"""Seconds for forward and gradient together, at 50 layers."""
LINEAR = 1.5
"""How much longer a layer of the deepest network may take than one of the 26-layer network."""


class ResidualNetwork:
    """A residual network as Tile text, with the shapes of its inputs."""

    def __init__(self, blocks: tuple[int, ...]):
        self.inputs: dict[str, str] = {}
        self.header: list[str] = []
        self.body: list[str] = []
        self.layers = self.contractions = 0
        self.input("X", PICTURES, SIZE, SIZE, 3)
        self.inputs["L"] = f"{PICTURES}xi32"
        self.header.append("L[X_0]")
        x = self.layer("X", 3, WIDTH, SIZE, 3)
        x, channels, size = self.relu(x), WIDTH, SIZE
        for stage, count in enumerate(blocks):
            for k in range(count):
                stride = 2 if stage and not k else 1
                size //= stride
                x = self.block(x, channels, WIDTH << stage, size, stride)
                channels = 4 * (WIDTH << stage)
        self.classify(x, channels, size)
        self.text = (
            f"function residual({', '.join(self.header)}) -> (LOSS) {{\n"
            + "".join(f"  {statement};\n" for statement in self.body)
            + "}\n"
        )

    @property
    def weights(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs if name not in "XL")

    def input(self, name: str, *shape: int) -> str:
        self.inputs[name] = "x".join(map(str, shape)) + "xf32"
        self.header.append(f"{name}[{', '.join(f'{name}_{k}' for k in range(len(shape)))}]")
        return name

    def write(self, target: str, index: str, value: str) -> str:
        """A contraction if there is an index, else an elementwise statement."""
        self.contractions += bool(index)
        self.body.append(f"{target}{index} = {value}")
        return target

    def layer(self, x: str, before: int, after: int, size: int, mask: int, stride: int = 1) -> str:
        """A convolution to `size` x `size` points, and its normalization."""
        k = self.layers = self.layers + 1
        weights, edge = self.input(f"K{k}", mask, mask, before, after), mask // 2
        y, x_ = (f"{stride} * {a} + {b} - {edge}" for a, b in ("yj", "xi"))
        sizes = f"X_0, {size}, {size}, {weights}_3"
        c = self.write(
            f"C{k}", f"[n, y, x, c: {sizes}]", f"+({x}[n, {y}, {x_}, b] * {weights}[j, i, b, c])"
        )
        scale, shift = self.input(f"S{k}", after), self.input(f"T{k}", after)
        total = self.write(f"M{k}", f"[c: {scale}_0]", f"+({c}[n, y, x, c])")
        d = self.write(f"D{k}", "", f"{c} - {total} / (X_0 * {size * size})")
        q = self.write(f"Q{k}", "", f"{d} * {d}")
        v = self.write(f"V{k}", f"[c: {scale}_0]", f"+({q}[n, y, x, c])")
        v = self.write(f"W{k}", "", f"sqrt({v} / (X_0 * {size * size}) + 0.00001)")
        return self.write(f"N{k}", "", f"{d} / {v} * {scale} + {shift}")

    def relu(self, x: str) -> str:
        return self.write(f"R{x}", "", f"relu({x})")

    def block(self, x: str, before: int, width: int, size: int, stride: int) -> str:
        """Three layers, whose result is added to what they were given."""
        y = self.relu(self.layer(x, before, width, size, 1, stride))
        y = self.relu(self.layer(y, width, width, size, 3))
        y = self.layer(y, width, 4 * width, size, 1)
        if stride > 1 or before != 4 * width:
            # What is added does not count as a layer, though it is one to the compiler.
            x = self.layer(x, before, 4 * width, size, 1, stride)
        return self.relu(self.write(f"A{self.layers}", "", f"{x} + {y}"))

    def classify(self, x: str, channels: int, size: int) -> None:
        """The mean over each picture, a dense layer, softmax and cross-entropy."""
        weights, bias = self.input("K", channels, CLASSES), self.input("B", CLASSES)
        self.write("P", f"[n, c: X_0, {weights}_0]", f"+({x}[n, y, x, c])")
        self.write("F", f"[n, k: X_0, {weights}_1]", f"+(P[n, c] * {weights}[c, k])")
        self.write("Z", "", f"F / {size * size} + {bias}")
        self.write("G", "[n, 0: X_0, 1]", ">(Z[n, k])")
        self.write("E", "", "exp(Z - G)")
        self.write("H", "[n, 0: X_0, 1]", "+(E[n, k])")
        self.write("O", "", "Z - G - log(H)")
        self.write("I", "", f"index({bias}, 0)")
        self.write("U", "[]", "+(I[k] == L[n] ? O[n, k])")
        self.write("LOSS", "", "-U / X_0")


def network(layers: int) -> ResidualNetwork:
    return ResidualNetwork(STAGES[layers])


def compile_both(net: ResidualNetwork) -> tuple[list[float], int]:
    """Seconds for forward and gradient; how many kernels the gradient has."""
    import tiledialect as td
    from tiledialect.lowering.runtime import cache

    types = list(net.inputs.values())
    start = time.thread_time()
    function = td.compile(net.text)
    function.opencl(*types)
    forward = time.thread_time()
    gradient = function.gradient(wrt=net.weights, with_outputs=True)
    gradient.opencl(*types, "f32")
    end = time.thread_time()
    for f in (function, gradient):
        # A program is kept when a device has built it, which is left out here.
        (made,) = f._specializations.values()
        cache.store(made.key, made.plan, b"")
    return [forward - start, end - forward], len(made.plan.steps)


def child(layers: int) -> None:
    """Measure in this process, and print what came out."""
    start = time.thread_time()
    import numpy
    import pyopencl
    import xdsl.universe

    imported = time.thread_time()
    seconds, kernels = compile_both(network(layers))
    del numpy, pyopencl, xdsl
    print(json.dumps({"imports": imported - start, "seconds": seconds, "kernels": kernels}))


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
    print("Seconds of our own (imports of libraries beside), forward + gradient:\n")
    print("layers  contractions  kernels   cold            a layer   warm           imports")
    a_layer: dict[int, float] = {}
    failed = False
    for layers in STAGES:
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = measure(layers, folder), measure(layers, folder)
        (f, g), (wf, wg) = cold["seconds"], warm["seconds"]
        a_layer[layers] = (f + g) / layers
        print(
            f"{layers:6}  {network(layers).contractions:12}  {cold['kernels']:7}   "
            f"{f:5.2f} + {g:5.2f}   {(f + g) / layers * 1000:7.1f} ms   {wf:.2f} + {wg:.2f}    "
            f"{warm['imports']:.2f}"
        )
        if layers == LAYERS:
            failed = f + g > COLD_LIMIT or wf + wg > WARM_LIMIT
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
