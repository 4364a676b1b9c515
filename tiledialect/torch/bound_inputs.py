"""Inputs of a call, compared with those of a later call in columns.

A model may have hundreds of parameters and saved tensors, and a step of Python for each takes
microseconds.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from operator import attrgetter
from typing import Any
from weakref import ReferenceType, ref

import torch

from tiledialect.lowering.runtime.device.device import Device
from tiledialect.torch.residence.device_tensors import DeviceTensor
from tiledialect.torch.residence.residence import Resident, resident
from tiledialect.torch.tensors import Tensor, dense

VERSION, IS_KNOWN = attrgetter("_version"), attrgetter("is_known")
LAYOUT = attrgetter("shape", "dtype", "device")
ARRAY = attrgetter("array")
ARRAY_LAYOUT = attrgetter("array.queue", "array.shape", "array.dtype", "order")


@dataclass(eq=False)
class Parameters:
    """Parameters and buffers that stay, as they were at the last call; those first of which
    something was computed, then those with copies on a device."""

    places: Sequence[int]
    """Places among the inputs of the graph."""
    references: Sequence[ReferenceType[Tensor]]
    """Tell when one is gone, whose identity another one may get then."""
    residents: Sequence[Resident]
    """Of all that versions are of."""
    identities: Sequence[int]
    addresses: list[int]
    versions: list[int]
    """Of those whose elements were read: others lie in the host's memory."""
    computed: int
    """Number of those of which something was computed."""

    def are_same(self, given: Sequence[Tensor]) -> bool:
        """Whether inputs are these parameters, where they were."""
        return (
            [*map(id, given)] == self.identities
            and [*map(Tensor.data_ptr, given)] == self.addresses
            and all(map(IS_KNOWN, self.residents))
        )

    @property
    def have_memory(self) -> bool:
        """Whether those whose elements were read have the memory, and no other has the place."""
        return all(own.is_known and not own.reference.expired() for own in self.residents)

    def changed(self, given: Sequence[Tensor]) -> Sequence[int]:
        """Numbers of the parameters with other elements than those read."""
        found = [*map(VERSION, given[: len(self.versions)])]
        if found == self.versions:
            return ()
        return [
            k for k, pair in enumerate(zip(found, self.versions, strict=True)) if len({*pair}) > 1
        ]


@dataclass(frozen=True)
class HostTensors:
    """Tensors in the host's memory for which other calls have others."""

    places: Sequence[int]
    kinds: Sequence[type]
    layouts: Sequence[Any]
    strides: Sequence[Any]

    @staticmethod
    def of(places: Sequence[int], values: Sequence[Any]) -> HostTensors:
        """The tensors at places among values."""
        given = [values[place] for place in places]
        kinds, layouts = [*map(type, given)], [*map(LAYOUT, given)]
        return HostTensors(places, kinds, layouts, [*map(Tensor.stride, given)])

    def are_like(self, given: Sequence[Any]) -> bool:
        """Whether values are tensors of the same layouts."""
        return (
            [*map(type, given)] == self.kinds
            and [*map(LAYOUT, given)] == self.layouts
            and [*map(Tensor.stride, given)] == self.strides
            and not any(map(Tensor.is_neg, given))
            and not any(map(Tensor._is_zerotensor, given))
        )


@dataclass(frozen=True)
class DeviceTensors:
    """Tensors on a device, of an earlier call."""

    places: Sequence[int]
    layouts: Sequence[Any]

    def are_like(self, given: Sequence[Any]) -> bool:
        """Whether values are such tensors of the same layouts."""
        kinds = {*map(type, given)}
        return (
            kinds <= {DeviceTensor}
            and None not in map(ARRAY, given)
            and [*map(ARRAY_LAYOUT, given)] == self.layouts
        )


