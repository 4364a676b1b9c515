"""Memory of intermediates: by the plan alone, by the IR, and on devices."""

from __future__ import annotations

import numpy as np
import pyopencl.array as cla
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import in_threads
from xdsl.dialects import func, gpu, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

import tiledialect as td
from tiledialect.ir.host_memory import nbytes, root
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.host.memory_plan import (
    SMALL,
    Lifetime,
    Place,
    largest_alive,
    places_in_results,
    plan_memory,
)
from tiledialect.lowering.runtime.device.queue_state import state_of

LIVES = st.lists(
    st.builds(
        lambda size, first, length: Lifetime(size, first, first + length),
        st.integers(1, 1000),
        st.integers(0, 40),
        st.integers(0, 12),
    ),
    max_size=40,
)


@given(LIVES)
def test_what_lives_together_is_apart(buffers: list[Lifetime]):
    plan = plan_memory(buffers)
    for k, (a, start) in enumerate(zip(buffers, plan.offsets, strict=True)):
        assert start >= 0 and start + a.size <= plan.size
        for b, other in zip(buffers[:k], plan.offsets, strict=False):
            if a.first <= b.last and b.first <= a.last:
                assert start + a.size <= other or other + b.size <= start
    assert plan.size >= largest_alive(buffers)


def test_a_plan_is_hardly_larger_than_it_must_be():
    """For programs as they are: chains, branches that meet again, and what gradients keep."""
    n = 60
    chain = [Lifetime(100 + k % 7, k, k + 1) for k in range(n)]
    branches = [Lifetime(64 << k % 4, k, k + 1 + k % 5) for k in range(n)]
    kept = [Lifetime(30 + k * k % 91, k, 2 * n - k) for k in range(n)]
    backward = [Lifetime(30 + k * k % 91, n + k, n + k + 2) for k in range(n)]
    for buffers in (chain, branches, [*kept, *backward], []):
        assert plan_memory(buffers).size <= 1.1 * largest_alive(buffers)


@pytest.mark.parametrize("lengths", [(1, 2, 3), (1, 1, 1, 2, 3, 60), tuple(range(40))])
def test_a_plan_of_any_program_is_hardly_larger_than_it_must_be(lengths: tuple[int, ...]):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 100))
        sizes = np.where(
            rng.random(count) < 0.5, rng.integers(1, 1000, count), 1 << rng.integers(0, 12, count)
        )
        spans = rng.choice(lengths, count)
        buffers = [
            Lifetime(int(size), k, k + int(span))
            for k, (size, span) in enumerate(zip(sizes, spans, strict=True))
        ]
        assert plan_memory(buffers).size <= 1.1 * largest_alive(buffers)


NETWORK = """function (X[N], A[N, N]) -> (L) {
  U[i: N] = +(A[i, k] * X[k]); V = tanh(U); W[i: N] = +(A[i, k] * V[k]);
  P = exp(W / 1000) + V; Q[i: N] = +(A[i, k] * P[k]); R = Q * W; S[j: N] = +(A[i, j] * R[i]);
  L[] = +(S[i]);
}"""
N = 256


def alive_in(module: str, name: str) -> int:
    """The bytes of the largest set of intermediates of a host function that live together."""
    ops = parse_mlir(module, "host.mlir").body.block.ops
    (host,) = (op for op in ops if isinstance(op, func.FuncOp) and op.sym_name.data == name)
    uses: dict[SSAValue, list[int]] = {}
    for moment, op in enumerate(host.body.block.ops):
        for value in op.operands:
            uses.setdefault(root(value), []).append(moment)
    parts = [v for v in uses if isinstance(v.owner, memref.ViewOp)]
    assert parts and all(isinstance(v.type, MemRefType) for v in parts)
    assert sum(isinstance(op, gpu.AllocOp) for op in host.body.block.ops) <= 2 + 1
    moments = range(len(host.body.block.ops))
    return max(
        sum(nbytes(v.type) for v in parts if uses[v][0] <= m <= uses[v][-1])  # pyright: ignore[reportArgumentType]
        for m in moments
    )


