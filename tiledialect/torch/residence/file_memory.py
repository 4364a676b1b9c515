"""Storages of parameters in a file, of which the system has in memory what is read."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from tiledialect.errors import TileError
from tiledialect.rounding import round_up
from tiledialect.torch.tensors import Tensor, has_storage

Storage = torch.UntypedStorage
LEAST = 1 << 16
"""Bytes of a storage from which on it is worth a place in a file."""


@dataclass(frozen=True)
class _Mapping:
    """A storage in a mapped file."""

    reference: StorageWeakRef
    memory: ReferenceType[mmap.mmap]
    """The mapping, which goes with the last storage in it, and the file with that."""
    start: int
    nbytes: int


_mappings: dict[int, _Mapping] = {}
"""The storages in files, by their identity."""


def moved_to_file(model: torch.nn.Module, folder: Path) -> list[tuple[Storage, Storage]]:
    """Give the parameters of a model storages in a file that has no name; pairs of the storages
    before and after. A TileError if the file cannot be written."""
    for key in [key for key, own in [*_mappings.items()] if own.reference.expired()]:
        _mappings.pop(key, None)
    found = _storages(model)
    if not found:
        return []
    places, size = _places(own.nbytes() for own, _ in found)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(size)
            for (own, _), place in zip(found, places, strict=True):
                file.seek(place)
                file.write(memoryview(_bytes_of(own)))
            file.flush()
            memory = mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise TileError(f"the parameters cannot be written to {folder}: {error}") from None
    pairs = zip(found, places, strict=True)
    return [(own, _moved(own, tensors, memory, place)) for (own, tensors), place in pairs]


def forget_pages(tensor: Tensor) -> None:
    """Free the memory of what has been read of a tensor that is in a file."""
    own = _mappings.get(tensor.untyped_storage()._cdata)
    memory = None if own is None or own.reference.expired() else own.memory()
    if own is not None and memory is not None and hasattr(mmap, "MADV_DONTNEED"):
        # The mapping is shared: what was written goes to the file.
        memory.madvise(mmap.MADV_DONTNEED, own.start, own.nbytes)


def _storages(model: torch.nn.Module) -> list[tuple[Storage, list[Tensor]]]:
    """The storages of parameters in memory, with all tensors of the model that have them."""
    moved = {p.untyped_storage()._cdata for p in model.parameters() if _is_movable(p)}
    moved -= _mappings.keys()
    found: dict[int, tuple[Storage, list[Tensor]]] = {}
    for tensor in filter(has_storage, (*model.parameters(), *model.buffers())):
        own = tensor.untyped_storage()
        if own._cdata in moved:
            found.setdefault(own._cdata, (own, []))[1].append(tensor)
    return [*found.values()]


def _is_movable(tensor: Tensor) -> bool:
    if not has_storage(tensor) or tensor.is_inference() or tensor.device.type != "cpu":
        return False
    return tensor.untyped_storage().nbytes() >= LEAST


def _places(sizes: Iterable[int]) -> tuple[Sequence[int], int]:
    """Places in a file of parts of these sizes, each with pages of its own, and its size."""
    places: list[int] = []
    end = 0
    for size in sizes:
        places.append(end)
        end += round_up(size, mmap.PAGESIZE)
    return places, end


def _bytes_of(storage: Storage) -> np.ndarray[Any, Any]:
    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy()


def _moved(before: Storage, tensors: Sequence[Tensor], memory: mmap.mmap, start: int) -> Storage:
    """The part of a mapped file that becomes the storage of tensors."""
    count = before.nbytes()
    part = torch.frombuffer(memory, dtype=torch.uint8, count=count, offset=start)
    made = part.untyped_storage()
    for tensor in tensors:
        place = tensor.storage_offset(), tensor.shape, tensor.stride()
        tensor.data = torch.empty(0, dtype=tensor.dtype).set_(made, *place)
    _mappings[made._cdata] = _Mapping(StorageWeakRef(made), ref(memory), start, count)
    return made
