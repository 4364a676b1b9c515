"""Profiles of calls: times of kernels, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from tiledialect.errors import count
from tiledialect.lowering.runtime.call.refusals import format_bytes
from tiledialect.lowering.runtime.device.device import Device

CHARACTER, LINE, BARS = 7.4, 18, 300
"""Width of a character, height of a line, and most width of a bar, in pixels."""


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
    layers: tuple[tuple[str, float], ...] = ()
    """Layers of a model that the kernel computes, with their shares of its operations."""

    def line(self, width: int) -> str:
        """The time, the rate and the sizes, in a table whose names are so wide."""
        rate = self.nbytes / self.seconds / 1e9 if self.seconds else 0.0
        sizes = ("x".join(map(str, size)) for size in (self.global_size, self.local_size))
        time = f"{self.seconds * 1e6:10.1f} us {rate:8.2f} GB/s"
        return f"{self.kernel:{width}} {time}  {' / '.join(sizes)}"


@dataclass(frozen=True)
class LayerTime:
    """Time of a layer of a model in kernels."""

    layer: str
    """Name of the module in PyTorch, of the node in ONNX."""
    seconds: float
    launches: int
    """Number of launches with a part in it."""


@dataclass(frozen=True)
class LayerTimes:
    """Times of a model's layers, in the order of the kernels: printed, a table; or a chart.

    A kernel of several layers counts for each by the share that it has of the kernel's operations.
    A notebook shows the chart.
    """

    layers: tuple[LayerTime, ...]
    total: float
    """Seconds of all kernels."""

    def __str__(self) -> str:
        """The layers' times, as a table."""
        width = max([len(t.layer) for t in self.layers], default=0)
        return "\n".join(f"{t.layer:{width}} {self._time(t)}" for t in self.layers)

    def _time(self, t: LayerTime) -> str:
        share = t.seconds / self.total if self.total else 0.0
        launches = count(t.launches, "launch", "launches")
        return f"{t.seconds * 1e6:10.1f} us {share:6.1%}  {launches}"

    @property
    def svg(self) -> str:
        """Bars of the layers' times."""
        names = max([len(t.layer) for t in self.layers], default=0) * CHARACTER
        size = f'width="{names + BARS + 32 * CHARACTER:.0f}" height="{LINE * len(self.layers) + 8}"'
        font = 'font-family="monospace" font-size="12"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
            f'<rect {size} fill="white"/>',
        ]
        most = max([t.seconds for t in self.layers], default=0.0) or 1.0
        for k, t in enumerate(self.layers, 1):
            parts += self._bar(t, names, LINE * k, BARS * t.seconds / most)
        return "\n".join([*parts, "</svg>", ""])

    def _bar(self, t: LayerTime, x: float, y: int, width: float) -> Iterator[str]:
        place = f'x="{x + 8:.1f}" y="{y - 11}"'
        yield f'<text x="{x:.1f}" y="{y}" text-anchor="end">{escape(t.layer)}</text>'
        yield f'<rect {place} width="{width:.1f}" height="13" fill="#4472c4"/>'
        yield f'<text x="{x + width + 14:.1f}" y="{y}">{self._time(t).strip()}</text>'

    def _repr_svg_(self) -> str:
        return self.svg


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

    @property
    def layers(self) -> LayerTimes:
        """The times of a model's layers; without any for a function that is no model."""
        found: dict[str, LayerTime] = {}
        for kernel in self.kernels:
            for name, share in kernel.layers:
                own = found.get(name, LayerTime(name, 0.0, 0))
                seconds = own.seconds + share * kernel.seconds
                found[name] = LayerTime(name, seconds, own.launches + 1)
        return LayerTimes(tuple(found.values()), self.seconds)

    def __str__(self) -> str:
        """The kernels' times and the memory, as a table."""
        width = max([len(k.kernel) for k in self.kernels], default=len("kernels"))
        lines = [f"{self.device}, median of {self.runs}", *(k.line(width) for k in self.kernels)]
        lines.append(f"{'kernels':{width}} {self.seconds * 1e6:10.1f} us")
        return "\n".join([*lines, f"peak memory {format_bytes(self.peak_memory)}"])
