"""Random numbers."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import torch
from torch import Tensor


def bernoulli(x: Tensor, shares: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """``bernoulli`` with a share for each element."""
    return (torch.rand(x.shape, device=x.device) < shares).to(x.dtype)


def randint_like(x: Tensor, high: int, **named: object) -> Tensor:
    """``randint_like`` from 0 on."""
    return randint_like_from(x, 0, high)


def randint_like_from(x: Tensor, low: int, high: int, **named: object) -> Tensor:
    """``randint_like`` between two numbers."""
    return torch.randint(low, high, x.shape, device=x.device).to(x.dtype)


def multinomial(
    shares: Tensor,
    count: int,
    replacement: bool = False,
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Places drawn by their shares, which need not add up to 1.

    Without replacement those are the first of several alarms, each as frequent as its share.
    """
    if not replacement:
        drawn = torch.rand(shares.shape, device=shares.device).clamp(min=1e-20)
        waiting = torch.where(shares > 0, -drawn.log() / shares.float(), torch.inf)
        return waiting.topk(count, largest=False).indices
    total = shares.float().cumsum(-1)
    drawn = torch.rand(*shares.shape[:-1], count, device=shares.device) * total[..., -1:]
    # A share of 0 is passed over, also at the end.
    last = total.shape[-1] - 1 - (shares.flip(-1) > 0).to(torch.int8).argmax(-1, keepdim=True)
    return torch.searchsorted(total, drawn, right=True).minimum(last)


def uniform(
    x: Tensor, low: float = 0.0, high: float = 1.0, *, generator: torch.Generator | None = None
) -> Tensor:
    """``uniform`` between two numbers."""
    return torch.rand_like(x) * (high - low) + low


def rrelu(
    x: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: None = None,
) -> tuple[Tensor, Tensor]:
    """``rrelu``: a slope below 0 that is drawn for each element, or the mean one."""
    if not training:
        return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise
    noise = torch.where(x <= 0, torch.rand_like(x) * (upper - lower) + lower, 1)
    return x * noise, noise