@pytest.mark.parametrize("gradient", [False, True])
def test_peak_memory_is_as_the_ir_says(gradient: bool):
    f = td.compile(NETWORK, name="net")
    rng = np.random.default_rng(0)
    inputs = [rng.random(N, np.float32), rng.random((N, N), np.float32) / N]
    if gradient:
        f = f.gradient()
        inputs.append(np.ones((), np.float32))
    result, profile = f.profile(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    given = sum(a.nbytes for a in (*inputs, *outputs))
    alive = alive_in(f.mlir(*inputs), f.name)
    assert alive >= 2 * 4 * N, "there are intermediates"
    assert profile.peak_memory <= given + 1.1 * alive + 1024


def test_outputs_come_from_a_pool(device: td.Device):
    f = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    queue = td.queue(device)
    state = state_of(queue)
    x = cla.to_device(queue, np.zeros(5000, np.float32))
    before = state.pool.managed_bytes if state.pool else 0
    calls = 5 if device.type == "simulator" else 50
    for _ in range(calls):
        x = f(x)
    assert (x.get() == calls).all()
    if state.pool is None:
        assert device.type == "simulator"
        return
    assert state.pool.managed_bytes - before <= 3 * 20_480, "two at a time, and what is measured"
    assert state.pool.managed_bytes >= 20_000


def test_arrays_of_another_queue_are_not_overwritten_while_they_are_read(device: td.Device):
    """Memory that goes back to the pool is written again by what its own queue runs next."""
    if device.type == "simulator":
        pytest.skip("it runs one command after the other")
    import pyopencl as cl

    queue = td.queue(device)
    other = cl.CommandQueue(queue.context)
    make = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    add = td.compile("function (X[N], Y[N]) -> (Z) { Z = X + Y; }", device=device)
    zeros = cla.to_device(queue, np.zeros(1 << 16, np.float32))
    first = cla.to_device(other, np.zeros(1 << 16, np.float32))
    for _ in range(20):
        made = make(zeros)
        total = add(first, made)
        assert total.queue is other
        del made
        overwriting = [make(make(zeros)) for _ in range(3)]
        assert (total.get() == 1).all()
        del overwriting


LARGE = st.lists(
    st.builds(
        lambda size, first, length: Lifetime(size, first, first + length),
        st.integers(SMALL // 4, 4 * SMALL),
        st.integers(0, 40),
        st.integers(0, 12),
    ),
    max_size=20,
)


@given(LARGE, LARGE)
def test_what_lies_in_a_result_lives_before_it(buffers: list[Lifetime], lives: list[Lifetime]):
    results = [Lifetime(r.size, r.first, 60) for r in lives]
    places = places_in_results(buffers, results)
    for k, place in places.items():
        own, result = buffers[k], results[place.result]
        assert own.last < result.first and place.offset + own.size <= result.size
        assert result.size >= SMALL
        for other, there in places.items():
            if other < k and there.result == place.result and buffers[other].meets(own):
                ends = there.offset + buffers[other].size, place.offset + own.size
                assert ends[0] <= place.offset or ends[1] <= there.offset


def test_the_largest_buffers_lie_in_a_result_where_that_saves_memory():
    result = Lifetime(8 * SMALL, 4, 5)
    early, late = [Lifetime(k * SMALL, 0, 1) for k in (1, 3, 2)], Lifetime(2 * SMALL, 3, 4)
    # With the late one, the result needs most memory: the rest is as much as the late one.
    assert places_in_results([*early, late], [result]) == {1: Place(0, 0), 2: Place(0, 3 * SMALL)}
    assert places_in_results([late], [result]) == {}
    assert places_in_results(early, [Lifetime(SMALL - 1, 4, 5)]) == {}


IN_RESULTS = """function (A[N, N]) -> (O, P) {
  S[i, j: N, N] = +(A[i, k] * A[k, j]); T[i, j: N, N] = +(S[i, k] * A[k, j]);
  U[i, j: N, N] = +(S[i, k] * T[k, j]); V[i, j: N, N] = +(U[i, k] * T[k, j]);
  P[i: N] = +(V[i, k]);
  W[i, j: N, N] = +(V[i, k] * A[k, j]);
  O[i, j, r: N, N, M] = +(W[i, k] * A[k, j]), r < M;
}"""


def in_results(device: td.Device) -> tuple[td.Function, np.ndarray, list[np.ndarray]]:
    """A function whose intermediates lie in a result, an input, and the results."""
    n = 16 if device.type == "simulator" else 144
    f = td.compile(IN_RESULTS, device=device, constants={"M": 5}, precision="f32")
    a = np.random.default_rng(0).random((n, n), np.float32) / n * 2
    x = a.astype(np.float64)
    s = x @ x
    t = s @ x
    v = s @ t @ t
    return f, a, [np.repeat((v @ x @ x)[..., None], 5, -1), v.sum(1)]


def test_intermediates_lie_in_a_result(device: td.Device):
    f, a, expected = in_results(device)
    for _ in range(3):
        for found, wanted in zip(f(a), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4)
    plan = f._last  # pyright: ignore[reportPrivateUsage]
    if device.type == "simulator":
        assert not plan.in_outputs
        return
    alive = 4 * a.nbytes
    assert len(plan.in_outputs) >= 2 and {*plan.in_outputs.values()} == {1}
    assert any(plan.slots[k - plan.first_slot].offset for k in plan.in_outputs)
    assert sum(plan.allocations) <= alive - 2 * a.nbytes


def test_intermediates_lie_in_results_on_the_device(device: td.Device):
    f, a, expected = in_results(device)
    given = cla.to_device(td.queue(device), a)
    calls = [f(given) for _ in range(3)]
    for found in calls:
        for own, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(own.get(), wanted, rtol=1e-4)
    _, profile = f.profile(a)
    assert profile.peak_memory > 0


def test_calls_at_the_same_time_have_results_of_their_own(device: td.Device):
    if device.type == "simulator":
        pytest.skip("it gives each intermediate an allocation of its own")
    f, a, expected = in_results(device)
    f(a)

    found = dict[int, np.ndarray]()

    def call(k: int) -> None:
        for _ in range(3):
            found[k] = f(a * np.float32(1 + k % 2))[1]

    in_threads(call, range(4))
    for k in range(4):
        np.testing.assert_allclose(found[k], expected[1] * (1 + k % 2) ** 8, rtol=1e-3)


def test_calls_of_many_launches_have_results_of_their_own(device: td.Device):
    if device.type == "simulator":
        pytest.skip("it gives each intermediate an allocation of its own")
    steps = [f"W{k + 1}[i, j: N, N] = +(W{k}[i, k] * A[k, j]);" for k in range(70)]
    text = IN_RESULTS.replace("O[", f"W0 = W; {' '.join(steps)}\n  O[").replace("+(W[", "+(W70[")
    f = td.compile(text, device=device, constants={"M": 5}, precision="f32")
    a = np.eye(144, dtype=np.float32)
    for _ in range(2):
        results = [(k, f(a * np.float32(k))[1]) for k in (1, 2, 1)]
    assert all((found == k**8).all() for k, found in results)
    plan = f._last  # pyright: ignore[reportPrivateUsage]
    assert plan.in_outputs and len(plan.launches) > 64
