"""Row kernels against the reference semantics: random shapes, schedules and stages; gradients."""

from __future__ import annotations

import random

import numpy as np
import pytest
from building import type_of
from compare import LARGEST, assert_close
from row_schedules import kernels_of, random_schedule, random_stages, tuple_of
from running import Array, run
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

import tiledialect as td
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.transform.transforms import Gradient
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage

PROGRAMS = {
    "softmax": """function (X[M, N]) -> (O) {
        MX[m, 0 : M, 1] = >(X[m, n]);
        E = exp(X - MX);
        S[m, 0 : M, 1] = +(E[m, n]);
        O = E / S;
    }""",
    "layer_norm": """function (X[M, N], G[N], B[N]) -> (O) {
        S[m, 0 : M, 1] = +(X[m, n]);
        C = X - S / N;
        Q = C * C;
        V[m, 0 : M, 1] = +(Q[m, n]);
        O = C / sqrt(V / N + 0.125) * G + B;
    }""",
    "log_sum_exp": """function (X[M, N]) -> (L) {
        MX[m, 0 : M, 1] = >(X[m, n]);
        MR[m : M] = >(X[m, n]);
        E = exp(X - MX);
        S[m : M] = +(E[m, n]);
        L = log(S) + MR;
    }""",
    "variance_of_columns": """function (X[M, N]) -> (V) {
        S[0, n : 1, N] = +(X[m, n]);
        C = X - S / M;
        Q = C * C;
        V[n : N] = +(Q[m, n]);
    }""",
    "over_two_axes": """function (X[K, M, N]) -> (O, S) {
        A = X * X;
        S[0, m, 0 : 1, M, 1] = +(A[k, m, n]);
        O = X / sqrt(S + 0.5);
    }""",
    "of_parts": """function (X[K, M, N], G[N]) -> (Y, O) {
        A[m, n : M, N] = +(X[k, m, n]);
        Y = A + G;
        S[m, 0 : M, 1] = +(Y[m, n]);
        C = Y - S / N;
        Q = C * C;
        V[m, 0 : M, 1] = +(Q[m, n]);
        O = C / sqrt(V / N + 0.125);
    }""",
}
"""Programs whose contractions and elementwise ops share their rows."""

SHAPES = ((1, 1), (1, 7), (5, 1), (3, 11), (7, 37), (2, 64))


def inputs_of(source: str, sizes: tuple[int, ...], rng: np.random.Generator) -> list[Array]:
    """Random inputs of the sizes that a program's dimensions have."""
    names = ("K", "M", "N") if "K, M" in source else ("M", "N")
    sizes = (2, *sizes) if len(names) == 3 else sizes
    dims = dict(zip(names, sizes, strict=True))
    shapes = {"X": names, "G": ("N",), "B": ("N",)}
    given = [n for n in shapes if f"{n}[" in source.split("->", maxsplit=1)[0]]
    return [rng.standard_normal([dims[d] for d in shapes[n]]).astype(np.float32) for n in given]


def fused(source: str, inputs: list[Array], gradients: tuple[Gradient, ...] = ()) -> ModuleOp:
    """The program with row kernels, not scheduled yet."""
    types = [type_of(a) for a in inputs]
    module = compile_module(load(source), None, types, None, gradients, after="tile-defract")
    TileFusePass(rows=True).apply(Context(), module)
    return module


def check(
    module: ModuleOp, inputs: list[Array], wanted: tuple[Array, ...], device: td.Device
) -> None:
    results = run(module, inputs, device)
    for actual, expected in zip(results, wanted, strict=True):
        # Deviations from means cancel.
        assert_close(actual, expected, length=inputs[0].size, ulps=200, scale=LARGEST)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", SHAPES)
def test_by_the_default_schedule(sizes: tuple[int, int], name: str, device: td.Device) -> None:
    inputs = inputs_of(PROGRAMS[name], sizes, np.random.default_rng(0))
    module = fused(PROGRAMS[name], inputs)
    if min(inputs[0].shape) > 1:
        (kernel,) = kernels_of(module)
        assert kernel.axes is not None
    check(module, inputs, tuple_of(td.compile(PROGRAMS[name]).reference(*inputs)), device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(6))
def test_by_random_schedules(seed: int, name: str, device: td.Device) -> None:
    choose, rng = random.Random(f"{name} {seed}"), np.random.default_rng(1)
    inputs = inputs_of(PROGRAMS[name], choose.choice(SHAPES[2:]), rng)
    module = fused(PROGRAMS[name], inputs)
    for kernel in kernels_of(module):
        if kernel.axes is not None:
            kernel.schedule = ScheduleAttr(random_schedule(kernel, choose))
    module.verify()
    check(module, inputs, tuple_of(td.compile(PROGRAMS[name]).reference(*inputs)), device)


