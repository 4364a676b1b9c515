"""Scatters that combine, and searches."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def scatter_reduced(
    x: Tensor,
    axis: int,
    places: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """``scatter_reduce`` of means, or without the tensor's own elements."""
    if include_self and reduce != "mean":
        return NotImplemented
    count = torch.zeros_like(x).scatter_add(axis, places, torch.ones_like(source))
    if not include_self:
        x = torch.where(count > 0, _identity(reduce, x), x)
    if reduce != "mean":
        return aten.scatter_reduce.two(x, axis, places, source, reduce)
    total = x.scatter_add(axis, places, source)
    count = count + 1 if include_self else count.clamp(min=1)
    if x.is_floating_point():
        return total / count
    return torch.div(total, count, rounding_mode="floor")


def _identity(reduce: str, x: Tensor) -> float:
    """The number with which a reduction changes nothing."""
    if reduce in ("amax", "amin"):
        is_real = x.is_floating_point()
        limits = torch.finfo(x.dtype) if is_real else torch.iinfo(x.dtype)
        low, high = (-torch.inf, torch.inf) if is_real else (limits.min, limits.max)
        return low if reduce == "amax" else high
    return 1 if reduce == "prod" else 0


def scatter_combined(
    x: Tensor, axis: int, places: Tensor, source: Tensor, *, reduce: str
) -> Tensor:
    """``scatter`` by additions or products."""
    name = {"add": "sum", "multiply": "prod"}[reduce]
    return aten.scatter_reduce.two(x, axis, places, source, name)


def searched(
    borders: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """``searchsorted``: the number of elements of a sorted row that lie below each value.

    All of them lie below NaN.
    """
    if sorter is not None:
        borders = borders.gather(-1, sorter)
    low, values = borders if borders.dim() == 1 else borders[..., None, :], values[..., None]
    is_behind = low > values if right or side == "right" else low >= values
    return (~is_behind).sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def searched_number(borders: Tensor, value: float, **options: Any) -> Tensor:
    """``searchsorted`` of a number, which lies between integers, too."""
    dtype = torch.result_type(borders, value)
    return searched(borders, torch.full((), value, dtype=dtype, device=borders.device), **options)


def scatter_value_combined(
    x: Tensor, axis: int, places: Tensor, value: float, *, reduce: str
) -> Tensor:
    """``scatter`` of a number by additions or products."""
    source = torch.full(places.shape, value, dtype=x.dtype, device=x.device)
    return scatter_combined(x, axis, places, source, reduce=reduce)


def index_reduced(
    x: Tensor, axis: int, places: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``index_reduce``: places along an axis are those of whole slices."""
    if x.dim() == 0:
        x, source = x.reshape(1), source.reshape(1)
        return index_reduced(x, 0, places, source, reduce, include_self=include_self).reshape(())
    axes = [1] * x.dim()
    axes[axis] = -1
    whole = places.view(axes).expand(source.shape)
    return x.scatter_reduce(axis, whole, source, reduce, include_self=include_self)


def put(x: Tensor, places: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``put``: places are those of the flat tensor."""
    values = source.reshape(places.shape)
    return aten.index_put(x.reshape(-1), [places], values, accumulate).reshape(x.shape)


def masked_scatter_backward(cotangent: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Gradient of ``masked_scatter`` by the source: the elements that a mask chooses, in order."""
    mask = mask.expand(cotangent.shape).reshape(-1)
    chosen = torch.where(mask, cotangent.reshape(-1), 0)
    count = math.prod(sizes)
    place = (mask.cumsum(0) - 1).clamp(0, max(0, count - 1))
    return cotangent.new_zeros(count).scatter_add(0, place, chosen).view(sizes)


def diagonal_scatter(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """A tensor with a diagonal replaced."""
    count = source.shape[-1]
    if count == 0:
        return x.clone()
    moved = x.movedim((dim1, dim2), (-2, -1))
    rows = torch.arange(moved.shape[-2], device=x.device)
    columns = torch.arange(moved.shape[-1], device=x.device)
    place = (rows + min(offset, 0)).clamp(0, count - 1)
    is_on = columns - rows[:, None] == offset
    made = torch.where(is_on, source.index_select(-1, place)[..., None], moved)
    return made.movedim((-2, -1), (dim1, dim2))


def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Places of the first elements that are not 0, as many as are asked for."""
    if x.dim() == 0:
        # A number has a place without coordinates.
        return torch.empty(size, 0, dtype=torch.int64, device=x.device)
    flat = (x != 0).reshape(-1)
    order = flat.cumsum(0) - 1
    slot = torch.where(flat & (order < size), order, size)
    numbers = torch.arange(1, flat.shape[0] + 1, device=x.device)
    found = numbers.new_zeros(size + 1).scatter_add(0, slot, numbers)[:size] - 1
    is_found = torch.arange(size, device=x.device) < flat.sum()
    parts: list[Tensor] = []
    for length in reversed(x.shape):
        parts.append(torch.where(is_found, found % length, fill_value))
        found = torch.div(found, length, rounding_mode="floor")
    return torch.stack(parts[::-1], 1)
