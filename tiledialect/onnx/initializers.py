"""Initializers of a model: those of a file are read again once their arrays have been given up.

Weights that are laid out anew for the kernels are needed no more as the file has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx.external_data_helper import load_external_data_for_model

from tiledialect.api.packing import aligned
from tiledialect.errors import TileError
from tiledialect.passes.convert.onnx.graph import Array

Reader = Callable[[], Mapping[str, Array]]
States = tuple[tuple[int, int], ...]


class Initializers(Mapping[str, Array]):
    """Arrays by name."""

    def __init__(self, arrays: Mapping[str, Array], read: Reader | None = None):
        self._arrays: dict[str, Array | None] = {**arrays}
        """None for one that was given up."""
        self._read = read

    def __getitem__(self, name: str) -> Array:
        found = self._arrays[name]
        if found is None:
            assert self._read is not None
            for own, array in self._read().items():
                if self._arrays[own] is None:
                    self._arrays[own] = array
            found = self._arrays[name]
            assert found is not None
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __contains__(self, name: object) -> bool:
        # By the mapping's own method an array would be read again.
        return name in self._arrays

    def release(self, names: Iterable[str]) -> None:
        """Give up arrays, if they can be read again."""
        if self._read is not None:
            self._arrays |= dict.fromkeys(names)


def read_model(path: Path) -> tuple[onnx.ModelProto, Initializers]:
    """A model of a file without the initializers' numbers, and these."""
    path = path.resolve()
    try:
        proto, arrays, before = _read(path)
    except Exception as error:
        raise TileError(f"{path} cannot be read: {error}") from None

    def again() -> Mapping[str, Array]:
        try:
            _, found, now = _read(path)
        except Exception as error:
            raise TileError(f"{path} cannot be read again: {error}") from None
        if now != before:
            raise TileError(f"{path} has changed since it was loaded: load it again")
        return found

    return proto, Initializers(arrays, again)


def _read(path: Path) -> tuple[onnx.ModelProto, dict[str, Array], States]:
    """A model without the initializers' numbers, these, and the states of their files."""
    proto = onnx.load(str(path), load_external_data=False)
    files = {
        path.parent / entry.value: None
        for t in proto.graph.initializer
        for entry in t.external_data
        if entry.key == "location"
    }
    stats = [file.stat() for file in (path, *files)]
    states = tuple((s.st_size, s.st_mtime_ns) for s in stats)
    base = str(path.parent)
    model = without_numbers(proto)
    # Constants of nodes may be in files beside the model, too.
    load_external_data_for_model(model, base)
    return model, arrays_of(proto, base), states


def arrays_of(proto: onnx.ModelProto, base: str = "") -> dict[str, Array]:
    """The numbers of a model's initializers, of which some may be in files beside it."""
    return {t.name: aligned(onnx.numpy_helper.to_array(t, base)) for t in proto.graph.initializer}


def without_numbers(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model, whose initializers have names and types alone."""
    made = onnx.ModelProto()
    _copy(made, proto, "graph")
    _copy(made.graph, proto.graph, "initializer")
    for t in proto.graph.initializer:
        made.graph.initializer.add(name=t.name, data_type=t.data_type, dims=t.dims)
    return made


def _copy(made: Any, given: Any, left_out: str) -> None:
    """Copy all fields of a message but one."""
    for field, value in given.ListFields():
        if field.name == left_out:
            continue
        if field.message_type is not None or not isinstance(
            value, bool | int | float | str | bytes
        ):
            getattr(made, field.name).MergeFrom(value)
        else:
            setattr(made, field.name, value)
