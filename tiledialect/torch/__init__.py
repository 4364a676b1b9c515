"""Tile functions on PyTorch's tensors, and ``torch.compile(model, backend="tiledialect")``.

Functions and graphs in, functions of tensors out. Read `tensor_functions` first for the one,
`backend` for the other.
"""

# pyright: basic, reportMissingImports=false

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiledialect.torch.saved_models import SavedModel, load, save

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError("td.torch needs PyTorch: pip install 'tiledialect[torch]'") from None

from tiledialect.torch.profiling import profile
from tiledialect.torch.residence.residence import to_device, to_disk, to_host
from tiledialect.torch.tensor_functions import TorchFunction, function

__all__ = [
    "SavedModel",
    "TorchFunction",
    "function",
    "load",
    "profile",
    "save",
    "to_device",
    "to_disk",
    "to_host",
]


def __getattr__(name: str) -> Any:
    """Functions that need a newer PyTorch than the rest."""
    if name in ("SavedModel", "load", "save"):
        from tiledialect.torch import saved_models

        return getattr(saved_models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
