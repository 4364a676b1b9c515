"""Plans: commands of a call for the device, resolved ahead of every call.

A plan is plain data, so that it can be kept on disk. Its buffers have numbers: first the inputs,
then the outputs, then the constants, then the slots, which hold the intermediates: parts of
allocations that serve all calls, or of outputs that nothing has been written to yet. Slots that are
not needed at the same time may overlap: the commands run in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any, TypeAlias

import ml_dtypes as ml_dtypes  # NumPy knows bfloat16 by it.
import numpy as np

from tiledialect.ir.names import from_hint
from tiledialect.lazy import lazy


@dataclass(frozen=True)
class Tensor:
    """An input or output."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """The NumPy name of the element type: ``float32``."""

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Scalar:
    """A number given to a kernel."""

    dtype: str
    value: int | float

    @property
    def number(self) -> Any:
        """The scalar of NumPy that kernels take."""
        return np.array(self.value).astype(self.dtype)[()]


@dataclass(frozen=True)
class Launch:
    """A kernel over a range of work-items; an argument is a scalar or a buffer's number.

    Of a slot a kernel is given the allocation, or the output, and after it, if that is not 0, which
    element of it is the slot's first.
    """

    kernel: str
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    args: tuple[int | Scalar, ...]
    part: str = ""
    """Name of the kernel of the program that is computed, or whose operand is copied; empty where
    kernels have no launches of their own."""
    layers: tuple[tuple[str, float], ...] = ()
    """Layers of a model that it computes, with their shares of its operations."""


@dataclass(frozen=True)
class Copy:
    """Copy of bytes of one buffer to another, between places that are given in bytes."""

    target: int
    source: int
    nbytes: int
    target_offset: int = 0
    source_offset: int = 0


@dataclass(frozen=True)
class Repeat:
    """Commands that run a known number of times."""

    count: int
    steps: tuple[Command, ...]


@dataclass(frozen=True)
class While:
    """Commands that run as long as a condition holds, which others compute before."""

    test: tuple[Command, ...]
    condition: int
    """Number of the buffer of one boolean."""
    steps: tuple[Command, ...]


@dataclass(frozen=True)
class Branch:
    """Commands that run where a condition holds, and others that run where it does not."""

    condition: int
    """Number of the buffer of one boolean."""
    then: tuple[Command, ...]
    otherwise: tuple[Command, ...]


Command: TypeAlias = "Launch | Copy | Repeat | While | Branch"


def inner_steps(step: Command) -> tuple[tuple[Command, ...], ...]:
    """The commands in a command."""
    match step:
        case Repeat():
            return (step.steps,)
        case While():
            return (step.test, step.steps)
        case Branch():
            return (step.then, step.otherwise)
        case _:
            return ()


def launches_of(steps: Iterable[Command]) -> Iterator[Launch]:
    """The launches among commands and in them, in order."""
    for step in steps:
        if isinstance(step, Launch):
            yield step
        for inner in inner_steps(step):
            yield from launches_of(inner)


@dataclass(frozen=True)
class Slot:
    """A part of an allocation, or of an output, in bytes."""

    allocation: int
    """Number of the allocation; of output `k` it is `-1 - k`."""
    offset: int
    nbytes: int

    @property
    def output(self) -> int | None:
        """Number of the output that it is a part of; None if it is one of an allocation."""
        return -1 - self.allocation if self.allocation < 0 else None

    def overlaps(self, other: Slot) -> bool:
        """Whether two slots have a byte in common."""
        return (
            self.allocation == other.allocation
            and self.offset < other.offset + other.nbytes
            and other.offset < self.offset + self.nbytes
        )


@dataclass(frozen=True)
class Plan:
    """Commands of a call, with its tensors and memory."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    allocations: tuple[int, ...]
    """Bytes of the allocations for intermediates."""
    slots: tuple[Slot, ...]
    steps: tuple[Command, ...]
    source: str
    """The OpenCL C text of the kernels."""
    warnings: tuple[str, ...] = ()
    """Texts of warnings for the author of the program."""
    largest: tuple[str, ...] = ()
    """Name of the largest intermediate in each allocation."""
    constants: tuple[bytes, ...] = ()
    """Arrays that are the same at every call."""
    updated: tuple[int, ...] = ()
    """Numbers of the inputs that a call changes."""

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return tuple(t.name for t in self.outputs)

    @lazy
    def launches(self) -> tuple[Launch, ...]:
        """The launches, those in loops and branches once."""
        return tuple(launches_of(self.steps))

    @property
    def tensor_count(self) -> int:
        """Number of the inputs and outputs, whose buffers come first."""
        return len(self.inputs) + len(self.outputs)

    @property
    def first_slot(self) -> int:
        """The number of the first slot: buffers before it are tensors and constants."""
        return self.tensor_count + len(self.constants)

    @lazy
    def in_outputs(self) -> dict[int, int]:
        """Numbers of the slots that are parts of outputs, with the numbers of these."""
        outputs = ((k, slot.output) for k, slot in enumerate(self.slots, self.first_slot))
        return {k: len(self.inputs) + own for k, own in outputs if own is not None}

    @lazy
    def sizes(self) -> tuple[int, ...]:
        """The size in bytes of every buffer."""
        tensors = [t.nbytes for t in (*self.inputs, *self.outputs)]
        return (*tensors, *map(len, self.constants), *(slot.nbytes for slot in self.slots))

    @property
    def intermediates(self) -> tuple[tuple[str, int], ...]:
        """Name and bytes of the largest intermediate in each allocation."""
        found: list[tuple[str, int]] = []
        for k, (name, size) in enumerate(zip_longest(self.largest, self.allocations)):
            own = max((slot.nbytes for slot in self.slots if slot.allocation == k), default=size)
            found.append((from_hint(name) if name else "an intermediate tensor", own))
        return tuple(found)

    @property
    def peak_memory(self) -> int:
        """The bytes of device memory that a call holds, constants included."""
        kept = sum(self.allocations) + sum(map(len, self.constants))
        return sum(t.nbytes for t in (*self.inputs, *self.outputs)) + kept
