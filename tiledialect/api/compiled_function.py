"""Functions of a source: signatures, and programs for each device and types of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DictionaryAttr

from tiledialect.api.error_boundary import front_door
from tiledialect.api.inputs import READY_SHAPES, Inputs, Types, types_of
from tiledialect.api.loading import Source
from tiledialect.api.options import Choices
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.names import layers_text
from tiledialect.lru_cache import LruCache
from tiledialect.passes.fuse.options import Fusion

if TYPE_CHECKING:
    from tiledialect.exploration.implementation import Found
    from tiledialect.lowering.runtime.call.dispatch_tuning import Calls
    from tiledialect.lowering.runtime.call.launch import Executable
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.lowering.runtime.device.queue_state import QueueState
    from tiledialect.lowering.runtime.program.plan import Plan
    from tiledialect.lowering.runtime.program.program import Program
    from tiledialect.lowering.runtime.program.specialization import Specialization
    from tiledialect.passes.transform.transforms import Dims, Transform


REFUSED = "what was found for {} is left out, as the compiler refuses it: {}"


class CompiledFunction:
    """Function of a source that is compiled for the device and the inputs of its calls."""

    def __init__(
        self,
        source: Source,
        name: str,
        device: Device | str | int | None,
        transforms: tuple[Transform, ...] = (),
        choices: Choices | None = None,
    ):
        from tiledialect.ir.host_functions import declaration, is_lowered
        from tiledialect.ir.signature import argument_names, find_function, output_names

        function = find_function(source.header, name)
        inputs, outputs = tuple(argument_names(function)), tuple(output_names(function))
        self._source = source
        self._is_lowered = is_lowered(function)
        self._function = function = declaration(function) if self._is_lowered else function
        self._base_name = name
        self._transforms = transforms
        self._choices = choices or Choices()
        self._wanted_device = device
        for step in transforms:
            inputs, outputs = step.signature(inputs, outputs)
        self.name: str = name + "".join(step.suffix for step in transforms)
        """Name of the function."""
        self.inputs: tuple[str, ...] = inputs
        """The inputs' names, in order."""
        self._outputs = outputs
        self._inputs = Inputs(self.name, inputs, function, transforms, source)
        if device is not None:
            _ = self.device
        self._lock = RLock()
        self._specializations: LruCache[tuple[Types, Device], Specialization] = LruCache(
            READY_SHAPES
        )
        self._at_addresses: LruCache[tuple[Types, QueueState], Calls] = LruCache(READY_SHAPES)
        self._on_buffers: LruCache[tuple[Types, QueueState], Executable] = LruCache(READY_SHAPES)
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

        dims: Dims = dict(zip(self.inputs, argument_dims(self._function), strict=False))
        for step in self._transforms:
            dims = step.dims(dims)
        inputs = ", ".join(
            name if (own := dims.get(name)) is None else f"{name}[{', '.join(own)}]"
            for name in self.inputs
        )
        return f"<Function {self.name} ({inputs}) -> ({', '.join(self.outputs)})>"

    def _check_tensors(self, what: str) -> None:
        """Refuse an operation that only functions of tensors have."""
        if self._is_lowered:
            from tiledialect.ir.host_functions import needs_tensors

            raise needs_tensors(self.name, what)

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
            return output_types(self._source.module, self._base_name, self._transforms, types)

    def _given(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names of the outputs that a call has: a gradient by integers is left out."""
        return self._outputs if len(names) == len(self._outputs) else tuple(names)

    @cached_property
    def _program(self) -> Program:
        from tiledialect.lowering.runtime.program.program import Program

        source = self._source
        # The text that the module was read from tells as much, and need not be printed.
        text = source.text or source.kept or print_module(source.module)
        text += f"// {DictionaryAttr(source.header.attributes)}"
        # Plans name layers, which texts do not, but for those that are kept.
        text += "" if source.kept else layers_text(source.module)
        # A part of the key on disk.
        text += f" {self._choices.fusion}" if self._choices.fusion != Fusion() else ""
        choices = self._choices
        given = self._transforms, choices.schedules, choices.fusion
        read = (lambda: source.module) if source.kept else None
        return Program(
            source.header, self._base_name, text, *given, budget=choices.budget, read=read
        )

    @property
    def program(self) -> Program:
        """The program that is compiled."""
        return self._program

    def _specialize(
        self, types: Types, device: Device, state: QueueState | None = None
    ) -> Specialization:
        """The plan for inputs of these types; for a call on a queue its kernels are built, too."""
        with self._lock, self._source.error_context():
            found = self._specializations.find((types, device))
            if found is None:
                found = self._specialization(types, device, state)
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
        from tiledialect.threads import Threads

        calls = [
            self.types((), given) if isinstance(given, Mapping) else self.types(given, {})
            for given in shapes
        ]
        state = self._state()
        # It stops at the first refused one, and waits for the running ones.
        with Threads(1) as builder:
            made = (self._specialize(types, self.device) for types in calls)
            building = [builder.submit(own.executable, state, on_host=True) for own in made]
            for one in building:
                one.result()

    def at_addresses(self, types: Types) -> Calls:
        """Calls for addresses of inputs of some types, and of the outputs, in the host's memory.

        They wait for the outputs. Inputs that the function changes are apart from all others.
        """
        from tiledialect.lowering.runtime.call.dispatch_tuning import calls_on_host
        from tiledialect.lowering.runtime.call.launch import Executable

        state = self._state()
        with self._lock:
            found = self._at_addresses.find((types, state))
            if found is None:
                own = self._specialize(types, self.device, state)
                found = calls_on_host(own, state, Executable.address_run)
                self._at_addresses.put((types, state), found)
            return found

    def on_buffers(self, types: Types) -> Executable:
        """The plan for inputs of some types in the memory of the device."""
        state = self._state()
        with self._lock:
            found = self._on_buffers.find((types, state))
            if found is None:
                found = self._specialize(types, self.device, state).executable(state, on_host=False)
                self._on_buffers.put((types, state), found)
            return found

    def forget(self) -> None:
        """Give up what was compiled, which devices keep much memory for: the next call compiles
        anew, or takes what is on disk."""
        with self._lock:
            for kept in (self._specializations, self._at_addresses, self._on_buffers):
                kept.drop()
            self._last = None
            # It has the built kernels.
            vars(self).pop("_program", None)

    def _state(self) -> QueueState:
        from tiledialect.lowering.runtime.device.queue_state import state_of
        from tiledialect.lowering.runtime.device.queues import queue_for

        return state_of(queue_for(self.device))

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
        if len(found) != 1:
            return ()
        return tuple(parse_type(text) for text in found.pop().split(",") if text)

    def _kept_for(self, types: Types, device: Device) -> Found | None:
        """Specialization found before for some inputs, or kept on disk, if there is one."""
        found = self._choices.found
        if not found and not self._choices.takes_kept:
            return None
        from tiledialect.exploration import kept
        from tiledialect.ir.signature import types_text

        if self._choices.takes_kept:
            found = (*found, *kept.kept_for(self._program, device))
        return kept.matching(found, self._program, device, types_text(types))

    def _specialization(
        self, types: Types, device: Device, state: QueueState | None = None
    ) -> Specialization:
        """The program for some inputs, as it was found to be fastest, if it still can be so."""
        from tiledialect.lowering.runtime.program.specialization import Specialization

        own = None if self._choices.is_tuned else self._kept_for(types, device)
        if own is not None:
            try:
                program = own.implementation.applied(self._program, types, device)
                return Specialization(program, types, device)
            except TileError as error:
                self._warn((REFUSED.format(self.name, error.message),))
        return Specialization(self._program, types, device, state)

    def _program_for(self, types: Types, device: Device) -> Program:
        """The program as it is compiled for some inputs."""
        if self._choices.found or self._choices.takes_kept:
            return self._specialization(types, device).program
        return self._program
