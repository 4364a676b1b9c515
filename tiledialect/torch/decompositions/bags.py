"""Sums, means and maxima of rows of a table: ``embedding_bag``, and its gradients."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten

SUM, MEAN, MAX = range(3)


def _numbers(places: Tensor, offsets: Tensor) -> Tensor:
    """Number of the bag of each place; bags begin at offsets."""
    line = torch.arange(places.shape[0], device=places.device)
    return (offsets[None, :] <= line[:, None]).sum(1) - 1


def _shares(cotangent: Tensor, bags: Tensor) -> Tensor:
    """Cotangent of each place's row, 0 for a place behind the last bag."""
    rows = cotangent[torch.where(bags < cotangent.shape[0], bags, 0)]
    return torch.where((bags < cotangent.shape[0])[:, None], rows, 0)


def embedding_bag(
    table: Tensor,
    places: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bags of rows, the bag of each place, sizes of bags, and the rows that maxima are of."""
    starts = offsets[:-1] if include_last_offset else offsets
    count, width = starts.shape[0], table.shape[1]
    # Places behind the last bag are in none.
    numbers = _numbers(places, offsets)
    bags = torch.where(numbers < count, numbers, 0)
    rows = aten.embedding(table, places)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    is_used = (places != padding_idx) & (numbers < count)
    sizes = offsets.new_zeros(count).index_add(0, bags, is_used.to(offsets.dtype))
    if mode == MAX:
        found, chosen = _maxima(rows, places, bags, is_used, count)
        return found, numbers, sizes, chosen
    rows = torch.where(is_used[:, None], rows, 0)
    total = table.new_zeros(count, width).index_add(0, bags, rows)
    if mode == MEAN:
        total = total / sizes.clamp(min=1)[:, None].to(total.dtype)
    return total, numbers, sizes, sizes


def _maxima(
    rows: Tensor, places: Tensor, bags: Tensor, is_used: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Maxima of bags and the rows of the table that they are in, of none 0 and -1."""
    rows = torch.where(is_used[:, None], rows, -torch.inf)
    none = rows.new_full((count, rows.shape[1]), -torch.inf)
    found = aten.index_reduce(none, 0, bags, rows, "amax")
    line = torch.arange(rows.shape[0], device=rows.device)[:, None]
    # A maximum is NaN where any element is.
    is_best = ((rows == found[bags]) | rows.isnan()) & is_used[:, None]
    last = torch.where(is_best, line, rows.shape[0])
    start = line.new_full(found.shape, rows.shape[0])
    first = aten.index_reduce(start, 0, bags, last, "amin")
    is_empty = first == rows.shape[0]
    chosen = places[torch.where(is_empty, 0, first)]
    return torch.where(is_empty, 0, found), torch.where(is_empty, -1, chosen)


def embedding_bag_backward(
    cotangent: Tensor,
    places: Tensor,
    offsets: Tensor,
    bags: Tensor,
    sizes: Tensor,
    chosen: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """Gradient by the table."""
    if sparse:
        return NotImplemented
    if mode == MAX:
        share = torch.where(chosen >= 0, cotangent, 0)
        table = cotangent.new_zeros(num_weights, cotangent.shape[1])
        return table.scatter_add(0, chosen.clamp(min=0), share)
    if mode == MEAN:
        cotangent = cotangent / sizes.clamp(min=1)[:, None].to(cotangent.dtype)
    rows = _shares(cotangent, bags)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    args = (num_weights, padding_idx, scale_grad_by_freq)
    return aten.embedding_dense_backward(rows, places, *args)


def embedding_bag_backward_by_weights(
    cotangent: Tensor,
    table: Tensor,
    places: Tensor,
    offsets: Tensor,
    bags: Tensor,
    mode: int,
    padding_idx: int = -1,
) -> Tensor:
    """Gradient by the weights of samples."""
    total = (_shares(cotangent, bags) * aten.embedding(table, places)).sum(1)
    return torch.where(places != padding_idx, total, 0)
