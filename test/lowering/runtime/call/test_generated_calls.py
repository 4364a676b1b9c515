"""Calls that are written out as functions of their own."""

from __future__ import annotations

import numpy as np
import pytest
from threads import in_threads

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call import launch
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.device.queue_state import state_in_caller, state_of
from tiledialect.lowering.runtime.device.queues import queue_for

TWO = "function (A[N, M], B[M]) -> (C, S) { C[i] = +(A[i, j] * B[j]); S[] = +(C[i] * C[i]); }"
CHAIN = """function (A[N, N]) -> (D) {
  B[i, j] = +(A[i, k] * A[k, j]);
  C[i, j] = +(B[i, k] * A[k, j]);
  D[i] = +(C[i, j] * B[j, i]);
}"""


def by_addresses() -> list[td.Device]:
    return [d for d in td.devices() if d.type == "cpu" and state_of(td.queue(d)).takes_pointers]


@pytest.fixture(params=by_addresses(), ids=str)
def addressed(request: pytest.FixtureRequest) -> td.Device:
    return request.param


def executables(f: td.Function, device: td.Device, *arrays: np.ndarray) -> list[Executable]:
    """On the device's threads, and in the calling one where there is such a queue."""
    made = f._specialize(f.types(arrays, {}), device)  # pyright: ignore[reportPrivateUsage]
    states = [state_of(queue_for(device)), state_in_caller(device)]
    return [made.executable(state, on_host=True) for state in states if state is not None]


@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("shape", [(5, 7), (0, 3), (3, 0), (200, 300)])
def test_written_out_or_not(
    addressed: td.Device, monkeypatch: pytest.MonkeyPatch, few: int, shape: tuple[int, int]
):
    monkeypatch.setattr(launch, "FEW", few)
    f = td.compile(TWO, device=addressed)
    a, b = np.ones(shape, np.float32), np.arange(shape[1], dtype=np.float32)
    b.flags.writeable = False
    for run in executables(f, addressed, a, b):
        c, s = run.on_host([a, b])
        assert np.allclose(c, a @ b) and np.allclose(s, (a @ b) @ (a @ b))


@pytest.mark.parametrize("text, are_made", [(TWO, False), (CHAIN, True)])
def test_kernels_are_made_once_for_calls_that_have_their_own(
    addressed: td.Device, text: str, *, are_made: bool
):
    """Each call of a plan without intermediates takes kernels of its own."""
    f = td.compile(text, device=addressed)
    arrays = [np.ones((4, 4), np.float32), np.ones(4, np.float32)][: 1 + (text is TWO)]
    for run in executables(f, addressed, *arrays):
        first = run.on_host(arrays)
        assert ("kernels" in vars(run)) == are_made
        again = run._guarded(Executable._host, arrays)  # pyright: ignore[reportPrivateUsage]
        assert all(map(np.array_equal, first, again))


def test_what_outputs_are_given_as(addressed: td.Device):
    f = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=addressed)
    a = np.zeros(3, np.float32)
    for run in executables(f, addressed, a):
        assert isinstance(run.host_run(None)([a]), np.ndarray)
        assert isinstance(run.on_host([a]), list)


@pytest.mark.parametrize("text", [TWO, CHAIN])
def test_several_threads_run_one_function(addressed: td.Device, text: str):
    """With intermediates and without."""
    f = td.compile(text, device=addressed)
    rows = np.random.default_rng(0).integers(0, 3, (40, 40)).astype(np.int64)
    arrays = (rows, rows[0]) if text is TWO else (rows,)
    for run in executables(f, addressed, *arrays):
        wrong: list[int] = []

        def work(n: int, run: Executable = run, wrong: list[int] = wrong) -> None:
            given = [a + n for a in arrays]
            expected = f.reference(*given)
            expected = expected if isinstance(expected, tuple) else (expected,)
            for _ in range(30):
                if not all(map(np.array_equal, run.on_host(given), expected)):
                    wrong.append(n)

        in_threads(work, range(4))
        assert not wrong


@pytest.mark.parametrize("text", [TWO, CHAIN])
def test_what_fails_leaves_the_function_as_it_was(
    addressed: td.Device, monkeypatch: pytest.MonkeyPatch, text: str
):
    f = td.compile(text, device=addressed)
    a = np.random.default_rng(2).integers(0, 3, (20, 20)).astype(np.float32)
    arrays = [a, a[0].copy()] if text is TWO else [a]
    others = [array + 1 for array in arrays]
    expected = f.reference(*arrays)
    expected = expected if isinstance(expected, tuple) else (expected,)

    def fail(*_: object) -> None:
        raise MemoryError

    for run in executables(f, addressed, *arrays):
        for _ in range(3):
            assert all(map(np.array_equal, run.on_host(arrays), expected))
            with monkeypatch.context() as patch:
                patch.setattr(launch.cl, "enqueue_nd_range_kernel", fail)
                for call in (run.on_host, run.profile):
                    with pytest.raises(TileError, match="not enough memory for the results"):
                        call(others)
            assert all(map(np.array_equal, run.on_host(arrays), expected))


@pytest.mark.parametrize("text", [TWO, CHAIN])
def test_arrays_that_are_elsewhere_or_where_others_were(addressed: td.Device, text: str):
    f = td.compile(text, device=addressed)
    a = np.random.default_rng(1).integers(0, 3, (20, 20)).astype(np.float32)
    arrays = [a, a[0].copy()] if text is TWO else [a]
    expected = f.reference(*arrays)
    expected = expected if isinstance(expected, tuple) else (expected,)
    made = f._specialize(f.types(arrays, {}), addressed)  # pyright: ignore[reportPrivateUsage]
    run = made.executable(state_of(queue_for(addressed, profiling=True)), on_host=True)
    for k in range(12):
        given = arrays if k % 3 else [array.copy() for array in arrays]
        found = run.profile(given)[0] if k % 4 == 3 else run.on_host(given)
        assert all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("text", [TWO, CHAIN])
def test_two_functions_of_one_executable(addressed: td.Device, text: str):
    """Arguments that one call gives the kernels are known to the other."""
    f = td.compile(text, device=addressed)
    a = np.random.default_rng(3).integers(0, 3, (20, 20)).astype(np.float32)
    arrays = [a, a[0].copy()] if text is TWO else [a]
    others = [array + 1 for array in arrays]
    for run in executables(f, addressed, *arrays):
        calls = [run.host_run(lambda *outputs: outputs) for _ in range(2)]
        for k in range(8):
            given = others if k % 2 else arrays
            expected = f.reference(*given)
            expected = expected if isinstance(expected, tuple) else (expected,)
            assert all(map(np.array_equal, calls[k % 2](given), expected))


def test_a_call_that_is_left_early_gives_its_kernels_back(
    addressed: td.Device, monkeypatch: pytest.MonkeyPatch
):
    f = td.compile(TWO, device=addressed)
    a, b = np.ones((5, 7), np.float32), np.ones(7, np.float32)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for run in executables(f, addressed, a, b):
        call = run.on_host
        call([a, b])
        monkeypatch.setattr(run, "kernel_of", None)
        with monkeypatch.context() as patch:
            patch.setattr(launch.cl, "enqueue_nd_range_kernel", interrupt)
            with pytest.raises(KeyboardInterrupt):
                call([a + 1, b + 1])
        assert np.array_equal(call([a, b])[0], a @ b)
