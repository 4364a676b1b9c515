"""Programs of which elementwise kernels are computed again, on devices, as compiled for a GPU."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import oclgrind
import pytest
from compare import LARGEST, assert_close
from described import run_as, spec
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.lowering.compilation import compile_module

NORMALIZED = """function (X[N, C, S]) -> (Y) {
  T[0, c, 0: 1, C, 1] = +(X[n, c, s]); D = X - T / (N*S);
  Q = D * D; V[0, c, 0: 1, C, 1] = +(Q[n, c, s]); Y = D / sqrt(V / (N*S) + 0.01);
}"""
LAYER_NORM = """function (X[R, C], G[C]) -> (Y) {
  T[r, 0: R, 1] = +(X[r, c]); D = X - T / C;
  Q = D * D; V[r, 0: R, 1] = +(Q[r, c]); Y = D / sqrt(V / C + 0.01) * G;
}"""
COLUMNS = "function (X[R, C]) -> (Y) { Y = softmax(X, 0); }"
HUBER = """function (X[N, M], Y[N, M], W[N]) -> (L) {
  E = X - Y; A = abs(E); H = A < 1.0 ? 0.5 * E * E : A - 0.5;
  T = H * sqrt(reshape(W, N, 1)); S[] = +(T[n, m]); L = S / (N * M);
}"""
PAIRS = """function (A[N, D], B[M, D]) -> (O) {
  X = reshape(A, N, 1, D) - reshape(B, 1, M, D);
  S[i, j: N, M] = +(X[i, j, d] * X[i, j, d]); O = exp(-0.5 * S);
}"""
FORCES = """function (X[N], Y[N], M[N], C[N], E) -> (U, V) {
  DX = X - reshape(X, N, 1); DY = Y - reshape(Y, N, 1); R = 1 / sqrt(DX * DX + DY * DY + E);
  W = M * R * R;
  S[i: N] = +(W[i, j] * R[i, j] * DX[i, j]); U = S * (C * 2.0);
  V[i: N] = +(W[i, j] * R[i, j] * DY[i, j]);
}"""
ADAM = """function (P[N, M], G[N, M], A[N, M], V[N, M], T[]) -> (PN, AN, VN) {
  AN = 0.9 * A + 0.1 * G; VN = 0.99 * V + 0.01 * G * G;
  PN = P - 0.1 * (AN / (1 - pow(0.9, T))) / (sqrt(VN / (1 - pow(0.99, T))) + 0.001);
}"""
GPU = {"type": "gpu", "compute_units": 4, "max_work_group_size": 32, "launch": 0.0}
"""Device on which a launch costs nothing, so that small kernels are not merged for that."""


@pytest.mark.covering(1)
@pytest.mark.parametrize("gradient", (False, True))
@pytest.mark.parametrize(
    ("source", "shape"), [(NORMALIZED, (6, 3, 40)), (COLUMNS, (65, 7))], ids=("pictures", "columns")
)
def test_results(source: str, shape: tuple[int, ...], gradient: bool, device: td.Device):
    function = td.compile(source)
    arrays = [np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)]
    if gradient:
        function, arrays = function.gradient("X"), [*arrays, arrays[0][::-1].copy()]
    target = spec("GPU", GPU)
    program = function._program  # pyright: ignore[reportPrivateUsage]
    module = compile_module(
        program.module, program.name, types_of(arrays), target, program.transforms, "tile-fuse"
    )
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    whole = [v for k in kernels for v in k.outputs if v.type == kernels[-1].outputs[0].type]
    assert len(whole) <= 1 + gradient, "what is of the input's size is computed, not written"
    before = len(oclgrind.log())
    (found,) = run_as(function, arrays, device, target)
    assert_close(found, function.reference(*arrays), ulps=4000, scale=LARGEST)
    assert not oclgrind.report(before)


def test_numbers_are_computed_where_they_are_repeated(device: td.Device):
    """The cotangent of a mean, and a number for each row, have no kernels of their own."""
    function = td.compile(HUBER).gradient("X")
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 2, s).astype(np.float32) for s in ((9, 40), (9, 40), (9,))]
    arrays.append(np.array(3, np.float32))
    target = spec("GPU", {**GPU, "launch": 5.0})
    assert len(kernels_of(function, arrays, target)) == 1
    before = len(oclgrind.log())
    (found,) = run_as(function, arrays, device, target)
    assert_close(found, function.reference(*arrays), ulps=4000, scale=LARGEST)
    assert_close(
        td.compile(HUBER, device=device).gradient("X")(*arrays), found, ulps=4000, scale=LARGEST
    )
    assert not oclgrind.report(before)


def kernels_of(function: td.Function, arrays: list[Any], target: Attribute) -> list[KernelOp]:
    program = function._program  # pyright: ignore[reportPrivateUsage]
    types = types_of(arrays)
    module = compile_module(
        program.module, program.name, types, target, program.transforms, "tile-fuse"
    )
    return [op for op in module.walk() if isinstance(op, KernelOp)]


def test_gradients_of_pairs_write_no_differences(device: td.Device):
    """Differences are computed again, also where the gradient multiplies them with distances."""
    function = td.compile(PAIRS, device=device).gradient()
    random = np.random.default_rng(0)
    shapes = ((13, 5), (11, 5), (13, 11))
    arrays = [random.uniform(-1, 1, s).astype(np.float32) for s in shapes]
    large = [np.empty(s, np.float32) for s in ((512, 8), (512, 8), (512, 512))]
    made = [
        v.type for k in kernels_of(function, large, spec("CPU", {"type": "cpu"})) for v in k.outputs
    ]
    assert max(prod(t.get_shape()) for t in made if isinstance(t, TensorType)) == 512 * 512
    before = len(oclgrind.log())
    for found, wanted in zip(function(*arrays), function.reference(*arrays), strict=True):
        assert_close(found, wanted, ulps=4000, scale=LARGEST)
    assert not oclgrind.report(before)


@pytest.mark.parametrize(("made", "kernels"), [("tanh(X * C) * 2", 1), ("exp(X) * C", 2)])
def test_sums_of_few_points_compute_what_they_take(made: str, kernels: int, device: td.Device):
    """Values that are 0 where nothing is read are computed where they are taken; exp(0) is 1."""
    function = td.compile(
        f"""function (X[N, M], C) -> (O) {{ Y = {made}; A[i, j + 1: 19, 42] = +(Y[i, j]);
        B[i + 2, j: 19, 42] = +(Y[i, j]); D[i, 41: 19, 42] = +(Y[i, j]), j < 2;
        E[i + 1, j: 19, 42] = +(Y[i, j] * X[i, j]); O = A + B + D * 2 - E; }}"""
    )
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 2, (17, 40)).astype(np.float32), np.array(3, np.float32)]
    target = spec("CPU", {"type": "cpu"})
    assert len(kernels_of(function, arrays, target)) == kernels
    before = len(oclgrind.log())
    for own in (target, spec("GPU", {**GPU, "launch": 5.0})):
        (found,) = run_as(function, arrays, device, own)
        assert_close(found, function.reference(*arrays), ulps=400, scale=LARGEST)
    (found,) = [td.compile(function.tile, device=device)(*arrays)]
    assert_close(found, function.reference(*arrays), ulps=400, scale=LARGEST)
    assert not oclgrind.report(before)


def test_gradients_of_forces_write_no_pairs(device: td.Device):
    """All pairs are computed again for sums over each of both, together, and for all of them."""
    function = td.compile(FORCES, device=device).gradient()
    random = np.random.default_rng(0)
    arrays = [
        random.uniform(0.5, 1, s).astype(np.float32) for s in (*[(37,)] * 4, (), (37,), (37,))
    ]
    large = [np.empty(np.minimum(a.shape, 1) * 2048, np.float32) for a in arrays]
    kernels = kernels_of(function, large, spec("CPU", {"type": "cpu"}))
    made = [v.type for k in kernels for v in k.outputs]
    assert max(prod(t.get_shape()) for t in made if isinstance(t, TensorType)) == 2048
    assert len(kernels) <= 6
    before = len(oclgrind.log())
    found = run_as(function, arrays, device, spec("GPU", GPU))
    for own in (found, function(*arrays)):
        for a, wanted in zip(own, function.reference(*arrays), strict=True):
            assert_close(a, wanted, ulps=40000, scale=LARGEST)
    assert not oclgrind.report(before)


def test_steps_with_numbers_are_one_kernel(device: td.Device):
    """Values made of numbers alone part no ops of whole tensors, wherever they stand."""
    function = td.compile(ADAM, device=device)
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.1, 1, (9, 40)).astype(np.float32) for _ in range(4)]
    arrays.append(np.array(3, np.float32))
    for target in (spec("GPU", {**GPU, "launch": 5.0}), spec("CPU", {"type": "cpu"})):
        assert len(kernels_of(function, arrays, target)) == 1
    for found, wanted in zip(function(*arrays), function.reference(*arrays), strict=True):
        assert_close(found, wanted, ulps=400, scale=LARGEST)


@pytest.mark.covering(1)
@pytest.mark.parametrize("wrt", ("G", "XG"))
@pytest.mark.parametrize("described", (True, False), ids=("gpu", "own"))
def test_ends_of_rows(wrt: str, described: bool, device: td.Device):
    """The gradient by a layer norm's gain is of rows' means and columns: nothing whole is written."""
    function = td.compile(LAYER_NORM).gradient(tuple(wrt))
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, s).astype(np.float32) for s in ((70, 40), (40,), (70, 40))]
    target = spec("GPU", GPU) if described else spec("CPU", {"type": "cpu", "launch": 0.0})
    program = function._program  # pyright: ignore[reportPrivateUsage]
    module = compile_module(
        program.module, program.name, types_of(arrays), target, program.transforms, "tile-fuse"
    )
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    shapes = [t.get_shape() for k in kernels for t in k.result_types if isinstance(t, TensorType)]
    assert shapes.count((70, 40)) == wrt.count("X")
    before = len(oclgrind.log())
    found = run_as(function, arrays, device, target)
    expected = function.reference(*arrays)
    wanted = (expected,) if len(wrt) == 1 else expected
    for a, b in zip(found, wanted, strict=True):
        assert_close(a, b, ulps=20000, scale=LARGEST)
    assert not oclgrind.report(before)


def test_elements_that_are_read_elsewhere(device: td.Device):
    """The operand of a gather has its result's shape by chance alone."""
    function = td.compile(
        "function (X[M, M], I[M]) -> (G, S) { E = X * X; G = gather(E, I); S[i: M] = +(E[i, j]); }"
    )
    random = np.random.default_rng(0)
    arrays = [random.integers(-3, 4, (5, 5)).astype(np.float32), random.integers(0, 5, 5)]
    found = run_as(function, arrays, device, spec("GPU", GPU))
    for a, b in zip(found, function.reference(*arrays), strict=True):
        assert np.array_equal(a, b)
