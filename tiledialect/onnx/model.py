"""Models of ONNX, compiled for the shapes of each call.

ONNX is not among the requirements of tiledialect; importing this module needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tiledialect.api.call_key import host_signature_of, signature_of
from tiledialect.api.error_boundary import front_door, sourced
from tiledialect.api.front_door import compile as compile_module
from tiledialect.api.function import Function
from tiledialect.api.inputs import READY_SHAPES, type_of, without_missing
from tiledialect.api.packing.packing import Packed, Packer, Packing, packing_of
from tiledialect.api.pickling import device_name
from tiledialect.caches import compilation
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.arrays import as_array, placed
from tiledialect.lru_cache import LruCache

try:
    import onnx
except ImportError:
    raise ImportError("td.onnx needs ONNX: pip install 'tiledialect[onnx]'") from None

from tiledialect.onnx.initializers import (
    Initializers,
    given_model,
    read_model,
)
from tiledialect.passes.convert.onnx.base import UNSUPPORTED, UnknownValueError, numpy_type
from tiledialect.passes.convert.onnx.graph import (
    Array,
    Converted,
    convert_model,
    parameter_types,
)

Given = Array | list[Array]
"""Value of an input: a tensor, or a sequence of them."""
Repeated = Callable[[Sequence[Any]], Any]
"""Call of a function for arrays of known types."""

SHOWN = 12
"""Names of inputs and initializers in a message."""


@dataclass
class Specialized:
    """A model for inputs of given shapes, and of given numbers where shapes depend on them."""

    function: Function
    inputs: tuple[str, ...]
    """Names in the model of the function's own inputs."""
    counts: tuple[int | None, ...] = ()
    """Number of tensors of each output that is a sequence; None for a tensor."""
    packing: Packing | None = None
    """The function in parts, where some are of initializers alone."""
    weights: tuple[Packed, ...] | None = None
    """Results of the packers, once they are computed."""
    is_divided: bool = False
    """Whether the parts have been searched."""

    def outputs(self, results: Any) -> Any:
        """Outputs of the model by the function's results: arrays of the host, and lists of them for
        sequences."""
        if all(count is None for count in self.counts):
            is_one = not isinstance(results, tuple)
            return _on_host(results) if is_one else type(results)(*map(_on_host, results))
        flat = map(_on_host, results if isinstance(results, tuple) else (results,))
        found = [next(flat) if count is None else [*islice(flat, count)] for count in self.counts]
        return found[0] if len(found) == 1 else tuple(found)


