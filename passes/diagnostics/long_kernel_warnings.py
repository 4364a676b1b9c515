"""Warnings of kernels that run for minutes and cannot be interrupted."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import ModuleOp

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.passes.diagnostics.reporting import placed
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import estimate

MIN_POINTS = 10**9
"""Minimum points worth an estimate: no device takes a minute for fewer."""
MIN_SECONDS = 60.0
"""Minimum seconds of a kernel that is warned of: such a kernel cannot be interrupted."""
UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))


def long_kernel_warnings(module: ModuleOp) -> list[str]:
    """Warnings of the scheduled kernels of a module that take longer than a minute."""
    device = device_of(module)
    if device is None:
        return []
    found = ((n, k, seconds(k, device)) for n, k in named_kernels(module).items())
    return [
        placed(
            kernel,
            f"{name} goes through {points(kernel)} points, which takes about {duration(taken)} "
            "on this device; a kernel that runs cannot be interrupted",
        )
        for name, kernel, taken in found
        if taken >= MIN_SECONDS
    ]


def points(kernel: KernelOp) -> int:
    """Number of combinations of its indices that a kernel has loops over."""
    return prod(index.range.extent for index in kernel.indices)


def seconds(kernel: KernelOp, device: Device) -> float:
    """Estimated seconds of a kernel by its schedule; 0 if it is short."""
    if points(kernel) < MIN_POINTS or kernel.schedule is None:
        return 0.0
    facts = kernel_facts(kernel, device)
    return estimate(facts, device, kernel.schedule.data).seconds


def duration(taken: float) -> str:
    """Seconds as text, in minutes, hours or days."""
    unit, name = next((u, n) for u, n in UNITS if taken >= 2 * u or u == UNITS[-1][0])
    count = max(1, round(taken / unit))
    return f"{count} {name}{'s' if count > 1 else ''}"
