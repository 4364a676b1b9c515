"""Tensors with copies in the memory of devices that have a memory of their own."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import ReferenceType, WeakSet, ref

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.parameter import UninitializedTensorMixin
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect import disk
from tiledialect.api.error_boundary import front_door
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.arrays import upload
from tiledialect.lowering.runtime.call.copies import copy_to_device, copy_to_host
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.torch.residence.device_tensors import DeviceTensor
from tiledialect.torch.residence.file_memory import forget_pages, moved_to_file
from tiledialect.torch.residence.uncounted_changes import count_changes
from tiledialect.torch.tensors import (
    Tensor,
    array_of,
    dense,
    has_storage,
    tensor_of,
    tensor_type,
)

Source = int | Callable[[], Any]
"""Place of an argument among the inputs of a graph; or what gives an array for each call."""
Version = tuple[int, int]
"""Changes of a tensor and of the parameters whose storage it has: ``parameter.data`` has a count of
its own."""
Copies = dict[tuple[Any, ...], tuple[Version, Any]]
"""By queue and place in the storage: the version of the tensor that was copied, and the copy."""


@dataclass(frozen=True)
class Argument:
    """Argument of the function of a graph."""

    name: str
    value: Any
    """Tensor, with its axes in the order of its memory, or array."""
    source: Source | None
    """None for an array that is the same at every call."""

    @property
    def type(self) -> TensorType[Attribute]:
        """Shape and element type."""
        return tensor_type(self.value)


@dataclass(eq=False)
class Resident:
    """Storage of a parameter or buffer, whose tensors have copies."""

    reference: StorageWeakRef
    parameter: ReferenceType[Tensor]
    others: list[ReferenceType[Tensor]] = field(default_factory=list)
    """Other parameters and buffers in the storage, whose changes are counted apart."""
    copies: Copies = field(default_factory=dict)
    is_known: bool = True
    """Whether no other has taken the place."""
    name: str = ""
    """Name of the parameter."""
    keeps_updates: bool = False
    """Whether what compiled graphs change stays on the device."""
    ahead: tuple[Version, Any] | None = None
    """Version and copy of the parameter whose elements the host does not have yet."""

    def bring_back(self) -> None:
        """Give the parameter the elements that are on the device alone; a TileError if the host has
        changed others meanwhile."""
        parameter = self.parameter()
        if self.ahead is None or parameter is None:
            return
        version, array = self.ahead
        if self.version(parameter) != version:
            raise TileError(
                f"{self.name} has been changed on the host, and by a compiled model on its device: "
                "call td.torch.to_host before the host's change, or to_device after it"
            )
        array_of(self.name, dense(parameter)[0])[...] = array.get()
        self.ahead = None
        _late.discard(self)

    def stays_ahead(self, key: tuple[Any, ...], version: Version, array: Any) -> None:
        """Know that the copy at a place, alone, has the elements of a version."""
        self.copies = {key: (version, array)}
        if self.ahead is None:
            _late.add(self)
        self.ahead = version, array

    @property
    def known(self) -> list[Tensor]:
        """The parameters and buffers in the storage."""
        return [t for own in (self.parameter, *self.others) if (t := own()) is not None]

    def counts(self, tensor: Tensor) -> int:
        """Number of parameters and buffers for which a change of a tensor is counted: of them, or
        of a view."""
        return sum(tensor is own or tensor._base is own for own in self.known)

    def version(self, tensor: Tensor) -> Version:
        """Version of a tensor in the storage."""
        return tensor._version, sum(own._version for own in self.known)


_residents: dict[int, Resident] = {}
"""The storages, by their identity."""
_late: WeakSet[Resident] = WeakSet()
"""Storages of which the host does not have all elements."""
_gone: list[ReferenceType[Tensor]] = []
"""Parameters that are gone, whose storages may be kept by others."""


@front_door
def to_device(model: torch.nn.Module, *, keep_updates: bool = False) -> torch.nn.Module:
    """Keep the parameters and buffers of a model in the memory of the devices that compute it.

    Compiled graphs copy them at the first call, and again when PyTorch has changed them: it counts
    changes. Changes behind its back, by ``tensor.data`` or through an array of NumPy, are not seen;
    a further ``to_device`` copies all anew. Devices that work in the host's memory need no copies.
    What inference computes of parameters alone, such as a transposed weight, is kept as well, on
    any device. Tensors of ``torch.inference_mode`` are not kept: their changes are not counted. Nor
    are sparse ones. Gives the model.

    Args:
        keep_updates: whether parameters and buffers that a compiled graph changes are not copied
            back after each call, but by ``to_host`` or ``state_dict``. Other uses of them by
            PyTorch, and views of them that the graph gives back, have old numbers until then.

    Raises:
        TileError: the argument is no module, or has a layer that does not know its shapes yet.
    """
    check_module(model, "to_device")
    remove_expired()
    made = dict[int, Resident]()
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if has_storage(tensor) and not tensor.is_inference():
            if (first := made.get(tensor.untyped_storage()._cdata)) is not None:
                first.others.append(ref(tensor))
                continue
            before = resident(tensor)
            # What the host has changed since is copied.
            if before and before.ahead and before.ahead[0] == before.version(tensor):
                before.bring_back()
            own = made[tensor.untyped_storage()._cdata] = _add(tensor)
            own.name, own.keeps_updates = name, keep_updates
    count_changes(model, is_resident)
    for module in model.modules() if keep_updates else ():
        if _bring_own_back not in module._state_dict_pre_hooks.values():
            module.register_state_dict_pre_hook(_bring_own_back)
    return model


@front_door
def to_host(model: torch.nn.Module) -> torch.nn.Module:
    """Copy back what compiled graphs have changed on devices, after ``to_device(model,
    keep_updates=True)``. Gives the model.

    Raises:
        TileError: the argument is no module, or PyTorch has changed such a tensor, too.
    """
    check_module(model, "to_host")
    for module in model.modules():
        _bring_own_back(module)
    return model


def path_of(given: object, called: str) -> Path:
    """The path of a file or folder; a TileError if it is none."""
    if not isinstance(given, str | PathLike):
        raise TileError(f"{called} takes a path, not {type(given).__name__}")
    return Path(os.fsdecode(given))


def check_module(model: Any, called: str) -> None:
    """Raise a TileError for what is no module, or has parameters without a shape."""
    if not isinstance(model, torch.nn.Module):
        raise TileError(f"{called} takes a torch.nn.Module, not {type(model).__name__}")
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if isinstance(tensor, UninitializedTensorMixin):
            raise TileError(f"{called}: {name} has no shape before the first call of its layer")


def _bring_own_back(module: torch.nn.Module, *_: Any) -> None:
    """Copy back what compiled graphs have changed of a module's own parameters and buffers."""
    for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
        on_host(tensor)


