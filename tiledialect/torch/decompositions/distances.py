"""Gradients of distances."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def cdist_backward(
    cotangent: Tensor, x: Tensor, y: Tensor, power: float, distances: Tensor
) -> Tensor:
    """Gradient of ``cdist`` by the first tensor; 0 where a distance is 0."""
    apart = x[..., :, None, :] - y[..., None, :, :]
    cotangent, distances = cotangent[..., None], distances[..., None]
    if power == 0:
        return torch.zeros_like(x)
    if power == 1:
        share = apart.sign()
    elif power == torch.inf:
        share = torch.where(apart.abs() == distances, apart.sign(), 0)
    else:
        inner = apart if power == 2 else apart.sign() * apart.abs() ** (power - 1)
        scale = distances if power == 2 else distances ** (power - 1)
        share = torch.where(distances == 0, 0, inner / torch.where(distances == 0, 1, scale))
        if power < 2:
            # The power of 0 may be infinite.
            share = torch.where(apart == 0, 0, share)
    return (cotangent * share).sum(-2)


def pdist_backward(cotangent: Tensor, x: Tensor, power: float, distances: Tensor) -> Tensor:
    """Gradient of ``pdist``: each two rows have one distance."""
    count = x.shape[0]
    row, column = torch.triu_indices(count, count, 1, device=x.device)
    whole = [
        x.new_zeros(count, count).index_put((row, column), v).index_put((column, row), v)
        for v in (cotangent, distances)
    ]
    return cdist_backward(whole[0], x, x, power, whole[1])
