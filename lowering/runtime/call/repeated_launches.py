"""Launches with memory that is mostly that of the launches before: kernels keep arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyopencl as cl

from tiledialect.lowering.runtime.program.plan import Launch

NOWHERE = ctypes.create_string_buffer(64)
"""Memory in the place of that of tensors without elements."""


class RepeatedLaunches:
    """Launches on a queue that is in order.

    Whoever gives the kernels other arguments sets all of those last given to None.
    """

    def __init__(
        self,
        queue: cl.CommandQueue,
        launches: Sequence[tuple[cl.Kernel, Launch]],
        last: list[Any],
        varying: Callable[[Launch], Iterable[tuple[int, int]]],
    ):
        """``varying`` gives the places of a launch's arguments that differ by call, and the numbers
        of their tensors."""
        self._queue = queue
        self._steps = [(kernel, own.global_size, own.local_size) for kernel, own in launches]
        self._last = last
        """Buffers or addresses last given of the tensors that differ by call, which come first."""
        self._places: list[list[tuple[Any, int]]] = [[] for _ in last]
        """For each tensor the kernels' functions that set arguments, and the places of these."""
        for kernel, own in launches:
            for at, number in varying(own):
                self._places[number].append((kernel.set_arg, at))

    def enqueue(self, given: Sequence[Any]) -> list[cl.Event]:
        """Enqueue the launches with buffers, or addresses of the host, of the tensors that differ
        by call. Who gives buffers keeps them. Gives the last event, if there is one."""
        if given != self._last:
            try:
                self._set(given)
            except BaseException:
                self._last[:] = [None] * len(self._last)
                raise
        queue, event = self._queue, None
        for kernel, global_size, local_size in self._steps:
            # By place: names are a tenth of a small call.
            event = cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size)
        return [] if event is None else [event]

    def _set(self, given: Sequence[Any]) -> None:
        for number, (new, old) in enumerate(zip(given, self._last, strict=True)):
            if new != old:
                memory = at_address(new) if isinstance(new, int) else new
                for set_arg, at in self._places[number]:
                    set_arg(at, memory)
                self._last[number] = new


def at_address(address: int) -> cl.SVM[Any]:
    """Argument of a kernel for memory of the host."""
    if not address:
        return cl.SVM(NOWHERE)
    return cl.SVM((ctypes.c_char * 1).from_address(address))
