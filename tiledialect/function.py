"""The front door: compiled functions that take and give arrays."""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.utils.exceptions import DiagnosticException

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.numeric import ELEMENT_TYPES, NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.loading import Source, load, print_module

if TYPE_CHECKING:
    import pyopencl as cl
    import pyopencl.array as cla

    from tiledialect.lowering.runtime.devices import Device
    from tiledialect.lowering.runtime.launch import Executable, Profile
    from tiledialect.lowering.runtime.program import Program, Specialization
    from tiledialect.passes.tile_gradient import Gradient

Array = npt.NDArray[Any]
Types: TypeAlias = "tuple[TensorType[Attribute], ...]"
Runner = Callable[[Sequence[Any]], Any]

MAX_QUEUES = 64
"""For how many combinations of shapes and queues of the user's a function stays ready."""


def compile(
    source: str | Path | ModuleOp,
    *,
    device: Device | str | int | None = None,
    name: str | None = None,
) -> Function:
    """A function of arrays from Tile text, a ``.tile`` or ``.mlir`` file or an xDSL module.

    Args:
        source: the program; a string without line ends that ends in ``.tile`` or ``.mlir`` is
            a path.
        device: where to run: a ``Device``, its id or a part of its name; else what the variable
            ``TILE_DEVICE`` says, else a GPU, else the fastest CPU.
        name: which function of a module; or a name for a Tile function that has none.

    Raises:
        TileError: the source, the name or the device is wrong.
    """
    from tiledialect.signature import find_function

    with _sourced(""):
        loaded = load(source, name)
    with _sourced(loaded.text):
        is_tile_text = isinstance(source, str) and loaded.text == source
        # A Tile function has the name in its text, if there is one.
        wanted = None if is_tile_text else name
        chosen = find_function(loaded.module, wanted).sym_name.data
    return Function(loaded, chosen, device)


@contextmanager
def _sourced(text: str) -> Generator[None]:
    """Errors get the source text; what xDSL or the parsers raise becomes a TileError."""
    try:
        yield
    except TileError as error:
        raise error.with_source(text) from error.__cause__
    except RecursionError:
        raise TileError("the program is nested too deeply") from None
    except DiagnosticException as error:
        raise TileError(f"the program is malformed: {error}") from None


