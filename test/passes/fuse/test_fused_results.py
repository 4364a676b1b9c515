"""Results of programs that fusion rewrites: as the reference gives them, everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from described import check_as, spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.dlti import TargetSystemSpecAttr

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.compilation import compile_module

CPU = spec("CPU", {"type": "cpu", "compute_units": 2, "native_vector_width": 8})
GPU = spec("GPU", {"type": "gpu", "compute_units": 4, "local_mem_size": 32768})
LARGE_GPU = spec("GPU", {"type": "gpu", "compute_units": 132, "local_mem_size": 49152})


@dataclass(frozen=True)
class Rewritten:
    """A program, the shapes of its inputs by two sizes, and the sizes at which it is rewritten."""

    source: str
    shapes: str
    sizes: tuple[int, int]
    kernels: int
    """Number of kernels at these sizes."""
    contractions: int


PROGRAMS = {
    "extremum counting": Rewritten(
        """function (X[N, W], D[N, V]) -> (O, Q) {
          O[n, x: N, V] = >(X[n, 2*x + j - 1]), j < 3;
          C[n, x: N, V] = +(X[n, 2*x + j - 1] == O[n, x]), j < 3; Q = D / C; }""",
        "(n, 2*m - 1), (n, m)",
        (64, 29),
        *(1, 2),
    ),
    "horizontal fusion": Rewritten(
        "function (D[N, M], X[N, M]) -> (A, B) { A = exp(D) * X; B = -exp(D); }",
        "(n, m), (n, m)",
        (64, 700),
        *(1, 0),
    ),
    "window fusion": Rewritten(
        """function (X[N, M]) -> (Y) {
          S[r, x: N, M / 4] = +(X[r, 4*x + k]), k < 4;
          B[r, 4*x + k: N, M] = =(S[r, x]), k < 4; Y = X - B; }""",
        "(n, 4*m),",
        (64, 1024),
        *(1, 2),
    ),
    "epilogue fission": Rewritten(
        """function (A[N, K], B[K, M], E[N, M]) -> (O) {
          P[i, j: N, M] = +(A[i, k] * B[k, j]); S[i, 0: N, 1] = +(P[i, j] * E[i, j]);
          O = (exp(0.1 * P) - S) * E; }""",
        "(n, 8), (8, m), (n, m)",
        (4096, 1024),
        *(2, 2),
    ),
}


def arrays(
    case: Rewritten, n: int, m: int
) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """Small integers, of which some are equal."""
    random = np.random.default_rng(0)
    shapes = eval(case.shapes, {"n": n, "m": m})
    return [random.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_rewritten(name: str):
    case = PROGRAMS[name]
    program = td.compile(case.source)._program  # pyright: ignore[reportPrivateUsage]
    types = types_of(arrays(case, *case.sizes))
    given = program.module, program.name, types, LARGE_GPU, (), "tile-fuse"
    module = compile_module(*given)
    assert len(ops_of(module, KernelOp)) == case.kernels
    assert len(ops_of(module, ContractionOp)) == case.contractions


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.sampled_from((1, 3, 8)),
    m=st.sampled_from((2, 17, 33)),
    target=st.sampled_from((CPU, GPU, LARGE_GPU)),
)
def test_results(name: str, n: int, m: int, target: TargetSystemSpecAttr, device: td.Device):
    case = PROGRAMS[name]
    function = td.compile(case.source, device=device)
    # A few functions of 20 ulp each, of the largest result: rows subtract their sums.
    check_as(function, arrays(case, n, m), device, target, ulps=100)
