"""Recorded timings: kernels of programs as IR, with schedules and their measured seconds.

A record is enough to estimate its schedules again, without a device and whatever the compiler makes
of the programs by then.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.attributes import ScheduleAttr
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import (
    named_kernels,
    parse_schedule_text,
    schedule_text,
)
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.loops import Schedule


@dataclass(frozen=True)
class Timing:
    """A schedule and its measured seconds, without those of the launch."""

    schedule: str
    seconds: float


@dataclass(frozen=True)
class Kernel:
    """A kernel of a program for a device, and timings of its schedules."""

    program: str
    device: str
    """The device and its driver, in words."""
    date: str
    module: str
    """The program before it is scheduled, with the description of the device."""
    name: str
    timings: tuple[Timing, ...] = ()

    @cached_property
    def op(self) -> KernelOp:
        """The kernel in the program."""
        return named_kernels(parse_mlir(self.module, self.program))[self.name]

    @cached_property
    def described(self) -> Device:
        """The device as the cost model sees it."""
        module = self.op.get_toplevel_object()
        assert isinstance(module, ModuleOp)
        found = device_of(module)
        assert found is not None
        return found

    @cached_property
    def facts(self) -> Facts:
        """The facts of the kernel."""
        return kernel_facts(self.op, self.described)

    @cached_property
    def schedules(self) -> Sequence[Schedule]:
        """The schedules of the timings."""
        return [parse_schedule_text(t.schedule, self.op) for t in self.timings]

    def text(self, schedule: Schedule) -> str:
        """A schedule of the kernel as text."""
        self.op.schedule = ScheduleAttr(schedule)
        found = schedule_text(self.op)
        self.op.schedule = None
        return found

    def estimates(self) -> list[Estimate]:
        """The cost model's estimates of the timings' schedules."""
        return [estimate(self.facts, self.described, s) for s in self.schedules]


def write(path: Path, kernels: Iterable[Kernel]) -> None:
    """Write records: a file that ends in .gz is compressed, the same for the same records."""
    data = json.dumps([asdict(kernel) for kernel in kernels], indent=1).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read(path: Path) -> list[Kernel]:
    """Records of a file."""
    data = path.read_bytes()
    found: list[dict[str, Any]] = json.loads(
        gzip.decompress(data) if path.suffix == ".gz" else data
    )
    return [Kernel(timings=tuple(Timing(**t) for t in k.pop("timings")), **k) for k in found]
