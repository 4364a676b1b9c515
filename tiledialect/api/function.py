"""Functions that take and give arrays: compiled for the shapes that they are called with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
from tiledialect.api.transformed_function import TransformedFunction
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, print_module
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


class Function(TransformedFunction):
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
        from tiledialect.api.pickling import Saved, device_name

        wanted = device_name(self._wanted_device)
        text = print_module(self._source.module, locations=True)
        given = self._transforms, self._choices
        return Saved(text, self._source.text, self._base_name, wanted, *given)

    def forget(self) -> None:
        """Give up what was compiled, and the calls of it."""
        super().forget()
        self._calls.drop()
        self._device_calls.drop()

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.saved(),)

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
