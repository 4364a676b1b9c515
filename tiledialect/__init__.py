"""Tensor programs, from the mathematics to OpenCL kernels.

>>> import tiledialect as td
>>> sums = td.compile("function (A[N, M]) -> (S) { S[i: N] = +(A[i, j]); }")
>>> sums([[1, 2], [3, 4]])
array([3, 7], dtype=int32)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiledialect.errors import TileError
    from tiledialect.function import Function, compile
    from tiledialect.lowering.runtime.devices import Device, devices

__all__ = ["Device", "Function", "TileError", "compile", "devices"]

_HOMES = {
    "compile": "tiledialect.function",
    "Function": "tiledialect.function",
    "TileError": "tiledialect.errors",
    "Device": "tiledialect.lowering.runtime.devices",
    "devices": "tiledialect.lowering.runtime.devices",
}
"""Where each public name lives; loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name == "torch":
        # It needs PyTorch, which not everybody has.
        return import_module("tiledialect.torch")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
