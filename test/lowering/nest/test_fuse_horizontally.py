"""Kernels that are independent of one another: one launch, and the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from given_schedules import AGGREGATIONS, STATEMENTS
from hypothesis import given, note
from hypothesis import strategies as st
from running import Case, merged, reference
from test_random_programs import searching
from test_schedules import scheduled
from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.api.loading import load as load_file
from tiledialect.interpreters.host import run_host
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import array_type, find_function
from tiledialect.language.to_ir import load
from tiledialect.lowering.nest import nest_fuse_horizontally
from tiledialect.lowering.pipeline import TileToGpuPass, pipeline
from tiledialect.passes.specialize.tile_specialize import specialize

RANDOM = np.random.default_rng(5)
H100 = load_file(Path(__file__).parents[3] / "bench" / "devices" / "h100.mlir").module

PRODUCTS = (
    "function (A[M, K], B[K, N], C[M, K]) -> (O, P) "
    "{ O[m, n: M, N] = +(A[m, k] * B[k, n]); P[m, n: M, N] = +(C[m, k] * B[k, n]); }"
)
TILE = "<group.y 8*m : 4, group.x 32*n : 2, local.x n : 32, {}> stage <{} local at 8*k, B local at 8*k>"
"""Tiles of 8 x 32 by groups of 64 or 128 work-items, which read both factors from local memory."""
LARGE = "local.y 2*m : 4, serial 8*k : 6, serial k : 8, unroll m : 2"
SMALL = "local.y 4*m : 2, serial 8*k : 6, serial k : 8, unroll m : 4"
SCHEDULES = {
    "equal": ((32, 48, 64), TILE.format(LARGE, "A"), TILE.format(LARGE, "C"), 1),
    "half": ((32, 48, 64), TILE.format(LARGE, "A"), TILE.format(SMALL, "C"), 1),
    "half before": ((32, 48, 64), TILE.format(SMALL, "A"), TILE.format(LARGE, "C"), 1),
    # The last tiles have edges, so that not all groups come to the same barriers.
    "edges": ((31, 48, 61), TILE.format(LARGE, "A"), TILE.format(SMALL, "C"), 2),
    "edges of equal": ((31, 48, 61), TILE.format(LARGE, "A"), TILE.format(LARGE, "C"), 1),
}


def numbers(*shape: int) -> np.ndarray:
    """Whole numbers, whose sums are exact."""
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


def sums(x: np.ndarray) -> np.ndarray:
    """Sums of each number and the two after it."""
    return np.convolve(np.append(x, [0, 0]), np.ones(3), "valid").astype(np.float32)


@pytest.mark.parametrize("name", SCHEDULES)
def test_groups_of_several_kernels(name: str):
    """By the reference semantics of kernels, as a GPU would run them."""
    (m, k, n), first, second, count = SCHEDULES[name]
    a, b, c = numbers(m, k), numbers(k, n), numbers(m, k)
    module = load(PRODUCTS)
    module.attributes.update(H100.attributes)
    specialize(find_function(module, "main"), tuple(map(array_type, (a, b, c))))
    PassPipeline(pipeline(256, (f"O: {first}", f"P: {second}"))).apply(Context(), module)
    assert len([op for op in module.walk() if isinstance(op, gpu.LaunchFuncOp)]) == count
    o, p = run_host(module, "main", (a, b, c))
    np.testing.assert_array_equal(o, a @ b)
    np.testing.assert_array_equal(p, c @ b)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", SCHEDULES)
def test_groups_of_several_kernels_on_devices(name: str, device: td.Device):
    (m, k, n), first, second, _ = SCHEDULES[name]
    function = td.compile(PRODUCTS, device=device).with_schedules({"O": first, "P": second})
    a, b, c = numbers(m, k), numbers(k, n), numbers(m, k)
    o, p = function(a, b, c)
    np.testing.assert_array_equal(o, a @ b)
    np.testing.assert_array_equal(p, c @ b)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_results_that_others_take_are_there(device: td.Device):
    function = td.compile(
        "function (X[N, M]) -> (A, B, C, D) { A[n: N] = +(X[n, m]); B[m: M] = >(X[n, m]);"
        " C[n: N] = =(A[N - 1 - n]); D[n, m: N, M] = +(B[m] * A[n]); }",
        device=device,
    )
    x = numbers(37, 29)
    a, b, c, d = function(x)
    np.testing.assert_array_equal(a, x.sum(1))
    np.testing.assert_array_equal(b, x.max(0))
    np.testing.assert_array_equal(c, a[::-1])
    np.testing.assert_array_equal(d, np.outer(a, b))


def test_times_of_parts_are_of_kernels_alone():
    """A search gives every kernel its own launch."""
    from tiledialect.exploration.evaluation import APART
    from tiledialect.lowering.given_passes import GivenPasses

    assert GivenPasses((APART,)).horizontal().most == 1


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_the_same_kernels_with_other_arguments_in_common(device: td.Device):
    """Callers of the same kernels that share their arguments otherwise have other names."""
    copies = "A[n: N] = =(X[N - 1 - n]); B[n: N] = +(X[n + k]), k < 3;"
    others = "C[n: N] = =(A[N - 1 - n]); D[n: N] = +(B[n + k]), k < 3;"
    function = td.compile(
        f"function (X[N]) -> (A, B, C, D) {{ {copies} {others} }}",
        device=device,
    )
    x = numbers(9)
    a, b, c, d = function(x)
    np.testing.assert_array_equal(a, x[::-1])
    np.testing.assert_array_equal(b, sums(x))
    np.testing.assert_array_equal(c, x)
    np.testing.assert_array_equal(d, sums(sums(x)))


@st.composite
def kernels(draw: st.DrawFn) -> tuple[ModuleOp, ModuleOp, list[npt.NDArray[np.generic]]]:
    """Several contractions, the same with schedules drawn at random, and inputs."""
    cases: list[Case] = []
    for _ in range(draw(st.integers(2, 3))):
        statement = draw(st.sampled_from(sorted(STATEMENTS)))
        sizes = {letter: draw(st.sampled_from([3, 4, 8])) for letter in "nkm"} | {"t": 3}
        dtype = draw(st.sampled_from([np.float32, np.float64, np.int32]))
        shapes = [[sizes[letter] for letter in letters] for letters in STATEMENTS[statement]]
        text = "function " + statement.replace("{}", draw(st.sampled_from(AGGREGATIONS)))
        cases.append(Case(text, text, tuple(numbers(*s).astype(dtype) for s in shapes), ()))
    module = merged(cases)
    return module, draw(scheduled(module)), [a for case in cases for a in case.inputs]


def test_any_kernels_share_launches(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """By the reference semantics: sums of whole numbers are exact."""
    # Drawn groups are small.
    monkeypatch.setattr(nest_fuse_horizontally, "SUB_GROUP", 1)
    launches: list[bool] = []

    @searching(request.config.getoption("--examples") // 8)
    @given(kernels())
    def check(
        made: tuple[ModuleOp, ModuleOp, list[npt.NDArray[np.generic]]],
    ) -> None:
        module, lowered, arrays = made
        note(str(lowered))
        expected = reference(module, arrays)
        lowered = lowered.clone()
        TileToGpuPass().apply(Context(), lowered)
        found = [op.kernel.string_value() for op in ops_of(lowered, gpu.LaunchFuncOp)]
        launches.extend("_and_" in name for name in found)
        for a, b in zip(run_host(lowered, None, arrays), expected, strict=True):
            np.testing.assert_array_equal(a, b)

    check()
    assert any(launches)