@front_door
def to_disk(model: torch.nn.Module, folder: str | PathLike[str] | None = None) -> torch.nn.Module:
    """Move the parameters of a model from memory to a file, of which the system reads what is used.

    Compiled graphs of inference keep weights as their kernels read them, after ``to_device``: the
    parameters themselves are seldom read then, and need not be in memory, too. They stay what they
    are: they may be read and changed, saved and compiled for other shapes. The file goes with them,
    and has no name. It is in ``folder``, which must be on a disk; else in the folder of compiled
    programs. Processes that are forked share it. Buffers, and parameters that are small or sparse,
    stay in memory. Gives the model.

    Raises:
        TileError: the argument is no module, or the file cannot be written.
    """
    check_module(model, "to_disk")
    chosen = disk.folder() if folder is None else path_of(folder, "to_disk")
    for before, after in moved_to_file(model, chosen):
        if (own := _residents.pop(before._cdata, None)) is not None:
            own.reference = StorageWeakRef(after)
            _residents[after._cdata] = own
    return model


def remove_expired() -> None:
    """Forget the storages that are gone, if parameters are."""
    if not _gone:
        return
    _gone.clear()
    for key, own in [*_residents.items()]:
        if own.reference.expired():
            _residents.pop(key, None)
        elif own.parameter() is None:
            _gone.append(own.parameter)


def _add(tensor: Tensor) -> Resident:
    storage = tensor.untyped_storage()
    if (before := _residents.get(storage._cdata)) is not None:
        before.is_known = False
    made = Resident(StorageWeakRef(storage), ref(tensor, _gone.append))
    _residents[storage._cdata] = made
    return made


def host_results(call: Callable[..., Any], arguments: Sequence[Argument]) -> list[Tensor]:
    """Outputs of a function of host arrays."""
    found = call(*(host_array(own.name, own.value) for own in arguments))
    return [tensor_of(a if isinstance(a, np.ndarray) else a.get()) for a in _listed(found)]


def results(
    call: Callable[..., Any],
    device: Device,
    arguments: Sequence[Argument],
    saved: Collection[int],
    updated: Collection[int] = (),
) -> list[Tensor]:
    """Outputs of a function on a device.

    The numbers of outputs in ``saved`` are of those that only a backward pass takes: they stay on
    the device. ``updated`` has the identities of the tensors that the function changes.
    """
    if device.uses_host_memory or not any(is_resident(own.value) for own in arguments):
        return host_results(call, arguments)
    from tiledialect.lowering.runtime.device.queue_state import state_of
    from tiledialect.lowering.runtime.device.queues import queue_for

    queue = queue_for(device)
    arrays = [array_copy(queue, own.name, own.value) for own in arguments]
    found = _listed(call(*arrays))
    changes = [
        Change(own.name, own.value, array)
        for own, array in zip(arguments, arrays, strict=True)
        if id(own.value) in updated
    ]
    remove_expired()
    made = state_of(queue).host_array
    hosts = {k: made(a.shape, a.dtype) for k, a in enumerate(found) if k not in saved}
    bring_back(queue, changes, [(host, found[k]) for k, host in hosts.items()])
    return [tensor_of(hosts[k]) if k in hosts else DeviceTensor(a) for k, a in enumerate(found)]


