"""Profiles of calls: times of kernels, and memory."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.lowering.runtime.call.refusals import format_bytes
from tiledialect.lowering.runtime.device.device import Device


@dataclass(frozen=True)
class KernelTime:
    """Time of a launch of a kernel, as the device measured it."""

    kernel: str
    seconds: float
    nbytes: int
    """Bytes of the buffers of the kernel, together."""
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    part: str = ""
    """Name of the kernel of the program that was computed, or whose operand was copied; empty where
    kernels have no launches of their own."""

    def line(self, width: int) -> str:
        """The time, the rate and the sizes, in a table whose names are so wide."""
        rate = self.nbytes / self.seconds / 1e9 if self.seconds else 0.0
        sizes = ("x".join(map(str, size)) for size in (self.global_size, self.local_size))
        time = f"{self.seconds * 1e6:10.1f} us {rate:8.2f} GB/s"
        return f"{self.kernel:{width}} {time}  {' / '.join(sizes)}"


@dataclass(frozen=True)
class Profile:
    """Times and memory of a call on the device."""

    device: Device
    kernels: tuple[KernelTime, ...]
    """The launches in order, each with its median time."""
    peak_memory: int
    """Bytes of device memory: inputs, outputs and intermediates."""
    runs: int = 1
    """Number of calls of whose times these are the medians."""

    @property
    def seconds(self) -> float:
        """The time in kernels."""
        return sum(k.seconds for k in self.kernels)

    def __str__(self) -> str:
        """The kernels' times and the memory, as a table."""
        width = max([len(k.kernel) for k in self.kernels], default=len("kernels"))
        lines = [f"{self.device}, median of {self.runs}", *(k.line(width) for k in self.kernels)]
        lines.append(f"{'kernels':{width}} {self.seconds * 1e6:10.1f} us")
        return "\n".join([*lines, f"peak memory {format_bytes(self.peak_memory)}"])
