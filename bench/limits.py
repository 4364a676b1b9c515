"""Measured limits of a device: copying memory, and multiplying and adding."""

from __future__ import annotations

from dataclasses import dataclass

from timing import ROUNDS

import tiledialect as td
from tiledialect.lowering.runtime.device.measure import measure as measured

BYTES = 1 << 28


@dataclass(frozen=True)
class Limits:
    """Bytes that a copy reads and writes in a second, and operations on float32."""

    bandwidth: float
    flops: float

    def seconds(self, flops: float, nbytes: float) -> float:
        """The least time for so many operations, while so many bytes are moved."""
        return max(flops / self.flops, nbytes / self.bandwidth)


def measure(device: td.Device, rounds: int = ROUNDS, most: int = BYTES) -> Limits:
    """The limits of a device, by copying no more than ``most`` bytes."""
    rates = measured(device, most, rounds).rates
    return Limits(rates.bandwidth * 1e9, rates.arithmetic * 1e9)
