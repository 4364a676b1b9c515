"""Memory of whole models: of their first call, and between later calls, beside what they need.

Each model runs in a process of its own, without a plan on disk (cold), then in another with what
that one kept (warm). `weights` are parameters and buffers. `alive` is the largest set of
activations that are needed together, with the inputs, and in training with the gradients: by the
steps of the host function, whatever the allocator does; `ours` is what plans allocate for them.
Memory of the process counts from that after another model has run, and one of the same classes has
been made: `loaded` after the first call, `peak` the most until then, `calls` the most during later
ones. `ratio` is `calls` to the weights and 1.1 times `alive`. Numbers are MB.

Parts of what is there after calls and `malloc_trim`: `grads` are gradients, `arena` intermediates,
`outputs` results, also those for a backward pass, `python` the heap of Python's small objects,
`files` pages of libraries, which the system may give to others, and `rest` all else: the driver's
programs, the heap of C, weights that are there twice.

ONNX models are exported by a process of their own, and read from a file. `disk` is `torch.compile`
with the parameters in a file, `plain` without `to_device`. `inductor`, `inductor_training` and
`onnxruntime` are the peers.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import func, gpu

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.ir.host_memory import nbytes, root
from tiledialect.ir.ops_in import ops_in
from tiledialect.ir.signature import argument_names, result_names
from tiledialect.lowering.host import gpu_arena
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.program.plan import Plan

FIRST = "first"
"""Name of the model that loads all that others need."""
PEERS = ("inductor", "inductor_training", "onnxruntime")
WAYS = ("compile", "plain", "disk", "onnx", "training", *PEERS)
FILES = ("onnx", "onnxruntime")
"""Ways that read an exported model."""
PARTS = ("weights", "grads", "arena", "outputs", "python", "files", "rest")
ROW = "{:19} {:17} {:5}" + " {:>8}" * 5 + " {:>6}" + " {:>7}" * len(PARTS)
HEAD = ROW.format(
    *("model", "way", "cache", "alive", "/alive", "loaded", "peak", "calls", "ratio"), *PARTS
)
ARENAS = re.compile(r"arenas allocated current *= *([\d,]+)")
ARENA = 1 << 20
"""Bytes that Python takes for small objects at a time."""


def largest_alive(host: func.FuncOp) -> int:
    """Bytes of the largest set of buffers that steps of a host function need together.

    A result is needed from the step that writes it to the end, an intermediate from its first step
    to its last, an input that the forward pass gave up to its last. A loop is one step.
    """
    block = host.body.block
    names = argument_names(host)
    spans: dict[Any, tuple[int, int]] = {block.args[k]: (0, 0) for k in _saved(names)}
    end = len(block.ops)
    returned = {root(v) for v in block.last_op.operands} if block.last_op else set[Any]()
    for moment, op in enumerate(block.ops):
        if isinstance(op, gpu.AllocOp | gpu.DeallocOp):
            continue
        for value in {root(v) for own in ops_in(op) for v in own.operands}:
            if value in spans or isinstance(value.owner, gpu.AllocOp):
                first, _ = spans.get(value, (moment, moment))
                spans[value] = first, end if value in returned else moment
    changes = np.zeros(end + 2, np.int64)
    for value, (first, last) in spans.items():
        changes[first] += nbytes(value.type)
        changes[last + 1] -= nbytes(value.type)
    return int(changes.cumsum().max())


def _allocated(plan: Plan) -> int:
    """Bytes that a call of a plan allocates, and of inputs that a forward pass gave."""
    saved = sum(plan.sizes[k] for k in _saved([t.name for t in plan.inputs]))
    return sum(plan.allocations) + sum(t.nbytes for t in plan.outputs) + saved


def _status(key: str) -> int:
    """Bytes of this process's memory that the system tells by a key."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024


def _python_heap() -> int:
    """Bytes that Python has taken for small objects, of which the standard error alone is told."""
    with tempfile.TemporaryFile() as file:
        stderr = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(stderr, 2)
        os.close(stderr)
        file.seek(0)
        found = ARENAS.search(file.read().decode())
    return int(found[1].replace(",", "")) * ARENA if found else 0


def _settled() -> dict[str, int]:
    """Memory of the process without garbage, and without what the heap has free."""
    gc.collect()
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return {"all": _status("VmRSS"), "files": _status("RssFile"), "python": _python_heap()}


def _peak(call: Callable[[], Any]) -> int:
    """The most memory of the process during a call."""
    Path("/proc/self/clear_refs").write_text("5")
    call()
    return _status("VmHWM")


