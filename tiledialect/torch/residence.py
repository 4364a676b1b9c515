"""Tensors with copies in the memory of devices that do not work in the host's."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from tiledialect.api.error_boundary import front_door
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.torch.tensors import Tensor, array_of, tensor_of

Copies = dict[tuple[Any, ...], tuple[int, Any]]
"""By queue and place in the storage: the version of the tensor that was copied, and the copy."""


@dataclass
class Resident:
    """A storage whose tensors have copies."""

    reference: StorageWeakRef
    copies: Copies = field(default_factory=dict)


_residents: dict[int, Resident] = {}
"""The storages, by their identity."""


@front_door
def to_device(model: torch.nn.Module) -> torch.nn.Module:
    """Keep the parameters and buffers of a model in the memory of the devices that compute it.

    Compiled graphs copy them at the first call, and again when PyTorch has changed them: it counts
    changes. Changes behind its back, by ``tensor.data`` or through an array of NumPy, are not seen;
    a further ``to_device`` copies all anew. Devices that work in the host's memory need no copies.
    Gives the model.

    Raises:
        TileError: the argument is no module.
    """
    if not isinstance(model, torch.nn.Module):
        raise TileError(f"to_device takes a torch.nn.Module, not {type(model).__name__}")
    for tensor in (*model.parameters(), *model.buffers()):
        _add(tensor)
    return model


def _add(tensor: Tensor) -> Resident:
    for key in [key for key, own in _residents.items() if own.reference.expired()]:
        del _residents[key]
    storage = tensor.untyped_storage()
    made = _residents[storage._cdata] = Resident(StorageWeakRef(storage))
    return made


def host_results(call: Callable[..., Any], inputs: Sequence[tuple[str, Any]]) -> list[Tensor]:
    """Outputs of a function of host arrays for tensors, and arrays among them, with their names."""
    return [tensor_of(a) for a in _listed(call(*(_array(*given) for given in inputs)))]


def results(
    call: Callable[..., Any],
    device: Device,
    inputs: Sequence[tuple[str, Any]],
    saved: Collection[int],
) -> list[Tensor]:
    """Outputs of a function on a device for tensors, and arrays among them, with their names.

    The numbers of outputs in ``saved`` are of those that only a backward pass takes: their copies
    are kept.
    """
    if device.uses_host_memory or not any(_resident(value) for _, value in inputs):
        return host_results(call, inputs)
    from tiledialect.lowering.runtime.device.queues import queue_for

    queue = queue_for(device)
    found = _listed(call(*(_copy(queue, *given) for given in inputs)))
    tensors = [tensor_of(a.get()) for a in found]
    for k in saved:
        tensor = tensors[k]
        _add(tensor).copies[_key(queue, tensor)] = tensor._version, found[k]
    return tensors


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def _array(name: str, value: Any) -> Any:
    return array_of(name, value) if isinstance(value, Tensor) else value


def _resident(value: Any) -> Resident | None:
    if not _residents or not isinstance(value, Tensor):
        return None
    found = _residents.get(value.untyped_storage()._cdata)
    return None if found is None or found.reference.expired() else found


def _key(queue: Any, tensor: Tensor) -> tuple[Any, ...]:
    return queue, tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype


def _copy(queue: Any, name: str, value: Any) -> Any:
    """The copy of a tensor in the device's memory, made if there is none of its version."""
    resident = _resident(value)
    if resident is None:
        return upload(queue, _array(name, value))
    key = _key(queue, value)
    version, array = resident.copies.get(key, (None, None))
    if version != value._version:
        array = upload(queue, array_of(name, value))
        resident.copies[key] = value._version, array
    return array


def upload(queue: Any, array: Any) -> Any:
    """A copy of an array in a device's memory."""
    import pyopencl.array as cla

    return cla.to_device(queue, np.ascontiguousarray(array))
