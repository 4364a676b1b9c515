"""Results that are put together of parts, which one kernel computes: as the reference, everywhere.

Their gradients, too, and as compiled for described devices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import assert_close
from described import check_as, spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import TensorType

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.small_stencils import MOST_STENCIL_POINTS
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse import kernel_merging
from tiledialect.passes.fuse.rules import stencil_fusion

COMPLEX = """function (A[N, M, 2], B[N, M, 2]) -> (O) {
  Ar[n, m: N, M] = =(A[n, m, 0]); Ai[n, m: N, M] = =(A[n, m, 1]);
  Br[n, m: N, M] = =(B[n, m, 0]); Bi[n, m: N, M] = =(B[n, m, 1]);
  R = Ar * Br - Ai * Bi; I = Ar * Bi + Ai * Br;
  O1[n, m, 0: N, M, 2] = =(R[n, m]); O[n, m, 1: N, M, 2] = =(I[n, m]) default O1;
}"""
HALVES = """function (A[N, M], B[N, M]) -> (O) {
  P = A * B + A; Q = A - B * B;
  O1[n, m: N, 2*M] = =(P[n, m]); O[n, m + M: N, 2*M] = =(Q[n, m]) default O1;
}"""
IN_TURNS = """function (A[N, M], B[N, M]) -> (O) {
  P = A * B + A; Q = A - B * B;
  O1[n, 2*m: N, 2*M] = =(P[n, m]); O[n, 2*m + 1: N, 2*M] = =(Q[n, m]) default O1;
}"""
ROWS_IN_TURNS = """function (A[N, M], B[N, M]) -> (O) {
  P = A * B + A; Q = A - B * B;
  O1[2*n + 1, m: 2*N, M] = =(P[n, m]); O[2*n, m: 2*N, M] = =(Q[n, m]) default O1;
}"""
THREE = """function (A[N, M], B[N, M]) -> (O) {
  P = A * B; Q = A - B;
  O1[n, m, 0: N, M, 3] = =(P[n, m]); O2[n, m, 2: N, M, 3] = =(Q[n, m]) default O1;
  O[n, m, 1: N, M, 3] = =(A[n, m]) default O2;
}"""
BILINEAR = """function (A[N, M], B[N, M]) -> (O) {
  L1[n, 0: N, M] = =(A[n, 0]); L[n, m + 1: N, M] = =(A[n, m]) default L1;
  R1[n, M - 1: N, M] = =(A[n, M - 1]); R[n, m - 1: N, M] = =(A[n, m]) default R1;
  P = 0.75 * A + 0.25 * L; Q = 0.75 * A + 0.25 * R + B;
  S1[n, 2*m: N, 2*M] = =(P[n, m]); S[n, 2*m + 1: N, 2*M] = =(Q[n, m]) default S1;
  U1[0, m: N, 2*M] = =(S[0, m]); U[n + 1, m: N, 2*M] = =(S[n, m]) default U1;
  D1[N - 1, m: N, 2*M] = =(S[N - 1, m]); D[n - 1, m: N, 2*M] = =(S[n, m]) default D1;
  V = 0.75 * S + 0.25 * U; Z = 0.75 * S + 0.25 * D;
  O1[2*n, m: 2*N, 2*M] = =(V[n, m]); O[2*n + 1, m: 2*N, 2*M] = =(Z[n, m]) default O1;
}"""
TAKEN_TWICE = """function (A[N, M], B[N, M]) -> (O, P) {
  P = A * B; Q = P - B;
  O1[n, m: N, 2*M] = =(P[n, m]); O[n, m + M: N, 2*M] = =(Q[n, m]) default O1;
}"""
OVER = """function (A[N, M], B[N, M]) -> (O) {
  P = A * B; O1[n, m: N, M + 1] = =(P[n, m]); O[n, m + 1: N, M + 1] = =(B[n, m]) default O1;
}"""
FUNCTIONS = """function (A[N, M], B[N, M]) -> (O) {
  H[n, m: N, M - 2] = =(A[n, m + 2]); P = -H; Q = exp(B) * A;
  C1[n, m: N, 2*M - 2] = =(P[n, m]); C[n, m + M - 2: N, 2*M - 2] = =(Q[n, m]) default C1;
  D1[n, m: N, 2*M - 2] = =(A[n, m]); D[n, m + M - 2: N, 2*M - 2] = =(B[n, m]) default D1;
  O = C * D + D;
}"""
BROADCAST = """function (A[N, M], B[N, M]) -> (O) {
  R[0, m: 1, M - 2] = =(B[0, m + 2]); H[n, m: N, M - 2] = =(A[n, m + 1]); P = H * R;
  C1[n, m: N, 2*M - 2] = =(P[n, m]); C[n, m + M - 2: N, 2*M - 2] = =(A[n, m]) default C1;
  O = C * C + C;
}"""
PADDED = """function (A[N, M], B[N, M]) -> (O) {
  P = -A; C[n, m + 1: N, M + 2] = =(P[n, m]); D[n, m + 1: N, M + 2] = =(B[n, m]);
  O = select(D, D - C, 1.0 / C);
}"""
SOURCES = {
    "complex": COMPLEX,
    "halves": HALVES,
    "in turns": IN_TURNS,
    "rows in turns": ROWS_IN_TURNS,
    "three": THREE,
    "taken twice": TAKEN_TWICE,
    "over": OVER,
    "functions": FUNCTIONS,
    "padded": PADDED,
    "broadcast": BROADCAST,
}
CPU = {"type": "cpu", "compute_units": 2, "launch": 0.0, "fp16": False}
GPU = {"type": "gpu", "compute_units": 4, "max_work_group_size": 32, "launch": 0.0}
TARGETS = {
    "8 lanes": spec("CPU", {**CPU, "native_vector_width": 8}),
    "16 lanes": spec("CPU", {**CPU, "native_vector_width": 16}),
    "a GPU": spec("GPU", GPU),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", *TARGETS))
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("columns", (33, 5))
def test_results_and_gradients(columns: int, name: str, target: str, device: td.Device):
    random = np.random.default_rng(0)
    shape = (3, columns, 2) if name == "complex" else (3, columns)
    function = td.compile(SOURCES[name], device=device)
    arrays = [random.uniform(0.5, 1, shape).astype(np.float32) for _ in range(2)]
    for _ in range(2):
        found = function.reference(*arrays)
        wanted = found if isinstance(found, tuple) else (found,)
        if target == "own":
            results = function(*arrays)
            results = results if isinstance(results, tuple) else (results,)
            for a, b in zip(results, wanted, strict=True):
                assert_close(a, b, scale=1.0)
        else:
            check_as(function, arrays, device, TARGETS[target], ulps=100)
        function = function.gradient(["A", "B"])
        arrays += [random.uniform(-1, 1, w.shape).astype(np.float32) for w in wanted]


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", (33, 5))
def test_parts_of_parts(columns: int, target: str, device: td.Device):
    """Rows in turns of elements in turns, each made of neighbours that edges repeat."""
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 1, (3, columns)).astype(np.float32) for _ in range(2)]
    function = td.compile(BILINEAR, device=device)
    check_as(function, arrays, device, TARGETS[target], ulps=100)
    assert_close(function(*arrays), function.reference(*arrays), scale=1.0)


@pytest.mark.parametrize("name", ("complex", "halves", "in turns", "rows in turns", "three"))
@pytest.mark.parametrize("width", (8, 16))
def test_parts_are_one_kernel(name: str, width: int):
    """No part is written by itself, of results or of gradients."""
    function, shape = td.compile(SOURCES[name]), (8, 64)
    arrays = [np.ones((*shape, 2) if name == "complex" else shape, np.float32)] * 2
    program = function._program  # pyright: ignore[reportPrivateUsage]
    target = TARGETS[f"{width} lanes"]
    module = compile_module(program.module, program.name, types_of(arrays), target, (), "tile-fuse")
    (kernel,) = [op for op in module.walk() if isinstance(op, KernelOp)]
    assert kernel.parts and kernel.element_shape == shape
    assert isinstance(t := kernel.outputs[0].type, TensorType) and t.get_shape() != shape


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_parts_anywhere(data: st.DataObject, device: td.Device):
    """Parts along any axis, in any order, of which some may be wide, short, or over one another."""
    rank, along = data.draw(st.integers(1, 3)), 0
    sizes = data.draw(st.lists(st.sampled_from((1, 2, 3, 8, 17)), min_size=rank, max_size=rank))
    along, count = data.draw(st.integers(0, rank - 1)), data.draw(st.integers(2, 4))
    woven, names = data.draw(st.booleans()), "ijk"[:rank]
    dims = [f"D{k}" for k in range(rank)]
    whole = [f"{count}*{d}" if k == along else d for k, d in enumerate(dims)]
    text, before = "", ""
    places = data.draw(st.permutations(range(count)))
    if data.draw(st.integers(0, 4)) == 0:
        places[0] = places[-1]
    for number, place in enumerate(places):
        i = names[along]
        moved = f"{count}*{i} + {place}" if woven else f"{i} + {place}*{dims[along]}"
        at = ", ".join(moved if n == i else n for n in names)
        text += f"P{number} = A * {number + 2} + B; O{number}[{at}: {', '.join(whole)}] = "
        text += f"=(P{number}[{', '.join(names)}]){before}; "
        before = f" default O{number}"
    last = f"O{count - 1}"
    header = ", ".join(dims)
    source = f"function (A[{header}], B[{header}]) -> (R) {{ {text} R = {last}; }}"
    function, random = td.compile(source, device=device), np.random.default_rng(0)
    arrays = [random.integers(-9, 9, sizes).astype(np.float32) for _ in range(2)]
    target = data.draw(st.sampled_from(("own", *TARGETS)))
    if target == "own":
        assert_close(function(*arrays), function.reference(*arrays), ulps=0)
    else:
        check_as(function, arrays, device, TARGETS[target], ulps=0)


def test_places_are_counted_before_kernels_are_merged(monkeypatch: pytest.MonkeyPatch):
    """A kernel of many parts has as many producers, and each merge has all ops of the kernel."""
    count = MOST_STENCIL_POINTS + 4
    parts = ["O0[n, m: N, {0}*M] = =(A[n, m])"]
    for k in range(1, count):
        part = f"P{k} = A + {k}.0; O{k}[n, m + {k}*M: N, {{0}}*M] = =(P{k}[n, m]) default O{k - 1}"
        parts.append(part)
    body = "; ".join(parts).format(count)
    last = f"O{count - 1}"
    program = td.compile(f"function (A[N, M]) -> (O) {{ {body}; O = {last} * {last}; }}")._program  # pyright: ignore[reportPrivateUsage]
    parts_of_both: list[int] = []

    def merged_if(first: KernelOp, second: KernelOp, is_fit: Any) -> KernelOp | None:
        if is_fit is stencil_fusion._is_kernel:  # pyright: ignore[reportPrivateUsage]
            parts_of_both.append(len(first.contractions) + len(second.contractions))
        return kernel_merging.merged_if(first, second, is_fit)

    monkeypatch.setattr(stencil_fusion, "merged_if", merged_if)
    types = types_of([np.ones((8, 64), np.float32)])
    target = TARGETS["16 lanes"]
    compile_module(program.module, program.name, types, target, (), "tile-fuse")
    # The last place is in the memory of the parts before.
    assert max(parts_of_both) == MOST_STENCIL_POINTS - 1
