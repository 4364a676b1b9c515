"""Runs of executables on pyopencl's arrays, which give others; nothing waits for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import pyopencl as cl

from tiledialect.lowering.runtime.device.queue_state import QueueState
from tiledialect.lowering.runtime.program.plan import Plan

if TYPE_CHECKING:
    import pyopencl.array as cla


class Executable(Protocol):
    """Plan that is ready to run on arrays of a device."""

    plan: Plan
    state: QueueState

    def enqueue(
        self, given: Sequence[Any], wait_for: Sequence[cl.Event] | None = None
    ) -> Sequence[cl.Event]:
        """Enqueue the steps after events; the last event, if any."""
        ...

    def output(self, number: int, allocator: Any = None) -> cla.Array:
        """A new array for an output."""
        ...


class OutputArrays:
    """New arrays for the outputs of a plan."""

    def __init__(self, plan: Plan, state: QueueState):
        self.plan = plan
        self.state = state

    def make(self, number: int, allocator: Any = None) -> cla.Array:
        """A new array for an output, which takes a twentieth of the time that pyopencl takes."""
        allocator = allocator or self.state.pool or self.state.allocate
        array = object.__new__(sys.modules["pyopencl.array"].Array)
        own = self._parts[number].copy()
        own["events"] = []
        own["allocator"] = allocator
        nbytes = own["nbytes"]
        own["base_data"] = allocator(nbytes) if nbytes else None
        array.__dict__ = own
        return array

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        """Attributes of the outputs as pyopencl arrays, but for their memory."""
        import pyopencl.array as cla

        queue, nothing = self.state.queue, self.state.allocate(0)
        return [vars(cla.Array(queue, t.shape, t.dtype, data=nothing)) for t in self.plan.outputs]


def on_device(own: Executable, arrays: Sequence[cla.Array]) -> list[cla.Array]:
    """Enqueue the steps on the arrays' memory, after what is enqueued on their own queues."""
    state = own.state
    allocator: Any = arrays[0].allocator if arrays else None
    outputs = [own.output(k, allocator) for k in range(len(own.plan.outputs))]
    if state.is_simulator:
        for output in outputs:
            if output.base_data:
                state.renew(output.base_data)
    buffers: list[Any] = [a.base_data or state.allocate(0) for a in (*arrays, *outputs)]
    # The arrays may still be written to by commands of other queues.
    pending: list[cl.Event] = []
    others: set[cl.CommandQueue] = set()
    for array in arrays:
        pending += array.events
        if array.queue is not state.queue and array.queue is not None:
            others.add(array.queue)
    if events := own.enqueue(buffers, pending or None):
        for output in outputs:
            output.events.append(events[-1])
        for k in own.plan.updated:
            # Of many changes of an array the last ones count.
            arrays[k].add_event(events[-1])
        for queue in others and others - {state.queue}:
            # Its next commands may overwrite arrays that are still read here.
            cl.enqueue_barrier(queue, wait_for=events[-1:])
    return outputs
