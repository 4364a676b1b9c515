"""Maxima of windows of two sizes."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def _window_places(size: int, count: int, device: torch.device) -> Tensor:
    """Places in each of the windows that an axis is divided into; the last one may be repeated."""
    longest = max(-(-(k + 1) * size // count) - k * size // count for k in range(count))
    window = torch.arange(count, device=device)[:, None]
    first, last = window * size // count, ((window + 1) * size - 1) // count
    return torch.minimum(first + torch.arange(longest, device=device), last)


def adaptive_max_pool(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool2d`` and ``3d``: maxima of windows, and their places in the picture."""
    rank = len(sizes)
    own = x.shape[-rank:]
    if 0 in sizes:
        none = x.new_zeros(*x.shape[:-rank], *sizes)
        return none, none.to(torch.int64)
    if all(n % count == 0 for n, count in zip(own, sizes, strict=True)):
        window = [n // count for n, count in zip(own, sizes, strict=True)]
        pool = aten.max_pool2d_with_indices if rank == 2 else aten.max_pool3d_with_indices
        return pool(x, window, window)
    places, in_picture = [], torch.zeros((), dtype=torch.int64, device=x.device)
    for axis, (n, count) in enumerate(zip(own, sizes, strict=True)):
        axes = [1] * (2 * rank)
        place = _window_places(n, count, x.device)
        axes[axis], axes[rank + axis] = place.shape
        places.append(place.view(axes))
        in_picture = in_picture * n + places[-1]
    found, chosen = aten.index(x, [None] * (x.dim() - rank) + places).flatten(-rank).max(-1)
    in_picture = in_picture.flatten(-rank).expand(*chosen.shape, -1)
    return found, in_picture.gather(-1, chosen[..., None]).squeeze(-1)


def adaptive_max_pool_backward(rank: int, cotangent: Tensor, x: Tensor, places: Tensor) -> Tensor:
    """Gradient of ``adaptive_max_pool2d`` and ``3d``, whose windows may overlap."""
    none = torch.zeros_like(x).flatten(-rank)
    return none.scatter_add(-1, places.flatten(-rank), cotangent.flatten(-rank)).view(x.shape)
