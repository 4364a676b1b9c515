"""Subjects of a search: a program, its inputs, the results that they must give, and a device."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.signature import array_type, types_text
from tiledialect.ir.target_spec import SIMULATOR, describe
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import choose, target_system_spec
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.schedule.cost.device import Device as CostDevice
from tiledialect.schedule.cost.device import device_of

Array = npt.NDArray[Any]

NO_SPEED = "{} has no speed to explore by: it is a simulator"


@dataclass(frozen=True)
class Case:
    """Inputs of a program, and results of the reference semantics for them."""

    arrays: Sequence[Array]
    expected: Sequence[Array]
    terms: int = 1
    """Most terms of a sum, by which results may be less exact."""


@dataclass(frozen=True)
class Subject:
    """A program for arrays on a device."""

    program: Program
    device: Device
    cases: Sequence[Case]
    """The user's inputs, by which every trial is measured, and others for comparisons of results:
    inputs such as ones hide wrong indices."""

    @property
    def arrays(self) -> Sequence[Array]:
        """The user's inputs."""
        return self.cases[0].arrays

    @cached_property
    def types(self) -> Types:
        """Types of the inputs."""
        return tuple(map(array_type, self.arrays))

    @property
    def shapes(self) -> str:
        """Types of the inputs as text."""
        return types_text(self.types)

    @property
    def key(self) -> str:
        """Name of the program, its inputs' types and the device, for storages."""
        return key_of(self.program, self.types, self.device)

    def to_bytes(self) -> bytes:
        """The subject for another process, perhaps on another machine."""
        program = self.program
        own = program.name, program.text, program.transforms, program.schedules
        given = *own, program.fusion, program.passes
        module = print_module(program.module)
        return pickle.dumps((module, given, self.device.id, self.cases))

    @staticmethod
    def from_bytes(data: bytes) -> Subject:
        """The subject that ``to_bytes`` wrote; its device is the one of the same id here."""
        module, given, device, cases = pickle.loads(data)
        program = Program(parse_mlir(module, "<subject>"), *given)
        return Subject(program, choose(device), cases)


def check_speed(device: Device) -> None:
    """Raise a TileError for a simulator, whose times mean nothing."""
    if device.type == SIMULATOR:
        raise TileError(NO_SPEED.format(device.id))


def cost_device(device: Device) -> CostDevice | None:
    """The device as the cost model describes it; None for a simulator, which has no speed."""
    module = ModuleOp([])
    describe(module, target_system_spec(device))
    return device_of(module)


def key_of(program: Program, types: Types, device: Device) -> str:
    """Name of a program for inputs of some types on a device with its driver."""
    parts = (
        *(program.text, program.name, repr(program.transforms), *program.schedules),
        *(str(program.fusion), *map(str, types), device.platform, device.name, device.driver),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return f"{program.result_name}-{digest.hexdigest()[:32]}"
