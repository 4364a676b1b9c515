"""Gradients of differences of all pairs, and of tensors that are put together of parts.

As compiled for the device itself and for described ones, where starting a kernel costs nothing.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from described import check_as, spec
from xdsl.dialects.builtin import TensorType

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.elementwise.ops import SelectOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.lowering.compilation import compile_module

EUCLIDEAN = """function (A[N, D], B[M, D]) -> (O) {
  X = reshape(A, N, 1, D) - reshape(B, 1, M, D); Y = X * X;
  S[i, j: N, M] = +(Y[i, j, d]); O = sqrt(S);
}"""
ABSOLUTE = """function (A[N, D], B[M, D]) -> (O) {
  X = abs(reshape(A, N, 1, D) - reshape(B, 1, M, D)); O[i, j: N, M] = +(X[i, j, d]);
}"""
GRAY = """function (X[H, W, 3]) -> (O) {
  R[y, x: H, W] = =(X[y, x, 0]); G[y, x: H, W] = =(X[y, x, 1]); B[y, x: H, W] = =(X[y, x, 2]);
  O = 0.3 * R + 0.5 * G + 0.2 * B;
}"""
HAAR = """function (X[H, W]) -> (O) {
  A[y, x: H/2, W/2] = =(X[2*y, 2*x]); B[y, x: H/2, W/2] = =(X[2*y, 2*x + 1]);
  C[y, x: H/2, W/2] = =(X[2*y + 1, 2*x]); D[y, x: H/2, W/2] = =(X[2*y + 1, 2*x + 1]);
  P = A + B + C + D; Q = A - B + 2 * C - D;
  O1[y, x: H, W/2] = =(P[y, x]); O[y + H/2, x: H, W/2] = =(Q[y, x]) default O1;
}"""
CONCATENATION = """function (A[N, P], B[N, Q]) -> (O) {
  S = A * A;
  O1[n, p: N, P + Q] = =(S[n, p]); O[n, q + P: N, P + Q] = =(B[n, q]) default O1;
}"""
WRITTEN_OVER = """function (A[N, P], B[N, Q]) -> (O) {
  S = A * A;
  O1[n, p: N, P + 1] = =(S[n, p]); O[n, q + P - 1: N, P + 1] = =(B[n, q]) default O1;
}"""
RELU_OF_PARTS = """function (A[N, P], B[N, Q]) -> (O) {
  O1[n, p: N, P + Q] = =(A[n, p]); C[n, q + P: N, P + Q] = =(B[n, q]) default O1;
  O = C > 0.7 ? C * C : 0.5 * C;
}"""
RELU_OF_OVERLAP = RELU_OF_PARTS.replace("P + Q", "P + 1").replace("q + P", "q + P - 1")
PLANES = """function (A[N, M, L], B[X, Y, Z]) -> (O) {
  E = A * B; P[i, j: N, L] = =(E[i, 0, j]); Q[i, j: N, L] = =(E[i, 1, j]); O = P * Q;
}"""
STACK = """function (A[M, N], B[M, N]) -> (O) {
  O1[i, j, 0: M, N, 2] = =(A[i, j]); O[i, j, 1: M, N, 2] = =(B[i, j]) default O1;
}"""
CHANNELS = """function (A[N, C, H, W], B[N, D, H, W]) -> (O) {
  O1[n, c, y, x: N, C + D, H, W] = =(A[n, c, y, x]);
  O[n, d + C, y, x: N, C + D, H, W] = =(B[n, d, y, W - 1 - x]) default O1;
}"""
KRONECKER = """function (A[M, N], B[P, Q]) -> (K) {
  T[P*i + k, Q*j + l: M*P, N*Q] = =(A[i, j] * B[k, l]); K = T * T;
}"""
WIDE_MASKS = """function (A[N, P], B[N, P]) -> (O) {{
  S[{place}] = +(B[n, p]); Y = S == 0 ? A : 0; O[n, p: N - 1, P] = =(Y[n + 1, p]);
}}"""
MASKED_COLUMNS = WIDE_MASKS.format(place="p: P")
MASKED_IN_A_ROW = WIDE_MASKS.format(place="0, p: 1, P")
TARGETS = {
    "own": None,
    "gpu": spec(
        "GPU", {"type": "gpu", "compute_units": 4, "max_work_group_size": 32, "launch": 0.0}
    ),
}
PAIRS = ((13, 7), (9, 7))


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        (EUCLIDEAN, PAIRS),
        (ABSOLUTE, PAIRS),
        (GRAY, ((5, 18, 3),)),
        (HAAR, ((6, 20),)),
        (KRONECKER, ((3, 5), (4, 6))),
        (CONCATENATION, ((3, 15), (3, 6))),
        (WRITTEN_OVER, ((3, 15), (3, 2))),
        (RELU_OF_PARTS, ((3, 15), (3, 6))),
        (RELU_OF_OVERLAP, ((3, 15), (3, 2))),
        (PLANES, ((4, 2, 8), (1, 1, 1))),
        (STACK, ((7, 3), (7, 3))),
        (CHANNELS, ((2, 4, 3, 5), (2, 3, 3, 5))),
        (MASKED_COLUMNS, ((5, 7), (5, 7))),
        (MASKED_IN_A_ROW, ((5, 7), (5, 7))),
    ],
    ids=(
        *("Euclidean", "absolute", "gray", "Haar", "Kronecker", "concatenation", "over"),
        *("a function of parts", "a function of what is written over", "planes"),
        *("a stack along short rows", "channels, one turned around"),
        *("masked columns", "masked in a row"),
    ),
)
def test_results(source: str, shapes: tuple[tuple[int, ...], ...], target: str, device: td.Device):
    function, random = td.compile(source), np.random.default_rng(0)
    arrays = [random.uniform(0.5, 1, s).astype(np.float32) for s in shapes]
    for _ in range(2):
        wanted = check_as(function, arrays, device, TARGETS[target], ulps=20000)
        function = function.gradient(list("ABX"[: len(shapes)]) if len(shapes) > 1 else ["X"])
        arrays += [random.uniform(-1, 1, wanted[0].shape).astype(np.float32)]


@pytest.mark.parametrize("source", (EUCLIDEAN, ABSOLUTE), ids=("Euclidean", "absolute"))
def test_pairs_are_not_written(source: str):
    """Both gradients compute the differences where they sum them."""
    function = td.compile(source).gradient(["A", "B"])
    arrays = [np.ones(s, np.float32) for s in ((64, 32), (64, 32), (64, 64))]
    program = function._program  # pyright: ignore[reportPrivateUsage]
    for kind in ("gpu", "cpu"):
        target = spec(kind.upper(), {"type": kind, "compute_units": 2, "launch": 0.0})
        module = compile_module(
            program.module, program.name, types_of(arrays), target, program.transforms, "tile-fuse"
        )
        made = [v.type for op in module.walk() if isinstance(op, KernelOp) for v in op.outputs]
        shapes = [t.get_shape() for t in made if isinstance(t, TensorType)]
        assert shapes and all(prod(s) <= 64 * 64 for s in shapes)


@pytest.mark.parametrize(
    ("source", "masks"), ((CONCATENATION, 0), (WRITTEN_OVER, 1)), ids=("beside", "over")
)
def test_parts_are_read_past_masks(source: str, masks: int):
    """Only what is written over is counted: a part beside another one has all of its cotangent."""
    function = td.compile(source).gradient(["A", "B"])
    program = function._program  # pyright: ignore[reportPrivateUsage]
    arrays = [np.ones(s, np.float32) for s in ((8, 64), (8, 2))]
    columns = 64 + (1 if masks else 2)
    arrays.append(np.ones((8, columns), np.float32))
    target = spec("CPU", {"type": "cpu", "launch": 0.0})
    module = compile_module(
        program.module, program.name, types_of(arrays), target, program.transforms, "tile-fuse"
    )
    assert sum(isinstance(op, SelectOp) for op in module.walk()) == masks


def test_gradients_of_parts_read_their_own_part():
    """The share of a part in a function of a concatenation is computed of that part alone."""
    function = td.compile(RELU_OF_PARTS).gradient(["A", "B"])
    program = function._program  # pyright: ignore[reportPrivateUsage]
    arrays = [np.ones(s, np.float32) for s in ((8, 64), (8, 32), (8, 96))]
    for kind in ("gpu", "cpu"):
        target = spec(kind.upper(), {"type": kind, "compute_units": 2, "launch": 0.0})
        module = compile_module(
            program.module, program.name, types_of(arrays), target, program.transforms, "tile-fuse"
        )
        kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
        assert len(kernels) == 2 and all(len(k.inputs) == 2 for k in kernels)