def _seen() -> tuple[list[Plan], list[int]]:
    """The plans that are made ready to run from now on, and the bytes that host functions need."""
    plans: list[Plan] = []
    needed: list[int] = []
    ready, share = Executable.__init__, gpu_arena.share_memory

    def recorded(self: Executable, plan: Plan, *rest: Any) -> None:
        # Plans that lay weights out for others are no calls of a model.
        if not _packs([t.name for t in plan.outputs]):
            plans.append(plan)
        ready(self, plan, *rest)

    def shared(host: func.FuncOp, *rest: Any) -> None:
        if not _packs(result_names(host)):
            needed.append(largest_alive(host))
        share(host, *rest)

    Executable.__init__ = recorded  # pyright: ignore[reportAttributeAccessIssue]
    gpu_arena.share_memory = shared
    return plans, needed


def _packs(outputs: Sequence[str]) -> bool:
    return all(name.startswith("Packed") for name in outputs)


def _saved(inputs: Sequence[str]) -> list[int]:
    """Numbers of the inputs of a backward pass that a forward pass gives."""
    is_backward = any(name.startswith("tangents") for name in inputs)
    return [k for k, n in enumerate(inputs) if is_backward and not n.startswith("primals")]


def _nbytes(tensors: Iterable[Any]) -> int:
    return sum({t.data_ptr(): t.numel() * t.element_size() for t in tensors}.values())


def _case(model: Any, inputs: tuple[Any, ...], way: str) -> Any:
    """A model with its inputs; in training with a loss."""
    import models

    is_training = way.endswith("training")
    model.train(is_training)
    return models.Case(models.Loss(model) if is_training else model, inputs, is_training)


def _compiled(
    name: str, way: str, options: argparse.Namespace
) -> tuple[int, int, Callable[[], Any]]:
    """Bytes of the weights and of the inputs, and a call of a model by ``torch.compile``."""
    import models

    model, inputs = models.MODELS[name](options.batch, options.small)
    case = _case(model, inputs, way)
    if way == "disk":
        td.torch.to_disk(model)
    run = _by_compile(case, way)
    weights = _nbytes((*model.parameters(), *model.buffers()))

    def call() -> Any:
        model.zero_grad()
        return case.run(run)

    return weights, _nbytes(inputs), call


def _by_compile(case: Any, way: str) -> Callable[..., Any]:
    """A model by a backend of ``torch.compile``."""
    import models

    if way in PEERS:
        return models.torch.compile(case.model)
    model = case.model if way == "plain" else td.torch.to_device(case.model)
    return models.torch.compile(model, backend="tiledialect")


def _loaded(path: Path, way: str) -> tuple[int, int, Callable[[], Any]]:
    """The same of a model in a file."""
    with np.load(path.with_suffix(".npz")) as file:
        inputs = [*file.values()]
    if way == "onnxruntime":
        import onnxruntime

        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        given = dict(zip((i.name for i in session.get_inputs()), inputs, strict=True))
        # The session does not tell the weights, which are almost all of the file.
        return path.stat().st_size, sum(x.nbytes for x in inputs), lambda: session.run(None, given)
    model = td.onnx.load(path)
    described = model._described.values()
    weights = sum(math.prod(shape) * dtype.itemsize for shape, dtype in described)
    return weights, sum(x.nbytes for x in inputs), lambda: model(*inputs)


def _export(name: str, path: Path, options: argparse.Namespace) -> None:
    """Write a model to a file, and its inputs to one beside it."""
    import models

    if name == FIRST:
        model, inputs = models.nn.Linear(8, 8), (models.torch.ones(4, 8),)
    else:
        model, inputs = models.MODELS[name](options.batch, options.small)
    path.write_bytes(models.exported(model.eval(), inputs))
    np.savez(path.with_suffix(".npz"), *(x.numpy() for x in inputs))


def _small(way: str, folder: Path) -> Callable[[], Any]:
    """A call that loads all that each model needs."""
    if way in FILES:
        return _loaded(folder / f"{FIRST}.onnx", way)[2]
    import models

    case = _case(models.nn.Linear(8, 8), (models.torch.ones(4, 8),), way)
    run = _by_compile(case, way)
    return lambda: case.run(run)


def _gradients() -> int:
    """Bytes of the gradients of this process's parameters."""
    torch = sys.modules.get("torch")
    if torch is None:
        return 0
    parameters = (o for o in gc.get_objects() if isinstance(o, torch.nn.Parameter))
    return _nbytes(p.grad for p in parameters if p.grad is not None)


