"""Calls of a graph with the parameters of an earlier call, of inference and of training.

What is the same at each call is prepared once: the inputs are compared in columns, results have
memory that is reused, and kernels keep the arguments that stay.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import torch

from tiledialect.api.function import Function
from tiledialect.api.packing.packing import Packed
from tiledialect.api.spans import overlapping
from tiledialect.lowering.runtime.call.arrays import room
from tiledialect.lowering.runtime.call.copies import copy_to_device
from tiledialect.torch.bound_inputs import BoundInputs, Matching
from tiledialect.torch.outputs import Order, Outputs
from tiledialect.torch.residence.device_tensors import DeviceTensor, layout_of
from tiledialect.torch.residence.residence import (
    Argument,
    Change,
    Counts,
    array_copy,
    bring_back,
    has_late_updates,
    on_host,
    place_of,
    resident,
)
from tiledialect.torch.reused_results import DeviceResults, HostResults
from tiledialect.torch.tensors import (
    TORCH_TYPES,
    Tensor,
    array_of,
    dense,
    permuted,
    span,
    tensor_of,
)


@dataclass(frozen=True)
class Facts:
    """Facts that all calls of a function have in common."""

    function: Function
    inputs: BoundInputs
    outputs: Outputs
    updated: Collection[int]
    """Places of the inputs that calls change."""
    counted: Collection[int] = ()
    """Places of those whose changes PyTorch has counted when it calls."""
    saved: Collection[int] = ()
    """Numbers of the results that only a backward pass takes."""
    copied: Sequence[int] = ()
    """Places of the inputs that the last outputs are copied to."""
    packed: Sequence[Packed] = ()
    """Results computed of parameters alone: calls with inputs of other shapes take them, too."""


class BoundCall(ABC):
    """Calls of a function for the inputs of its graph, if these are like those of a first call."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self._lock = threading.Lock()

    def __call__(self, values: Sequence[Any], counts: Counts) -> list[Any] | None:
        """The outputs; None for other inputs, or within another call.

        Tensors that the call changes among the values have their new elements then.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            given = self.facts.inputs.matching(values)
            results = None if given is None else self._results(values, given, counts)
            return None if results is None else self.facts.outputs.of(results, values)
        finally:
            self._lock.release()

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way."""
        return self._lock.locked()

    def rest(self) -> None:
        """Give up the memory for results, unless a call is under way. The next one gets other."""
        if self._lock.acquire(blocking=False):
            try:
                self._free_results()
            finally:
                self._lock.release()

    @abstractmethod
    def _free_results(self) -> None:
        """Give up the memory for results."""

    @abstractmethod
    def _results(
        self, values: Sequence[Any], given: Matching, counts: Counts
    ) -> list[Tensor] | None:
        """The results, with the axes of outputs; None if something was computed of parameters that
        have changed, or memory is shared."""


