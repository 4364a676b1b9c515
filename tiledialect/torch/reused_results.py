"""Memory of results that serves later calls, when nobody has the results any more."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any

import torch

from tiledialect.torch.tensors import Tensor

USES = torch._C._storage_Use_Count
"""Number of those that have a storage, by its identity."""
DATA = attrgetter("data")


class HostResults:
    """Tensors in the host's memory for the results of calls.

    Each is a new tensor; its memory is that of an earlier one that is gone, with its views and
    arrays. All are looked at in columns, without a step of Python for each.
    """

    def __init__(self, makers: Sequence[Callable[[], tuple[Tensor, Any]]]):
        self._makers = makers
        """Functions that make tensors in new memory, and what devices copy to."""
        self.forget()

    def forget(self) -> None:
        """Give up the memory; the next call gets other."""
        self._tensors: list[Tensor] = []
        """Tensors that keep the memory."""
        self.memory: list[Any] = []
        self._storages: list[torch.UntypedStorage] = []
        self._free: list[tuple[int, ...]] = []

    def _make(self) -> None:
        for make in self._makers:
            tensor, memory = _made(make)
            self._tensors.append(tensor)
            self.memory.append(memory)
            self._storages.append(tensor.untyped_storage())
        self._free = self._seen()

    def _seen(self) -> list[tuple[int, ...]]:
        """Users, sizes and addresses of the memory: others may give a storage other memory, too.

        Python has one object for a storage, whose users PyTorch counts as one.
        """
        storages = self._storages
        uses = map(USES, [own._cdata for own in storages])
        sizes = map(torch.UntypedStorage.nbytes, storages)
        addresses = map(Tensor.data_ptr, self._tensors)
        return [*zip(uses, map(getrefcount, storages), sizes, addresses, strict=True)]

    def free(self) -> list[int]:
        """Addresses of the memory, when all of it is such that nobody else has."""
        if not self._tensors:
            self._make()
        found = self._seen()
        if found != self._free:
            for k, (now, free) in enumerate(zip(found, self._free, strict=True)):
                if now != free:
                    self._tensors[k], self.memory[k] = _made(self._makers[k])
                    self._storages[k] = self._tensors[k].untyped_storage()
            self._free = self._seen()
        return [address for *_, address in self._free]

    def made(self) -> list[Tensor]:
        """New tensors in the memory."""
        return [*map(DATA, self._tensors)]


def _made(make: Callable[[], tuple[Tensor, Any]]) -> tuple[Tensor, Any]:
    # Tensors of inference mode would stay what they are after it.
    with torch.inference_mode(False):
        return make()


class DeviceResults:
    """Arrays on a device for results of calls; memory of those that are gone serves again.

    Whoever has the memory refers to the array: a `DeviceTensor`, until an operator has taken the
    elements, which are a copy in the host's memory. Commands under way come before later ones.
    """

    def __init__(self, makers: Sequence[Callable[[], Any]]):
        self._makers = makers
        self.forget()

    def forget(self) -> None:
        """Give up the memory; the next call gets other."""
        self.arrays: list[Any] = []
        self._free: list[int] = []

    def free(self) -> list[Any]:
        """The arrays, when all of them are such that nobody else has."""
        if not self.arrays:
            self.arrays = [make() for make in self._makers]
            self._free = [*map(getrefcount, self.arrays)]
        found = [*map(getrefcount, self.arrays)]
        if found != self._free:
            for k, (now, free) in enumerate(zip(found, self._free, strict=True)):
                if now != free:
                    self.arrays[k] = self._makers[k]()
        return self.arrays
