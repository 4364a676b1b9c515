"""Functions of graphs, divided into what is computed of parameters alone, and the rest."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary, ref

from tiledialect.api.function import Function
from tiledialect.api.packing.packing import Packed, Packer, Packing, packing_of
from tiledialect.lowering.runtime.call.arrays import upload
from tiledialect.torch.residence.file_memory import forget_pages
from tiledialect.torch.residence.residence import Argument, Resident, host_array, place_of, resident
from tiledialect.torch.tensors import Tensor

_shared: WeakValueDictionary[tuple[Any, ...], Packed] = WeakValueDictionary()
"""Results of packers for parameters, for graphs of several shapes: by the device, the text of the
program, and the storages and places of the parameters."""


@dataclass(frozen=True)
class Call:
    """A function and its arguments for a call of a graph."""

    function: Function
    arguments: Sequence[Argument]
    computed: Sequence[Argument] = ()
    """Arguments of the graph's function of which there are results among these."""
    packed: Sequence[Packed] = ()
    """Results of parameters alone, by packers."""


class Parts:
    """The function of a graph, and its parts by the parameters that are resident."""

    def __init__(self, function: Function, changing: Collection[str] = ()):
        self.function = function
        self._changing = changing
        """Names of the inputs that calls change."""
        self._packings: dict[tuple[str, ...], Packing | None] = {}
        self._packed: list[Packed] = []
        """Results of the packers for the last call; none when a parameter is gone."""
        self._watched: list[ref[Tensor]] = []
        """The parameters."""

    def of(self, arguments: Sequence[Argument]) -> Call:
        """The function to call for arguments, and its own. Results of parameters alone are kept
        until one changes."""
        named = dict(zip(self.function.inputs, arguments, strict=True))
        found = {name: resident(own.value) for name, own in named.items()}
        residents = {n: r for n, r in found.items() if r is not None and n not in self._changing}
        if not residents:
            return Call(self.function, arguments)
        constants = tuple(residents)
        is_new = constants not in self._packings
        if is_new:
            types = tuple(own.type for own in arguments)
            self._packings[constants] = packing_of(self.function, types, constants)
        packing = self._packings[constants]
        if packing is None:
            return Call(self.function, arguments)
        found = [self._results(own, residents, named) for own in packing.packers]
        self._keep(found, [residents[name] for name in packing.constants])
        # Packers that run again may do so often: one of their parameters changes.
        if is_new:
            packing.forget()
        arrays = [array for own in found for array in own.arrays]
        names = packing.rest.inputs[len(packing.inputs) :]
        packed = [Argument(*own, source=None) for own in zip(names, arrays, strict=True)]
        read = [named[name] for name in packing.constants]
        return Call(packing.rest, packing.arguments(named, packed), read, [*found])

    def _keep(self, found: list[Packed], read: Sequence[Resident]) -> None:
        """Keep results for later calls, as long as there are the parameters."""
        self._packed = found
        self._watched = [
            ref(tensor, lambda _: found.clear()) for own in read for tensor in own.known
        ]

    def _results(
        self, packer: Packer, residents: Mapping[str, Resident], named: Mapping[str, Argument]
    ) -> Packed:
        """Results of a packer for its parameters, computed anew if one has changed."""
        read = [(residents[name], named[name].value) for name in packer.constants]
        current = [(own, place_of(None, value), own.version(value)) for own, value in read]
        places = ((id(own), place) for own, place, _ in current)
        key = self.function.device, packer.text, *places
        packed = _shared.get(key)
        if packed is None or not _same(packed.versions, current):
            packed = Packed(packer.results(lambda name: self._placed(named[name])), current)
            _shared[key] = packed
            for _, value in read:
                forget_pages(value)
        return packed

    def _placed(self, parameter: Argument) -> Any:
        """An array of a parameter on the device; it is copied for this alone."""
        array = host_array(parameter.name, parameter.value)
        if self.function.device.uses_host_memory:
            return array
        from tiledialect.lowering.runtime.device.queues import queue_for

        return upload(queue_for(self.function.device), array)


def _same(versions: Sequence[Any], current: Sequence[Any]) -> bool:
    """Whether tensors are those of before, and none has changed."""
    return len(versions) == len(current) and all(
        a[0] is b[0] and a[1:] == b[1:] for a, b in zip(versions, current, strict=True)
    )
