"""Functions that take and give arrays: compiled for the shapes that they are called with."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DictionaryAttr

from tiledialect.api.call_key import completed, device_signature_of, extends_given, signature_of
from tiledialect.api.error_boundary import for_user, front_door
from tiledialect.api.inputs import READY_SHAPES, Inputs, Types, types_of, without_missing
from tiledialect.api.loading import Source
from tiledialect.api.named_results import pack, result_type
from tiledialect.api.options import KEPT, Choices
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, print_module, read_text
from tiledialect.lru_cache import LruCache
from tiledialect.passes.fuse.options import Fusion

if TYPE_CHECKING:
    import pyopencl as cl

    from tiledialect.api.pickling import Saved
    from tiledialect.exploration.implementation import Implementation
    from tiledialect.exploration.kept import Found
    from tiledialect.exploration.subject import Subject
    from tiledialect.lowering.lift_to_nest.view_drawing import Views
    from tiledialect.lowering.runtime.call.dispatch_tuning import Calls
    from tiledialect.lowering.runtime.call.launch import Profile
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.lowering.runtime.program.plan import Plan
    from tiledialect.lowering.runtime.program.program import Program
    from tiledialect.lowering.runtime.program.specialization import Specialization
    from tiledialect.passes.gradient.tile_gradient import Gradient

Array = npt.NDArray[Any]


class Function:
    """A Tile function that runs on a device; made by ``compile``.

    Call it with the inputs in order or by name. NumPy arrays, and values that convert to them, give
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
        choices: Choices | None = None,
    ):
        from tiledialect.ir.host_functions import declaration, is_lowered
        from tiledialect.ir.signature import argument_names, find_function, result_names

        function = find_function(source.module, name)
        inputs, outputs = tuple(argument_names(function)), tuple(result_names(function))
        self._source = source
        self._is_lowered = is_lowered(function)
        self._function = function = declaration(function) if self._is_lowered else function
        self._base_name = name
        self._gradients = gradients
        self._choices = choices or Choices()
        self._wanted_device = device
        for step in gradients:
            inputs, outputs = step.signature(inputs, outputs)
        self.name: str = name + "_gradient" * len(gradients)
        """Name of the function."""
        self.inputs: tuple[str, ...] = inputs
        """The inputs' names, in order."""
        self._outputs = outputs
        self._inputs = Inputs(self.name, inputs, function, gradients, source)
        if device is not None:
            _ = self.device
        self._lock = RLock()
        self._specializations: LruCache[tuple[Types, Device], Specialization] = LruCache(
            READY_SHAPES
        )
        self._calls: LruCache[tuple[Any, ...], Calls] = LruCache(READY_SHAPES)
        self._device_calls: LruCache[tuple[Any, ...], Calls] = LruCache(READY_SHAPES)
        self._last: Plan | None = None
        """Plan of the last call, or of the last compilation."""
        self._warned: set[str] = set()

    @cached_property
    def device(self) -> Device:
        """Device that computes on NumPy arrays."""
        from tiledialect.lowering.runtime.device.devices import choose

        return choose(self._wanted_device)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of a call's outputs, in order.

        Where calls alone say which inputs hold integers, by which there is no gradient, these are
        the names of the last call's outputs.
        """
        return self._outputs if self._last is None else self._given(self._last.output_names)

    def __repr__(self) -> str:
        from tiledialect.ir.signature import argument_dims

        dims = dict(zip(self.inputs, argument_dims(self._function), strict=False))
        inputs = ", ".join(
            name if (own := dims.get(name)) is None else f"{name}[{', '.join(own)}]"
            for name in self.inputs
        )
        return f"<Function {self.name} ({inputs}) -> ({', '.join(self.outputs)})>"

    def _repr_html_(self) -> str:
        """Header and Tile text for notebooks."""
        try:
            text = self.tile
        except TileError as error:
            text = f"// {error.message}"
        return f"<code>{html.escape(repr(self)[1:-1])}</code><pre>{html.escape(text)}</pre>"

    def saved(self) -> Saved:
        """Program and device as data, without the compiled programs."""
        from tiledialect.api.pickling import Saved

        device = self._wanted_device
        wanted = device if device is None or isinstance(device, str | int) else device.id
        text = print_module(self._source.module, locations=True)
        given = self._gradients, self._choices
        return Saved(text, self._source.text, self._base_name, wanted, *given)

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.saved(),)

    def _check_tensors(self, what: str) -> None:
        """Refuse an operation that only functions of tensors have."""
        if self._is_lowered:
            from tiledialect.ir.host_functions import needs_tensors

            raise needs_tensors(self.name, what)

    def _with(self, gradients: tuple[Gradient, ...], choices: Choices) -> Function:
        """The same program on the same device, differentiated and run like this."""
        given = self._source, self._base_name, self._wanted_device
        return Function(*given, gradients, choices)

    # -- gradients -------------------------------------------------------------------------

    @front_door
    def gradient(
        self, wrt: Sequence[str | int] | str | int | None = None, *, with_outputs: bool = False
    ) -> Function:
        """The function that propagates cotangents back to the inputs.

        For ``f(A, B) -> (C)`` it is ``(A, B, DC) -> (DA, DB)``: ``DC``, of the shape and element
        type of ``C``, holds the derivatives of some number by the elements of ``C``; ``DA`` those
        by the elements of ``A``. Cotangents that are left out are 0; where all are, that of an
        output without axes is 1. Its kernels are others, so that schedules and fusion that were
        given are not kept.

        Args:
            wrt: the inputs to differentiate by, in the order of the results, by name or place.
                They must hold real numbers. If None, all are meant that do: an input that a call
                gives as integers is left out of that call's results.
            with_outputs: whether to return the function's own outputs too, before the others.

        Raises:
            TileError: there is no such input, or none that may hold reals.
        """
        from tiledialect.passes.gradient.tile_gradient import Gradient

        self._check_tensors("a gradient")
        names = self._inputs.chosen(wrt)
        step = Gradient(names, with_outputs, only_reals=wrt is None)
        # What was found belongs to a program with its gradients: this function's is not taken.
        choices = Choices(tune=self._choices.tune, found=self._choices.found)
        return self._with((*self._gradients, step), choices)

    def value_and_gradient(self, wrt: Sequence[str | int] | str | int | None = None) -> Function:
        """The function that gives the outputs and then the gradient, as one named tuple.

        ``loss, DA, DB = f.value_and_gradient()(a, b)``: it is ``gradient(wrt, with_outputs=True)``.
        """
        return self.gradient(wrt, with_outputs=True)

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for these inputs; a TileError if they do not fit."""
        try:
            if named:
                args = without_missing(self.bind(args, named))
            signature: list[Any] = []
            for value in args:
                # This is on the way of every call: no more than it takes to know the types.
                if type(value) is not np.ndarray or not value.flags.c_contiguous:
                    return self._call_any(args)
                signature.append(value.shape)
                signature.append(value.dtype)
            calls = self._calls.get(tuple(signature))
            if calls is None:
                return self._call_any(args)
            self._last = calls.plan
            return calls.run(args)
        except TileError as error:
            raise for_user(error) from None

    @front_door
    def profile(self, *args: Any, repeat: int = 1, **named: Any) -> tuple[Any, Profile]:
        """The outputs for host arrays, and the times and memory that they took on the device.

        Runs ``repeat`` times; the times are the medians.
        """
        from tiledialect.lowering.runtime.device.queue_state import state_of
        from tiledialect.lowering.runtime.device.queues import queue_for

        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"repeat says how often to run, at least 1, not {repeat!r}")
        host = self._host_arrays(args, named)
        state = state_of(queue_for(self.device, profiling=True))
        executable = self._specialize(types_of(host), self.device).executable(state, on_host=True)
        outputs, profile = executable.profile(host, repeat)
        return pack(self.name, self._given(executable.plan.output_names), outputs), profile

    def _host_arrays(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Array]:
        arrays = self._inputs.arrays(self.bind(args, named))
        return [a if isinstance(a, np.ndarray) else a.get() for a in arrays]

    @front_door
    def reference(self, *args: Any, **named: Any) -> Any:
        """The outputs by the reference semantics: NumPy, slow, without a device."""
        from tiledialect.api.reference import run_reference

        host = self._host_arrays(args, named)
        with self._source.error_context():
            names, outputs = run_reference(
                self._source.module, self._base_name, self._gradients, host
            )
        return pack(self.name, self._given(names), outputs)

    @front_door
    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs in order; a TileError if one is missing, unknown or given twice."""
        return self._inputs.bind(args, named)

    @front_door
    def types(self, args: Sequence[Any], named: Mapping[str, Any]) -> Types:
        """The types of the inputs; they are given as for ``opencl``."""
        return self._inputs.types(args, named)

    @front_door
    def output_types(self, *args: Any, **named: Any) -> Types:
        """The types of the outputs for these inputs; inputs as for ``opencl``. Compiles nothing."""
        from tiledialect.api.reference import output_types

        types = self.types(args, named)
        with self._source.error_context():
            return output_types(self._source.module, self._base_name, self._gradients, types)

    def _call_any(self, args: Sequence[Any]) -> Any:
        if self._device_calls and (ready := self._ready_on_device(args)) is not None:
            return self._run(ready, args)
        arrays = self._inputs.arrays(self.bind(args, {}))
        if not all(isinstance(a, np.ndarray) for a in arrays):
            return self._call_on_device(args, arrays)
        signature = signature_of(arrays)
        calls = self._calls.find(signature)
        if calls is None:
            tuned = self._tuned_for(arrays, self.device)
            calls = self._calls.put(signature, tuned._host_calls(types_of(arrays)))
        if extends_given(args, arrays):
            self._calls.put(signature_of(args), completed(calls, arrays[len(args) :]))
        return self._run(calls, arrays)

    def _run(self, calls: Calls, arrays: Sequence[Any]) -> Any:
        self._last = calls.plan
        return calls.run(arrays)

    def _host_calls(self, types: Types) -> Calls:
        from tiledialect.lowering.runtime.call.dispatch_tuning import calls_on_host
        from tiledialect.lowering.runtime.device.queue_state import state_of
        from tiledialect.lowering.runtime.device.queues import queue_for

        state = state_of(queue_for(self.device))
        specialization = self._specialize(types, self.device)
        return calls_on_host(specialization, state, self._kind(specialization.plan))

    def _ready_on_device(self, args: Sequence[Any]) -> Calls | None:
        """The calls for pyopencl arrays that can be taken as they are; None: look closer."""
        # Where there are such calls, somebody has imported the module.
        kind = sys.modules["pyopencl.array"].Array
        queue = getattr(args[0], "queue", None) if args else None
        signature: list[Any] = [queue]
        for value in args:
            if not isinstance(value, kind) or value.queue is not queue or value.offset:
                return None
            signature += (value.shape, value.dtype, value.strides)
        return self._device_calls.get(tuple(signature))

    def _call_on_device(self, args: Sequence[Any], arrays: list[Any]) -> Any:
        """For inputs of which some are pyopencl's: everything goes to the queue of the first."""
        import pyopencl.array as cla

        from tiledialect.lowering.runtime.call.arrays import common_queue

        queue = common_queue(self.name, [a for a in arrays if not isinstance(a, np.ndarray)])
        arrays = [cla.to_device(queue, a) if isinstance(a, np.ndarray) else a for a in arrays]
        signature = device_signature_of(queue, arrays)
        calls = self._device_calls.find(signature)
        if calls is None:
            calls = self._tuned_on(arrays, queue)._calls_on(types_of(arrays), queue)
            self._device_calls.put(signature, calls)
        if extends_given(args, arrays):
            whole = completed(calls, arrays[len(args) :])
            self._device_calls.put(device_signature_of(queue, args), whole)
        return self._run(calls, arrays)

    def _calls_on(self, types: Types, queue: cl.CommandQueue) -> Calls:
        from tiledialect.lowering.runtime.call.dispatch_tuning import Calls
        from tiledialect.lowering.runtime.device.queue_state import state_of

        state = state_of(queue)
        executable = self._specialize(types, state.device).executable(state, on_host=False)
        plan, run = executable.plan, executable.on_device
        kind = self._kind(plan)
        if kind is None:
            return Calls(plan, lambda arrays: run(arrays)[0])
        return Calls(plan, lambda arrays: kind(*run(arrays)))

    def _kind(self, plan: Plan) -> Callable[..., Any] | None:
        """Named tuple of a call's outputs; None for a single output, given as it is."""
        names = self._given(plan.output_names)
        return result_type(self.name, names) if len(names) > 1 else None

    def _given(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names of the outputs that a call has: a gradient by integers is left out."""
        return self._outputs if len(names) == len(self._outputs) else tuple(names)

    # -- compiling -------------------------------------------------------------------------

    @cached_property
    def _program(self) -> Program:
        from tiledialect.lowering.runtime.program.program import Program

        # The text that the module was read from tells as much, and need not be printed.
        text = self._source.text or print_module(self._source.module)
        text += f"// {DictionaryAttr(self._source.module.attributes)}"
        # A part of the key on disk.
        text += f" {self._choices.fusion}" if self._choices.fusion != Fusion() else ""
        choices = self._choices
        given = self._gradients, choices.schedules, choices.fusion
        return Program(self._source.module, self._base_name, text, *given)

    def _specialize(self, types: Types, device: Device) -> Specialization:
        from tiledialect.lowering.runtime.program.specialization import Specialization

        with self._lock, self._source.error_context():
            found = self._specializations.find((types, device))
            if found is None:
                found = Specialization(self._program_for(types, device), types, device)
                self._specializations.put((types, device), found)
                self._warn(found.plan.warnings)
            self._last = found.plan
            return found

    @front_door
    def compile_for(self, *shapes: Sequence[Any] | Mapping[str, Any]) -> None:
        """Compile ahead for calls with other shapes, so that the first of them only launch.

        While the device's compiler works on the kernels for one, the next is compiled.

        Args:
            shapes: the inputs of each call, in order or by name, given as for ``opencl``.
        """
        from concurrent.futures import ThreadPoolExecutor

        from tiledialect.lowering.runtime.device.queue_state import state_of
        from tiledialect.lowering.runtime.device.queues import queue_for

        calls = [
            self.types((), given) if isinstance(given, Mapping) else self.types(given, {})
            for given in shapes
        ]
        state = state_of(queue_for(self.device))
        # It stops at the first refused one, and waits for the running ones.
        with ThreadPoolExecutor(1) as builder:
            made = (self._specialize(types, self.device) for types in calls)
            building = [builder.submit(own.executable, state, on_host=True) for own in made]
            for one in building:
                one.result()

    def _warn(self, warnings: tuple[str, ...]) -> None:
        """Warn of each text once for all shapes."""
        from tiledialect.passes.diagnostics.reporting import warn

        fresh = [text for text in warnings if text not in self._warned]
        self._warned.update(fresh)
        warn(fresh)

    def _types_or_last(self, args: Sequence[Any], named: Mapping[str, Any]) -> Types:
        """Types of inputs; without any, of the last call, else the declared ones."""
        return self.types(args, named) if args or named else self._known()

    def _known(self) -> Types:
        """The types of the last call, else the explored ones, else the declared ones."""
        if self._last is not None:
            return types_of(self._last.inputs)
        return self._explored_types() or self._inputs.known()

    def _explored_types(self) -> Types:
        """The types for which an implementation was found; none if these are several."""
        if not self._choices.found:
            return ()
        from tiledialect.exploration import kept
        from tiledialect.ir.signature import parse_type

        found = {f.types for f in kept.of_program(self._choices.found, self._program, self.device)}
        return tuple(map(parse_type, found.pop().split(","))) if len(found) == 1 else ()

    @front_door
    def tuned(self, *args: Any, **named: Any) -> Function:
        """Copy with the schedules that were the fastest on these inputs, host arrays.

        Without ``tune`` it is the function itself. A call does the same by itself.
        """
        return self._tuned_for(self._host_arrays(args, named), self.device)

    def with_found(self, found: Sequence[Found]) -> Function:
        """Copy that is computed by implementations of an exploration, for their shapes and device.

        Calls with other shapes, or on other devices, are compiled as without them.
        """
        return self._with(self._gradients, replace(self._choices, found=tuple(found)))

    def with_explored(self, path: Path) -> Function:
        """Copy that is computed by the implementations in a file of an exploration."""
        from tiledialect.exploration import kept

        found = kept.load(path)
        kept.check_source(found, self._program, path)
        return self.with_found(found)

    def on_device(self, device: Device | str | int) -> Function:
        """Copy for another device."""
        return Function(self._source, self._base_name, device, self._gradients, self._choices)

    def subject(self, args: Sequence[Any], named: Mapping[str, Any]) -> Subject:
        """Inputs, and results of the reference semantics, for an exploration."""
        from tiledialect.api.reference import run_reference
        from tiledialect.exploration.subject import Subject

        self._check_tensors("an exploration")
        host = self._host_arrays(args, named)
        with self._source.error_context():
            given = self._source.module, self._base_name, self._gradients
            _, expected = run_reference(*given, host)
        return Subject(self._program, self.device, host, expected)

    def _found_for(self, types: Types, device: Device) -> Implementation | None:
        """The implementation that was found for some inputs, if there is one."""
        found = self._choices.found
        if not found and self._choices.tune != KEPT:
            return None
        from tiledialect.exploration import kept
        from tiledialect.ir.signature import types_text

        if self._choices.tune == KEPT:
            found = (*found, *kept.kept_for(self._program, device))
        own = kept.matching(found, self._program, device, types_text(types))
        return None if own is None else own.implementation

    def _program_for(self, types: Types, device: Device) -> Program:
        """The program by the implementation that was found for some inputs, if there is one."""
        found = self._found_for(types, device)
        return self._program if found is None else found.applied(self._program)

    def _tuned_for(self, arrays: Sequence[Array], device: Device) -> Function:
        if not self._choices.is_tuned or self._found_for(types_of(arrays), device) is not None:
            return self
        from tiledialect.lowering.runtime.program.tune import Task, tuned_schedules

        with self._source.error_context():
            task = Task(self._program, types_of(arrays), device, arrays, self._warn)
            texts = tuned_schedules(task, int(self._choices.tune))
        schedules = *self._choices.schedules, *texts
        tuned = self._with(self._gradients, replace(self._choices, schedules=schedules, tune=0))
        # Each warning is given once.
        tuned._warned = self._warned
        return tuned

    def _tuned_on(self, arrays: Sequence[Any], queue: cl.CommandQueue) -> Function:
        """The same for arrays on a queue's device."""
        if not self._choices.is_tuned:
            return self
        from tiledialect.lowering.runtime.device.devices import device_of

        return self._tuned_for([a.get() for a in arrays], device_of(queue.device))

    # -- texts of programs --------------------------------------------------------------------

    @front_door
    def schedules(self, *args: Any, **named: Any) -> dict[str, str]:
        """The schedule of each kernel for these inputs, as text; inputs as for ``opencl``.

        A kernel has the name of its result.
        """
        from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
        from tiledialect.lowering.runtime.program.compiling import lowered

        self._check_tensors("a schedule")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            program = self._program_for(types, self.device)
            module = lowered(program, types, self.device, "tile-loop-tiling")
            return {name: schedule_text(k) for name, k in named_kernels(module).items()}

    @front_door
    def explanation(self, *args: Any, **named: Any) -> str:
        """Reasons for the kernels of these inputs: the splits, the fusion, and the schedules that
        the cost model weighed against one another for the device; inputs as for ``opencl``.

        docs/schedule-choice.md says how to read it.
        """
        from tiledialect.lowering.runtime.program.compiling import explained

        self._check_tensors("an explanation")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            return explained(self._program_for(types, self.device), types, self.device)

    @front_door
    def with_schedules(self, schedules: Mapping[str, str] | Path) -> Function:
        """Copy with other schedules for some kernels, for all shapes that they fit.

        Args:
            schedules: the text of a schedule for each kernel, by the name of its result, as
                ``schedules`` gives them; or a file of such, ``name: <…> stage <…>``.
                docs/schedules.md says how to write one.

        Raises:
            TileError: they are not of this form. Errors in a schedule, and kernels that
                cannot run so, are refused at the first call with their shapes.
        """
        from tiledialect.dialects.tile.schedule_text import checked_schedules, read_schedules

        self._check_tensors("a schedule")
        if isinstance(schedules, Path):
            schedules = read_schedules(read_text(schedules))
        texts = (*self._choices.schedules, *checked_schedules(schedules))
        return self._with(self._gradients, replace(self._choices, schedules=texts))

    @front_door
    def with_fusion(
        self,
        *,
        loads: bool | None = None,
        rows: bool | None = None,
        again: bool | None = None,
        beside: bool | None = None,
        apart: str | Iterable[str] = (),
    ) -> Function:
        """Copy with other ops in one kernel than the cost model would choose.

        The arguments are the options of ``tile-fuse``, see docs/fusion.md: a flag that is False
        keeps kernels apart, one that is True merges whatever can be; ``apart`` names what is
        written to memory, and nothing else computed with it.
        """
        self._check_tensors("a choice of fusion")
        flags = {"loads": loads, "rows": rows, "again": again, "beside": beside}
        fusion = self._choices.fusion.but(apart, **flags)
        return self._with(self._gradients, replace(self._choices, fusion=fusion))

    @property
    @front_door
    def tile(self) -> str:
        """The function as Tile text, gradients too; a TileError if Tile cannot say it.

        Patterns of Lift have such a form for the sizes of the last call.
        """
        from tiledialect.language.printer import print_tile
        from tiledialect.passes.gradient.tile_gradient import differentiated
        from tiledialect.passes.lift.lift_to_tile import has_lift_ops

        self._check_tensors("Tile text")
        with self._source.error_context():
            module, name = self._source.module, self._base_name
            types = self._known() if has_lift_ops(self._function) else ()
            return print_tile(differentiated(module, name, self._gradients, types))

    @front_door
    def ir(self, after: str, /, *args: Any, **named: Any) -> str:
        """The IR after the compiler's pass ``after``, such as ``tile-bounds``, as MLIR.

        Inputs are given as for ``opencl``.
        """
        from tiledialect.lowering.runtime.program.compiling import lowered

        self._check_tensors("IR after a pass")
        types = self._types_or_last(args, named)
        with self._source.error_context():
            program = self._program_for(types, self.device)
            return print_module(lowered(program, types, self.device, str(after)))

    @front_door
    def views(self, *args: Any, **named: Any) -> Views:
        """The views through which the patterns of Lift access memory; inputs as for ``opencl``.

        Without any they are those for all sizes that the function leaves open. As text they are
        printed, ``svg`` draws them, and a notebook shows the drawing.
        """
        from tiledialect.lowering.runtime.program.compiling import leaves_sizes_open, views

        self._check_tensors("a view")
        types: Types | None = None
        if args or named or not leaves_sizes_open(self._program):
            types = self.types(args, named)
        with self._source.error_context():
            program = self._program if types is None else self._program_for(types, self.device)
            return views(program, types, self.device)

    @front_door
    def opencl(self, *args: Any, **named: Any) -> str:
        """The OpenCL C text of the kernels for these inputs.

        An input is an array, a pair of shape and element type, such as ``((2, 9), "f32")``, or a
        text such as ``2x9xf32``. Without any they are the types of the last call, else the
        explored or the declared ones.
        """
        return self._specialize(self._types_or_last(args, named), self.device).plan.source

    @front_door
    def mlir(self, *args: Any, **named: Any) -> str:
        """The kernels and the host function for these inputs, as MLIR; inputs as for ``opencl``."""
        from tiledialect.lowering.runtime.program.compiling import lowered

        types = self._types_or_last(args, named)
        with self._source.error_context():
            return print_module(lowered(self._program_for(types, self.device), types, self.device))


def restored(saved: Saved) -> Function:
    """Rebuild a function from its sources and options."""
    source = Source(parse_mlir(saved.module, saved.name), saved.text)
    return Function(source, saved.name, saved.device, saved.gradients, saved.choices)
