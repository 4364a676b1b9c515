"""Tile functions on PyTorch's tensors, and ``torch.compile(model, backend="tiledialect")``.

Functions and graphs in, functions of tensors out. Read `tensor_functions` first for the one,
`backend` for the other.
"""

# pyright: basic, reportMissingImports=false

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError("td.torch needs PyTorch: pip install 'tiledialect[torch]'") from None

from tiledialect.torch.profiling import profile
from tiledialect.torch.residence import to_device, to_disk, to_host
from tiledialect.torch.saved_models import SavedModel, load, save
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
