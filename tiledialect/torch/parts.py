"""Functions of graphs, divided into what is computed of parameters alone, and the rest."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tiledialect.api.function import Function
from tiledialect.api.packing import Packing, packing_of
from tiledialect.lowering.runtime.call.arrays import upload
from tiledialect.lru_cache import LruCache
from tiledialect.torch.file_memory import forget_pages
from tiledialect.torch.residence import Argument, host_array, place_of, resident

Kept = tuple[Sequence[Any], tuple[Any, ...]]
"""Versions of parameters, and what was computed of them."""


class Parts:
    """The function of a graph, and its parts by the parameters that are resident."""

    def __init__(
        self, function: Function, kept: LruCache[str, Kept], changing: Collection[str] = ()
    ):
        self.function = function
        self._kept = kept
        self._changing = changing
        """Names of the inputs that calls change."""
        self._packings: dict[tuple[str, ...], Packing | None] = {}

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
        pairs = ((residents[own.name], own.value) for own in read)
        current = [(r, place_of(None, v), r.version(v)) for r, v in pairs]
        versions, kept = self._kept.find(packing.text) or (None, ())
        if versions is None or not _same(versions, current):
            kept = packing.results(self._first(given, packing))
            for name in packing.constants:
                forget_pages(given[name])
            self._kept.put(packing.text, (current, kept))
        sources = [*(named[name].source for name in packing.inputs), *(None for _ in kept)]
        rows = zip(packing.second.inputs, packing.arrays(given, kept), sources, strict=True)
        return packing.second, [Argument(*row) for row in rows], read

    def _first(self, given: Mapping[str, Any], packing: Packing) -> dict[str, Any]:
        """Arrays of parameters on the device; they are copied for this alone."""
        arrays = {name: host_array(name, given[name]) for name in packing.constants}
        if self.function.device.uses_host_memory:
            return arrays
        from tiledialect.lowering.runtime.device.queues import queue_for

        queue = queue_for(self.function.device)
        return {name: upload(queue, array) for name, array in arrays.items()}


def _same(versions: Sequence[Any], current: Sequence[Any]) -> bool:
    """Whether tensors are those of before, and none has changed."""
    return len(versions) == len(current) and all(
        a[0] is b[0] and a[1:] == b[1:] for a, b in zip(versions, current, strict=True)
    )
