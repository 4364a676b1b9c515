"""Chosen schedules compute the right thing, on every device, whatever they were chosen for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import TensorType, f32
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import find_function
from tiledialect.ir.target_spec import SPEC as TARGET
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.estimate import modelled
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import Role
from tiledialect.schedule.search import choice
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import (
    best_or_default,
    misfits,
    ranked,
)

GPU = described(Kind.GPU, {"platform": "NVIDIA", "compute_units": 2, "local_mem_size": 32768})

CONV = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);
}"""
STRIDED = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);
}"""
DEPTHWISE = """function conv(I[H, W, C], K[KH, KW, C]) -> (O) {
  O[y, x, c: H, W, C] = +(I[y + j - 1, x + i - 1, c] * K[j, i, c]);
}"""
PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
BATCHED = (
    "function (A[Z, M, L], B[Z, N, L]) -> (C) { C[z, i, j: Z, M, N] = >(A[z,i,k] + B[z,j,k]); }"
)

CASES: dict[str, tuple[str, tuple[tuple[int, ...], ...], str]] = {
    "odd product": (PRODUCT, ((19, 11), (11, 37)), ""),
    "batched maxima of sums": (BATCHED, ((3, 9, 10), (3, 17, 10)), ""),
    "convolution": (CONV, ((1, 8, 8, 4), (3, 3, 4, 8)), ""),
    "gradient by weights": (CONV, ((1, 8, 8, 8), (3, 3, 8, 8), (1, 8, 8, 8)), "K"),
    "strided gradient": (STRIDED, ((1, 24, 24, 4), (3, 3, 4, 8), (1, 8, 8, 8)), "I"),
    "gradient of row sums": (
        "function (X[M, N]) -> (S) { S[i: M] = +(X[i, j]); }",
        ((19, 36), (19,)),
        "X",
    ),
    "outer product": (
        "function (Y[M], X[N]) -> (D) { D[i, k: M, N] = +(Y[i] * X[k]); }",
        ((19,), (36,)),
        "",
    ),
    "depthwise": (DEPTHWISE, ((9, 10, 16), (3, 3, 16)), ""),
}


def small(candidates: tuple[Candidate, ...]) -> Candidate:
    """The best of those whose bodies are small, which are compiled soon."""

    def body(candidate: Candidate) -> int:
        levels = candidate.schedule.levels
        return int(
            np.prod([x.extent for x in levels if x.role in (Role.UNROLL, Role.VECTOR)], dtype=int)
        )

    return min(candidates, key=lambda c: (max(body(c), 256), c.estimate.seconds))


@pytest.mark.parametrize("name", list(CASES))
def test_schedules_for_a_gpu_run_everywhere(name: str, device: td.Device):
    source, shapes, gradient = CASES[name]
    f = td.compile(source, device=device)
    f = f.gradient(gradient) if gradient else f
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    ((kernel, op),) = named_kernels(parse_mlir(f.ir("tile-fuse", *arrays), "fused")).items()
    candidates = ranked(kernel_facts(op, GPU), GPU)
    assert candidates
    op.schedule = ScheduleAttr(small(candidates).schedule)
    op.verify()
    scheduled = f.with_schedules({kernel: schedule_text(op)})
    assert np.array_equal(scheduled(*arrays), f.reference(*arrays))


SPEC = (
    'module attributes {dlti.target_system_spec = #dlti.target_system_spec<"%s" = '
    '#dlti.target_device_spec<"type" = "%s", "local_mem_size" = %d : i64>>} {'
)
"""A module for a device of a type, with so much local memory."""


def compiled_for(kind: str, local: int, program: str, *shapes: tuple[int, ...]) -> str:
    """The kernel level of a program for float32 on a described device."""
    target = parse_mlir(SPEC % (kind.upper(), kind, local) + "}", "spec.mlir").attributes[TARGET]
    types = [TensorType(f32, shape) for shape in shapes]
    return str(compile_module(load(program), "f", types, target))


@pytest.mark.parametrize(("kind", "local"), [("cpu", 1 << 18), ("gpu", 49152)], ids=["cpu", "gpu"])
@pytest.mark.parametrize("second", ["X[k, j]", "X[j, k]"])
def test_a_matrix_times_itself_fits(kind: str, local: int, second: str):
    """Each of the two reads has tiles of its own."""
    program = f"function f(X[N, N]) -> (C) {{ C[i, j: N, N] = +(X[i, k] * {second}); }}"
    assert "kernel" in compiled_for(kind, local, program, (192, 192))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_tensors_without_elements_are_weighed(kind: str, shape: tuple[int, int]):
    program = "function f(A[N, M]) -> (S, B) { S[i: N] = +(A[i, k]); B = exp(A); }"
    assert "func.return" in compiled_for(kind, 49152, program, shape)


@pytest.mark.parametrize("kind", [Kind.CPU, Kind.GPU])
def test_long_texts_are_left_to_shorter_candidates(kind: Kind):
    """A body of many operations is unrolled less, or not at all; `misfits` counts what is left out."""
    device = described(kind, {"compute_units": 2, "local_mem_size": 32768})
    module = load(PRODUCT)
    specialize(find_function(module), [TensorType(f32, shape) for shape in ((96, 64), (64, 96))])
    PassPipeline((TileBoundsPass(), TileFusePass())).apply(Context(), module)
    (kernel,) = ops_of(module, KernelOp)
    short = kernel_facts(kernel, device)
    long = replace(short, operations=600.0)
    limit = f"{choice.MAX_STATEMENTS} operations in their text"
    assert limit not in misfits(short, device) and misfits(long, device)[limit]
    chosen = best_or_default(long, device)
    assert modelled(long, chosen.schedule, device).statements <= choice.MAX_STATEMENTS
    assert modelled(long, best_or_default(short, device).schedule, device).unrolled > 13
