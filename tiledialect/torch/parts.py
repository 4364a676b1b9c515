"""Functions of graphs, divided into what is computed of parameters alone, and the rest."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from tiledialect.api.function import Function
from tiledialect.api.packing.packing import First, Kept, Packing, packing_of
from tiledialect.lowering.runtime.call.arrays import upload
from tiledialect.torch.residence.file_memory import forget_pages
from tiledialect.torch.residence.residence import Argument, Resident, host_array, place_of, resident

_shared: WeakValueDictionary[tuple[Any, ...], Kept] = WeakValueDictionary()
"""Results of parts for parameters, for graphs of several shapes: by the device, the text of the
program, and the storages and places of the parameters."""


class Parts:
    """The function of a graph, and its parts by the parameters that are resident."""

    def __init__(self, function: Function, changing: Collection[str] = ()):
        self.function = function
        self._changing = changing
        """Names of the inputs that calls change."""
        self._packings: dict[tuple[str, ...], Packing | None] = {}
        self._kept: tuple[Kept, ...] = ()
        """Results for the last call."""

    def of(
        self, arguments: Sequence[Argument]
    ) -> tuple[Function, Sequence[Argument], Sequence[Argument]]:
        """The function to call for arguments, its own, and those of which there are results among
        these. Results of parameters alone are kept until one changes."""
        found = {own.name: resident(own.value) for own in arguments}
        residents = {n: r for n, r in found.items() if r is not None and n not in self._changing}
        if not residents:
            return self.function, arguments, ()
        named = dict(zip(self.function.inputs, arguments, strict=True))
        constants = tuple(name for name, own in named.items() if own.name in residents)
        if constants not in self._packings:
            types = tuple(own.type for own in arguments)
            self._packings[constants] = packing_of(self.function, types, constants)
        packing = self._packings[constants]
        if packing is None:
            return self.function, arguments, ()
        given = {name: own.value for name, own in named.items()}
        read = [own for name, own in named.items() if name in packing.constants]
        self._kept = tuple(self._computed(f, residents, named) for f in packing.firsts)
        kept = [array for own in self._kept for array in own.arrays]
        sources = [*(named[name].source for name in packing.inputs), *(None for _ in kept)]
        rows = zip(packing.second.inputs, packing.arrays(given, kept), sources, strict=True)
        return packing.second, [Argument(*row) for row in rows], read

    def _computed(
        self, first: First, residents: Mapping[str, Resident], named: Mapping[str, Argument]
    ) -> Kept:
        """Results of a part for its parameters, computed anew if one has changed."""
        read = [(residents[name], named[name].value) for name in first.constants]
        current = [(own, place_of(None, value), own.version(value)) for own, value in read]
        places = ((id(own), place) for own, place, _ in current)
        key = self.function.device, first.text, *places
        kept = _shared.get(key)
        if kept is None or not _same(kept.versions, current):
            kept = Kept(first.results(lambda name: self._placed(named[name])), current)
            _shared[key] = kept
            for _, value in read:
                forget_pages(value)
        return kept

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
