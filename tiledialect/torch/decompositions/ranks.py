"""Elements by their number, or by their place in order."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import torch
from torch import Tensor


def mode(x: Tensor, axis: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, the least of several, and its last place."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    rows = x.movedim(axis, -1)
    count = (rows[..., :, None] == rows[..., None, :]).sum(-1)
    is_most = count == count.amax(-1, keepdim=True)
    ordered, places = rows.sort(dim=-1, stable=True)
    first = is_most.gather(-1, places).to(torch.int8).argmax(-1, keepdim=True)
    value = ordered.gather(-1, first)
    line = torch.arange(rows.shape[-1], device=x.device)
    place = torch.where(rows == value, line, 0).amax(-1, keepdim=True)
    return _placed(value, axis, keepdim), _placed(place, axis, keepdim)


def nan_median(x: Tensor, axis: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median along an axis of what is a number, and its place."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    # NaN comes last.
    ordered, places = x.movedim(axis, -1).sort(dim=-1, stable=True)
    count = (ordered == ordered).sum(-1, keepdim=True)
    middle = ((count - 1) // 2).clamp(min=0)
    value, place = ordered.gather(-1, middle), places.gather(-1, middle)
    return _placed(value, axis, keepdim), _placed(place, axis, keepdim)


def nan_median_of_all(x: Tensor) -> Tensor:
    """The lower median of all that is a number; of nothing NaN."""
    if x.numel() == 0 and x.is_floating_point():
        return x.new_full((), torch.nan)
    return nan_median(x.reshape(-1), 0)[0]


def _placed(x: Tensor, axis: int, keepdim: bool) -> Tensor:
    """A last axis of one element in its place, or without it."""
    return x.movedim(-1, axis) if keepdim else x.squeeze(-1)
