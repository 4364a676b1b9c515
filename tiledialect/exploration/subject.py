"""Subjects of a search: a program, its inputs, the results that they must give, and a device."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy.typing as npt

from tiledialect.interpreters.tile import array_type
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.signature import types_text
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.lowering.runtime.program.program import Program, Types

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """A program for arrays on a device."""

    program: Program
    device: Device
    arrays: Sequence[Array]
    """Inputs of every trial."""
    expected: Sequence[Array]
    """Results of the reference semantics for the inputs."""

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
        given = program.name, program.text, program.gradients, program.schedules, program.fusion
        module = print_module(program.module)
        return pickle.dumps((module, given, self.device.id, self.arrays, self.expected))

    @staticmethod
    def from_bytes(data: bytes) -> Subject:
        """The subject that ``to_bytes`` wrote; its device is the one of the same id here."""
        module, given, device, arrays, expected = pickle.loads(data)
        program = Program(parse_mlir(module, "<subject>"), *given)
        return Subject(program, choose(device), arrays, expected)


def key_of(program: Program, types: Types, device: Device) -> str:
    """Name of a program for inputs of some types on a device with its driver."""
    parts = (
        *(program.text, program.name, repr(program.gradients), *program.schedules),
        *(str(program.fusion), *map(str, types), device.platform, device.name, device.driver),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return f"{program.result_name}-{digest.hexdigest()[:32]}"
