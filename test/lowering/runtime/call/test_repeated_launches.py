"""Kernels keep the arguments that they were given for the launches before."""

from __future__ import annotations

from typing import Any

import pyopencl as cl
import pytest

from tiledialect.lowering.runtime.call.repeated_launches import RepeatedLaunches
from tiledialect.lowering.runtime.program.plan import Launch


class Kernel:
    """A kernel that records its arguments, and refuses some."""

    def __init__(self):
        self.given: list[tuple[int, Any]] = []

    def set_arg(self, at: int, memory: Any) -> None:
        if memory == "refused":
            raise ValueError
        self.given.append((at, memory))


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Kernels in the order of their launches, whose events are their numbers."""
    found: list[Any] = []

    def enqueue(_: object, kernel: Any, *__: object) -> int:
        found.append(kernel)
        return len(found)

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", enqueue)
    return found


def launched(*places: list[tuple[int, int]]) -> tuple[list[Kernel], RepeatedLaunches, list[Any]]:
    """Kernels of launches with arguments at places, by the numbers of their tensors."""
    kernels: Any = [Kernel() for _ in places]
    launches = [Launch(f"k{k}", (1, 1, 1), (1, 1, 1), ()) for k in range(len(places))]
    by_name = dict(zip((own.kernel for own in launches), places, strict=True))
    last: list[Any] = [None, None]
    queue: Any = None
    pairs = list(zip(kernels, launches, strict=True))
    return kernels, RepeatedLaunches(queue, pairs, last, lambda own: by_name[own.kernel]), last


def test_arguments_that_differ_are_set(enqueued: list[Any]):
    (first, second), own, last = launched([(0, 0), (2, 1)], [(1, 1)])
    assert own.enqueue(["a", "b"]) == [2] and enqueued == [first, second]
    assert first.given == [(0, "a"), (2, "b")] and second.given == [(1, "b")]
    assert own.enqueue(["a", "b"]) == [4] and len(first.given) == 2
    own.enqueue(["a", "c"])
    assert first.given[2:] == [(2, "c")] and second.given[1:] == [(1, "c")]
    # Others have given the kernels something.
    last[:] = [None, None]
    own.enqueue(["a", "c"])
    assert len(first.given) == 5 and len(second.given) == 3


def test_all_arguments_are_set_after_a_refusal(enqueued: list[Any]):
    (kernel,), own, last = launched([(0, 0), (1, 1)])
    own.enqueue(["a", "b"])
    with pytest.raises(ValueError):
        own.enqueue(["c", "refused"])
    assert last == [None, None] and len(enqueued) == 1
    own.enqueue(["a", "b"])
    assert kernel.given[-2:] == [(0, "a"), (1, "b")]


def test_no_launches():
    _, own, _ = launched()
    assert own.enqueue(["a", "b"]) == []
