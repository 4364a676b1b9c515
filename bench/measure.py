"""Line of the table: a task on a device, ours and the peers' times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from frame import Array, Task
from limits import Limits
from peers import BF16, PeerKind, ours
from timing import ROUNDS, Contestant, interleaved, ratio

import tiledialect as td

OURS = "ours"
FAR_OFF = 1e-2
"""Results that differ by more, of the largest element, are not of the same thing."""


@dataclass(frozen=True)
class Measurement:
    """Measurements of a task on a device."""

    name: str
    device: str
    seconds: float
    """Ours: the median of the rounds."""
    flops: float
    nbytes: int
    """Bytes that must be read and written: inputs that are used, and outputs."""
    limit: float
    """Fraction of the device's limit."""
    peers: Mapping[str, float] = field(default_factory=dict[str, float])
    """The seconds of each peer."""
    ratios: Mapping[str, float] = field(default_factory=dict[str, float])
    """Speed in multiples of each peer's."""
    notes: tuple[str, ...] = ()
    """Peers that failed, or whose results are others."""

    @property
    def best(self) -> str | None:
        """The fastest peer."""
        return min(self.ratios, key=self.ratios.__getitem__, default=None)

    @property
    def rate(self) -> str:
        """Ours, in operations or bytes a second, whichever the task is about."""
        if self.flops > 10 * self.nbytes:
            return f"{self.flops / self.seconds / 1e9:.4g} GFLOP/s"
        return f"{self.nbytes / self.seconds / 1e9:.3g} GB/s"


def measure(
    task: Task,
    device: td.Device,
    limits: Limits,
    peers: Sequence[PeerKind],
    rounds: int = ROUNDS,
    function: td.Function | None = None,
) -> Measurement:
    """Measure a task; with ``function``, that function of ours instead of the compiled one."""
    function = function or task.function(device)
    arrays = task.inputs()
    contestants = {OURS: ours(function, arrays)}
    expected = contestants[OURS].to_numpy(contestants[OURS].run())
    notes: list[str] = []
    for peer in peers:
        try:
            contestant = peer.enter(task, arrays, device)
            if contestant is None:
                continue
            off = difference(expected, contestant.to_numpy(contestant.run()))
        except Exception as error:
            # A peer without support is no reason to stop.
            text = str(error).partition("\n")[0]
            notes.append(f"{peer.name} fails: {type(error).__name__} {text[:60]}")
            continue
        if off > FAR_OFF:
            notes.append(f"{peer.name} differs by {off:.1e}")
        contestants[peer.name] = contestant
    times = interleaved(contestants, rounds)
    mine = times[OURS]
    seconds, nbytes = median(mine), _nbytes(function, arrays, expected)
    others: dict[str, Contestant] = {n: c for n, c in contestants.items() if n != OURS}
    return Measurement(
        task.name,
        device.id,
        seconds,
        task.flops,
        nbytes,
        limits.seconds(task.flops, nbytes) / seconds,
        {name: median(times[name]) for name in others},
        {name: ratio(mine, times[name]) for name in others},
        tuple(notes),
    )


def difference(expected: Sequence[Array], found: Sequence[Array]) -> float:
    """The largest difference of real results, in parts of the largest element."""

    def reals(arrays: Sequence[Array]) -> list[Array]:
        return [
            a.astype(np.float64).ravel() for a in arrays if a.dtype.kind == "f" or a.dtype == BF16
        ]

    pairs = zip(reals(expected), reals(found), strict=True)
    return max(
        (float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30)) for a, b in pairs if a.size),
        default=0.0,
    )


def _nbytes(function: td.Function, arrays: Sequence[Array], outputs: Sequence[Any]) -> int:
    """The bytes of the inputs that are read, and of the outputs."""
    (made,) = function._specializations.values()  # pyright: ignore[reportPrivateUsage]
    plan = made.plan
    read: set[int] = set()
    for step in plan.steps:
        # A copy has a source, a launch has arguments.
        used = getattr(step, "args", None) or (getattr(step, "source", None),)
        read.update(k for k in used if isinstance(k, int) and k < len(arrays))
    return sum(arrays[k].nbytes for k in read) + sum(o.nbytes for o in outputs)
