"""Verify the kernels of all programs in upstream's `mlir-opt`.

`python test/mlir_oracle.py` compiles every workload of `bench/` with its gradients, the examples,
the derivations and the schedules written by hand for the devices of `bench/devices/`. The kernel
level after each of its passes, and the tensor program after `convert-tile-to-linalg`, go to
`mlir-opt` in batches. What it refuses is printed with its message; the status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.printer import Printer

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import all_dialects
from tiledialect.ir.target_spec import SPEC, platform
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.nest_to_gpu.nest_to_gpu import NestToGpuPass
from tiledialect.lowering.pipeline import join_nests, kernel_passes, nest_passes
from tiledialect.lowering.quirks.table import passes_of
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.schedule.cost.traits import traits_of

HERE = Path(__file__).parent
sys.path += [str(HERE / "support"), str(HERE.parent / "bench")]

import kernel_texts  # noqa: E402
from upstream import errors_of, tool  # noqa: E402

BATCH = 2**22
"""Characters that `mlir-opt` is given at once."""


@dataclass(frozen=True)
class Text:
    """IR after a pass, in the generic form."""

    program: str
    after: str
    text: str


def generic(module: ModuleOp) -> str:
    """The generic form, which mlir-opt parses."""
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(module)
    return f"{out.getvalue()}\n"


def texts_of(program: kernel_texts.Program) -> Iterator[Text]:
    """The IR of upstream's dialects that a program is on its way."""
    name = f"{program.device}:{program.name}"
    try:
        function, types = program.make()
        source = function._program  # pyright: ignore[reportPrivateUsage]
        target = kernel_texts.description(program.device).attributes[SPEC]
        given = source.module, source.name, function.types(types, {}), target, source.transforms
        tensors = compile_module(*given, "cse")
        if not any(isinstance(op, LiftOp) for op in tensors.walk()):
            ConvertTileToLinalgPass().apply(all_dialects(), tensors)
            yield Text(name, ConvertTileToLinalgPass.name, generic(tensors))
        module = compile_module(*given, "lift-to-nest", source.schedules, source.fusion)
    except TileError as error:
        print(f"{name}: {error}", flush=True)
        return
    yield from (Text(name, p.name, text) for p, text in kernel_level(module))


def kernel_level(module: ModuleOp) -> Iterator[tuple[ModulePass, str]]:
    """The kernel level after each pass that changes it, from scheduled kernels on."""
    context, is_kernel, last = Context(), False, ""
    TileToNestPass().apply(context, module)
    join_nests(context, module)
    nests = nest_passes(passes_of(platform(module)), edges=traits_of(module).has_vectors)
    for p in (*nests, *kernel_passes(module), GpuArenaPass()):
        PassPipeline((p,)).apply(context, module)
        is_kernel |= isinstance(p, NestToGpuPass)
        if is_kernel and (text := generic(module)) != last:
            yield p, text
            last = text


def refused(texts: Sequence[Text]) -> Iterator[tuple[Text, str]]:
    """The texts that `mlir-opt` refuses, with its messages."""
    if errors_of([t.text for t in texts]):
        for text in texts:
            if message := errors_of([text.text]):
                yield text, message


def batches(texts: Iterator[Text]) -> Iterator[list[Text]]:
    """Texts together, up to the size of a batch."""
    found: list[Text] = []
    for text in texts:
        found.append(text)
        if sum(len(t.text) for t in found) > BATCH:
            yield found
            found = []
    yield found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="DEVICE:PROGRAM, a part of it or a pattern")
    given = parser.parse_args(arguments)
    if tool("mlir-opt") is None:
        print("mlir-opt is not installed (Debian: mlir-22-tools)")
        return 1
    started, number, wrong = time.monotonic(), 0, 0
    programs = [p for _, p in kernel_texts.matching(given.only)]
    for batch in batches(text for p in programs for text in texts_of(p)):
        number += len(batch)
        for text, message in refused(batch):
            wrong += 1
            print(f"{text.program} after {text.after}: {message}", flush=True)
    seconds = time.monotonic() - started
    print(f"{len(programs)} programs, {number} modules in {seconds:.0f} s: {wrong} are refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
