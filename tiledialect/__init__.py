"""Tensor programs, from the mathematics to OpenCL kernels.

>>> import tiledialect as td
>>> sums = td.compile("function (A[N, M]) -> (S) { S[i: N] = +(A[i, j]); }")
>>> sums([[1, 2], [3, 4]])
array([3, 7], dtype=int32)
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiledialect.api.exploring import Result, explore
    from tiledialect.api.front_door import compile
    from tiledialect.api.function import Function
    from tiledialect.errors import TileError, TileWarning
    from tiledialect.lowering.runtime.device.device import Device
    from tiledialect.lowering.runtime.device.devices import devices, queue

__all__ = [
    "Device",
    "Function",
    "Result",
    "TileError",
    "TileWarning",
    "compile",
    "devices",
    "explore",
    "queue",
]

__version__ = "0.1.0"

LOADED = time_ns()
"""Time of the package's import: newer files are not loaded."""

if (Path(__file__).parents[1] / "pyproject.toml").is_file():
    # In a checkout, `passes`, `lowering` and `tools` are beside this folder, not in it.
    __path__.append(str(Path(__file__).parents[1]))

_HOMES = {
    "compile": "tiledialect.api.front_door",
    "Result": "tiledialect.api.exploring",
    "explore": "tiledialect.api.exploring",
    "Function": "tiledialect.api.function",
    "TileError": "tiledialect.errors",
    "TileWarning": "tiledialect.errors",
    "Device": "tiledialect.lowering.runtime.device.device",
    "devices": "tiledialect.lowering.runtime.device.devices",
    "queue": "tiledialect.lowering.runtime.device.devices",
}
"""Modules of the public names, each loaded at its first use."""


def __getattr__(name: str) -> Any:
    # These need other packages, which not everybody has.
    if name == "jax":
        return import_module("tiledialect.api.jax")
    if name in ("onnx", "torch"):
        return import_module(f"tiledialect.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