def measured(name: str, way: str, folder: Path, options: argparse.Namespace) -> dict[str, int]:
    """Numbers of bytes of a model in this process."""
    warnings.simplefilter("ignore")
    first = _small(way, folder)
    for _ in range(3):
        first()
    if way not in FILES:
        import models

        # Modules that classes of models load are not this package's.
        models.MODELS[name](1, True)
    (plans, needed), before = _seen(), _settled()
    calls: list[tuple[int, int, Callable[[], Any]]] = []

    def load() -> None:
        path = folder / f"{name}.onnx"
        calls.append(_loaded(path, way) if way in FILES else _compiled(name, way, options))
        calls[0][2]()

    peak = _peak(load)
    ((weights, inputs, call),) = calls
    loaded = _status("VmRSS")

    def later() -> None:
        for _ in range(5):
            call()

    most = _peak(later)
    # Plans that are on disk are not lowered again.
    kept = folder / f"{name} {way}.alive"
    if needed:
        kept.write_text(str(max(needed)))
    alive = int(kept.read_text()) if kept.exists() else 0
    after = _settled()
    found = {
        "weights": weights,
        "grads": _gradients(),
        "arena": max((sum(plan.allocations) for plan in plans), default=0),
        "outputs": sum(t.nbytes for plan in plans for t in plan.outputs),
        "python": after["python"] - before["python"],
        "files": after["files"] - before["files"],
    }
    # Gradients are outputs of the backward pass.
    found["outputs"] -= min(found["grads"], found["outputs"])
    return {
        **found,
        "rest": after["all"] - before["all"] - sum(found.values()),
        "alive": alive + inputs,
        "ours": max(map(_allocated, plans), default=0) + inputs,
        "loaded": loaded - before["all"],
        "peak": peak - before["all"],
        "calls": most - before["all"],
    }


def _row(name: str, way: str, cache: str, found: Mapping[str, int]) -> str:
    mb = {key: f"{value / 1e6:.1f}" for key, value in found.items()}
    needed = found["weights"] + 1.1 * found["alive"]
    # In training gradients are among what is alive together.
    ratio = "" if way in PEERS else f"{found['calls'] / needed:.2f}"
    alive = (mb["alive"], f"{found['ours'] / found['alive']:.2f}") if ratio else ("", "")
    parts = (mb[part] for part in PARTS)
    return ROW.format(
        name, way, cache, *alive, mb["loaded"], mb["peak"], mb["calls"], ratio, *parts
    )


def _in_process(arguments: Sequence[str], cache: str = "") -> str:
    command = [sys.executable, __file__, *arguments]
    environment = {
        **os.environ,
        "TILE_CACHE_DIR": cache,
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}_inductor",
    }
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        reason = (result.stderr.splitlines() or ["no reason"])[-1]
        raise TileError(f"{' '.join(arguments[-3:])}: {reason}")
    return result.stdout.splitlines()[-1] if result.stdout else ""


def main() -> None:
    """Measure the models of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", help="names as of models.py; all without this")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["onnx", "compile"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="small models")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--export", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is not None:
        (name,), way = options.models, options.ways[0]
        if options.export:
            _export(name, options.folder / f"{name}.onnx", options)
        else:
            print(json.dumps(measured(name, way, options.folder, options)))
        return
    print(HEAD, flush=True)
    sizes = ["--batch", str(options.batch), *(["--small"] if options.small else [])]
    with tempfile.TemporaryDirectory() as folder:
        given = ["--folder", folder, *sizes]
        # The device is measured once.
        _in_process([*given, "--export", "--models", FIRST])
        _in_process([*given, "--ways", "onnx", "--models", FIRST], _cache(folder, FIRST))
        for name in options.models or _names():
            for way in options.ways:
                try:
                    for line in _lines(name, way, folder, given):
                        print(line, flush=True)
                except TileError as error:
                    print(error, flush=True)


def _lines(name: str, way: str, folder: str, given: Sequence[str]) -> Iterator[str]:
    """Rows of a model, without its plan on disk and with it."""
    of = [*given, "--ways", way, "--models", name]
    if way in FILES:
        _in_process([*of, "--export"])
    cache = _cache(folder, f"{name} {way}")
    shutil.copytree(_cache(folder, FIRST), cache)
    for state in ("cold", "warm"):
        yield _row(name, way, state, json.loads(_in_process(of, cache)))


def _cache(folder: str, name: str) -> str:
    """Folder of what runs of a model keep."""
    # Inductor's compiler takes no spaces.
    return f"{folder}/cache_{name.replace(' ', '_')}"


def _names() -> list[str]:
    import models

    return [*models.MODELS]


if __name__ == "__main__":
    main()