class HostCall(BoundCall):
    """Calls on a device that works in the host's memory: kernels are given addresses."""

    def __init__(self, facts: Facts, arguments: Sequence[Argument]):
        super().__init__(facts)
        self._calls = facts.function.at_addresses(tuple(own.type for own in arguments))
        orders, inputs = facts.outputs.orders, facts.inputs
        self._made = HostResults(
            [
                partial(_empty, t.shape, TORCH_TYPES[t.dtype], orders.get(k))
                for k, t in enumerate(self._calls.plan.outputs)
            ]
        )
        self._fixed = [own.value for own in arguments if own.source is None]
        self._makers = [own.source for own in arguments if callable(own.source)]
        places: list[Any] = [*inputs.parameters.places, *inputs.hosts.places, *self._makers]
        first, fixed = len(places), count()
        self._picks = [
            first + next(fixed) if own.source is None else places.index(own.source)
            for own in arguments
        ]
        """Places of the arguments among the parameters, the other tensors, what is made for a call
        and what stays."""
        given = [own for own in arguments if isinstance(own.source, int)]
        with_gaps = {own.source for own in given if not own.value.is_contiguous()}
        self._gaps = [k for k, p in enumerate(inputs.hosts.places) if p in with_gaps]
        """Numbers of the tensors that are copied, as they have gaps."""
        self._apart: list[int] = []
        """Addresses of tensors that are apart from those that calls change."""

    def _free_results(self) -> None:
        self._made.forget()

    def _results(
        self, values: Sequence[Any], given: Matching, counts: Counts
    ) -> list[Tensor] | None:
        parameters = self.facts.inputs.parameters
        if parameters.changed(given.parameters):
            return None
        hosts = [*map(Tensor.data_ptr, given.hosts)]
        if self.facts.updated and hosts != self._apart:
            if not self._are_apart(values, hosts):
                return None
            self._apart = [*hosts]
        copies = [(k, given.hosts[k].contiguous()) for k in self._gaps]
        for k, tensor in copies:
            hosts[k] = tensor.data_ptr()
        if has_late_updates():
            counts.tell()
            for tensor in (*given.parameters, *given.hosts):
                on_host(tensor)
        arrays = [*(make() for make in self._makers), *self._fixed]
        found = [*parameters.addresses, *hosts, *map(_address, arrays)]
        self._calls.run([*(found[k] for k in self._picks), *self._made.free()])
        return self._made.made()

    def _are_apart(self, values: Sequence[Any], hosts: Sequence[int]) -> bool:
        """Whether no tensor at another address than before has memory in common with one that calls
        change. Those that have stayed were apart."""
        places, updated = self.facts.inputs.hosts.places, self.facts.updated
        before = self._apart or [-1] * len(hosts)
        moved = {p for p, a, b in zip(places, hosts, before, strict=True) if a != b}
        spans = [span(values[place], place) for place in {*moved, *updated}]
        return overlapping(spans, updated) is None