# With 16 lanes Oclgrind reports what is not so, of whole rows too.
SHORT = ((4, 7), (8, 37), (8, 45), (8, 43), (4, 27))
LONG = ((4, 515), (4, 518), (8, 516))


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("width", "size"), (*SHORT, *LONG))
def test_ends_of_rows(width: int, size: int, name: str, device: td.Device) -> None:
    """Vector tails of rows are shifted inwards, with several vectors or rows unrolled.

    Vectors of long rows are aligned in memory.
    """
    choose = random.Random(f"{name} {size}")
    sizes = (3, size) if "[m, 0" in PROGRAMS[name] else (min(size, 45), 5)
    inputs = inputs_of(PROGRAMS[name], sizes, np.random.default_rng(3))
    module = fused(PROGRAMS[name], inputs)
    for kernel in kernels_of(module):
        kernel.schedule = ScheduleAttr(by_vectors(kernel, width, choose))
    module.verify()
    check(module, inputs, tuple_of(td.compile(PROGRAMS[name]).reference(*inputs)), device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    ("together", "group", "count"), ((4, 3, 19), (4, 5, 18), (2, 5, 11), (8, 2, 23), (4, 2, 17))
)
def test_last_rows(together: int, group: int, count: int, name: str, device: td.Device) -> None:
    """The last of unrolled rows are shifted inwards, unless a group has them alone."""
    choose = random.Random(f"{name} {count}")
    sizes = (count, 9) if "[m, 0" in PROGRAMS[name] else (9, count)
    inputs = inputs_of(PROGRAMS[name], sizes, np.random.default_rng(5))
    module = fused(PROGRAMS[name], inputs)
    for kernel in kernels_of(module):
        if kernel.axes is not None:
            kernel.schedule = ScheduleAttr(by_rows(kernel, together, group, choose))
    module.verify()
    check(module, inputs, tuple_of(td.compile(PROGRAMS[name]).reference(*inputs)), device)


def by_rows(kernel: KernelOp, together: int, group: int, choose: random.Random) -> Schedule:
    """A schedule with several rows at a time, and so many times as many for a group, or all."""
    *others, along = [n for n in kernel.indices if n.name in kernel.reduced]
    levels = [LoopLevel(n.name, 1, n.range.extent, Role.SERIAL) for n in (*others, along)]
    for index in kernel.indices:
        if index.name not in kernel.reduced:
            steps = -(-index.range.extent // together)
            count = choose.choice([group, steps])
            levels.insert(0, LoopLevel(index.name, together, count, Role.SERIAL))
            if count < steps:
                rest = -(-steps // count)
                levels.insert(0, LoopLevel(index.name, together * count, rest, Role.GROUP, "x"))
            levels.append(LoopLevel(index.name, 1, together, Role.UNROLL))
    levels = [level for level in levels if level.extent > 1]
    return Schedule(tuple(sorted(levels, key=lambda level: level.role is not Role.GROUP)), ())


def by_vectors(kernel: KernelOp, width: int, choose: random.Random) -> Schedule:
    """A schedule with vectors along the last axis that is aggregated, perhaps of several rows."""
    *_, along = [n for n in kernel.indices if n.name in kernel.reduced]
    levels = [LoopLevel(along.name, 1, width, Role.VECTOR)]
    stride = width
    for extent in (choose.choice([1, 2, 3]), 2):
        levels.insert(0, LoopLevel(along.name, stride, extent, Role.UNROLL))
        stride *= extent
    levels.insert(0, LoopLevel(along.name, stride, -(-along.range.extent // stride), Role.SERIAL))
    for index in kernel.indices:
        if index.name != along.name:
            level = LoopLevel(
                index.name, 1, index.range.extent, choose.choice([Role.SERIAL, Role.UNROLL])
            )
            levels.insert(choose.choice([0, 1, 2]), level)
    kept = [s for s in random_stages(kernel, [], choose) if not is_input(kernel, s)]
    return Schedule(tuple(level for level in levels if level.extent > 1), tuple(kept))


def is_input(kernel: KernelOp, stage: Stage) -> bool:
    return isinstance(kernel.values[stage.operand], BlockArgument)


@pytest.mark.covering(1)
@pytest.mark.parametrize("aggregation", ["+", ">", "*"])
@pytest.mark.parametrize(
    "schedule",
    [
        "serial 16*j : 3, serial i : 9, unroll 8*j : 2, vector j : 8",
        "serial 8*j : 5, serial 3*i : 3, unroll i : 3, vector j : 8",
        "serial 3*i : 3, serial 8*j : 5, unroll i : 3, vector j : 8",
        "serial i : 9, serial 8*j : 5, vector j : 8",
        "group.x 8*j : 5, serial i : 9, vector j : 8",
    ],
)
def test_last_columns(aggregation: str, schedule: str, device: td.Device) -> None:
    x = np.random.default_rng(4).integers(1, 3, (9, 37)).astype(np.float32)
    source = f"function (X[N, M]) -> (O) {{ O[j: M] = {aggregation}(X[i, j]); }}"
    function = td.compile(source, device=device)
    scheduled = function.with_schedules({"O": f"<{schedule}>"})
    np.testing.assert_array_equal(scheduled(x), function.reference(x))


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_gradients(seed: int, name: str, device: td.Device) -> None:
    choose, rng = random.Random(f"{name} {seed}"), np.random.default_rng(2)
    function = td.compile(PROGRAMS[name])
    inputs = inputs_of(PROGRAMS[name], choose.choice(SHAPES[3:]), rng)
    outputs = tuple_of(function.reference(*inputs))
    given = [*inputs, *(rng.standard_normal(o.shape).astype(np.float32) for o in outputs)]
    names = function.inputs
    module = fused(PROGRAMS[name], given, (Gradient(names, False),))
    for kernel in kernels_of(module):
        if kernel.axes is not None:
            kernel.schedule = ScheduleAttr(random_schedule(kernel, choose))
    module.verify()
    check(module, given, tuple_of(function.gradient().reference(*given)), device)
