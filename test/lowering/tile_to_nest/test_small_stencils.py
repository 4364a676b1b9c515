"""Kernels of several contractions of few points, against the reference semantics."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from building import type_of
from compare import LARGEST, assert_close
from row_schedules import kernels_of, random_schedule, tuple_of
from running import Array, run
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.transform.transforms import Gradient

PROGRAMS = {
    "difference": """function (X[M, N]) -> (Y) {
        A[m, n: M, N - 1] = =(X[m, n + 1]); B[m, n: M, N - 1] = =(X[m, n]); Y = A - B;
    }""",
    "cross": """function (X[M, N]) -> (Y) {
        V[m, n: M, N] = +(X[m + j - 1, n]), j < 3; U[m, n: M, N] = +(X[m, n + i - 1]), i < 3;
        Y = V * exp(U) - X;
    }""",
    "products": """function (X[M, N]) -> (Y, Z) {
        A[m, n: M, N] = +(X[m, n + 1] * X[m - 1, n]); B[m, n: M, N] = +(X[m, 2*n - 3]);
        Y = A + B; Z = A > B ? 1.0 : X;
    }""",
    "broadcast": """function (X[M, N]) -> (Y) {
        A[m, n: M, N] = =(X[0, n]); B[m, n: M, N] = +(X[m + 2, n] * X[i, 0]), i < 2;
        Y = A * B;
    }""",
    "band": """function (X[M, N]) -> (Y) {
        A[m, n: M, N] = +(X[m + i, n]), i < 3, n - i < 4; B[m, n: M, N] = +(X[m, n - 1]);
        Y = A * 2 - B;
    }""",
    "counts": """function (X[M, N]) -> (Y) {
        C = 2.0; A[m, n: M, N] = +(C[]), i < 3, m + i < 3; B[m, n: M, N] = +(X[m, n - 1] * C[]);
        Y = A * X - B;
    }""",
    "roll": """function (X[M, N]) -> (Y) {
        A[m + 1, n: M, N] = =(X[m, n]); R[0, n: M, N] = =(X[M - 1, n]) default A;
        C[m, n + 1: M, N] = =(R[m, n]); Y[m, 0: M, N] = =(R[m, N - 1]) default C;
    }""",
    "reflected": """function (X[M, N]) -> (Y) {
        A[m + 1, n: M + 2, N] = =(X[m, n]); B[0, n: M + 2, N] = =(X[1, n]) default A;
        C[M + 1, n: M + 2, N] = =(X[M - 2, n]) default B;
        D[m, n + 1: M + 2, N + 2] = =(C[m, n]);
        E[m, 1 - n: M + 2, N + 2] = =(C[m, n]), n - 1 < 1 default D;
        F[m, N + n: M + 2, N + 2] = =(C[m, N - 1 - n]), n - 1 < 1 default E;
        Y = F * F;
    }""",
    "beside": """function (X[M, N]) -> (Y, Z) {
        A[m, n: M, 2*N] = =(X[m, N - 1 - n]); B[m, n + N: M, 2*N] = =(X[m, n]) default A;
        Y = relu(B); Z[m, n: M, N] = =(B[m, n + 1]);
    }""",
    "over": """function (X[M, N]) -> (Y) {
        A = exp(X); B[m, n + 1: M, N] = =(X[m, n]), n < 3 default A; Y = B - X;
    }""",
    "replaced twice": """function (X[M, N]) -> (Y) {
        A[m, n: M - 1, N] = =(X[m + 1, n]); B = exp(A);
        C[m + 1, n: M, N] = =(B[m, n]) default X; D[m, n: M - 1, N] = =(C[m + 1, n]);
        Y[m + 1, n: M, N] = =(D[m, n]) default C;
    }""",
    "pairs": """function (X[M, N]) -> (Y) {
        P = reshape(X * 2, M, N, 1);
        A[m, n: M, N - 1] = =(P[m, n + 1, 0]); B[m, n: M, N - 1] = =(P[m, n, 0]);
        R = A * B; I = A - B; S[m, n, 0: M, N - 1, 2] = =(R[m, n]);
        Z[m, n, 1: M, N - 1, 2] = =(I[m, n]) default S;
        C[m, n: M, N - 1] = =(Z[m, n, 0]); D[m, n: M, N - 1] = =(Z[m, n, 1]); Y = C * C + D;
    }""",
    "others": """function (X[M, N]) -> (Y) {
        A[m, n: M, N / 2] = =(X[m, 2*n]); B[m, n: M, N / 2] = =(X[m, 2*n + 1]); D = A - B;
        T[m, n, 2: M, N / 2, 3] = =(A[m, n]); U[m, n, 0: M, N / 2, 3] = =(B[m, n]) default T;
        Y[m, n, 1: M, N / 2, 3] = =(D[m, n]) default U;
    }""",
    "turned pairs": """function (X[M, N]) -> (Y) {
        P[m, n, 0: N, M, 2] = =(X[n, m]); Y[m, n, 1: N, M, 2] = =(X[n, m]) default P;
    }""",
    "twice": """function (X[M, N]) -> (Y) {
        A[m, n: M, N + 3] = +(X[m, n - 2]); B[m, n: M, N] = =(A[m, n + 1]);
        C[m, N - 1 - n: M, N] = =(B[m, n]); Y = C + X;
    }""",
}
ONE_KERNEL = ("difference", "cross", "broadcast", "band")
PARTS = ("roll", "reflected")
AT_LEAST_TWO = ("reflected", "others", "replaced twice")
SHAPES = ((1, 2), (2, 7), (5, 3), (3, 11), (7, 37), (2, 64))


def fused(source: str, inputs: list[Array], gradients: tuple[Gradient, ...] = ()) -> ModuleOp:
    """The program with contractions in one kernel, not scheduled yet."""
    types = [type_of(a) for a in inputs]
    module = compile_module(load(source), None, types, None, gradients, after="tile-defract")
    TileFusePass(loads=True, rows=False).apply(Context(), module)
    return module


def check(
    module: ModuleOp, inputs: list[Array], wanted: tuple[Array, ...], device: td.Device
) -> None:
    for actual, expected in zip(run(module, inputs, device), wanted, strict=True):
        # Differences of neighbours cancel.
        assert_close(actual, expected, length=16, ulps=200, scale=LARGEST)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_by_the_chosen_schedule(shape: tuple[int, int], name: str, device: td.Device) -> None:
    if name in AT_LEAST_TWO:
        shape = max(shape[0], 2), shape[1]
    inputs = [np.random.default_rng(0).standard_normal(shape).astype(np.float32)]
    module = fused(PROGRAMS[name], inputs)
    if name in PARTS and min(shape) > 2:
        assert len(kernels_of(module)) == 1
    if name in ONE_KERNEL and shape[0] > 2:
        (kernel,) = kernels_of(module)
        assert len(kernel.contractions) == 2
    check(module, inputs, tuple_of(td.compile(PROGRAMS[name]).reference(*inputs)), device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(2))
def test_gradients_by_random_schedules(seed: int, name: str, device: td.Device) -> None:
    choose, rng = random.Random(f"{name} {seed}"), np.random.default_rng(1)
    function = td.compile(PROGRAMS[name])
    inputs = [rng.standard_normal(choose.choice(SHAPES[name in AT_LEAST_TWO :])).astype(np.float32)]
    outputs = tuple_of(function.reference(*inputs))
    given = [*inputs, *(rng.standard_normal(o.shape).astype(np.float32) for o in outputs)]
    module = fused(PROGRAMS[name], given, (Gradient(function.inputs, False),))
    for kernel in kernels_of(module):
        if len(kernel.contractions) > 1:
            schedule = replace(random_schedule(kernel, choose), stages=())
            kernel.schedule = ScheduleAttr(schedule)
    module.verify()
    check(module, given, tuple_of(function.gradient().reference(*given)), device)


def test_copy_of_a_function_behind_two_defaults(device: td.Device) -> None:
    """Elements that the outer copy leaves are its default's, not the inner function's."""
    x = np.random.default_rng(2).standard_normal((4, 5)).astype(np.float32)
    function = td.compile(PROGRAMS["replaced twice"], device=device)
    assert_close(function(x), function.reference(x), ulps=16)