class DeviceCall(BoundCall):
    """Calls on a device with memory of its own, in which the parameters are, and stays what only a
    backward pass takes."""

    def __init__(self, facts: Facts, arguments: Sequence[Argument]):
        super().__init__(facts)
        self._executable = facts.function.on_buffers(tuple(own.type for own in arguments))
        self._queue = self._executable.state.queue
        self._nothing = self._executable.state.allocate(0)
        self._names = [own.name for own in arguments]
        at = {own.source: k for k, own in enumerate(arguments) if own.source is not None}
        inputs = facts.inputs
        self._parameters, self._hosts, self._devices = (
            {k: at[place] for k, place in enumerate(own.places) if place in at}
            for own in (inputs.parameters, inputs.hosts, inputs.devices)
        )
        """For numbers of inputs of a kind their places among the arguments."""
        self._makers = {k: own for own, k in at.items() if callable(own)}
        self._arrays = [self._on_device(k, own) for k, own in enumerate(arguments)]
        """Arguments on the device, of tensors of the host room for them; those of an earlier call
        are None."""
        self._prepare_updates(at)
        self._prepare_results()

    def _on_device(self, k: int, argument: Argument) -> Any:
        if k in self._devices.values():
            return None
        if k in self._makers or k in self._hosts.values():
            given = self._executable.plan.inputs[k]
            return room(self._queue, given.shape, np.dtype(given.dtype))
        return array_copy(self._queue, argument.name, argument.value)

    def _prepare_updates(self, at: Mapping[Any, int]) -> None:
        inputs, facts = self.facts.inputs, self.facts
        numbers = {place: k for k, place in enumerate(inputs.parameters.places)}
        own = inputs.parameters.residents
        updated = [place for place in facts.updated if place in at]
        late = [p for p in updated if p in numbers and own[numbers[p]].keeps_updates]
        self._changed = [(place, at[place]) for place in updated if place not in late]
        """Places of tensors that calls change at once among inputs and arguments."""
        self._late = [(own[numbers[p]], p, at[p]) for p in late]
        self._keys = [place_of(self._queue, own.parameter()) for own, _, _ in self._late]
        self._versions = [(numbers[p], p, p in facts.counted) for p in updated if p in numbers]

    def _keep_updates(self, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Know the versions of parameters after a call, and before the next one."""
        for (own, place, k), key in zip(self._late, self._keys, strict=True):
            count = values[place]._version
            own.stays_ahead(key, (count, count), arrays[k])
        versions = self.facts.inputs.parameters.versions
        for k, place, is_counted in self._versions:
            versions[k] = values[place]._version + is_counted

    def _prepare_results(self) -> None:
        executable, orders = self._executable, self.facts.outputs.orders
        outputs = executable.plan.outputs
        saved = sorted(self.facts.saved)
        copies = [k for k in range(len(outputs)) if k not in saved]
        self._saved, self._copied = (
            DeviceResults([partial(executable.output, k) for k in own]) for own in (saved, copies)
        )
        """Results on the device that stay, and those that are copied."""
        host_array, dtypes = executable.state.host_array, executable.dtypes
        self._made = HostResults(
            [
                partial(_copy_of, host_array, outputs[k].shape, dtypes[k], orders.get(k))
                for k in copies
            ]
        )
        self._layouts = [
            (orders.get(k), layout_of(outputs[k].shape, outputs[k].dtype, orders.get(k)))
            for k in saved
        ]
        places = [*saved, *copies]
        self._order = [places.index(k) for k in range(len(outputs))]
        """For each result its place among those that stay and those that are copied."""

    def _free_results(self) -> None:
        for own in (self._saved, self._copied, self._made):
            own.forget()
        # The kernels' arguments hold the results, and copies of parameters.
        last = self._executable.last_given
        last[:] = [None] * len(last)

    def _results(
        self, values: Sequence[Any], given: Matching, counts: Counts
    ) -> list[Tensor] | None:
        if any(resident(tensor) is not None for tensor in given.hosts):
            return None
        if not self._refresh(given.parameters, counts):
            return None
        arrays = [*self._arrays]
        sources = {at: make() for at, make in self._makers.items()}
        for k, at in self._hosts.items():
            tensor, _ = dense(given.hosts[k])
            sources[at] = np.asarray(array_of(self._names[at], tensor), order="C")
        queue = self._queue
        uploads = [
            copy_to_device(queue, arrays[at], own, waits=False) for at, own in sources.items()
        ]
        for k, at in self._devices.items():
            arrays[at] = given.devices[k].array
        saved, copied = self._saved.free(), self._copied.free()
        self._made.free()
        results = [*saved, *copied]
        arrays += (results[k] for k in self._order)
        self._run(arrays)
        made = self._made.made()
        copies = [*zip(self._made.memory, copied, strict=True)]
        changes = [Change(self._names[k], values[p], arrays[k]) for p, k in self._changed]
        bring_back(queue, changes, copies)
        # They wait until the arrays' memory has been read.
        del uploads
        self._keep_updates(values, arrays)
        pairs = zip(saved, self._layouts, strict=True)
        found = [*(DeviceTensor(array, *own) for array, own in pairs), *made]
        return [found[k] for k in self._order]

    def _run(self, arrays: Sequence[Any]) -> None:
        state = self._executable.state
        buffers = [own.base_data or self._nothing for own in arrays]
        if state.is_simulator:
            for buffer in buffers[-len(self._order) :] if self._order else ():
                state.renew(buffer)
        self._executable.on_buffers(buffers)

    def _refresh(self, given: Sequence[Tensor], counts: Counts) -> bool:
        """Copy parameters that have changed; whether nothing was computed of them."""
        parameters = self.facts.inputs.parameters
        changed = parameters.changed(given)
        if changed:
            counts.tell()
        for k in changed:
            if k < parameters.computed:
                return False
            if k in self._parameters:
                at = self._parameters[k]
                self._arrays[at] = array_copy(self._queue, self._names[at], given[k])
            parameters.versions[k] = given[k]._version
        return True


def bound_call(facts: Facts, arguments: Sequence[Argument]) -> BoundCall:
    """Calls of a function with arguments like these."""
    kind = HostCall if facts.function.device.uses_host_memory else DeviceCall
    return kind(facts, arguments)


def _empty(shape: Sequence[int], dtype: torch.dtype, order: Order) -> tuple[Tensor, None]:
    """A tensor in new memory that has the axes of an output."""
    return permuted(torch.empty(tuple(shape), dtype=dtype), order), None


def _copy_of(
    host_array: Callable[..., Any], shape: Sequence[int], dtype: Any, order: Order
) -> tuple[Tensor, Any]:
    """A tensor for an output that is copied from a device, and its memory."""
    array = host_array(shape, dtype)
    return permuted(tensor_of(array), order), array.reshape(-1).view(np.uint8)


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]