@dataclass(frozen=True)
class Change:
    """A tensor whose copy a kernel has changed."""

    name: str
    tensor: Tensor
    array: Any
    """The copy."""

    @property
    def is_late(self) -> bool:
        """Whether the tensor is a parameter that gets the elements when they are asked for."""
        own = resident(self.tensor)
        return own is not None and own.keeps_updates and own.parameter() is self.tensor


def bring_back(
    queue: Any, changes: Sequence[Change], results: Sequence[tuple[Any, Any]] = ()
) -> None:
    """Give tensors the elements that kernels have changed, and arrays of the host those of results.

    A resident's copy is the array then. One that keeps updates is changed later.
    """
    at_once = [(array_of(c.name, dense(c.tensor)[0]), c.array) for c in changes if not c.is_late]
    copy_to_host(queue, [*results, *at_once])
    for change in changes:
        if (own := resident(change.tensor)) is not None:
            version, key = own.version(change.tensor), place_of(queue, change.tensor)
            # Copies of other places in the storage may be old ones.
            if change.is_late:
                own.stays_ahead(key, version, change.array)
            else:
                own.copies, own.ahead = {key: (version, change.array)}, None


def _count_change(value: Any) -> None:
    """Let copies of a tensor be current whose next change PyTorch has counted, but not made."""
    own = resident(value)
    if own is None or not own.copies:
        return
    count, of_parameter = now = own.version(value)
    before = count - 1, of_parameter - own.counts(value)
    own.copies = {k: (now, a) for k, (v, a) in own.copies.items() if v == before}
    if own.ahead is not None and own.ahead[0] == before:
        own.ahead = now, own.ahead[1]


class Counts:
    """Changes by a call that PyTorch has counted before it; told to copies once, if at all."""

    def __init__(self, values: Sequence[Any], places: Collection[int]):
        self._given = values, places
        self._is_told = False

    def tell(self) -> None:
        """Let copies be current whose next change is counted."""
        if not self._is_told:
            self._is_told = True
            values, places = self._given
            for place in places:
                _count_change(values[place])


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def host_array(name: str, value: Any) -> Any:
    """An array of the host with the elements of a tensor; what is none stays."""
    if isinstance(value, DeviceTensor):
        return array_of(name, value.elements)
    return array_of(name, on_host(value)) if isinstance(value, Tensor) else value


def has_late_updates() -> bool:
    """Whether the host does not have all elements of some tensor."""
    return bool(_late)


def on_host(value: Any) -> Any:
    """A tensor, whose memory in the host has what was changed on a device; or what is none."""
    if (own := resident(value)) is not None:
        own.bring_back()
    return value


def forget_copies(tensor: Tensor) -> None:
    """Copy a tensor anew, which was changed in the host's memory without being counted."""
    if (own := resident(tensor)) is not None:
        own.copies.clear()


def is_resident(value: Any) -> bool:
    """Whether a value has a copy on the device, or is one."""
    if isinstance(value, DeviceTensor):
        return value.is_on_device
    return not isinstance(value, Tensor | np.ndarray) or resident(value) is not None


def resident(value: Any) -> Resident | None:
    """The storage of a tensor, if it has copies."""
    if not _residents or not isinstance(value, Tensor) or isinstance(value, DeviceTensor):
        return None
    if not has_storage(value):
        return None
    found = _residents.get(value.untyped_storage()._cdata)
    return None if found is None or found.reference.expired() else found


def place_of(queue: Any, tensor: Tensor) -> tuple[Any, ...]:
    """Key of the copy of a tensor on a queue's device, which has the order of its memory."""
    tensor, _ = dense(tensor)
    return queue, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def array_copy(queue: Any, name: str, value: Any) -> Any:
    """The copy of a tensor on a device, with its axes in the order of the tensor's memory.

    Made if there is none of its version.
    """
    if not isinstance(value, Tensor | np.ndarray):
        return value
    if isinstance(value, DeviceTensor) and value.is_on_device and value.array.queue is queue:
        return value.array
    value, _ = dense(value)
    own = resident(value)
    if own is None:
        return upload(queue, host_array(name, value))
    key, version = place_of(queue, value), own.version(value)
    known, array = own.copies.get(key, (None, None))
    if known != version:
        own.bring_back()
        new = np.asarray(array_of(name, value), order="C")
        if array is None:
            array = upload(queue, new)
        else:
            # Calls that keep the array see the new elements.
            copy_to_device(queue, array, new)
        forget_pages(value)
        # Copies of earlier versions are not read again.
        current = {k: copy for k, copy in own.copies.items() if copy[0] == version}
        own.copies = {**current, key: (version, array)}
    return array
