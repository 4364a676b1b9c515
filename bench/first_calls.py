"""First calls of models in new processes: with nothing on disk, and with what the first one kept.

Each call is in a process of its own, whose seconds are split by who spends them: PyTorch's Dynamo
traces the model, AOTAutograd makes a graph of ATen operators, and this package converts and runs
it. Making the model and importing packages is not counted.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

REPEATED = 3
"""Number of warm processes; the one of the least seconds counts."""
MODELS = ("mobilenet_v3_small", "resnet50", "vit_b_16", "bert", "gpt2")


@dataclass(frozen=True)
class Times:
    """Seconds of a first call."""

    clock: float
    """Of the call by the clock; the others are seconds of the calling thread's processor."""
    whole: float
    aot: float
    """AOTAutograd, with its decompositions."""
    compiling: float
    """Our conversion of graphs, or finding them on disk."""
    running: float
    """Our loading or compiling of kernels, laying out of weights, and the run."""

    @property
    def dynamo(self) -> float:
        """PyTorch's seconds before and after: tracing, guards, code."""
        return self.whole - self.aot - self.compiling - self.running

    @property
    def ours(self) -> float:
        """Seconds of this package."""
        return self.compiling + self.running


@dataclass
class Stopwatch:
    """Seconds spent in some functions, without those of others that they call."""

    seconds: dict[str, float] = field(default_factory=dict)
    inner: list[float] = field(default_factory=list)

    def watch(self, holder: Any, name: str) -> None:
        """Measure a function, which a module or a class holds."""
        function: Callable[..., Any] = getattr(holder, name)

        @wraps(function)
        def measured(*args: Any, **named: Any) -> Any:
            start = time.thread_time()
            self.inner.append(0.0)
            try:
                return function(*args, **named)
            finally:
                spent = time.thread_time() - start
                own = spent - self.inner.pop()
                self.seconds[name] = self.seconds.get(name, 0.0) + own
                if self.inner:
                    self.inner[-1] += spent

        setattr(holder, name, measured)


def by_compile(name: str, is_small: bool) -> Times:
    """The first call of a model that `torch.compile` compiles, in this process."""

    def compiled(model: Any, _: Any) -> Callable[..., Any]:
        import torch

        from tiledialect.torch import backend

        # By its name PyTorch would take the function that is not measured.
        return torch.compile(model, backend=backend.tiledialect)

    return _watched(name, is_small, compiled)


def by_file(name: str, is_small: bool) -> Times:
    """The first call of a model as `td.torch.save` has written it; without a file, writing it."""

    def read(model: Any, inputs: Any) -> Callable[..., Any]:
        import tiledialect as td

        path = Path(os.environ["TILE_CACHE_DIR"]) / "model"
        found = td.torch.load(model, path) if path.exists() else None
        return found or td.torch.save(model, path, *inputs)

    return _watched(name, is_small, read)


def _watched(name: str, is_small: bool, make: Callable[[Any, Any], Callable[..., Any]]) -> Times:
    """The first call of a model by what is made of it and its inputs, and the making."""
    import torch
    from models import MODELS as MAKERS

    import tiledialect as td
    from tiledialect.torch import backend, graphs

    torch.manual_seed(0)
    model, inputs = MAKERS[name](1, is_small)
    model = td.torch.to_device(model.eval())
    watch = Stopwatch()
    watch.watch(backend, "_compiled")
    watch.watch(graphs.CompiledGraph, "forward")
    watch.watch(backend, "tiledialect")
    clock, own = time.perf_counter(), time.thread_time()
    with torch.no_grad():
        make(model, inputs)(*inputs)
    whole = time.thread_time() - own
    # A plain graph that is known on disk takes nothing for some.
    parts = (watch.seconds.get(key, 0.0) for key in ("tiledialect", "_compiled", "forward"))
    return Times(time.perf_counter() - clock, whole, *parts)


def by_inductor(name: str, is_small: bool) -> Times:
    """The first call of a model by PyTorch's own backend: all is Dynamo's here."""
    import torch
    import torch._inductor.compile_fx
    from models import MODELS as MAKERS

    torch.manual_seed(0)
    model, inputs = MAKERS[name](1, is_small)
    call = torch.compile(model.eval())
    clock, own = time.perf_counter(), time.thread_time()
    with torch.no_grad():
        call(*inputs)
    return Times(time.perf_counter() - clock, time.thread_time() - own, 0.0, 0.0, 0.0)


def by_onnx(name: str, is_small: bool) -> Times:
    """The first call of the exported model, with the reading of its file."""
    import onnx
    import torch
    from models import MODELS as MAKERS
    from onnx_export import exported

    import tiledialect as td

    torch.manual_seed(0)
    model, inputs = MAKERS[name](1, is_small)
    file = onnx.load_from_string(exported(model.eval(), inputs))
    arrays = [x.numpy() for x in inputs]
    watch = Stopwatch()
    watch.watch(td.onnx, "load")
    clock, own = time.perf_counter(), time.thread_time()
    td.onnx.load(file)(*arrays)
    whole = time.thread_time() - own
    loading = watch.seconds["load"]
    return Times(time.perf_counter() - clock, whole, 0.0, loading, whole - loading)


WAYS: Mapping[str, Callable[[str, bool], Times]] = {
    "compile": by_compile,
    "file": by_file,
    "inductor": by_inductor,
    "onnx": by_onnx,
}
"""Ways to the first call of a model: by `torch.compile`, from a file of `td.torch.save`, by
PyTorch's own backend, by `td.onnx`."""


def in_processes(name: str, options: argparse.Namespace) -> tuple[Times, Times]:
    """The times of a process with nothing on disk, and of one after it."""
    from tiledialect.lowering.runtime.device.probe import share

    with tempfile.TemporaryDirectory() as folder:
        # Trying the device is no part of compiling.
        share(Path(folder))
        inner = {"POCL_CACHE_DIR": "pocl", "TORCHINDUCTOR_CACHE_DIR": "inductor"}
        own = {name: os.path.join(folder, path) for name, path in inner.items()}
        own["TILE_CACHE_DIR"] = folder
        command = [sys.executable, "-W", "ignore", __file__, "--child", "--models", name]
        command += ["--by", options.by, *(["--small"] if options.small else [])]

        def process() -> Times:
            found = subprocess.run(
                command, env={**os.environ, **own}, check=True, stdout=subprocess.PIPE, text=True
            )
            return Times(**json.loads(found.stdout.splitlines()[-1]))

        cold = process()
        return cold, min((process() for _ in range(REPEATED)), key=lambda t: t.whole)


def main() -> None:
    """Measure the models of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=[*MODELS])
    parser.add_argument("--small", action="store_true", help="small images, short models")
    parser.add_argument("--by", choices=WAYS, default="compile", help="who compiles the models")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        warnings.simplefilter("ignore")
        made = WAYS[options.by](options.models[0], options.small)
        print(json.dumps(asdict(made)))
        return
    columns = ("call", "Dynamo", "AOTAutograd", "compiling", "running", "ours")
    print(f"{'model':20}{'':6}" + "".join(f"{c:>12}" for c in columns))
    for name in options.models:
        for kind, t in zip(("cold", "warm"), in_processes(name, options), strict=True):
            seconds = (t.clock, t.dynamo, t.aot, t.compiling, t.running, t.ours)
            print(f"{name:20}{kind:6}" + "".join(f"{s:12.2f}" for s in seconds), flush=True)


if __name__ == "__main__":
    main()
