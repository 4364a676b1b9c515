"""Aggregates of rows that need one another, in parts, against the reference semantics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from described import run_as, spec
from hypothesis import given
from hypothesis import strategies as st
from running import reference
from test_random_programs import searching
from xdsl.context import Context
from xdsl.dialects.builtin import TensorType, f32

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.split.tile_split_rows import TileSplitRowsPass

Array = npt.NDArray[np.float32]

ROWS = "function (X[R, N]) -> (Y) {"
VARIANCE = f"{ROWS} S[r, 0: R, 1] = +(X[r, n]); D = X - S / N; Q = D * D; Y[r: R] = +(Q[r, n]); }}"
NORM = f"""{ROWS} S[r, 0: R, 1] = +(X[r, n]); D = X - S / N; Q = D * D;
  V[r, 0: R, 1] = +(Q[r, n]); Y = D / sqrt(V / N + 0.001); }}"""
BATCH_NORM = """function (X[N, C, H, W], G[C]) -> (Y) {
  S[0, c, 0, 0: 1, C, 1, 1] = +(X[n, c, h, w]); D = X - S / (N * H * W); Q = D * D;
  V[0, c, 0, 0: 1, C, 1, 1] = +(Q[n, c, h, w]); F[0, c, 0, 0: 1, C, 1, 1] = =(G[c]);
  Y = F * D / sqrt(V / (N * H * W) + 0.001);
}"""
COVARIANCE = """function (X[R, N], Z[R, N]) -> (Y) {
  S[r, 0: R, 1] = +(X[r, n]); T[r, 0: R, 1] = +(Z[r, n]);
  Q = (X - S / N) * (Z - T / N); Y[r: R] = +(Q[r, n]);
}"""
SOFTMAX = f"{ROWS} Y = softmax(X, 1); }}"
SUM_OF_EXPONENTIALS = f"""{ROWS} M[r, 0: R, 1] = >(X[r, n]); E = exp(X - M);
  S[r, 0: R, 1] = +(E[r, n]); Y = log(S) + M; }}"""
PLACE = f"""{ROWS} M[r, 0: R, 1] = >(X[r, n]); P = X == M ? index(X, 1) : N;
  Y[r: R] = <(P[r, n]); }}"""
LAST_PLACE = """function (X[N, R]) -> (Y) {
  M[0, r: 1, R] = <(X[n, r]); P = M == X ? index(X, 0) : -1; Y[r: R] = >(P[n, r]);
}"""
CASES = {
    "variance": (VARIANCE, ((3, 24),), False),
    "norm": (NORM, ((2, 60),), False),
    "norm dX": (NORM, ((2, 60),), True),
    "batch norm": (BATCH_NORM, ((4, 3, 6, 5), (3,)), False),
    "batch norm dX, dG": (BATCH_NORM, ((4, 3, 6, 5), (3,)), True),
    "covariance": (COVARIANCE, ((3, 24), (3, 24)), False),
    "softmax": (SOFTMAX, ((3, 24),), False),
    "softmax dX": (SOFTMAX, ((3, 24),), True),
    "sum of exponentials": (SUM_OF_EXPONENTIALS, ((3, 24),), False),
    "sum of exponentials dX": (SUM_OF_EXPONENTIALS, ((3, 24),), True),
    "place": (PLACE, ((3, 24),), False),
    "last place": (LAST_PLACE, ((24, 3),), False),
}


def inputs(name: str, seed: int, special: bool = False) -> list[Array]:
    """Numbers of which some are alike, or infinite."""
    source, shapes, is_gradient = CASES[name]
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(s).astype(np.float32).round(1) for s in shapes]
    if special:
        arrays[0][rng.random(shapes[0]) < 0.4] = -np.inf
        arrays[0][0] = rng.choice([-np.inf, 0.0], shapes[0][1:])
        arrays[0][-1, ..., 0] = rng.choice([np.inf, np.nan, -np.inf])
    if is_gradient:
        (like,) = (np.asarray(td.compile(source).reference(*arrays)),)
        arrays.append(rng.standard_normal(like.shape).astype(np.float32))
    return arrays


def function(name: str) -> td.Function:
    source, _, is_gradient = CASES[name]
    compiled = td.compile(source)
    return compiled.gradient() if is_gradient else compiled


def checked(name: str, parts: int, arrays: list[Array]) -> None:
    """Split the rows of a program, and compare what it and the reference give."""
    compiled = function(name)
    program = compiled._program  # pyright: ignore[reportPrivateUsage]
    module = compile_module(
        program.module, program.name, types_of(arrays), None, program.transforms, "tile-winograd"
    )
    split = module.clone()
    TileSplitRowsPass(parts).apply(Context(), split)
    split.verify()
    assert len(ops_of(split, KernelOp)) == 1
    for actual, wanted in zip(reference(split, arrays), reference(module, arrays), strict=True):
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-3)
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("parts", (2, 4))
def test_rows_in_parts(name: str, parts: int):
    checked(name, parts, inputs(name, 7))


FORWARD = [name for name, (*_, is_gradient) in CASES.items() if not is_gradient]
ROWS_IN_PARTS = st.tuples(st.sampled_from(FORWARD), st.integers(0, 1 << 16), st.booleans())


def rows_agree(case: tuple[str, int, bool]) -> None:
    """Rows in two parts give what whole rows give; special numbers may be among them."""
    name, seed, special = case
    with np.errstate(all="ignore"):
        checked(name, 2, inputs(name, seed, special))


def test_random_rows_in_parts(request: pytest.FixtureRequest):
    searching(request.config.getoption("--examples"))(given(ROWS_IN_PARTS)(rows_agree))()


GPU = spec("GPU", {"type": "gpu", "compute_units": 8, "max_work_group_size": 64, "launch": 1.0})
LONG = {
    "norm": ((2, 1 << 16),),
    "norm dX": ((2, 1 << 16),),
    "batch norm dX, dG": ((8, 3, 64, 96), (3,)),
    "softmax dX": ((2, 1 << 16),),
    "sum of exponentials dX": ((2, 1 << 16),),
    "place": ((2, 1 << 16),),
}
"""Rows that a GPU splits, and so few that no kernel has whole ones."""


@pytest.mark.covering(1)
@pytest.mark.every_device
@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("target", ("gpu", "own"))
def test_long_rows(name: str, target: str, device: td.Device, monkeypatch: pytest.MonkeyPatch):
    if device.id.startswith("oclgrind") and (name, target) != ("place", "gpu"):
        pytest.skip("a simulator takes a minute for each of these")
    source, _, is_gradient = CASES[name]
    monkeypatch.setitem(CASES, name, (source, LONG[name], is_gradient))
    arrays = inputs(name, 3)
    compiled = td.compile(source, device=device)
    compiled = compiled.gradient() if is_gradient else compiled
    found = run_as(compiled, arrays, device, GPU) if target == "gpu" else compiled(*arrays)
    wanted = compiled.reference(*arrays)
    pairs = zip(_all(found), _all(wanted), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * np.abs(b).max())


def test_parts_on_a_gpu():
    """A pass over what is read, and one over the parts: no third kernel but for what is written."""
    for name, count in (("variance", 2), ("place", 2), ("softmax dX", 3), ("norm dX", 3)):
        source, shapes, is_gradient = CASES[name]
        program = function(name)._program  # pyright: ignore[reportPrivateUsage]
        types = [TensorType(f32, (2, 1 << 16)) for _ in range(len(shapes) + is_gradient)]
        module = compile_module(
            program.module, program.name, types, GPU, program.transforms, "tile-fuse"
        )
        assert len(ops_of(module, KernelOp)) == count, (name, source)


def _all(found: object) -> list[Array]:
    return list(found) if isinstance(found, tuple | list) else [np.asarray(found)]


def test_schedules_of_split_rows_can_be_given():
    target = spec("GPU", {"type": "gpu", "compute_units": 132})
    program = td.compile(BATCH_NORM)._program  # pyright: ignore[reportPrivateUsage]
    arrays = np.ones((32, 64, 56, 56), np.float32), np.ones(64, np.float32)

    def schedules(given: tuple[str, ...] = ()) -> tuple[str, ...]:
        types = types_of(arrays)
        at = program.module, program.name, types, target, (), "tile-loop-tiling"
        named = named_kernels(compile_module(*at, given)).items()
        return tuple(f"{name}: {schedule_text(kernel)}" for name, kernel in named)

    chosen = schedules()
    assert any(text.startswith("S_parts: ") for text in chosen)
    assert schedules(chosen) == chosen
