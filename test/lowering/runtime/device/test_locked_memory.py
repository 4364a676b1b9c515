"""Memory of the host that drivers lock in its place."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.device import locked_memory
from tiledialect.lowering.runtime.device.locked_memory import LEAST, LockedMemory
from tiledialect.lowering.runtime.device.queue_state import QueueState
from tiledialect.lowering.runtime.device.queues import queue_for

BYTE = np.dtype(np.uint8)


@pytest.fixture
def memory(device: td.Device) -> LockedMemory:
    return LockedMemory(queue_for(device))


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def test_memory_serves_one_array_after_the_other(memory: LockedMemory):
    first = memory.array((LEAST // 2,), np.dtype(np.float32))
    part, place = first[7:].reshape(-1), address(first)
    part[:] = 3
    del first
    gc.collect()
    # The part has the memory still.
    second = memory.array((2 * LEAST,), BYTE)
    assert address(second) != place and np.all(part == 3)
    del part
    gc.collect()
    # A few more bytes are rounded up to the same size.
    third = memory.array((2, LEAST - 1), BYTE)
    assert address(third) == place and third.shape == (2, LEAST - 1)
    assert memory.locked == 4 * LEAST and not memory.free


class _Interrupted(list[Any]):
    """Blocks of which a signal's handler takes the first one before another one is taken."""

    def pop(self, place: Any = -1) -> Any:
        del self[0]
        return super().pop(place)

    def remove(self, value: Any) -> None:
        del self[0]
        super().remove(value)


def test_a_call_within_a_call_may_take_a_block(memory: LockedMemory):
    held = [memory.array((count * LEAST,), BYTE) for count in (2, 1, 4)]
    places = [*map(address, held)]
    while held:
        del held[0]
        gc.collect()
    memory.free = _Interrupted(memory.free)
    assert address(memory.array((LEAST,), BYTE)) == places[1]
    # The handler takes the very one.
    memory.free = _Interrupted(memory.free[-1:])
    assert address(memory.array((LEAST,), BYTE)) != places[1]


@pytest.mark.parametrize("dtype", (np.dtype(np.int64), np.dtype(ml_dtypes.bfloat16)))
def test_arrays_are_like_others(memory: LockedMemory, dtype: np.dtype[Any]):
    array = memory.array((LEAST, 2), dtype)
    array[:] = 5
    flags = array.flags
    assert flags.c_contiguous and flags.writeable and flags.aligned
    assert array.dtype == dtype and array.shape == (LEAST, 2) and (array == 5).all()


def test_small_arrays_take_other_memory(memory: LockedMemory):
    assert memory.array((LEAST - 1,), BYTE).base is None and not memory.locked
    assert memory.array((0, LEAST), BYTE).shape == (0, LEAST)


def test_no_more_than_the_most_is_locked(memory: LockedMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(locked_memory, "MOST", 4 * LEAST)
    kept = memory.array((LEAST,), BYTE)
    dropped = memory.array((2 * LEAST,), BYTE)
    del dropped
    gc.collect()
    # What no array uses makes room.
    found = memory.array((3 * LEAST,), BYTE)
    assert memory.locked == 4 * LEAST and not memory.free
    assert memory.array((LEAST,), BYTE).base is None
    assert kept.base is not None and found.base is not None


def test_results_of_devices_with_memory_of_their_own(
    device: td.Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(td.Device, "uses_host_memory", False)
    f = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    a = np.arange(LEAST, dtype=np.float32)
    state = QueueState(queue_for(device))
    run = f._specialize(f.types((a,), {}), device).executable(  # pyright: ignore[reportPrivateUsage]
        state, on_host=True
    )
    for _ in range(2):
        (b,) = run.on_host([a])
        assert np.array_equal(b, a + 1)
        del b
    assert (state.locked_memory is None) == state.is_simulator
    assert state.locked_memory is None or len(state.locked_memory.free) == 1
