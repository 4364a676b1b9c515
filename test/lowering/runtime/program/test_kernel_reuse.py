"""Kernels of other shapes are lowered once, and equal the kernels of a new lowering."""

from __future__ import annotations

import pytest
from described import spec
from xdsl.context import Context
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.pipeline import TileToGpuPass
from tiledialect.lowering.runtime.program.kernel_reuse import PrintedKernels, plan_of_nests
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_building import make_plan

PRODUCT = "function (A[B, M, K], W[K, N]) -> (C) { C[b, i, j: B, M, N] = +(A[b, i, k] * W[k, j]); }"
BLOCK = """function (X[B, T, C], W[C, D], G[D]) -> (R) {
  P[b, t, d: B, T, D] = +(X[b, t, c] * W[c, d]); M[b, t, 0: B, T, 1] = >(P[b, t, d]);
  E = exp(P - M); S[b, t, 0: B, T, 1] = +(E[b, t, d]); R = E / S * G; }"""
DEVICE = {
    "compute_units": 2, "native_vector_width": 8, "max_work_group_size": 1024,
    "local_mem_size": 32768, "cache_sizes": (32768, 1 << 20, 1 << 24),
    "platform": "Intel(R) OpenCL",
}  # fmt: skip


def plans(
    text: str, types: list[str], kept: PrintedKernels, *schedules: str, kind: str = "CPU"
) -> tuple[Plan, Plan]:
    """The plan of a program with kernels that are kept, and the one without."""
    function = td.compile(text)
    given = function._program  # pyright: ignore[reportPrivateUsage]
    target = spec(kind, DEVICE | {"type": kind.lower()})
    module = compile_module(
        given.module, given.name, function.types(types, {}), target, (), "lift-to-nest", schedules
    )
    anew = module.clone()
    PassPipeline((TileToGpuPass(), GpuArenaPass())).apply(Context(), anew)
    return plan_of_nests(module, given.result_name, kept), make_plan(anew, given.result_name)


def kept_after(kept: PrintedKernels, batches: tuple[int, ...], schedule: str) -> list[int]:
    """The number of kernels that are kept after a product of each batch."""
    counts: list[int] = []
    for batch in batches:
        types = [f"{batch}x16x32xf32", "32x16xf32"]
        found, anew = plans(PRODUCT, types, kept, schedule.format(batch, -(-batch // 2)))
        assert found == anew
        counts.append(kept.kernels.kept)
    return counts


def test_one_kernel_serves_all_batches_of_which_each_group_has_a_part() -> None:
    schedule = "C: <group.y b : {}, group.x 4*i : 4, serial i : 4, serial k : 32, vector j : 16>"
    assert kept_after(PrintedKernels(), (8, 6, 8, 13, 2), schedule) == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "schedule",
    [
        # A guard depends on the batch, or where a group is in the grid does, or there is a loop.
        "C: <group.y 2*b : {1}, group.x i : 16, serial b : 2, serial k : 32, vector j : 16>",
        "C: <group.x 4*i : 4, group.x b : {0}, serial i : 4, serial k : 32, vector j : 16>",
        "C: <group.x i : 16, serial b : {0}, serial k : 32, vector j : 16>",
    ],
)
def test_other_kernels_are_lowered_for_each_batch(schedule: str) -> None:
    assert kept_after(PrintedKernels(), (7, 5, 7), schedule) == [1, 2, 2]


def test_a_batch_of_one_has_a_kernel_of_its_own() -> None:
    schedule = "C: <group.y b : {}, group.x 4*i : 4, serial i : 4, serial k : 32, vector j : 16>"
    assert kept_after(PrintedKernels(), (4, 1), schedule) == [1, 2]


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
def test_kernels_that_are_kept_are_those_of_lowering_anew(kind: str) -> None:
    kept = PrintedKernels()
    # From some batch on arrays are larger than caches, and what is streamed changes.
    for batch in (8, 6, 1, 64, 6, 512):
        types = [f"{batch}x64x128xf32", "128x96xf32", "96xf32"]
        found, anew = plans(BLOCK, types, kept, kind=kind)
        assert found == anew


def test_no_more_kernels_are_kept_than_there_is_room_for() -> None:
    kept = PrintedKernels(most=2)
    for columns in (16, 32, 48, 64):
        plans(PRODUCT, ["2x16x32xf32", f"32x{columns}xf32"], kept)
    assert kept.kernels.kept == 2
