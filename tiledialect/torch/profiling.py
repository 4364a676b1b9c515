"""Profiles of models that ``torch.compile`` has compiled."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tiledialect.api.error_boundary import front_door
from tiledialect.api.function import Function
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.profiles import Profile


@dataclass(eq=False)
class Recorder:
    """Profiles of the graphs that run while a profile is taken."""

    repeat: int
    found: list[Profile] = field(default_factory=list[Profile])

    def run(self, function: Function, *arrays: Any) -> Any:
        """The outputs of a graph's function."""
        outputs, profile = function.profile(*arrays, repeat=self.repeat)
        self.found.append(profile)
        return outputs


recorders: list[Recorder] = []
"""The profiles that are taken, the last one innermost."""


@front_door
def profile(call: Callable[..., Any], *inputs: Any, repeat: int = 1, **named: Any) -> Any:
    """The outputs of a compiled model, and the times of its kernels and layers.

    ``call`` is a model that ``torch.compile`` has compiled with the backend, or a function that
    calls one, as a training step does. Each of its graphs runs ``repeat`` times; what is left to
    PyTorch is not measured. ``profile.layers`` are the times by module.

    Raises:
        TileError: ``call`` cannot be called, or nothing that the backend has compiled runs.
    """
    if not callable(call):
        raise TileError(f"profile takes a compiled model or a function, not {type(call).__name__}")
    recorder = Recorder(repeat)
    recorders.append(recorder)
    try:
        outputs = call(*inputs, **named)
    finally:
        recorders.remove(recorder)
    if not recorder.found:
        raise TileError("nothing that torch.compile has compiled by backend='tiledialect' has run")
    first = recorder.found[0]
    kernels = tuple(k for p in recorder.found for k in p.kernels)
    peak = max(p.peak_memory for p in recorder.found)
    return outputs, Profile(first.device, kernels, peak, repeat)
