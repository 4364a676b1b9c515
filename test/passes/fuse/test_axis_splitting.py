"""Programs that read and write in windows that do not meet, against the reference.

As compiled for the device itself and for described ones, where starting a kernel costs nothing.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from described import check_as, spec
from hypothesis import given
from hypothesis import strategies as st
from test_random_programs import searching
from xdsl.dialects.builtin import TensorType, f32

import tiledialect as td
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.signature import find_function
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse.rules.axis_splitting import window_axes

Array = npt.NDArray[np.generic]

MAX = """function (I[N, H, W, C]) -> (O) {
  O[n, y, x, c: N, H/2, W/2, C] = >(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;
}"""
PLANES = """function (I[N, C, H, W]) -> (O) {
  O[n, c, y, x: N, C, H/3, W/2] = >(I[n, c, 3*y + j, 2*x + i]), j < 3, i < 2;
}"""
LINE = "function (I[N]) -> (O) { O[x: N/4] = <(I[4*x + k]), k < 4; }"
CUBES = """function (I[N, D, H, W, C]) -> (O) {
  O[n, z, y, x, c: N, D/2, H/2, W/2, C] = >(I[n, 2*z + k, 2*y + j, 2*x + i, c]), k < 2, j < 2, i < 2;
}"""
BETWEEN = """function (I[N, H, W, C], B[C]) -> (O) {
  J = relu(I + B);
  P[n, y, x, c: N, H/2, W/2, C] = >(J[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;
  O = P * P;
}"""
VIEWED = """function (I[N, H, W, C]) -> (O, R) {
  O[n, y, x, c: N, H/2, W/2, C] = >(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;
  R = reshape(O, N, H/2 * (W/2) * C);
}"""
MEAN = """function (I[N, H, W, C]) -> (O) {
  S[n, y, x, c: N, H/2, W/2, C] = +(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2; O = S * S / 4;
}"""
SOFTMAX = """function (X[R, N]) -> (O) {
  M[r, b: R, N/8] = >(X[r, 8*b + k]), k < 8; A[r, 8*b + k: R, N] = =(M[r, b]), k < 8;
  E = exp(X - A);
  S[r, b: R, N/8] = +(E[r, 8*b + k]), k < 8; T[r, 8*b + k: R, N] = =(S[r, b]), k < 8;
  O = E / T;
}"""
QUANTIZED = """function (X[R, N]) -> (Q, D) {
  A = abs(X); M[r, b: R, N/16] = >(A[r, 16*b + k]), k < 16; D = M / 127 + 0.001;
  F[r, 16*b + k: R, N] = =(D[r, b]), k < 16; Q = round(X / F);
}"""
HAAR = """function (X[N, M]) -> (Y) {
  S[n, x: N, M/2] = +(X[n, 2*x + k]), k < 2; T[n, 2*x + k: N, M] = =(S[n, x]), k < 2;
  Y = T / 2 - X;
}"""
SHUFFLED = """function (X[N, H, W, C]) -> (Y) {
  Z[n, 2*y + j, 2*x + i, c: N, 2*H, 2*W, C/4] = =(X[n, y, x, 4*c + 2*j + i]), j < 2, i < 2;
  M[n, y, x, c: N, H, W, C/4] = >(Z[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;
  B[n, 2*y + j, 2*x + i, c: N, 2*H, 2*W, C/4] = =(M[n, y, x, c]), j < 2, i < 2;
  Y = Z - B;
}"""
LEVELS = """function (X[N]) -> (Y) {
  S[a: N/8] = >(X[8*a + 2*b + c]), b < 4, c < 2;
  B[8*a + 2*b + c: N] = =(S[a]), b < 4, c < 2; Y = X - B;
}"""
WEIGHTED = """function (X[N, M], K[4]) -> (Y) {
  S[n, x: N, M/4] = +(X[n, 4*x + k] * K[k]);
  Y[n, 4*x + k: N, M] = +(S[n, x] * K[k]);
}"""
POSITIONS = """function (X[N, M]) -> (O) {
  T = X + index(X, 1) * 10; S[b, m: N/8, M] = +(T[8*b + k, m]), k < 8;
  P = S + index(S, 0) * 100; A[8*b + k, m: N, M] = =(P[b, m]), k < 8; O = T - A + index(A, 1);
}"""
DIGITS = """function (X[N]) -> (O) {
  S[b: N/8] = +(X[8*b + k]), k < 8; A[8*b + k: N] = =(S[b]), k < 8; O = X - A + index(A, 0);
}"""
COPIED = """function (A[15]) -> (M) {
  B[3*b + a: 15] = =(A[3*b + a]), a < 3, b < 5 default A; M[] = >(B[i]);
}"""
"""In its gradient nothing remains of the default but a constant."""


CASES: dict[str, tuple[str, tuple[tuple[int, ...], ...]]] = {
    "pictures": (MAX, ((2, 8, 6, 5),)),
    "wide pictures": (MAX, ((1, 4, 4, 64),)),
    "odd pictures": (MAX, ((2, 7, 6, 5),)),
    "planes": (PLANES, ((2, 3, 9, 14),)),
    "wide planes": (PLANES, ((1, 2, 6, 64),)),
    "line": (LINE, ((48,),)),
    "one window": (LINE, ((4,),)),
    "cubes": (CUBES, ((2, 4, 6, 4, 3),)),
    "elementwise between": (BETWEEN, ((2, 6, 8, 5), (5,))),
    "viewed": (VIEWED, ((2, 6, 4, 3),)),
    "mean": (MEAN, ((2, 6, 8, 5),)),
    "softmax of blocks": (SOFTMAX, ((3, 48),)),
    "quantized blocks": (QUANTIZED, ((3, 64),)),
    "Haar": (HAAR, ((3, 34),)),
    "shuffled pixels": (SHUFFLED, ((2, 3, 4, 12),)),
    "two levels": (LEVELS, ((64,),)),
    "weighted": (WEIGHTED, ((3, 20), (4,))),
    "positions": (POSITIONS, ((48, 3),)),
    "positions of digits": (DIGITS, ((48,),)),
    "copied in digits": (COPIED, ((15,),)),
}
TARGETS = {
    "own": None,
    "gpu": spec(
        "GPU", {"type": "gpu", "compute_units": 1, "max_work_group_size": 32, "launch": 0.0}
    ),
    "cpu": spec("CPU", {"type": "cpu", "compute_units": 1, "launch": 0.0}),
}


def targets(device: td.Device) -> list[str]:
    """Targets of a device: Oclgrind's checks for races end the process at some vectors of CPUs."""
    return [t for t in TARGETS if t != "cpu" or device.type != "simulator"]


def _check_both(
    source: str, arrays: list[Array], random: np.random.Generator, device: td.Device, target: str
) -> None:
    """The results of a function, and its gradient."""
    function = td.compile(source)
    results = check_as(function, arrays, device, TARGETS[target], ulps=2000)
    cotangents = [random.uniform(-1, 1, r.shape).astype(r.dtype) for r in results]
    check_as(function.gradient(), [*arrays, *cotangents], device, TARGETS[target], ulps=2000)


def _check_case(name: str, device: td.Device, target: str) -> None:
    (source, shapes), random = CASES[name], np.random.default_rng(0)
    # Of few different numbers several are the largest of a window.
    arrays = [random.integers(-2, 3, s).astype(np.float32) for s in shapes]
    _check_both(source, arrays, random, device, target)


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", ("own", "gpu"))
@pytest.mark.parametrize("name", CASES)
def test_results(name: str, target: str, device: td.Device):
    _check_case(name, device, target)


CPUS = [device for device in td.devices() if "cpu" in targets(device)]


@pytest.mark.parametrize("device", CPUS, ids=lambda device: device.id)
@pytest.mark.parametrize("name", CASES)
def test_results_as_for_a_cpu(name: str, device: td.Device):
    _check_case(name, device, "cpu")


@pytest.mark.parametrize("target", ("own", "gpu"))
def test_nan_and_infinity(target: str, device: td.Device):
    """A window with a NaN has no largest element; infinite ones may be several."""
    random = np.random.default_rng(0)
    array = random.choice(np.float32([1, 2, np.inf, -np.inf, np.nan]), (2, 6, 8, 5))
    _check_both(MAX, [array], random, device, target)


@pytest.mark.parametrize("dtype", (np.float16, np.float64))
def test_other_types(dtype: type, device: td.Device):
    if dtype is np.float64 and not device.fp64:
        pytest.skip("the device has no f64")
    random = np.random.default_rng(0)
    array = random.integers(-2, 3, (2, 6, 8, 5)).astype(dtype)
    _check_both(MAX, [array], random, device, "own")


AXES = ("y", "x", "z")


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, tuple[int, ...]]:
    """A pooling of some axes in windows of some sizes, others in front, between and behind."""
    windows = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    counts = [draw(st.integers(1, 5)) for _ in windows]
    rests = [draw(st.sampled_from((0, 0, 0, 1))) for _ in windows]
    kept = [draw(st.integers(1, 6)) for _ in range(draw(st.integers(0, 2)))]
    places = draw(st.permutations([*range(len(windows)), *(-k - 1 for k in range(len(kept)))]))
    aggregation = draw(st.sampled_from("><+"))
    sizes, reads, writes, results = list[int](), list[str](), list[str](), list[str]()
    for place in places:
        if place < 0:
            reads.append(name := f"c{-place}")
            writes.append(name)
            results.append(str(kept[-place - 1]))
            sizes.append(kept[-place - 1])
        else:
            name = AXES[place]
            reads.append(f"{windows[place]}*{name} + k{name}")
            writes.append(name)
            results.append(str(counts[place]))
            sizes.append(windows[place] * counts[place] + rests[place] % windows[place])
    limits = ", ".join(f"k{AXES[k]} < {n}" for k, n in enumerate(windows))
    names = ", ".join(f"D{k}" for k in range(len(sizes)))
    body = f"M[{', '.join(writes)}: {', '.join(results)}] = {aggregation}(I[{', '.join(reads)}]), "
    spread = f"B[{', '.join(reads)}: {names}] = =(M[{', '.join(writes)}]), {limits};"
    end = draw(st.sampled_from(("O = M * M;", f"{spread} O = I * I - B;")))
    return f"function (I[{names}]) -> (O) {{ {body}{limits}; {end} }}", tuple(sizes)


def test_random_windows(device: td.Device, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 50)
    @given(programs(), st.sampled_from(targets(device)), st.integers(0, 99))
    def check(program: tuple[str, tuple[int, ...]], target: str, seed: int) -> None:
        (source, shape), random = program, np.random.default_rng(seed)
        array = random.integers(-2, 3, shape).astype(np.float32)
        _check_both(source, [array], random, device, target)

    check()


MERGED = {
    "pictures": (MAX, ((8, 32, 32, 64),), 1, 1),
    "planes": (PLANES, ((8, 64, 27, 32),), 1, 1),
    "mean": (MEAN, ((8, 32, 32, 64),), 1, 1),
    "viewed": (VIEWED, ((8, 32, 32, 64),), 1, 1),
    "softmax of blocks": (SOFTMAX, ((256, 1024),), 1, 1),
    "quantized blocks": (QUANTIZED, ((256, 1024),), 1, 1),
    "Haar": (HAAR, ((256, 1024),), 1, 1),
}


@pytest.mark.parametrize("target", ("gpu", "cpu"))
@pytest.mark.parametrize("name", MERGED)
def test_kernels(name: str, target: str):
    """All that happens in a window is one kernel."""
    source, shapes, *numbers = MERGED[name]
    function = td.compile(source)
    types = [TensorType(f32, s) for s in shapes]
    for number in numbers:
        program = function._program  # pyright: ignore[reportPrivateUsage]
        spec_, gradients = TARGETS[target], program.transforms
        module = compile_module(program.module, program.name, types, spec_, gradients, "tile-fuse")
        assert sum(isinstance(op, KernelOp) for op in module.walk()) == number
        made = find_function(module, None).function_type.outputs
        types += [t for t in made if isinstance(t, TensorType)]
        function = function.gradient()


def test_recomputation_comes_first():
    """Deviations of long columns, whose sums are split, are computed again rather than kept."""
    source = """function (X[N, C]) -> (O) {
      S[0, c: 1, C] = +(X[n, c]); D = X - S / N; V[0, c: 1, C] = +(D[n, c] * D[n, c]); O = D / sqrt(V + 1);
    }"""
    program = td.compile(source)._program  # pyright: ignore[reportPrivateUsage]
    cpu = {"type": "cpu", "compute_units": 2, "native_vector_width": 16, "launch": 2.4}
    cpu |= {"bandwidth": 63.0, "arithmetic": 470.0}
    types, target = [TensorType(f32, (4096, 512))], spec("CPU", cpu)
    module = compile_module(program.module, program.name, types, target, (), "tile-fuse")
    made = [v.type for op in module.walk() if isinstance(op, KernelOp) for v in op.outputs]
    sizes = [prod(t.get_shape()) for t in made if isinstance(t, TensorType)]
    assert sizes.count(4096 * 512) == 1


def test_points_on_a_line():
    """Few points are inside if `A[b - k]` has one element: no box of windows holds just them."""
    source = """function (X[N], A[K]) -> (Z) {
      Z[b, k: N/8, 8] = +(X[8*b + k] * A[b - k]);
    }"""
    program = td.compile(source)._program  # pyright: ignore[reportPrivateUsage]
    types, target = [TensorType(f32, [64]), TensorType(f32, [1])], TARGETS["cpu"]
    module = compile_module(program.module, program.name, types, target, (), "tile-fuse")
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    assert window_axes(kernel) is None
