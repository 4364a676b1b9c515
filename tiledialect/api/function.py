"""Functions that take and give arrays: compiled for the shapes that they are called with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tiledialect.api.batches import Axes
from tiledialect.api.call_key import (
    completed,
    device_signature_of,
    extends_given,
    host_signature_of,
    signature_of,
)
from tiledialect.api.error_boundary import for_user, front_door
from tiledialect.api.inputs import READY_SHAPES, Types, types_of, without_missing
from tiledialect.api.loading import Source
from tiledialect.api.named_results import pack, result_type
from tiledialect.api.options import Choices
from tiledialect.api.printed_function import PrintedFunction
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, print_module, read_text
from tiledialect.lru_cache import LruCache

if TYPE_CHECKING:
    import pyopencl as cl

    from tiledialect.api.pickling import Saved
    from tiledialect.exploration.implementation import Found
    from tiledialect.exploration.programs import ProgramPart
    from tiledialect.exploration.subject import Case, Subject
    from tiledialect.lowering.runtime.call.dispatch_tuning import Calls
    from tiledialect.lowering.runtime.call.profiles import Profile
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.lowering.runtime.program.plan import Plan
    from tiledialect.passes.transform.transforms import Transform

Array = npt.NDArray[Any]

NOTHING_TUNED = (
    "nothing of {} is tuned: it is of Lift's patterns alone, whose kernels have no schedules"
)


class Function(PrintedFunction):
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
        transforms: tuple[Transform, ...] = (),
        choices: Choices | None = None,
    ):
        super().__init__(source, name, device, transforms, choices)
        self._calls: LruCache[tuple[Any, ...], Calls] = LruCache(READY_SHAPES)
        self._device_calls: LruCache[tuple[Any, ...], Calls] = LruCache(READY_SHAPES)

    def saved(self) -> Saved:
        """Program and device as data, without the compiled programs."""
        from tiledialect.api.pickling import Saved

        device = self._wanted_device
        wanted = device if device is None or isinstance(device, str | int) else device.id
        text = print_module(self._source.module, locations=True)
        given = self._transforms, self._choices
        return Saved(text, self._source.text, self._base_name, wanted, *given)

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.saved(),)

    def _with(self, transforms: tuple[Transform, ...], choices: Choices) -> Function:
        """The same program on the same device, transformed and run like this."""
        given = self._source, self._base_name, self._wanted_device
        return Function(*given, transforms, choices)

    # -- gradients and batches --------------------------------------------------------------------

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
        from tiledialect.passes.transform.transforms import Gradient

        self._check_tensors("a gradient")
        self._inputs.check_unchanged("gradient")
        names = self._inputs.chosen(wrt)
        step = Gradient(names, with_outputs, only_reals=wrt is None)
        return self._transformed(step)

    def _transformed(self, step: Transform) -> Function:
        """Copy with a further transformation."""
        # What was found belongs to a program with its gradients: this function's is not taken.
        given = self._choices
        choices = Choices(tune=given.tune, found=given.found, budget=given.budget)
        return self._with((*self._transforms, step), choices)

    def value_and_gradient(self, wrt: Sequence[str | int] | str | int | None = None) -> Function:
        """The function that gives the outputs and then the gradient, as one named tuple.

        ``loss, DA, DB = f.value_and_gradient()(a, b)``: it is ``gradient(wrt, with_outputs=True)``.
        """
        return self.gradient(wrt, with_outputs=True)

    @front_door
    def jvp(self, wrt: Sequence[str | int] | str | int | None = None) -> Function:
        """The function of derivatives along directions: forward-mode differentiation.

        For ``f(A, B) -> (C)`` it is ``(A, B, TA, TB) -> (C, TC)``: ``TA``, of the shape and element
        type of ``A``, is the direction in which ``A`` changes, and ``TC`` that in which ``C`` does.
        Outputs of integers have no tangents. Tangents are converted as cotangents are.

        Args:
            wrt: the inputs that have tangents, by name or place. If None, all that may hold reals.

        Raises:
            TileError: there is no such input, or one that holds integers.
        """
        from tiledialect.passes.transform.transforms import Jvp, real_outputs

        self._check_tensors("a derivative")
        self._inputs.check_unchanged("derivative")
        names = self._inputs.chosen(wrt)
        reals = real_outputs(self._function, self._transforms)
        if not reals:
            raise TileError(f"no output of {self.name} holds reals: there are no tangents")
        return self._transformed(Jvp(names, reals))

    @front_door
    def vmap(self, in_axes: Axes = 0, out_axes: Axes = 0) -> Function:
        """The function of a batch: it computes the same for each of several elements at once.

        ``f.vmap()(A, B)`` gives what calls of ``f`` with ``A[0], B[0]``, ``A[1], B[1]`` and so on
        give, stacked. A batch is one more axis of arrays, and of all kernels: there is no loop.

        Args:
            in_axes: the axis of the batch in each input, None for one that is the same for all
                elements. A number is meant for all inputs; a tuple has one for each; a dict has
                them by name, and None for the others.
            out_axes: the axis of the batch in each output, likewise, and 0 for the others of a
                dict. None is for an output that is the same for all elements.

        Raises:
            TileError: there is no such input or output, or no input has the batch. That axes are
                not there, or that sizes differ, is said at the call.
        """
        from tiledialect.api.batches import chosen_axes
        from tiledialect.passes.transform.transforms import Vmap

        self._check_tensors("a batch")
        given = chosen_axes("in_axes", in_axes, self.inputs, None)
        mapped = tuple((n, axis) for n, axis in given if axis is not None)
        if not mapped:
            raise TileError(f"in_axes is None for all inputs of {self.name}: none has a batch")
        return self._transformed(Vmap(mapped, chosen_axes("out_axes", out_axes, self._outputs, 0)))

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

    def call_apart(self, *arrays: Any) -> Any:
        """The outputs for arrays of which those that the call changes can be written, and share no
        memory with others."""
        calls = self._calls_for(arrays)
        return self(*arrays) if calls is None else self._run(calls.unchecked, arrays)

    def repeated(self, arrays: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
        """A call for arrays of the types of some that were given, which are not looked at again."""
        calls = self._calls_for(arrays)
        return (lambda own: self(*own)) if calls is None else (lambda own: self._run(calls, own))

    def _calls_for(self, arrays: Sequence[Any]) -> Calls | None:
        """The calls for host arrays of these types, if there have been any."""
        signature = host_signature_of(arrays)
        return None if signature is None else self._calls.get(signature)

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
        executable = self._specialize(types_of(host), self.device, state).executable(
            state, on_host=True
        )
        outputs, profile = executable.profile(host, repeat)
        return pack(self.name, self._given(executable.plan.output_names), outputs), profile

    def _host_arrays(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Array]:
        values = self.bind(args, named)
        found = self._inputs.arrays(values)
        arrays = [a if isinstance(a, np.ndarray) else a.get() for a in found]
        self._inputs.check_changed(values, arrays)
        return arrays

    @front_door
    def reference(self, *args: Any, **named: Any) -> Any:
        """The outputs by the reference semantics: NumPy, slow, without a device."""
        from tiledialect.api.reference import run_reference

        host = self._host_arrays(args, named)
        with self._source.error_context():
            names, outputs = run_reference(
                self._source.module, self._base_name, self._transforms, host
            )
        return pack(self.name, self._given(names), outputs)

    def _call_any(self, args: Sequence[Any]) -> Any:
        if self._device_calls and (ready := self._ready_on_device(args)) is not None:
            self._inputs.check_changed(args, args)
            return self._run(ready, args)
        values = self.bind(args, {})
        arrays = self._inputs.arrays(values)
        self._inputs.check_changed(values, arrays)
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
        from tiledialect.lowering.runtime.call.dispatch_tuning import Calls, calls_on_host

        state = self._state()
        specialization = self._specialize(types, self.device, state)
        kind = self._kind(specialization.plan)
        calls = calls_on_host(specialization, state, lambda own: own.host_run(kind))
        if not calls.plan.updated:
            return calls

        def run(arrays: Sequence[Array]) -> Any:
            self._inputs.check_changed(arrays, arrays)
            return calls.run(arrays)

        return Calls(calls.plan, run, calls)

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
        given = arrays
        arrays = [cla.to_device(queue, a) if isinstance(a, np.ndarray) else a for a in given]
        self._inputs.check_changed(given, arrays)
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
        executable = self._specialize(types, state.device, state).executable(state, on_host=False)
        plan, run = executable.plan, executable.on_device
        kind = self._kind(plan)
        if kind is None:
            return Calls(plan, lambda arrays: run(arrays)[0])
        return Calls(plan, lambda arrays: kind(*run(arrays)))

    def _kind(self, plan: Plan) -> Callable[..., Any] | None:
        """Named tuple of a call's outputs; None for a single output, given as it is."""
        names = self._given(plan.output_names)
        return None if len(names) == 1 else result_type(self.name, names)

    def subject(self, args: Sequence[Any], named: Mapping[str, Any]) -> Subject:
        """Inputs, and results of the reference semantics, for an exploration."""
        from tiledialect.exploration.subject import Subject

        self._check_tensors("an exploration")
        self._inputs.check_unchanged("exploration")
        arrays = self._host_arrays(args, named)
        return Subject(self._program, self.device, self._cases(arrays, self.device))

    def program_part(self, types: Mapping[str, str]) -> ProgramPart:
        """The passes of a Tile program for inputs of some types, as a part of a search."""
        from tiledialect.exploration.programs import ProgramPart
        from tiledialect.exploration.subject import check_speed

        self._check_tensors("an exploration")
        self._inputs.check_unchanged("exploration")
        check_speed(self.device)
        with self._source.error_context():
            return ProgramPart(self._program, self.types((), types), self.device)

    def _cases(self, arrays: Sequence[Array], device: Device) -> list[Case]:
        """Inputs and random ones like them, with the results of the reference semantics."""
        from tiledialect.api.reference import run_whole_arrays
        from tiledialect.exploration.cases import agreeing, cases_of

        given = self._source.module, self._base_name, self._transforms
        with self._source.error_context():
            cases = cases_of(arrays, lambda own: run_whole_arrays(*given, own)[1])
        plain = self._with(self._transforms, replace(self._choices, tune=0, found=()))
        return agreeing(cases, plain.on_device(device), self._warn)

    # -- copies with other choices ---------------------------------------------------------

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
        return self._with(self._transforms, replace(self._choices, found=tuple(found)))

    def with_explored(self, path: Path) -> Function:
        """Copy that is computed by the implementations in a file of an exploration."""
        from tiledialect.exploration import kept

        found = kept.load(path)
        kept.check_source(found, self._program, path)
        return self.with_found(found)

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
        return self._with(self._transforms, replace(self._choices, schedules=texts))

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
        return self._with(self._transforms, replace(self._choices, fusion=fusion))

    def on_device(self, device: Device | str | int) -> Function:
        """Copy for another device."""
        return Function(self._source, self._base_name, device, self._transforms, self._choices)

    def _tuned_for(self, arrays: Sequence[Array], device: Device) -> Function:
        if not self._choices.is_tuned:
            return self
        self._inputs.check_unchanged("tuning")
        types, count = types_of(arrays), int(self._choices.tune)
        found = self._kept_for(types, device)
        if found is None or found.tried < count:
            # Nothing is measured before the user has its warnings.
            self._specialize(types, device)
            found = self._measured(arrays, device, count)
        own = self._choices.found if found is None else (*self._choices.found, found)
        tuned = self._with(self._transforms, replace(self._choices, found=own, tune=0))
        # Each warning is given once.
        tuned._warned = self._warned
        return tuned

    def _measured(self, arrays: Sequence[Array], device: Device, count: int) -> Found | None:
        """The fastest of each kernel's best schedules; None where there is nothing to measure."""
        if not self._program.is_scheduled:
            self._warn((NOTHING_TUNED.format(self._base_name),))
            return None
        from tiledialect.ir.target_spec import SIMULATOR

        if device.type == SIMULATOR:
            return None
        from tiledialect.exploration.subject import Case, Subject
        from tiledialect.exploration.tuning import tuned

        subject = Subject(self._program, device, [Case(arrays, ())])
        with self._source.error_context():
            return tuned(subject, count, lambda: self._cases(arrays, device))

    def _tuned_on(self, arrays: Sequence[Any], queue: cl.CommandQueue) -> Function:
        """The same for arrays on a queue's device."""
        if not self._choices.is_tuned:
            return self
        from tiledialect.lowering.runtime.device.devices import device_of

        return self._tuned_for([a.get() for a in arrays], device_of(queue.device))


def restored(saved: Saved) -> Function:
    """Rebuild a function from its sources and options."""
    source = Source(parse_mlir(saved.module, saved.name), saved.text)
    return Function(source, saved.name, saved.device, saved.transforms, saved.choices)
