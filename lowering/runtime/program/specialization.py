"""Specializations: a function compiled for the types of its inputs and for a device."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import pyopencl as cl

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.dialects.tile.schedule_text import named_kernels, read_schedules, schedule_text
from tiledialect.errors import TileError
from tiledialect.ir.signature import type_text
from tiledialect.ir.target_spec import SIMULATOR, precision_of
from tiledialect.lowering.quirks.prelude import prelude
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.call.refusals import check_sizes
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.lowering.runtime.device.probe import machine
from tiledialect.lowering.runtime.device.queue_state import QueueState
from tiledialect.lowering.runtime.program import cache, isolation
from tiledialect.lowering.runtime.program.build import (
    binary_of,
    build_options,
    build_program,
    built_elsewhere,
    load_program,
)
from tiledialect.lowering.runtime.program.cache import Binary
from tiledialect.lowering.runtime.program.garbage import no_collection
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_checks import same_types
from tiledialect.lowering.runtime.program.program import Built, KernelKey, Program, Types
from tiledialect.lowering.runtime.program.program_text import KernelTexts
from tiledialect.lowering.runtime.progress import progress
from tiledialect.platforms import POCL
from tiledialect.schedule import instructions

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.program.early_builds import Builder
    from tiledialect.lowering.runtime.program.processes import Processes

KEEP_KERNELS = (POCL.short,)
"""Platforms that keep binaries on disk themselves; PoCL would compile all twice to give one."""


_building = threading.RLock()
"""Lock of builds: one of several threads builds a program; drivers build one at a time anyway."""


class UnsoundError(TileError):
    """Kernels that are given, or their schedules, end the process that has them, or hang."""


class Specialization:
    """A plan with its kernels as built for a device; kept on disk."""

    def __init__(
        self, program: Program, types: Types, device: Device, state: QueueState | None = None
    ):
        """Compile a program, or load it; with a queue, its kernels are built meanwhile."""
        spec = target_system_spec(device)
        self.name = program.result_name
        self.built = program.built
        self.program = program
        self.is_sound = False
        """Whether its kernels are known to end no process: kernels of the compiler's schedules are
        taken to be safe."""
        self.is_trial = False
        """Whether this process is there to be ended by the kernels: no other one tries them, and
        the caller keeps them."""
        self.device = device
        exact = precision_of(program.header) == "exact"
        self.options = build_options(device.short_platform, exact=exact)
        self.key = cache.key(
            *(program.text, program.name, repr(program.transforms), *program.schedules),
            *(*map(str, types), str(spec), *self.options, repr(instructions.table())),
            *(device.platform, device.name, device.version, device.driver, machine()),
            *(() if program.budget is None else (f"within {program.budget} s",)),
        )
        stored = cache.load(self.key)
        wanted = ((t.get_shape(), NUMPY_TYPES[t.element_type].name) for t in types)
        if stored and not same_types(stored[0].inputs, wanted):
            stored = None
        self.plan: Plan
        self.binaries: tuple[Binary, ...]
        if stored is None:
            text = f"compiling {self.name} for {', '.join(map(type_text, types))}"
            with progress(text), no_collection():
                self.plan, self.binaries = self._compiled(types, state), ()
        else:
            self.plan, self.binaries = stored
        self.is_kept = stored is not None
        """Whether the plan is on disk."""

    def executable(self, state: QueueState, on_host: bool) -> Executable:
        """The plan ready to run on a queue of the device."""
        check_double(self.plan, self.device)
        check_sizes(self.plan, self.device)
        with _building:
            self._check_sound()
            return Executable(self.plan, self._programs(state), state, on_host)

    def _check_sound(self) -> None:
        """Try kernels that a user gives, or their schedules, in another process, once.

        Raises a TileError if they end it, or do not finish. Binaries are kept of sound ones alone.
        """
        if self.is_trial or self.is_sound or self.binaries or self.device.type == SIMULATOR:
            return
        given = given_schedules(self.program)
        if self.plan.source and (given or self.program.is_lowered):
            own, source = self.device, self._prelude + self.plan.source
            what = "schedules" if given else "kernels"
            with progress(f"{own.id} tries the {what} of {self.name}"):
                found = isolation.find(isolation.Kernels(own, self.options, source, self.plan))
            if found.reason:
                named = {k: v for k, v in given.items() if found.tried.endswith(f"_{k}")} or given
                texts = "".join(f"\n  {name}: {text}" for name, text in named.items())
                by = f", by the schedule{texts}" if given else f", by the kernels of {self.name}"
                raise UnsoundError(f"{own} {found.reason}{by}")
        self.is_sound = True

    def _compiled(self, types: Types, state: QueueState | None) -> Plan:
        # Calls of programs that are kept load no compiler.
        from tiledialect.lowering.runtime.program.compiling import compiled
        from tiledialect.lowering.runtime.program.processes import helping

        with (
            helping(self.device, self.program.budget) as others,
            self._early_builds(state, others) as builder,
        ):
            return compiled(self.program, types, self.device, builder)

    def _early_builds(
        self, state: QueueState | None, others: Processes | None
    ) -> AbstractContextManager[Builder | None]:
        """Builds of kernels for a queue while others are lowered, unless these must be tried."""
        if state is None or self.program.is_lowered or given_schedules(self.program):
            return nullcontext()
        from tiledialect.lowering.runtime.program.early_builds import early_builds

        if others is None or self.device.short_platform in KEEP_KERNELS:
            return early_builds(partial(self._build_early, state))
        return early_builds(partial(self._build_elsewhere, state, others), side_by_side=True)

    def _programs(self, state: QueueState) -> dict[str, Built]:
        """Built kernels; kernels that are new to the device are built together."""
        keys = keys_of(texts := KernelTexts.of(self.plan.source), state)
        for binary in self.binaries:
            self._take(state, binary, keys)
        with progress(f"{self.device.id} builds the kernels of {self.name}"):
            is_new = self._build_missing(state, texts, keys)
        found = {name: self.built[key] for name, key in keys.items()}
        if is_new or not self.is_kept:
            self.binaries, self.is_kept = binaries_of(found), False
            if not self.is_trial:
                self.keep()
        return found

    def _take(self, state: QueueState, binary: Binary, keys: Mapping[str, KernelKey]) -> None:
        """Load a binary if one of its kernels is new to the device, and the device takes it."""
        if all(keys[name] in self.built for name in binary.names):
            return
        if (program := self._loaded(state, binary)) is not None:
            for name, called in binary.names.items():
                self.built.setdefault(keys[name], Built(program, called, binary.code))

    def keep(self) -> None:
        """Keep the plan and the binaries on disk."""
        if not self.is_kept:
            cache.store(self.key, self.plan, self.binaries)
            self.is_kept = True

    def _build_early(self, state: QueueState, text: str) -> None:
        """Build the kernels of a part of the text."""
        texts = KernelTexts.of(text)
        self._build_missing(state, texts, keys_of(texts, state))

    def _build_elsewhere(
        self, state: QueueState, others: Processes, text: str
    ) -> Callable[[], None] | None:
        """Let another process build the kernels of a part of the text; the result loads them."""
        if others.for_jobs(1) is None:
            self._build_early(state, text)
            return None
        texts = KernelTexts.of(text)
        keys = keys_of(texts, state)
        missing = {name: name for name, key in keys.items() if key not in self.built}
        if not missing:
            return None
        source = self._prelude + texts.of_kernels(missing)
        job = others.submit(built_elsewhere, self.device.id, source, self.options)

        def load() -> None:
            binary = Binary(missing, job.result())
            with _building:
                self._take(state, binary, keys)

        return load

    @property
    def _prelude(self) -> str:
        return prelude(self.device.short_platform, self.device.compute_capability)

    def _build_missing(
        self, state: QueueState, texts: KernelTexts, keys: Mapping[str, KernelKey]
    ) -> bool:
        """Build the kernels of a text that are new to the device, together; whether there are
        any."""
        with _building:
            if missing := [name for name, key in keys.items() if key not in self.built]:
                program, code = self._build(state, texts.of_kernels(missing), missing)
                self.built.update((keys[name], Built(program, name, code)) for name in missing)
            return bool(missing)

    def _build(
        self, state: QueueState, text: str, kernels: Sequence[str]
    ) -> tuple[cl.Program, bytes]:
        """Build kernels; the result is the programs and the binaries to keep."""
        own, device = self.device, state.queue.device
        try:
            program = build_program(self._prelude + text, state.context, device, self.options)
        except TileError as error:
            raise TileError(f"{own} refuses the program:\n{error}") from None
        if own.short_platform in KEEP_KERNELS:
            return program, b""
        binary = Binary({name: name for name in kernels}, binary_of(program, device))
        # A program that was built keeps its compiler's data, four times as much.
        return (binary.code and self._loaded(state, binary)) or program, binary.code

    def _loaded(self, state: QueueState, binary: Binary) -> cl.Program | None:
        """The program of a binary; None if the device does not take it (any more)."""
        device, kernels = state.queue.device, {*binary.names.values()}
        try:
            return load_program(binary.code, state.context, device, self.options, kernels)
        except TileError:
            return None


def keys_of(texts: KernelTexts, state: QueueState) -> dict[str, KernelKey]:
    """The keys of kernels, as built for a queue's context, by their names."""
    return {name: (state.context, texts.meaning(name)) for name in texts.kernels}


def given_schedules(program: Program) -> dict[str, str]:
    """The schedules that a user, or a search, gives to kernels of a program, by their names."""
    written = {
        name: schedule_text(kernel)
        for name, kernel in named_kernels(program.module).items()
        if kernel.schedule is not None
    }
    return written | {k: v for text in program.schedules for k, v in read_schedules(text).items()}


def binaries_of(found: Mapping[str, Built]) -> tuple[Binary, ...]:
    """Binaries of the programs that kernels are in."""
    by_code: dict[bytes, dict[str, str]] = {}
    for name, built in found.items():
        if built.code:
            by_code.setdefault(built.code, {})[name] = built.name
    return tuple(Binary(names, code) for code, names in by_code.items())


def check_double(plan: Plan, device: Device) -> None:
    """Raise a TileError if the kernels need double precision and the device has none."""
    if device.fp64 or not re.search(r"\bdouble\d*\b", plan.source):
        return
    wide = [t.name for t in plan.inputs if t.dtype == "float64"]
    inputs = f"{', '.join(wide)} given as float64" if wide else "a computation in float64"
    raise TileError(f"{device} has no double precision, which is needed for {inputs}")
