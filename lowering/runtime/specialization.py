"""Specializations: a function compiled for the types of its inputs and for a device."""

from __future__ import annotations

import re
import threading

import pyopencl as cl
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.lowering.runtime import cache
from tiledialect.lowering.runtime.build import (
    binary_of,
    build_options,
    build_program,
    load_program,
)
from tiledialect.lowering.runtime.check_plan import same_types
from tiledialect.lowering.runtime.devices import Device, target_system_spec
from tiledialect.lowering.runtime.garbage import no_collection
from tiledialect.lowering.runtime.lane import Lane
from tiledialect.lowering.runtime.launch import Executable, check_sizes
from tiledialect.lowering.runtime.plan import Launch, Plan
from tiledialect.lowering.runtime.prelude import prelude
from tiledialect.lowering.runtime.probe import machine
from tiledialect.lowering.runtime.program import Program, Types
from tiledialect.lowering.runtime.progress import progress
from tiledialect.schedule import instructions

KEEP_KERNELS = ("pocl",)
"""Platforms that keep on disk what they compile; PoCL would compile all twice to tell a binary."""


_building = threading.RLock()
"""Of several threads that want a program, one builds it; building is one at a time in any case."""


class Specialization:
    """A plan, and the device's programs for it; kept on disk."""

    def __init__(self, program: Program, types: Types, device: Device):
        spec = target_system_spec(device)
        self.name = program.result_name
        self.built = program.built
        self.device = device
        self.options = build_options(device.short_platform)
        self.key = cache.key(
            *(program.text, program.name, repr(program.gradients), *program.schedules),
            *(*map(str, types), str(spec), *self.options, repr(instructions.table())),
            *(device.platform, device.name, device.version, device.driver, machine()),
        )
        stored = cache.load(self.key)
        wanted = ((t.get_shape(), NUMPY_TYPES[t.element_type].name) for t in types)
        if stored and not same_types(stored[0].inputs, wanted):
            stored = None
        self.plan: Plan
        if stored is None:
            text = f"compiling {self.name} for {', '.join(map(type_text, types))}"
            with progress(text), no_collection():
                from tiledialect.lowering.runtime.compiling import compiled

                self.plan, self.binary = compiled(program, types, device), b""
        else:
            self.plan, self.binary = stored

    def executable(self, lane: Lane, on_host: bool) -> Executable:
        """The plan ready to run on a lane of the device."""
        check_double(self.plan, self.device)
        check_sizes(self.plan, self.device)
        if not self.plan.source:
            return Executable(self.plan, None, lane, on_host)
        key = lane.context, self.plan.source
        with _building:
            if key not in self.built:
                self.built[key] = self._program(lane)
        return Executable(self.plan, self.built[key], lane, on_host)

    def _program(self, lane: Lane) -> cl.Program:
        device = lane.queue.device
        if self.binary and (program := self._loaded(lane)):
            return program
        try:
            with progress(f"{self.device.id} builds the kernels of {self.name}"):
                own = self.device
                before = prelude(own.short_platform, own.compute_capability)
                source = before + self.plan.source
                program = build_program(source, lane.context, device, self.options)
        except TileError as error:
            raise TileError(f"{self.device} refuses the program:\n{error}") from None
        if self.device.short_platform not in KEEP_KERNELS:
            self.binary = binary_of(program, device)
        cache.store(self.key, self.plan, self.binary)
        # A program that was built keeps what its compiler worked with, four times as much.
        return (self.binary and self._loaded(lane)) or program

    def _loaded(self, lane: Lane) -> cl.Program | None:
        """The program of the binary; None if the device does not take it (any more)."""
        kernels = {step.kernel for step in self.plan.steps if isinstance(step, Launch)}
        device = lane.queue.device
        try:
            return load_program(self.binary, lane.context, device, self.options, kernels)
        except TileError:
            self.binary = b""
            return None


def type_text(t: TensorType[Attribute]) -> str:
    """A type as users write it: ``3x4xf32``."""
    return str(t).removeprefix("tensor<").removesuffix(">")


def check_double(plan: Plan, device: Device) -> None:
    """Raise a TileError if the kernels need double precision and the device has none."""
    if device.fp64 or not re.search(r"\bdouble\d*\b", plan.source):
        return
    wide = [t.name for t in plan.inputs if t.dtype == "float64"]
    inputs = f"{', '.join(wide)} given as float64" if wide else "a computation in float64"
    raise TileError(f"{device} has no double precision, which is needed for {inputs}")
