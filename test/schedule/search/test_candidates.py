"""The schedules that patterns propose: kernels can run by them, and compute the same by any."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import prod

import numpy as np
import pytest
from building import type_of
from compare import LARGEST, assert_close
from cpu_cases import proposed_by
from running import Array, run
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.schedule.cost.device import PLATFORMS, described
from tiledialect.schedule.cost.estimate import modelled
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import Role, Schedule
from tiledialect.schedule.search.choice import best

PROGRAMS: dict[str, tuple[str, tuple[tuple[int, ...], ...], str]] = {
    "elementwise": (
        "function (X[R, C], B[C]) -> (Y) { Y = relu(X + B) * X; }",
        ((9, 40), (40,)),
        "streams",
    ),
    "short rows": ("function (X[R, C]) -> (Y) { Y = X * X; }", ((50, 3),), "streams"),
    "slice": (
        "function (X[R, C]) -> (Y) { Y[r, c: R, C - 3] = =(X[r, c + 3]); }",
        ((9, 40),),
        "streams",
    ),
    "reversal": (
        "function (X[R, C]) -> (Y) { Y[r, c: R, C] = =(X[r, C - 1 - c]); }",
        ((5, 40),),
        "streams",
    ),
    "rows of a stencil": (
        """function (X[R, C]) -> (Y) {
            V[r, c: R, C] = +(X[r + j - 1, c]), j < 3; U[r, c: R, C] = +(X[r, c + i - 1]), i < 3;
            Y = V + U - 6 * X;
        }""",
        ((19, 40),),
        "streams",
    ),
    "transposition": (
        "function (X[R, C]) -> (Y) { Y[c, r: C, R] = =(X[r, c]); }",
        ((70, 36),),
        "transpositions",
    ),
    "transposition of what is computed": (
        "function (X[K, R, C]) -> (Y) { Z = X * X; Y[c, k, r: C, K, R] = =(Z[k, r, c]); }",
        ((2, 33, 35),),
        "transpositions",
    ),
    "row sums": ("function (X[R, C]) -> (S) { S[r: R] = +(X[r, c]); }", ((11, 150),), "sums"),
    "column maxima": (
        "function (X[R, C]) -> (S) { S[c: C] = >(X[r, c]); }",
        ((60, 72),),
        "sums",
    ),
    "few columns": (
        "function (X[R, C]) -> (S) { S[c: C] = +(X[r, c]); }",
        ((64, 8),),
        "sums",
    ),
    "sum of two axes": (
        "function (X[K, R, C]) -> (S) { Y = X * X; S[r: R] = +(Y[k, r, c]); }",
        ((6, 5, 37),),
        "sums",
    ),
    "matrix and vector": (
        "function (A[R, C], X[C]) -> (Y) { Y[r: R] = +(A[r, c] * X[c]); }",
        ((9, 70), (70,)),
        "sums",
    ),
    "pooling": (
        "function (I[H, W, C]) -> (O) "
        "{ O[y, x, c: H/2, W/2, C] = >(I[2*y + j, 2*x + i, c]), i < 3, j < 3; }",
        ((12, 14, 12),),
        "windows",
    ),
    "gradient of windows": (
        "function (I[H, W, C], D[Y, X, C]) -> (O) "
        "{ O[2*y + j, 2*x + i, c: H, W, C] = +(D[y, x, c]), i < 3, j < 3; }",
        ((13, 15, 12), (6, 7, 12)),
        "windows",
    ),
    "columns of few rows": (
        "function (X[R, C]) -> (S) { S[c: C] = +(X[r, c]); }",
        ((3, 1111),),
        "sums",
    ),
    "stencil": (
        "function (I[H, W], K[J, J]) -> (O) { O[y, x: H, W] = +(I[y + j - 1, x + i - 1]*K[j, i]); }",
        ((19, 37), (3, 3)),
        "windows",
    ),
    "softmax": (
        """function (X[M, N]) -> (O) {
            MX[m, 0 : M, 1] = >(X[m, n]);
            E = exp(X - MX);
            S[m, 0 : M, 1] = +(E[m, n]);
            O = E / S;
        }""",
        ((9, 150),),
        "row kernels",
    ),
    "weight gradient of a depthwise convolution": (
        """function (I[N, X, Y, C], D[N, V, W, C]) -> (G) {
            G[i, j, c: 3, 3, C] = +(I[n, x + i, y + j, c] * D[n, x, y, c]);
        }""",
        ((2, 14, 18, 20), (2, 12, 16, 20)),
        "shared sums",
    ),
    "product of long rows and columns": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ((9, 700), (700, 12)),
        "shared sums",
    ),
    "residue classes": (
        """function (D[N, X, Y, CO], K[4, 4, CI, CO]) -> (O) {
            O[n, x, y, a, b, ci: N, X, Y, 2, 2, CI] =
                +(D[n, x - i, y - j, co] * K[2*i + a, 2*j + b, ci, co]), i < 2, j < 2;
        }""",
        ((2, 9, 16, 16), (4, 4, 3, 16)),
        "contractions",
    ),
    "channels before pixels": (
        """function (I[N, C, X, Y], K[CO, C, 3, 3]) -> (O) {
            O[n, co, x, y: N, CO, X, Y] = +(I[n, c, x + i - 1, y + j - 1] * K[co, c, i, j]);
        }""",
        ((2, 8, 7, 14), (16, 8, 3, 3)),
        "contractions",
    ),
    "windows of stride 2": (
        """function (I[N, C, H, W], K[CO, C, 5, 5]) -> (O) {
            O[n, co, y, x: N, CO, H/2, W/2] = +(I[n, c, 2*y + j - 2, 2*x + i - 2] * K[co, c, j, i]);
        }""",
        ((1, 16, 10, 14), (16, 16, 5, 5)),
        "contractions",
    ),
    "weight gradient": (
        """function (I[N, X, Y, CI], D[N, X, Y, CO]) -> (G) {
            G[i, j, ci, co: 3, 3, CI, CO] = +(I[n, x + i - 1, y + j - 1, ci] * D[n, x, y, co]);
        }""",
        ((2, 5, 16, 16), (2, 5, 16, 16)),
        "contractions",
    ),
    "distances of all pairs": (
        """function (A[N, D], B[M, D]) -> (O) {
            Y = abs(reshape(A, N, 1, D) - reshape(B, 1, M, D)); O[i, j: N, M] = >(Y[i, j, d]);
        }""",
        ((21, 13), (35, 13)),
        "contractions",
    ),
    "several short rows": (
        "function (X[M, N]) -> (O) { S[m, 0 : M, 1] = +(X[m, n]); O = X - S; }",
        ((12, 40),),
        "row kernels",
    ),
    "gradient of maxima": (
        """function (X[C, H, W], M[C, H, W], D[C, H, W]) -> (O) {
            O[c, y, x: C, H, W] =
                +(X[c, y, x] == M[c, y - j + 1, x - i + 1] ? D[c, y - j + 1, x - i + 1]), j < 3, i < 3;
        }""",
        ((5, 9, 40), (5, 9, 40), (5, 9, 40)),
        "windows",
    ),
    "groups of few channels": (
        """function (X[P, G, C]) -> (O) {
            S[0, g, 0: 1, G, 1] = +(X[p, g, c]); O = X - S;
        }""",
        ((31, 6, 9),),
        "row kernels",
    ),
    "softmax of columns": (
        """function (X[M, N]) -> (O) {
            MX[0, n : 1, N] = >(X[m, n]);
            E = exp(X - MX);
            S[0, n : 1, N] = +(E[m, n]);
            O = E / S;
        }""",
        ((23, 40),),
        "row kernels",
    ),
}
"""Programs of one kernel each, the shapes of their inputs, and the family that must know it."""

DEVICES = {
    "cpu": described(Kind.CPU, {}),
    "gpu": described(Kind.GPU, {"platform": next(iter(PLATFORMS[Kind.GPU]))}),
}
LONG_VECTORS = described(Kind.CPU, {"compute_units": 2, "native_vector_width": 16})
LOCAL_MEMORY = 32768
"""Bytes that any device has at least."""
TRIED = 1
"""Number of schedules of a family that are run."""


def fused(name: str) -> tuple[ModuleOp, list[Array]]:
    source, shapes, _ = PROGRAMS[name]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    types = [type_of(a) for a in inputs]
    return compile_module(load(source), None, types, after="tile-fuse"), inputs


def kernel_of(module: ModuleOp) -> KernelOp:
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    return kernel


def proposed(family: str, kernel: KernelOp) -> Iterator[Schedule]:
    for device in DEVICES.values():
        facts = kernel_facts(kernel, device)
        for schedule in proposed_by(family, facts, device):
            local_memory = modelled(facts, schedule, device).local_memory
            if schedule.work_items <= device.max_work_group_size and local_memory <= LOCAL_MEMORY:
                yield schedule


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_can_run_by_them(name: str) -> None:
    module, _ = fused(name)
    kernel = kernel_of(module)
    for target in DEVICES.values():
        family = PROGRAMS[name][2]
        found = proposed_by(family, kernel_facts(kernel, target), target)
        assert bool(found) == (target.kind is Kind.GPU or family != "shared sums")
        for schedule in found:
            kernel.schedule = ScheduleAttr(schedule)
            kernel.verify_()


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_have_no_barriers_on_cpus(name: str) -> None:
    facts = kernel_facts(kernel_of(fused(name)[0]), DEVICES["cpu"])
    for schedule in proposed_by(PROGRAMS[name][2], facts, DEVICES["cpu"]):
        shared = {level.index for level in schedule.levels if level.role is Role.LOCAL}
        tiles = schedule.work_items > 1 and any(stage.local for stage in schedule.stages)
        assert not tiles and shared <= set(facts.output_indices)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, device: td.Device) -> None:
    module, inputs = fused(name)
    expected = td.compile(PROGRAMS[name][0]).reference(*inputs)
    schedules = sorted(proposed(PROGRAMS[name][2], kernel_of(module)), key=str)
    for schedule in random.Random(name).sample(schedules, min(TRIED, len(schedules))):
        scheduled = module.clone()
        kernel_of(scheduled).schedule = ScheduleAttr(schedule)
        (result,) = run(scheduled, inputs, device)
        # Sums and deviations from means cancel.
        size = inputs[0].size
        assert_close(result, np.asarray(expected), length=size, ulps=200, scale=LARGEST)


def test_rows_of_a_stencil_are_a_work_items_on_gpus() -> None:
    """Each row is fetched for some rows of the result, and not for each of them."""
    source = PROGRAMS["rows of a stencil"][0]
    module = compile_module(
        load(source), None, [type_of(np.empty((4096, 4096), "f4"))], after="tile-fuse"
    )
    facts = kernel_facts(kernel_of(module), DEVICES["gpu"])
    found = best(facts, DEVICES["gpu"])
    assert found is not None
    (rows,) = {n for n in facts.output_indices if facts.outputs[0].strides[n] > 1}
    own = [
        level.extent
        for level in found.schedule.levels
        if (level.index, level.role) == (rows, Role.UNROLL)
    ]
    assert own and own[0] >= 4


@pytest.mark.parametrize(("groups", "together"), [(8, 8), (7, 7), (6, 6), (11, 1), (12, 6)])
def test_groups_of_few_channels_are_normalized_line_after_line(groups: int, together: int) -> None:
    """Rows between whose elements others lie are read with these, by a core."""
    source = """function (X[B, P, G, C]) -> (O) {
        S[b, 0, g, 0: B, 1, G, 1] = +(X[b, p, g, c]); D = X - S / (P * C);
        V[b, 0, g, 0: B, 1, G, 1] = +(D[b, p, g, c] * D[b, p, g, c]); O = D / sqrt(V);
    }"""
    argument = type_of(np.empty((16, 400, groups, 9), "f4"))
    module = compile_module(load(source), None, [argument], after="tile-fuse")
    found = best(kernel_facts(kernel_of(module), LONG_VECTORS), LONG_VECTORS)
    assert found is not None
    written = [level.extent for level in found.schedule.levels if level.role is Role.UNROLL]
    assert written == [together] * (together > 1)


def test_distances_have_lanes_along_points_of_which_a_work_group_has_a_transposed_copy() -> None:
    """Not along the axes of space, whose sums would be joined lane by lane."""
    arguments = [type_of(np.empty((n, 20), "f4")) for n in (400, 300)]
    source = PROGRAMS["distances of all pairs"][0]
    kernel = kernel_of(compile_module(load(source), None, arguments, after="tile-fuse"))
    facts = kernel_facts(kernel, LONG_VECTORS)
    assert [t.number for t in facts.inputs] == [0, 1]
    assert facts.loaded == {0, 1}
    found = best(facts, LONG_VECTORS)
    assert found is not None
    (stage,) = found.schedule.stages
    assert found.schedule.levels[-1].index == facts.outputs[0].contiguous[0]
    assert (stage.operand, stage.order) == (1, (0, 2, 1))
    kernel.schedule = ScheduleAttr(found.schedule)
    kernel.verify_()


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 17), (33, 100, 2), (20, 7, 130)])
def test_distances_of_all_pairs_and_their_gradients(
    sizes: tuple[int, int, int], device: td.Device
) -> None:
    """Whole numbers, so that sums are exact: quotients of them, too, where lanes have no points."""
    n, m, d = sizes
    f = td.compile(
        """function (A[N, D], B[M, D]) -> (S, Q) {
            X = reshape(A, N, 1, D) - reshape(B, 1, M, D); Y = X * X; S[i, j: N, M] = +(Y[i, j, d]);
            Z = reshape(as_int(A, 32), N, 1, D) / reshape(as_int(B, 32), 1, M, D);
            Q[i, j: N, M] = >(Z[i, j, d]);
        }""",
        device=device,
    )
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, (k, d)).astype(np.float32) for k in (n, m))
    for actual, expected in zip(f(a, b), f.reference(a, b), strict=True):
        assert np.array_equal(actual, expected)
    cotangents = [np.ones((n, m), np.float32), np.ones((n, m), np.int32)]
    gradient = f.gradient(wrt=("A", "B"))
    for actual, expected in zip(
        gradient(a, b, *cotangents), gradient.reference(a, b, *cotangents), strict=True
    ):
        assert np.array_equal(actual, expected)


def test_what_is_as_large_as_an_input_of_it_counts_as_read_itself() -> None:
    """So it can be staged when it has been computed."""
    source = "function (A[N, D], B[D]) -> (O) { X = A * B; O[i: N] = +(X[i, d]); }"
    arguments = [type_of(np.empty(shape, "f4")) for shape in ((400, 20), (20,))]
    kernel = kernel_of(compile_module(load(source), None, arguments, after="tile-fuse"))
    facts = kernel_facts(kernel, LONG_VECTORS)
    assert [t.number for t in facts.inputs] == [2] and not facts.loaded


def test_eight_windows_of_three_by_three_are_written_out_on_gpus() -> None:
    arguments = [type_of(np.empty(shape, "f4")) for shape in ((64, 128), (3, 3))]
    module = compile_module(load(PROGRAMS["stencil"][0]), None, arguments, after="tile-fuse")
    found = proposed_by("windows", kernel_facts(kernel_of(module), DEVICES["gpu"]), DEVICES["gpu"])
    unrolled = [
        prod(level.extent for level in schedule.levels if level.role is Role.UNROLL)
        for schedule in found
    ]
    assert max(unrolled) == 8 * 3 * 3


@pytest.mark.parametrize("taps", ["ij", "ji"])
def test_strided_windows_have_a_row_of_taps_in_a_chunk_of_channels(taps: str) -> None:
    """A row of a picture is staged once for all of its taps, of which a chunk has no room for more
    rows, in whatever order weights have them."""
    text = f"""function (I[N, C, H, W], K[D, C, 5, 5]) -> (O) {{
        O[n, d, y, x: N, D, H / 2, W / 2] =
            +(K[d, c, {taps[0]}, {taps[1]}] * I[n, c, 2 * y + i - 2, 2 * x + j - 2]);
    }}"""
    shapes = ((32, 64, 56, 56), (128, 64, 5, 5))
    arguments = [type_of(np.empty(shape, "f4")) for shape in shapes]
    kernel = kernel_of(compile_module(load(text), None, arguments, after="tile-fuse"))
    found = best(kernel_facts(kernel, DEVICES["gpu"]), DEVICES["gpu"])
    assert found is not None
    loops = [level.index for level in found.schedule.levels if level.index in "cij"]
    assert loops == ["i", "c", "c", "j"]
    assert {stage.at for stage in found.schedule.stages if stage.local} <= {("c", 4), ("c", 8)}


def test_all_that_windows_slide_over_is_staged() -> None:
    """No lane of what is compared, or of what is summed, is tested at the edges of planes."""
    module, _ = fused("gradient of maxima")
    found = best(kernel_facts(kernel_of(module), LONG_VECTORS), LONG_VECTORS)
    assert found is not None
    assert [stage.operand for stage in found.schedule.stages] == [1, 2]


def products(rows: int, columns: int, steps: int, batches: int) -> tuple[ModuleOp, list[Array]]:
    """Products of matrices, the second ones transposed."""
    text = """function (A[B, M, K], C[B, N, K]) -> (P) {
        P[b, m, n: B, M, N] = +(A[b, m, k] * C[b, n, k]);
    }"""
    rng = np.random.default_rng(0)
    shapes = (batches, rows, steps), (batches, columns, steps)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    return compile_module(load(text), None, [type_of(a) for a in inputs], after="tile-fuse"), inputs


def by_neighbours(schedule: Schedule) -> bool:
    """Whether neighbouring work-items have neighbouring columns."""
    lanes = [level for level in schedule.levels if level.role is Role.LOCAL][-1:]
    return any((x.index, x.stride) == ("n", 1) and x.extent >= 16 for x in lanes)


@pytest.mark.parametrize("columns", [197, 198, 200])
def test_rows_that_are_no_whole_vectors_are_stored_by_neighbours(columns: int) -> None:
    facts = kernel_facts(kernel_of(products(197, columns, 64, 96)[0]), DEVICES["gpu"])
    found = best(facts, DEVICES["gpu"])
    assert found is not None
    assert by_neighbours(found.schedule) == (columns % 4 > 0)
    assert not by_neighbours(found.schedule) or found.schedule.levels[-1].role is Role.UNROLL


@pytest.mark.covering(1, words=True)
def test_results_of_columns_that_are_apart(device: td.Device) -> None:
    module, (a, b) = products(70, 75, 20, 2)
    kernel = kernel_of(module)
    found = [s for s in proposed("contractions", kernel) if by_neighbours(s)]
    assert found
    kernel.schedule = ScheduleAttr(random.Random(0).choice(sorted(found, key=str)))
    (result,) = run(module, [a, b], device)
    assert_close(result, np.asarray(a @ b.transpose(0, 2, 1)), length=20, ulps=200, scale=LARGEST)


def test_sums_that_no_chunk_divides_have_a_last_one_that_is_shorter() -> None:
    """A step of 16 reads three sectors of rows that begin anywhere, two of 8 four."""
    text = "function (A[B, M, K], C[B, K, N]) -> (P) { P[b, m, n: B, M, N] = +(A[b, m, k] * C[b, k, n]); }"
    arguments = [type_of(np.empty(shape, "f4")) for shape in ((96, 197, 197), (96, 197, 64))]
    module = compile_module(load(text), None, arguments, after="tile-fuse")
    found = proposed("contractions", kernel_of(module))
    assert {4, 8, 16} <= {
        stage.at[1] for s in found for stage in s.stages if stage.local and stage.at
    }
