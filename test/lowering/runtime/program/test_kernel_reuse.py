"""Kernels of other shapes are lowered once, and equal the kernels of a new lowering."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from random import Random
from typing import NoReturn
from weakref import ref

import numpy as np
import pytest
from described import spec
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import tiledialect as td
from tiledialect.ir.ops_in import ops_in
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.runtime.program import kernel_reuse
from tiledialect.lowering.runtime.program.kernel_reuse import PrintedKernels, plan_of_nests
from tiledialect.lowering.runtime.program.plan import Launch, Plan, Scalar

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
    text: str,
    types: list[str],
    kept: PrintedKernels,
    *schedules: str,
    kind: str = "CPU",
    platform: str = "Intel(R) OpenCL",
    sub_group_sizes: tuple[int, ...] = (),
) -> tuple[Plan, Plan]:
    """The plan of a program with kernels that are kept, and the one of lowering all anew."""
    function = td.compile(text)
    given = function._program  # pyright: ignore[reportPrivateUsage]
    own = {"type": kind.lower(), "platform": platform, "sub_group_sizes": sub_group_sizes}
    target = spec(kind, DEVICE | own)
    module = compile_module(
        given.module, given.name, function.types(types, {}), target, (), "lift-to-nest", schedules
    )
    anew = plan_of_nests(module.clone(), given.result_name, kept=PrintedKernels())
    return plan_of_nests(module, given.result_name, kept=kept), anew


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


@pytest.mark.parametrize("platform", ["NVIDIA CUDA", "Intel(R) OpenCL"])
def test_numbers_among_the_operands(platform: str) -> None:
    """A tensor without axes is moved by no batch."""
    text = """function (X[N, M], C) -> (O) {
      Y = tanh(X * C) * 2; A[i, j + 1: N + 2, M + 2] = +(Y[i, j]);
      B[i + 2, j: N + 2, M + 2] = +(Y[i, j]); O = A + B; }"""
    kept = PrintedKernels()
    for batch in (17, 48):
        found, anew = plans(text, [f"{batch}x40xf32", "f32"], kept, kind="GPU", platform=platform)
        assert found == anew


@pytest.mark.parametrize("elements", [2, 3, 4])
def test_one_kernel_serves_all_batches_of_whole_tiles(elements: int) -> None:
    kept = PrintedKernels()
    schedule = "C: <group.y {0}*b : {1}, group.x 4*i : 4, serial b : {0}, serial i : 4,\n" + (
        "serial k : 32, vector j : 16>"
    )
    for tiles in (4, 3, 4, 7, 2):
        types = [f"{elements * tiles}x16x32xf32", "32x16xf32"]
        found, anew = plans(PRODUCT, types, kept, schedule.format(elements, tiles))
        assert found == anew
        assert kept.kernels.kept == 1
    # The last tile has a guard.
    types = [f"{elements * 4 - 1}x16x32xf32", "32x16xf32"]
    found, anew = plans(PRODUCT, types, kept, schedule.format(elements, 4))
    assert found == anew
    assert kept.kernels.kept == 2


@pytest.mark.parametrize(
    "schedule",
    [
        # A guard depends on the batch, or where a group is in the grid does, or steps are unrolled.
        "C: <group.y 2*b : {1}, group.x i : 16, serial b : 2, serial k : 32, vector j : 16>",
        "C: <group.x 4*i : 4, group.x b : {0}, serial i : 4, serial k : 32, vector j : 16>",
        "C: <group.x i : 16, serial k : 32, unroll b : {0}, vector j : 16>",
    ],
)
def test_other_kernels_are_lowered_for_each_batch(schedule: str) -> None:
    assert kept_after(PrintedKernels(), (7, 5, 7), schedule) == [1, 2, 2]


SUM = "function (A[B, M, K], V[B, K, N]) -> (C) { C[i, j: M, N] = +(A[b, i, k] * V[b, k, j]); }"
STEPS = [
    (PRODUCT, "C: <group.x i : 16, serial b : {0}, serial k : 32, vector j : 16>"),
    (PRODUCT, "C: <group.y {1}*b : 2, group.x i : 16, serial b : {1}, serial k : 32, vector j : 16>"),
    (SUM, "C: <group.x i : 16, serial b : {0}, serial k : 32, vector j : 16>"),
    (SUM, "C: <group.x 4*i : 4, serial b : {0}, unroll i : 4, unroll k : 32, vector j : 16>"),
    (SUM, "C: <group.x i : 16, serial 2*b : {1}, serial k : 32, unroll b : 2, vector j : 16>"),
    (SUM, "C: <group.x 8*i : 2, serial i : 8, serial b : {0}, serial k : 32, vector j : 16> "
          "stage <%V local at i>"),
]  # fmt: skip
"""Programs with schedules that have serial loops over a batch, or over half of it."""


def types_of(text: str, batch: int) -> list[str]:
    return [f"{batch}x16x32xf32", "32x16xf32" if text is PRODUCT else f"{batch}x32x16xf32"]


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["CPU", "GPU"])
@pytest.mark.parametrize(("text", "schedule"), STEPS)
def test_one_kernel_serves_all_batches_of_loops(text: str, schedule: str, kind: str) -> None:
    kept = PrintedKernels()
    # Of these, all round up to the same power of two.
    for batch in (16, 10, 14, 16):
        found, anew = plans(
            text, types_of(text, batch), kept, schedule.format(batch, batch // 2), kind=kind
        )
        assert found == anew
        assert kept.kernels.kept == 1
        (launch,) = found.steps
        assert isinstance(launch, Launch)
        assert launch.args[-1] == Scalar("int32", batch // (1 + ("{1}" in schedule)))


@pytest.mark.parametrize(("text", "schedule"), STEPS)
def test_kernels_of_loops_over_batches_compute(text: str, schedule: str, device: td.Device) -> None:
    """Kernels that are kept for other batches are those of the same process."""
    generator = np.random.default_rng(0)
    function = td.compile(text, device=device)
    for batch in (16, 10, 14):
        # Small integers: sums are exact in any order.
        shapes = [tuple(map(int, t.split("x")[:-1])) for t in types_of(text, batch)]
        arrays = [generator.integers(-3, 4, s).astype(np.float32) for s in shapes]
        name, _, own = schedule.format(batch, batch // 2).partition(": ")
        own = function.with_schedules({name: own})
        np.testing.assert_array_equal(own(*arrays), function.reference(*arrays))


@pytest.mark.parametrize(("columns", "kernels"), [(16, [1, 1, 1]), (24, [1, 2, 2])])
def test_buffers_of_batches_must_fit(columns: int, kernels: list[int]) -> None:
    """Each batch has a kernel where the next power of two has no room."""
    schedule = (
        "C: <group.x 8*i : 2, serial i : 8, serial b : {0}, serial k : 32, serial 8*j : {1},\n"
        "vector j : 8> stage <%V local at i>"
    )
    kept, counts = PrintedKernels(), list[int]()
    # A step takes 2 KiB or 3 KiB of 32 KiB.
    for batch in (9, 10, 9):
        types = [f"{batch}x16x32xf32", f"{batch}x32x{columns}xf32"]
        plans(SUM, types, kept, schedule.format(batch, columns // 8))
        counts.append(kept.kernels.kept)
    assert counts == kernels


def test_short_loops_have_a_known_number_of_steps() -> None:
    schedule = "C: <group.x i : 16, serial k : 32, serial b : {}, vector j : 16>"
    kept = PrintedKernels()
    for count, batch in enumerate((8, 6), 1):
        found, _ = plans(SUM, types_of(SUM, batch), kept, schedule.format(batch))
        assert "steps" not in found.source and kept.kernels.kept == count


def test_a_batch_of_one_has_a_kernel_of_its_own() -> None:
    schedule = "C: <group.y b : {}, group.x 4*i : 4, serial i : 4, serial k : 32, vector j : 16>"
    assert kept_after(PrintedKernels(), (4, 1), schedule) == [1, 2]


@pytest.mark.parametrize("kind", ["CPU", "GPU"])
def test_kernels_that_are_kept_are_those_of_lowering_anew(kind: str) -> None:
    kept = PrintedKernels()
    # From some batch on arrays are larger than caches, and what is streamed changes.
    for batch in (8, 6, 1, 512):
        types = [f"{batch}x64x128xf32", "128x96xf32", "96xf32"]
        found, anew = plans(BLOCK, types, kept, kind=kind)
        assert found == anew


def test_devices_have_kernels_of_their_own() -> None:
    text = "function (X[N, M]) -> (R) { E = exp(X); R[i: N] = +(E[i, j]); }"
    schedule = "R: <local.y i : 8, local.x j : 16> sub_groups 16"
    kept = PrintedKernels()
    found: list[str] = []
    for sizes in ((8, 16), (8,)):
        for platform in ("Intel(R) OpenCL", "Portable Computing Language"):
            own = {"platform": platform, "sub_group_sizes": sizes}
            plan, anew = plans(text, ["8x16xf32"], kept, schedule, **own)
            assert plan == anew
            found.append(plan.source)
    assert len({*found}) == 2


def refuse(*_: object) -> NoReturn:
    raise AssertionError("a nest is built")


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        *STEPS,
        (PRODUCT, "C: <group.y b : {0}, group.x 4*i : 4, serial i : 4, serial k : 32, vector j : 16>"),
        (PRODUCT, "C: <group.y 2*b : {1}, group.x i : 16, serial b : 2, serial k : 32, vector j : 16>"),
    ],
)  # fmt: skip
def test_nests_of_other_batches_are_resized(
    text: str, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PrintedKernels()
    plans(text, types_of(text, 16), kept, schedule.format(16, 8))
    for batch in (10, 14, 12):
        given = text, types_of(text, batch), kept, schedule.format(batch, batch // 2)
        _, anew = plans(*given)
        with monkeypatch.context() as patched:
            patched.setattr(kept.nests, "build", refuse)
            found, _ = plans(*given)
        assert found == anew


@pytest.mark.parametrize(
    "schedule",
    [
        # A guard of the last tile, and steps that are unrolled.
        "C: <group.y 4*b : {1}, group.x i : 16, serial b : 4, serial k : 32, vector j : 16>",
        "C: <group.x i : 16, serial k : 32, unroll b : {0}, vector j : 16>",
    ],
)
def test_nests_of_other_schedules_are_built(schedule: str) -> None:
    kept = PrintedKernels()
    for batch in (16, 18):
        types = types_of(PRODUCT, batch)
        found, anew = plans(PRODUCT, types, kept, schedule.format(batch, -(-batch // 4)))
        assert found == anew


def test_no_more_kernels_are_kept_than_there_is_room_for() -> None:
    kept = PrintedKernels(most=2)
    for columns in (16, 32, 48, 64):
        plans(PRODUCT, ["2x16x32xf32", f"32x{columns}xf32"], kept)
    assert kept.kernels.kept == 2


def random_program(random: Random) -> tuple[str, Callable[[int], list[str]]]:
    """A program of statements over a batch, and the types of its inputs for a batch size."""
    m, n, k = (random.choice((3, 8, 16, 21)) for _ in "mnk")
    forms = (
        "{0}[b, i, j: B, M, N] = +(A[b, i, k] * W[k, j]);",
        "{0}[b, i, j: B, M, N] = +(A[b, i, k] * V[b, k, j]);",
        "{0}[i, j: M, N] = +(A[b, i, k] * V[b, k, j]);",
        "{0}[k, j: K, N] = +(A[b, i, k] * V[b, i + 1, j]), i < M - 1;",
        "{0}[b, j: B, N] = >(V[b, k, j]);",
        "{0}[j: N] = +(V[b, k, j]);",
        # A neighbour of the batch, and its elements turned round.
        "{0}[b, j: B, N] = +(V[b + 1, k, j]);",
        "{0}[b, k, j: B, K, N] = +(V[B - 1 - b, k, j]);",
        "{0} = exp(V) / B;",
    )
    chosen = random.sample(forms, 3)
    statements = "\n".join(x.format(f"T{number}") for number, x in enumerate(chosen))
    results = ", ".join(f"T{number}" for number in range(len(chosen)))
    text = f"function (A[B, M, K], W[K, N], V[B, K, N]) -> ({results}) {{\n{statements}\n}}"
    if any("V[b, i + 1" in x for x in chosen):
        m = min(m, k)
    return text, lambda b: [f"{b}x{m}x{k}xf32", f"{k}x{n}xf32", f"{b}x{k}x{n}xf32"]


BATCHES = (8, 6, 16, 7, 1, 0, 1 << 16)


def kernels_are_those_of_lowering_anew(seed: int, batches: Sequence[int] = BATCHES) -> None:
    """Plans of a random program with kernels that are kept are the plans without."""
    text, types = random_program(Random(seed))
    kept = PrintedKernels()
    for batch in batches:
        found, anew = plans(text, types(batch), kept, kind=("CPU", "GPU")[seed % 2])
        assert found == anew, batch


def test_kernels_of_random_programs_are_those_of_lowering_anew() -> None:
    kernels_are_those_of_lowering_anew(0, (8, 7, 0, 1 << 16))


def other_batches_agree(seed: int) -> None:
    """Results of a random program for batches of other sizes are the reference's."""
    text, types = random_program(Random(100 + seed))
    function = td.compile(text)
    generator = np.random.default_rng(seed)
    for batch in (8, 6, 16, 7, 1, 0):
        shapes = [tuple(map(int, t.split("x")[:-1])) for t in types(batch)]
        arrays = [generator.standard_normal(shape, np.float32) for shape in shapes]
        found, expected = function(*arrays), function.reference(*arrays)
        for a, b in zip(found, expected, strict=True):
            # Sums of at most 21 * 21 products in another order.
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_other_batches_of_random_programs_give_the_results_of_the_semantics() -> None:
    other_batches_agree(0)


def test_modules_leave_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of ops in circles the garbage collector would find each."""
    lowered: list[ref[Operation]] = []
    lower = kernel_reuse.lower_joined_nests

    def recorded(context: Context, module: ModuleOp) -> None:
        lower(context, module)
        lowered.extend(map(ref, ops_in(module)))

    monkeypatch.setattr(kernel_reuse, "lower_joined_nests", recorded)
    gc.disable()
    try:
        plans(BLOCK, ["2x24x16xf32", "16x32xf32", "32xf32"], PrintedKernels())
        left = [op for op in lowered if op() is not None]
        # The printer replaces some.
        assert 4 * len(left) < len(lowered)
    finally:
        gc.enable()
