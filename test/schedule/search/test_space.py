"""The space of schedules: everything that is chosen is in it, and everything in it is right."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from building import type_of
from compare import LARGEST, assert_close
from running import Array, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

import tiledialect as td
from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.estimate import modelled
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.search.choice import exceeded, proposed
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, drawn, made, mutated
from tiledialect.schedule.search.space import decisions_of, schedule_of, sizes, without_axes

PROGRAMS: dict[str, tuple[str, tuple[tuple[int, ...], ...]]] = {
    "product": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ((13, 10), (10, 16)),
    ),
    "convolution": (
        """function (I[N, X, CI], K[W, CI, CO]) -> (O) {
            O[n, x, co: N, X, CO] = +(I[n, x + k - 1, ci] * K[k, ci, co]);
        }""",
        ((2, 9, 4), (3, 4, 16)),
    ),
    "row sums": ("function (X[R, C]) -> (S) { S[r: R] = +(X[r, c]); }", ((11, 70),)),
    "column maxima": ("function (X[R, C]) -> (S) { S[c: C] = >(X[r, c]); }", ((30, 24),)),
    "elementwise": (
        "function (X[R, C], B[C]) -> (Y) { Y = relu(X + B) * X; }",
        ((9, 40), (40,)),
    ),
    "softmax": ("function (X[R, C]) -> (Y) { Y = softmax(X, 1); }", ((7, 50),)),
}
DEVICES = {
    "cpu": described(Kind.CPU, {"native_vector_width": 16, "local_mem_size": 1 << 20}),
    "gpu": described(
        Kind.GPU, {"platform": "nvidia", "compute_capability": 80, "sub_group_sizes": (32,)}
    ),
}


def kernel_of(module: ModuleOp) -> KernelOp:
    (kernel,) = ops_of(module, KernelOp)
    return kernel


def plain(schedule: Schedule) -> object:
    """A schedule without levels of a single step, which the space leaves out, and without axes."""
    stages = sorted(
        (s.operand, s.local, s.vector, s.order, s.copies, s.pad, s.rotate, s.asynchronous)
        for s in schedule.stages
    )
    return without_axes(x for x in schedule.levels if x.extent > 1), stages, schedule.one_pass


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES.keys())
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_proposal_is_in_the_space(name: str, device: Device):
    source, shapes = PROGRAMS[name]
    types = [type_of(np.empty(shape, np.float32)) for shape in shapes]
    module = compile_module(load(source), None, types, after="tile-fuse")
    facts = kernel_facts(kernel_of(module), device)
    fits = [
        schedule
        for _, schedule in proposed(facts, device)
        if not exceeded(modelled(facts, schedule, device))
    ]
    assert fits
    for schedule in fits[:: max(1, len(fits) // 40)]:
        decisions = decisions_of(facts, schedule)
        _, again = made(lambda chooser: schedule_of(facts, device, chooser), decisions)
        assert plain(again) == plain(schedule)


def test_sizes():
    assert sizes(1, 8) == []
    assert sizes(6, 8) == [2, 3, 4, 5, 6, 8]
    assert sizes(6, 4) == [2, 3, 4]
    assert {25, 50, 100, 64, 34, 96, 128} <= set(sizes(100, 1 << 20))
    assert max(sizes(100, 1 << 20)) == 512


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_schedules_compute_the_same(
    name: str, device: td.Device, request: pytest.FixtureRequest
):
    """A drawn schedule, and mutations of it, give the reference's results; `--examples 10000` runs
    a hundred of each program."""
    target = described(
        Kind.GPU if device.type == "gpu" else Kind.CPU,
        {"local_mem_size": 16 << 10, "max_work_group_size": 64, "native_vector_width": 8},
    )
    random, rng = Random(name), np.random.default_rng(0)
    source, shapes = PROGRAMS[name]
    arrays: list[Array] = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    expected = np.asarray(td.compile(source).reference(*arrays))
    module = compile_module(load(source), None, [type_of(a) for a in arrays], after="tile-fuse")
    facts = kernel_facts(kernel_of(module), target)

    def space(chooser: Chooser) -> ModuleOp:
        scheduled = module.clone()
        kernel = kernel_of(scheduled)
        kernel.schedule = ScheduleAttr(schedule_of(facts, target, chooser))
        try:
            kernel.verify_()
        except VerifyException as error:
            raise DeadEndError(str(error)) from None
        return scheduled

    decisions, scheduled = drawn(space, random)
    for _ in range(max(2, request.config.getoption("--examples") // 100)):
        (actual,) = run(scheduled, arrays, device)
        # Sums in other orders, and deviations from means, cancel.
        assert_close(actual, expected, length=arrays[0].size, ulps=200, scale=LARGEST)
        decisions, scheduled = mutated(space, decisions, random)