class Model:
    """A model of ONNX that runs on a device; made by ``load``.

    Call it with the inputs in order or by name: one output is returned as it is, several as a
    named tuple. The first call with new shapes compiles, and so does one with other numbers in an
    input on which shapes depend. Initializers are inputs of the compiled function, after those of
    the model; on a device with memory of its own they stay there.
    """

    def __init__(
        self,
        proto: onnx.ModelProto,
        initializers: Initializers,
        options: Mapping[str, Any],
        gradients: tuple[tuple[tuple[str, ...] | None, bool], ...] = (),
    ):
        self._proto = proto
        self._initializers = initializers
        self._options = dict(options)
        self._gradients = gradients
        graph = proto.graph
        if not graph.output:
            raise TileError("the model has no outputs")
        self.name: str = re.sub(r"\W+", "_", graph.name).strip("_") or "model"
        """Name of the graph."""
        self.inputs: tuple[str, ...] = tuple(
            i.name for i in graph.input if i.name not in initializers
        )
        """The inputs' names, in order; initializers are none."""
        self.parameters: tuple[str, ...] = tuple(initializers)
        """Names of the initializers."""
        self._declared = {i.name: i.type for i in graph.input}
        self._known: set[str] = set()
        """Inputs whose numbers are a part of the program."""
        self._ready: LruCache[tuple[Any, ...], Specialized] = LruCache(READY_SHAPES)
        self._direct: LruCache[tuple[Any, ...], tuple[Specialized, Repeated, list[Any]]] = LruCache(
            READY_SHAPES
        )
        """By shapes and element types of arrays in order: a call of the function, and for each of
        its inputs the place of the array, or what it is."""
        self._packed: WeakValueDictionary[tuple[str, ...], Packed] = WeakValueDictionary()
        """Values computed from initializers alone, by texts of their programs and their names, for
        functions of several shapes."""
        self._resident: dict[str, Any] = {}
        """Initializers in the memory of the device."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Program, numbers and options, without what is compiled."""
        options = {**self._options, "device": device_name(self._options["device"])}
        return Model, (self._proto, self._initializers, options, self._gradients)

    def __repr__(self) -> str:
        return f"<Model {self.name} ({', '.join(self.inputs)})>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the model's outputs."""
        return tuple(o.name for o in self._proto.graph.output)

    @cached_property
    def _described(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shapes and element types of the initializers that functions take."""
        return {
            name: (t.get_shape(), NUMPY_TYPES[t.element_type])
            for name, t in parameter_types(self._proto).items()
        }

    # -- calling -----------------------------------------------------------------------------

    @front_door
    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for these inputs; a TileError if they do not fit."""
        key = None if named or self._known or self._gradients else host_signature_of(args)
        known = None if key is None else self._direct.get(key)
        if known is not None:
            ready, call, places = known
            found = call([args[k] if type(k) is int else k for k in places])
        else:
            # The schedules by which layouts are chosen are those of the parts, too.
            with compilation():
                ready, bound = self._bound(args, named)
                function, arrays = self._prepared(ready, bound)
                found = function(*arrays)
            if key is not None and not self._known:
                own = {
                    id(bound[ready.inputs.index(n)]): k
                    for k, n in enumerate(self.inputs)
                    if n in ready.inputs
                }
                places = [own.get(id(a), a) for a in arrays]
                self._direct.put(key, (ready, function.repeated(arrays), places))
        return ready.outputs(found)

    @front_door
    def function(self, *args: Any, **named: Any) -> Function:
        """The function of the inputs and initializers for the shapes of a call."""
        return self._bound(args, named)[0].function

    @front_door
    def bind(self, *args: Any, **named: Any) -> tuple[Function, dict[str, Any]]:
        """The function of a call, and its inputs by the function's names: initializers, too."""
        ready, given = self._bound(args, named)
        return ready.function, dict(zip(ready.function.inputs, self._arrays(given), strict=False))

    @front_door
    def profile(self, *args: Any, repeat: int = 1, **named: Any) -> Any:
        """The outputs and the times of the kernels, as of ``Function.profile``."""
        ready, given = self._bound(args, named)
        function, arrays = self._prepared(ready, given)
        found, profile = function.profile(*arrays, repeat=repeat)
        return ready.outputs(found), profile

    @front_door
    def reference(self, *args: Any, **named: Any) -> Any:
        """The outputs by the reference semantics: NumPy, slow, without a device."""
        ready, given = self._bound(args, named)
        return ready.outputs(ready.function.reference(*self._arrays(given)))

    @front_door
    def opencl(self, *args: Any, **named: Any) -> str:
        """The kernels for these inputs, as OpenCL C."""
        ready, given = self._bound(args, named)
        return ready.function.opencl(*self._arrays(given))

    @front_door
    def gradient(
        self, wrt: Sequence[str] | str | None = None, *, with_outputs: bool = False
    ) -> Model:
        """The model that propagates cotangents back, as ``Function.gradient`` does.

        A call takes the model's inputs, then the cotangents of its outputs.

        Args:
            wrt: names of inputs or initializers. If None, all initializers that are used, and
                the inputs of reals.
            with_outputs: whether to return the model's own outputs too, before the others.
        """
        if wrt is not None and not isinstance(wrt, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"`wrt` must name inputs or initializers of {self.name}, got {wrt!r}")
        names = (wrt,) if isinstance(wrt, str) else None if wrt is None else tuple(wrt)
        known = [*self.inputs, *self.parameters]
        for name in names or ():
            if name not in known:
                there = ", ".join([*known[:SHOWN], *(["…"] if len(known) > SHOWN else [])])
                raise TileError(f"{self.name} has no input or initializer {name}; there is {there}")
        given = self._proto, self._initializers, self._options
        return Model(*given, (*self._gradients, (names, with_outputs)))

    def value_and_gradient(self, wrt: Sequence[str] | str | None = None) -> Model:
        """The model that gives the outputs and then the gradient, as one named tuple."""
        return self.gradient(wrt, with_outputs=True)

    # -- binding -----------------------------------------------------------------------------

    def _bound(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Specialized, list[Any]]:
        """The function for the inputs of a call, and its arguments: of an initializer the name."""
        cotangents = args[len(self.inputs) :] if self._gradients else ()
        args = args[: len(self.inputs)] if self._gradients else args
        own = dict(named)
        given = {**dict(zip(self.inputs, args, strict=False)), **own}
        if len(args) > len(self.inputs) or len(given) < len(args) + len(own):
            raise TileError(
                f"{self.name} takes {', '.join(self.inputs) or 'no inputs'}, each once; "
                f"{len(args) + len(own)} were given"
            )
        extra = {k: v for k, v in given.items() if k not in self.inputs}
        if extra and not self._gradients:
            taken = ", ".join(self.inputs) or "none"
            raise TileError(f"{self.name} has no input {next(iter(extra))}; it takes {taken}")
        if missing := [name for name in self.inputs if name not in given]:
            raise TileError(f"{self.name} needs the input {self._declaration(missing[0])}")
        own = {name: self._input(name, given[name]) for name in self.inputs}
        ready = self._for(own)
        flat = _flat(own)
        values: list[Any] = [flat.get(name, name) for name in ready.inputs]
        if self._gradients:
            given = [*self._arrays(values), *cotangents]
            values = [*without_missing(ready.function.bind(given, extra))]
        return ready, values

    def _declaration(self, name: str) -> str:
        """An input with the type and the shape that the model declares."""
        t = self._declared[name].tensor_type
        if not t.elem_type or not t.HasField("shape"):
            return name
        number = onnx.TensorProto.DataType.Name(t.elem_type).lower()
        return f"{name}, {number} of the shape ({_dims_of(t)})"

    def _arrays(self, given: Sequence[Any]) -> list[Any]:
        """Arguments of a function, with the initializers in the place of their names."""
        return [self._initializers[x] if isinstance(x, str) else x for x in given]

    def _prepared(self, ready: Specialized, given: Sequence[Any]) -> tuple[Function, list[Any]]:
        """Function to call, and its inputs; results of initializers alone are kept."""
        function = ready.function
        names = dict(zip(function.inputs, ready.inputs, strict=False))
        packing = self._packing(ready, given, names)
        if packing is None:
            return function, [
                self._placed(function, names.get(own), array)
                for own, array in zip(function.inputs, given, strict=False)
            ]
        if ready.weights is None:
            ready.weights = tuple(self._results(packing, own, names) for own in packing.packers)
            packing.forget()
        values = dict(zip(function.inputs, given, strict=True))
        own = {n: self._placed(function, names[n], values[n]) for n in packing.inputs}
        arrays = (array for results in ready.weights for array in results.arrays)
        return packing.rest, packing.arguments(own, arrays)

    def _results(self, packing: Packing, packer: Packer, names: Mapping[str, str]) -> Packed:
        """Results of a packer for its initializers, which are given up if nothing else reads
        them."""

        def read(name: str) -> Any:
            # They are read, and on a device copied, for this alone.
            return placed(packer.function.device, self._initializers.taken(names[name]))

        key = packer.text, *(names[n] for n in packer.constants)
        packed = self._packed.get(key)
        if packed is None:
            packed = self._packed[key] = Packed(packer.results(read))
        self._initializers.release(names[n] for n in packer.constants if n not in packing.inputs)
        return packed

    def _packing(
        self, ready: Specialized, given: Sequence[Any], names: Mapping[str, str]
    ) -> Packing | None:
        """The parts of a function, looked for once."""
        if not ready.is_divided and not self._gradients and not self._options.get("tune"):
            constants = [own for own, name in names.items() if name in self._initializers]
            said = [self._described[x] if isinstance(x, str) else x for x in given]
            types = ready.function.types(said, {})
            ready.packing = packing_of(ready.function, types, constants)
        ready.is_divided = True
        return ready.packing

    def _input(self, name: str, value: Any) -> Array | list[Array]:
        """A tensor, or a list of them for a sequence."""
        declared = self._declared[name]
        if declared.HasField("optional_type"):
            declared = declared.optional_type.elem_type
            if value is None:
                raise TileError(f"input {name} is left out, which is not supported")
        if declared.HasField("tensor_type"):
            return self._array(name, declared.tensor_type, value)
        if declared.HasField("sequence_type"):
            element = declared.sequence_type.elem_type
            if element.HasField("tensor_type"):
                if not isinstance(value, list | tuple):
                    raise TileError(f"input {name} is a sequence: give a list of arrays")
                return [self._array(name, element.tensor_type, v) for v in value]
        raise TileError(f"input {name} is no tensor, and no sequence of tensors")

    def _array(self, name: str, declared: Any, value: Any) -> Array:
        number = declared.elem_type
        if number == onnx.TensorProto.STRING:
            raise TileError(f"input {name} is a tensor of strings")
        dtype = numpy_type(number)
        if dtype not in ELEMENT_TYPES or onnx.TensorProto.DataType.Name(number) in UNSUPPORTED:
            kind = onnx.TensorProto.DataType.Name(number)
            raise TileError(f"input {name}: there are no tensors of {kind}")
        array = _on_host(as_array(f"input {name}", value, dtype))
        if array.dtype != dtype:
            raise TileError(f"input {name} is of {dtype}, and {array.dtype} was given")
        self._check_shape(name, declared, array)
        return array

    def _check_shape(self, name: str, t: Any, array: Array) -> None:
        if not t.HasField("shape"):
            return
        wanted = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
        fits = len(wanted) == array.ndim and all(
            n is None or n == m for n, m in zip(wanted, array.shape, strict=True)
        )
        if not fits:
            raise TileError(
                f"input {name} has the shape ({_dims_of(t)}), and {array.shape} was given"
            )

    def _for(self, arrays: Mapping[str, Given]) -> Specialized:
        while True:
            key = self._key(arrays)
            if (ready := self._ready.find(key)) is not None:
                return ready
            try:
                return self._ready.put(key, self._made(arrays))
            except UnknownValueError as error:
                if not isinstance(arrays[error.name], np.ndarray):
                    raise TileError(
                        f"a shape depends on the numbers of {error.name}, which is a sequence"
                    ) from None
                self._known.add(error.name)

    def _key(self, arrays: Mapping[str, Given]) -> tuple[Any, ...]:
        flat = _flat(arrays)
        values = tuple(flat[name].tobytes() for name in flat if name in self._known)
        return (*flat, *signature_of([*flat.values()]), *values)

    def _made(self, arrays: Mapping[str, Given]) -> Specialized:
        known = {k: a for k, a in _flat(arrays).items() if k in self._known}
        types = {
            k: [*map(type_of, a)] if isinstance(a, list) else type_of(a)
            for k, a in arrays.items()
            if k not in known
        }
        with sourced():
            made: Converted = convert_model(
                self._proto, types, known, self._initializers, self.name
            )
        function = compile_module(made.module, **self._options)
        for wrt, with_outputs in self._gradients:
            places = None if wrt is None else [made.inputs.index(name) for name in wrt]
            function = function.gradient(places, with_outputs=with_outputs)
        return Specialized(function, made.inputs, made.counts if not self._gradients else ())

    def _placed(self, function: Function, name: str | None, given: Any) -> Any:
        """An input of a function: of an initializer the copy that stays on the device."""
        if name is None or name not in self._initializers or function.device.uses_host_memory:
            return self._initializers[given] if isinstance(given, str) else given
        if name not in self._resident:
            array = self._initializers.taken(given) if isinstance(given, str) else given
            self._resident[name] = placed(function.device, array)
            self._initializers.release([name])
        return self._resident[name]


def _on_host(array: Any) -> Array:
    return array if isinstance(array, np.ndarray) else array.get()


def _flat(arrays: Mapping[str, Given]) -> dict[str, Array]:
    """Tensors by the names that the function has for them."""
    found: dict[str, Array] = {}
    for name, given in arrays.items():
        if isinstance(given, list):
            found |= {f"{name}.{k}": a for k, a in enumerate(given)}
        else:
            found[name] = given
    return found


@front_door
def load(
    source: str | PathLike[str] | onnx.ModelProto,
    *,
    device: Any = None,
    tune: int | str = 0,
    precision: str | None = None,
) -> Model:
    """A model from an ``.onnx`` file, with external data beside it, or from its protobuf.

    Args:
        source: a path, or a model that is loaded.
        device: where to run, as for ``td.compile``.
        tune: number of schedules of each kernel to measure, as for ``td.compile``.
        precision: of sums of products, as for ``td.compile``.

    Raises:
        TileError: the file cannot be read; at a call, an operator cannot be converted.
    """
    if isinstance(source, str | PathLike):
        proto, initializers = read_model(Path(source))
    elif isinstance(source, onnx.ModelProto):  # pyright: ignore[reportUnnecessaryIsInstance]
        proto, initializers = given_model(source)
    else:
        raise TileError(f"a model is a path or a ModelProto, not {type(source).__name__}")
    options = {"device": device, "tune": tune, "precision": precision}
    return Model(proto, initializers, options)


def _dims_of(t: onnx.TypeProto.Tensor) -> str:
    """Sizes of a declared tensor, as numbers or names."""
    dims = (d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in t.shape.dim)
    return ", ".join(map(str, dims))