class Function:
    """A Tile function that runs on a device; made by ``compile``.

    Call it with the inputs in order or by name. NumPy arrays, and what can be read as such, give
    NumPy arrays; a ``pyopencl.array.Array`` among the inputs gives such ones, on its queue. One
    output is returned as it is, several as a named tuple. The first call with new shapes and
    element types compiles, later ones only launch. Functions may be called from several threads.
    """

    def __init__(
        self,
        source: Source,
        name: str,
        device: Device | str | int | None,
        gradients: tuple[Gradient, ...] = (),
    ):
        from tiledialect.signature import argument_names, find_function, result_names

        function = find_function(source.module, name)
        self._source = source
        self._function = function
        self._base_name = name
        self._gradients = gradients
        self._wanted_device = device
        inputs, outputs = tuple(argument_names(function)), tuple(result_names(function))
        for step in gradients:
            inputs, outputs = step.signature(inputs, outputs)
        self.name: str = name + "_gradient" * len(gradients)
        """What the function is called."""
        self.inputs: tuple[str, ...] = inputs
        """The inputs' names, in order."""
        self.outputs: tuple[str, ...] = outputs
        """The outputs' names, in order."""
        if device is not None:
            _ = self.device
        self._lock = RLock()
        self._specializations: dict[tuple[Types, Device], Specialization] = {}
        self._runners: dict[tuple[Any, ...], Runner] = {}
        self._device_runners: dict[tuple[Any, ...], Runner] = {}

    @cached_property
    def device(self) -> Device:
        """Where NumPy arrays are worked on."""
        from tiledialect.lowering.runtime.devices import choose

        return choose(self._wanted_device)

    def __repr__(self) -> str:
        inputs = ", ".join(
            name + (f"[{', '.join(dims)}]" if dims else "[]" if dims is not None else "")
            for name, dims in zip(self.inputs, self._dims(), strict=True)
        )
        return f"<Function {self.name} ({inputs}) -> ({', '.join(self.outputs)})>"

    def _dims(self) -> list[tuple[str, ...] | None]:
        """The dimensions that the header gives each input; None where it gives none."""
        found: list[tuple[str, ...] | None] = [None] * len(self.inputs)
        for k, attrs in enumerate(self._function.arg_attrs or ()):
            dims = attrs.data.get("tile.dims")
            if isinstance(dims, ArrayAttr):
                found[k] = tuple(d.data for d in dims if isinstance(d, StringAttr))
        return found

    def gradient(
        self, wrt: Sequence[str] | str | None = None, *, with_outputs: bool = False
    ) -> Function:
        """The function that propagates cotangents back to the inputs.

        For ``f(A, B) -> (C)`` it is ``(A, B, DC) -> (DA, DB)``: ``DC``, of the shape and element
        type of ``C``, holds the derivatives of some number by the elements of ``C``; ``DA`` those
        by the elements of ``A``.

        Args:
            wrt: the inputs to differentiate by, in the order of the results; all if None. They
                must hold real numbers.
            with_outputs: whether to return the function's own outputs too, before the others.

        Raises:
            TileError: there is no such input.
        """
        from tiledialect.passes.tile_gradient import Gradient

        names = (wrt,) if isinstance(wrt, str) else self.inputs if wrt is None else tuple(wrt)
        step = Gradient(names, with_outputs)
        return Function(
            self._source, self._base_name, self._wanted_device, (*self._gradients, step)
        )

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for these inputs; a TileError if they do not fit."""
        if named:
            args = self.bind(args, named)
        signature: list[Any] = []
        for value in args:
            # This is on the way of every call: no more than it takes to know the types.
            if type(value) is not np.ndarray or not value.flags.c_contiguous:
                return self._call_any(args)
            signature += (value.shape, value.dtype)
        runner = self._runners.get(tuple(signature))
        return runner(args) if runner is not None else self._call_any(args)

    def profile(self, *args: Any, **named: Any) -> tuple[Any, Profile]:
        """The outputs for host arrays, and the times and memory that they took on the device."""
        from tiledialect.lowering.runtime.devices import queue_for
        from tiledialect.lowering.runtime.launch import lane_of

        arrays = self._arrays(self.bind(args, named))
        host = [a if isinstance(a, np.ndarray) else a.get() for a in arrays]
        lane = lane_of(queue_for(self.device, profiling=True))
        executable = self._specialize(_types(host), self.device).executable(lane, on_host=True)
        outputs, profile = executable.profile(host)
        return self._packed(outputs), profile

    def reference(self, *args: Any, **named: Any) -> Any:
        """The outputs by the reference semantics: NumPy, slow, without a device."""
        from tiledialect.interpreters.tile import run_function
        from tiledialect.lowering.runtime.arrays import check_shape
        from tiledialect.passes.tile_gradient import specialize_gradient
        from tiledialect.signature import find_function

        arrays = self._arrays(self.bind(args, named))
        host = [a if isinstance(a, np.ndarray) else a.get() for a in arrays]
        module = self._source.module.clone()
        function = find_function(module, self._base_name)
        with _sourced(self._source.text):
            specialize_gradient(function, _types(host), self._gradients)
            # What nothing uses is not compiled either, whatever is wrong with it.
            region_dce(function.body)
            for value in (v for op in function.body.block.ops for v in op.results):
                if isinstance(t := value.type, TensorType):
                    dtype = NUMPY_TYPES[et.concrete(t.element_type)]
                    check_shape(value.name_hint or "an intermediate", t.get_shape(), dtype)
            try:
                return self._packed(run_function(module, function.sym_name.data, host))
            except MemoryError as error:
                raise TileError(f"there is not enough memory for this: {error}") from None

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs in order; a TileError if one is missing, unknown or given twice."""
        for name in named:
            if name not in self.inputs:
                raise TileError(f"{self.name} has no input {name}; it takes {self._header()}")
        for name in self.inputs[: len(args)]:
            if name in named:
                raise TileError(f"{name} is given twice, by place and by name")
        rest = self.inputs[len(args) :]
        missing = [name for name in rest if name not in named]
        if missing or len(args) > len(self.inputs):
            given = len(args) + len(named)
            lacking = f"; {', '.join(missing)} is missing" if missing and named else ""
            raise TileError(
                f"{self.name} takes {len(self.inputs)} inputs ({self._header()}), "
                f"but {given} were given{lacking}"
            )
        return (*args, *(named[name] for name in rest))

    def _header(self) -> str:
        return ", ".join(self.inputs) or "no inputs"

    def _call_any(self, args: Sequence[Any]) -> Any:
        if self._device_runners and (runner := self._ready_on_device(args)) is not None:
            return runner(args)
        arrays = self._arrays(self.bind(args, {}))
        if not all(isinstance(a, np.ndarray) for a in arrays):
            return self._call_on_device(arrays)
        signature = tuple(part for a in arrays for part in (a.shape, a.dtype))
        runner = self._runners.get(signature)
        if runner is None:
            runner = self._runners[signature] = self._host_runner(_types(arrays))
        return runner(arrays)

    def _arrays(self, args: Sequence[Any]) -> list[Any]:
        from tiledialect.lowering.runtime.arrays import as_array

        return [
            as_array(name, value, declared)
            for name, value, declared in zip(self.inputs, args, self._declared, strict=True)
        ]

    @cached_property
    def _declared(self) -> list[np.dtype[Any] | None]:
        """The element types that the inputs are declared with; None where that is open."""
        types = list(self._function.function_type.inputs)
        types += [et.any_type] * (len(self.inputs) - len(types))
        return [NUMPY_TYPES.get(getattr(t, "element_type", None)) for t in types]  # pyright: ignore[reportArgumentType]

    def _host_runner(self, types: Types) -> Runner:
        from tiledialect.lowering.runtime.devices import queue_for
        from tiledialect.lowering.runtime.launch import lane_of

        lane = lane_of(queue_for(self.device))
        executable = self._specialize(types, self.device).executable(lane, on_host=True)
        return self._runner(executable, executable.on_host)

    def _ready_on_device(self, args: Sequence[Any]) -> Runner | None:
        """The runner for pyopencl arrays that can be taken as they are; None: look closer."""
        from tiledialect.lowering.runtime.arrays import is_device_array

        queue = getattr(args[0], "queue", None) if args else None
        signature: list[Any] = [queue]
        for value in args:
            if not is_device_array(value) or value.queue is not queue or value.offset:
                return None
            if not value.flags.c_contiguous:
                return None
            signature += (value.shape, value.dtype)
        return self._device_runners.get(tuple(signature))

    def _call_on_device(self, arrays: list[Any]) -> Any:
        """For inputs of which some are pyopencl's: everything goes to the queue of the first."""
        import pyopencl.array as cla

        given = [a for a in arrays if not isinstance(a, np.ndarray)]
        queue = self._queue(given)
        arrays = [cla.to_device(queue, a) if isinstance(a, np.ndarray) else a for a in arrays]
        signature = (queue, *(part for a in arrays for part in (a.shape, a.dtype)))
        runner = self._device_runners.get(signature)
        if runner is None:
            runner = self._device_runner(_types(arrays), queue)
            while len(self._device_runners) >= MAX_QUEUES:
                self._device_runners.pop(next(iter(self._device_runners)), None)
            self._device_runners[signature] = runner
        return runner(arrays)

    def _device_runner(self, types: Types, queue: cl.CommandQueue) -> Runner:
        from tiledialect.lowering.runtime.launch import lane_of

        lane = lane_of(queue)
        executable = self._specialize(types, lane.device).executable(lane, on_host=False)
        return self._runner(executable, executable.on_device)

    def _queue(self, arrays: Sequence[cla.Array]) -> cl.CommandQueue:
        """The queue of the first array that has one; all must be of one context."""
        queue = arrays[0].queue
        if queue is not None and all(a.queue is queue for a in arrays):
            return queue
        from pyopencl import CommandQueue

        contexts = {a.context for a in arrays if a.context is not None}
        if len(contexts) != 1:
            raise TileError(f"the inputs of {self.name} are arrays of different OpenCL contexts")
        for array in arrays:
            if array.queue is not None:
                return array.queue
        (context,) = contexts
        return CommandQueue(context)

    def _runner(self, executable: Executable, run: Callable[[Any], list[Any]]) -> Runner:
        if len(executable.plan.outputs) == 1:
            return lambda arrays: run(arrays)[0]
        return lambda arrays: self._packed(run(arrays))

    def _packed(self, outputs: Sequence[Any]) -> Any:
        return outputs[0] if len(outputs) == 1 else self._result_type(*outputs)

    @cached_property
    def _result_type(self) -> Any:
        fields = [_field(name) for name in self.outputs]
        return namedtuple(self.name, fields, rename=True)  # pyright: ignore

    # -- compiling -------------------------------------------------------------------------

    @cached_property
    def _program(self) -> Program:
        from tiledialect.lowering.runtime.program import Program

        # The text that the module was read from tells as much, and need not be printed.
        text = self._source.text or print_module(self._source.module)
        return Program(self._source.module, self._base_name, text, self._gradients)

    def _specialize(self, types: Types, device: Device) -> Specialization:
        from tiledialect.lowering.runtime.program import Specialization

        with self._lock, _sourced(self._source.text):
            found = self._specializations.get((types, device))
            if found is None:
                found = Specialization(self._program, types, device)
                self._specializations[types, device] = found
            return found

    def opencl(self, *args: Any, **named: Any) -> str:
        """The OpenCL C text of the kernels for these inputs.

        An input is an array, a pair of shape and element type, or a text such as ``2x9xf32``.
        """
        return self._specialize(self._given_types(args, named), self.device).plan.source

    def mlir(self, *args: Any, **named: Any) -> str:
        """The kernels and the host function for these inputs, as MLIR; inputs as for ``opencl``."""
        types = self._given_types(args, named)
        with _sourced(self._source.text):
            return print_module(self._program.kernel_level(types, self.device))

    def _given_types(self, args: Sequence[Any], named: Mapping[str, Any]) -> Types:
        given = self.bind(args, named)
        declared = self._declared
        return tuple(
            _given_type(name, value, dtype)
            for name, value, dtype in zip(self.inputs, given, declared, strict=True)
        )


def _field(name: str) -> str:
    """The field of a named tuple for an output: Python's names have no apostrophes."""
    name = name.replace("'", "_prime")
    return f"{name}_" if keyword.iskeyword(name) else name


def _types(arrays: Sequence[Any]) -> Types:
    return tuple(TensorType(ELEMENT_TYPES[a.dtype], a.shape) for a in arrays)


def _given_type(name: str, value: Any, declared: np.dtype[Any] | None) -> TensorType[Attribute]:
    """The type that ``value`` stands for: it is an array or says shape and element type."""
    from tiledialect.lowering.runtime.arrays import DTYPES, as_array
    from tiledialect.signature import parse_type

    if isinstance(value, str):
        return parse_type(value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple | list):
        shape, dtype = value
        try:
            dtype, shape = np.dtype(dtype), tuple(int(n) for n in shape)
        except (TypeError, ValueError):
            dtype = None
        if dtype is not None and dtype in DTYPES and min(shape, default=0) >= 0:
            return TensorType(ELEMENT_TYPES[dtype], shape)
    (t,) = _types([as_array(name, value, declared)])
    return t
