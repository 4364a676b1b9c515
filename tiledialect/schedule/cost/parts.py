"""Estimates: seconds of a kernel, and the parts that they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from tiledialect.schedule.cost.device import Device

PARTS = ("arithmetic", "local", "cache", "memory", "waiting", "launch")
"""Fields of an estimate that its seconds come from."""


@dataclass(frozen=True)
class Estimate:
    """The seconds that a kernel is thought to take, and where they go."""

    seconds: float
    arithmetic: float = 0.0
    """Issue of instructions, including those of copies and loops."""
    local: float = 0.0
    """Reading local memory, or the first cache."""
    cache: float = 0.0
    """Fetching from the last cache."""
    memory: float = 0.0
    """Global memory."""
    waiting: float = 0.0
    """Waits for fetched data that nothing hides."""
    launch: float = 0.0
    groups: int = 1
    resident: int = 1
    """Number of groups that share a compute unit."""
    registers: int = 0
    """Registers of a work-item."""
    local_memory: int = 0
    """Bytes of a group."""
    copy_steps: int = 0
    """Number of steps in which the items of a group copy a tile that is fetched ahead."""

    @property
    def bound(self) -> str:
        """The part that takes longest."""
        return max(PARTS, key=lambda part: getattr(self, part))

    def after(self, other: Estimate) -> Estimate:
        """Estimate of another kernel followed by this one: their seconds together."""
        own = {name: getattr(self, name) + getattr(other, name) for name in ("seconds", *PARTS)}
        return replace(self, **own)


class Work(ABC):
    """Counted work of kernels that have no choice of schedules."""

    @abstractmethod
    def on(self, device: Device) -> Estimate:
        """Estimate on a device, without the launch."""
