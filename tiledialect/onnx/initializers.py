"""Initializers of a model: those of a file are read when they are asked for.

Weights that are laid out anew for the kernels, or copied to a device, are needed no more as the
file has them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.external_data_helper import load_external_data_for_model
from onnx.serialization import registry as formats

from tiledialect.api.packing.aligned_arrays import aligned, aligned_empty
from tiledialect.errors import TileError
from tiledialect.passes.convert.onnx.base import numpy_type
from tiledialect.passes.convert.onnx.graph import Array

Reader = Callable[[], Array]
Buffer = bytes | mmap
Span = range
"""Places of bytes."""
SMALL = 1 << 12
"""Bytes up to which an initializer is read with the model: programs depend on small ones."""
GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Numbers of fields: the graph of a model, an initializer of a graph, the bytes of a tensor."""

WIDTHS = {1: 8, 5: 4}
"""Bytes of numbers by the kinds of fields that have some."""


class Initializers(Mapping[str, Array]):
    """Arrays by name."""

    def __init__(self, arrays: Mapping[str, Array], readers: Mapping[str, Reader] | None = None):
        self._readers = readers or {}
        """Readers of those that are in a file."""
        self._arrays: dict[str, Array | None] = {**dict.fromkeys(self._readers), **arrays}
        """None for one that has not been read, or was given up."""

    def __getitem__(self, name: str) -> Array:
        found = self._arrays[name] = self.taken(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __contains__(self, name: object) -> bool:
        # By the mapping's own method an array would be read.
        return name in self._arrays

    def taken(self, name: str) -> Array:
        """An array that is not kept if it has to be read."""
        found = self._arrays[name]
        return self._readers[name]() if found is None else found

    def __reduce__(self) -> tuple[Any, ...]:
        # The file may be another one, or none, where they are needed.
        return Initializers, ({name: self.taken(name) for name in self},)

    def release(self, names: Iterable[str]) -> None:
        """Give up arrays, if they can be read again."""
        self._arrays |= dict.fromkeys(name for name in names if name in self._readers)


def read_model(path: Path) -> tuple[onnx.ModelProto, Initializers]:
    """A model of a file without the initializers' numbers, and these."""
    path = path.resolve()
    try:
        if formats.get_format_from_file_extension(path.suffix) not in (None, "protobuf"):
            return given_model(onnx.load(str(path)))
        return _read(path)
    except TileError:
        raise
    except Exception as error:
        raise TileError(f"{path} cannot be read: {error}") from None


def given_model(proto: onnx.ModelProto) -> tuple[onnx.ModelProto, Initializers]:
    """A copy of a model without the initializers' numbers, and these."""
    try:
        return _without_numbers(proto), Initializers(_arrays_of(proto))
    except Exception as error:
        raise TileError(f"the model cannot be read: {error}") from None


@dataclass(frozen=True)
class _Files:
    """Files of a model, as they were when it was loaded."""

    path: Path
    paths: tuple[Path, ...]
    states: tuple[tuple[int, int], ...]

    @staticmethod
    def of(path: Path, beside: Iterable[str]) -> _Files:
        """The file of a model, and those beside it."""
        paths = path, *(path.parent / name for name in dict.fromkeys(beside))
        return _Files(path, paths, _states(paths))

    def read(self, stub: onnx.TensorProto, message: Span, raw: Span | None) -> Array:
        """The numbers of an initializer; a TileError if a file is gone or another one."""
        try:
            found = self._numbers(stub, message, raw)
            now = _states(self.paths)
        except Exception as error:
            raise TileError(f"{self.path} cannot be read: {error}") from None
        if now != self.states:
            raise TileError(f"{self.path} has changed since it was loaded: load it again")
        return found

    def _numbers(self, stub: onnx.TensorProto, message: Span, raw: Span | None) -> Array:
        dtype = numpy_type(stub.data_type)
        with self.path.open("rb") as file:
            if raw and sys.byteorder == "little" and len(raw) == prod(stub.dims) * dtype.itemsize:
                # Nothing else holds them meanwhile.
                found = aligned_empty(tuple(stub.dims), dtype)
                file.seek(raw.start)
                file.readinto(found.reshape(-1).view(np.uint8))  # pyright: ignore[reportArgumentType]
                return found
            file.seek(message.start)
            whole = onnx.TensorProto.FromString(file.read(len(message)))
        return aligned(onnx.numpy_helper.to_array(whole, str(self.path.parent)))


def _states(paths: Sequence[Path]) -> tuple[tuple[int, int], ...]:
    return tuple((s.st_size, s.st_mtime_ns) for s in (path.stat() for path in paths))


def _read(path: Path) -> tuple[onnx.ModelProto, Initializers]:
    """A model of a file without the initializers' numbers, and these, of which small ones are
    read."""
    if not path.stat().st_size:
        raise TileError(f"{path} cannot be read: it is empty")
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        rest, spans = _divided(data)
        model = onnx.ModelProto.FromString(rest)
        stubs = [_stub(data, span) for span in spans]
    beside = [e.value for t, _ in stubs for e in t.external_data if e.key == "location"]
    files = _Files.of(path, beside)
    # Constants of nodes may be in files beside the model, too.
    load_external_data_for_model(model, str(path.parent))
    readers: dict[str, Reader] = {}
    for (stub, raw), span in zip(stubs, spans, strict=True):
        _declare(model, stub)
        readers[stub.name] = partial(files.read, stub, span, raw)
    small = [t.name for t, _ in stubs if prod(t.dims) <= SMALL // 8]
    return model, Initializers({name: readers[name]() for name in small}, readers)


def _divided(data: Buffer) -> tuple[bytes, list[Span]]:
    """A model without initializers, and the places of these."""
    rest, spans = bytearray(), list[Span]()
    for number, whole, body in _fields(data, range(len(data))):
        if number != GRAPH:
            rest += data[whole.start : whole.stop]
            continue
        graph = bytearray()
        for inner, own, content in _fields(data, body):
            if inner == INITIALIZER:
                spans.append(content)
            else:
                graph += data[own.start : own.stop]
        rest += bytes([GRAPH << 3 | 2]) + _varint(len(graph)) + graph
    return bytes(rest), spans


def _stub(data: Buffer, span: Span) -> tuple[onnx.TensorProto, Span | None]:
    """A tensor without its numbers, and the place of those that are bytes."""
    kept, raw = bytearray(), None
    for number, whole, body in _fields(data, span):
        raw = body if number == RAW_DATA else raw
        if len(whole) <= SMALL and number != RAW_DATA:
            kept += data[whole.start : whole.stop]
    return onnx.TensorProto.FromString(bytes(kept)), raw


def _fields(data: Buffer, span: Span) -> Iterator[tuple[int, Span, Span]]:
    """Number, place and content's place of each field of a message of protocol buffers."""
    place = span.start
    while place < span.stop:
        start = place
        key, place = _number(data, place)
        kind = key & 7
        if kind == 0:
            _, end = _number(data, place)
        elif kind == 2:
            size, place = _number(data, place)
            end = place + size
        elif kind in WIDTHS:
            end = place + WIDTHS[kind]
        else:
            raise ValueError("it is no model of ONNX")
        if end > span.stop:
            raise ValueError("it ends early")
        yield key >> 3, range(start, end), range(place, end)
        place = end


def _number(data: Buffer, place: int) -> tuple[int, int]:
    """A number of 7 bits a byte, and the place after it."""
    found = shift = 0
    while True:
        if place == len(data):
            raise ValueError("it ends early")
        byte = data[place]
        found |= (byte & 127) << shift
        shift, place = shift + 7, place + 1
        if byte < 128:
            return found, place


def _varint(number: int) -> bytes:
    """Bytes of a number, as `_number` reads it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _arrays_of(proto: onnx.ModelProto) -> dict[str, Array]:
    """The numbers of a model's initializers."""
    return {t.name: aligned(onnx.numpy_helper.to_array(t)) for t in proto.graph.initializer}


def _without_numbers(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model, whose initializers have names and types alone."""
    made = onnx.ModelProto()
    _copy(made, proto, "graph")
    _copy(made.graph, proto.graph, "initializer")
    for t in proto.graph.initializer:
        _declare(made, t)
    return made


def _declare(model: onnx.ModelProto, t: onnx.TensorProto) -> None:
    """Add an initializer without numbers."""
    model.graph.initializer.add(name=t.name, data_type=t.data_type, dims=t.dims)


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