@dataclass(frozen=True)
class BoundInputs:
    """All inputs of a graph by their kinds."""

    parameters: Parameters
    hosts: HostTensors
    devices: DeviceTensors
    numbers: Mapping[int, Any]
    """Numbers and other values that are no tensors, by place."""

    def matching(self, values: Sequence[Any]) -> Matching | None:
        """The tensors of a later call; None if they are not alike."""
        parameters = [values[place] for place in self.parameters.places]
        hosts = [values[place] for place in self.hosts.places]
        devices = [values[place] for place in self.devices.places]
        if (
            self.parameters.are_same(parameters)
            and self.hosts.are_like(hosts)
            and self.devices.are_like(devices)
            and all(values[place] == own for place, own in self.numbers.items())
        ):
            return Matching(parameters, hosts, devices)
        return None


@dataclass(frozen=True)
class Matching:
    """Tensors of a call by their kinds."""

    parameters: Sequence[Tensor]
    hosts: Sequence[Tensor]
    devices: Sequence[DeviceTensor]


class Kind(Enum):
    """Kinds of inputs, by what is compared at a call."""

    COMPUTED = auto()
    """A parameter that stays, of which something was computed."""
    COPIED = auto()
    """A parameter that stays, with a copy on a device."""
    READ = auto()
    """A parameter that stays, which kernels read in the host's memory."""
    HOST = auto()
    """A tensor in the host's memory for which other calls have others."""
    DEVICE = auto()
    """A tensor on a device, of an earlier call."""
    NUMBER = auto()
    """A number, or another value that is no tensor."""


PARAMETERS = (Kind.COMPUTED, Kind.COPIED, Kind.READ)
"""Kinds of parameters, in the order in which they are compared."""


def inputs_of(
    device: Device,
    values: Sequence[Any],
    computed: Collection[int],
    forget: Callable[[Any], None],
) -> BoundInputs | None:
    """The inputs of a graph on a device; something was ``computed`` of those at some places.

    ``forget`` is called when a parameter is gone. None if an input shares the memory
    of a parameter whose elements are elsewhere, too.
    """
    places: dict[Kind, list[int]] = {kind: [] for kind in Kind}
    for place, value in enumerate(values):
        kind = _kind(value, device.uses_host_memory, place in computed)
        if kind is None:
            return None
        places[kind].append(place)
    devices = places[Kind.DEVICE]
    own = [place for kind in PARAMETERS for place in places[kind]]
    return BoundInputs(
        _parameters(own, [values[place] for place in own], places, forget),
        HostTensors.of(places[Kind.HOST], values),
        DeviceTensors(devices, [ARRAY_LAYOUT(values[place]) for place in devices]),
        {place: values[place] for place in places[Kind.NUMBER]},
    )


def _parameters(
    own: Sequence[int],
    given: Sequence[Tensor],
    places: Mapping[Kind, Sequence[int]],
    forget: Callable[[Any], None],
) -> Parameters:
    computed = len(places[Kind.COMPUTED])
    read = given[: computed + len(places[Kind.COPIED])]
    return Parameters(
        places=own,
        references=[ref(value, forget) for value in given],
        residents=[found for value in read if (found := resident(value)) is not None],
        identities=[*map(id, given)],
        addresses=[value.data_ptr() for value in given],
        versions=[*map(VERSION, read)],
        computed=computed,
    )


def _kind(value: Any, in_host: bool, is_computed: bool) -> Kind | None:
    """Kind of an input; None if it is compared at each call."""
    if not isinstance(value, Tensor):
        return Kind.NUMBER
    if isinstance(value, DeviceTensor):
        return None if in_host or not value.is_on_device else Kind.DEVICE
    own = resident(value)
    if own is not None and own.parameter() is value and not own.others:
        if is_computed:
            return Kind.COMPUTED
        if not in_host:
            return Kind.COPIED
        return Kind.READ if _is_dense(value) else Kind.HOST
    if own is not None and (is_computed or not in_host):
        return None
    is_parameter = isinstance(value, torch.nn.Parameter) and in_host and _is_dense(value)
    return Kind.READ if is_parameter else Kind.HOST


def _is_dense(value: Tensor) -> bool:
    return dense(value)[0].is_contiguous()
