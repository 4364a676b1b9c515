"""Changes of parameters and buffers that PyTorch makes without counting them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.optimizer import register_optimizer_step_post_hook

from tiledialect import caches

Tensor = torch.Tensor


def count_changes(model: torch.nn.Module, is_kept: Callable[[Tensor], bool]) -> None:
    """Count the changes by batch normalizations of a model that PyTorch runs, and those by fused
    optimizers of any tensors that are kept."""
    _count_steps(is_kept)
    for module in model.modules():
        is_new = _count_statistics not in module._forward_hooks.values()
        if isinstance(module, _BatchNorm) and module.track_running_stats and is_new:
            module.register_forward_hook(_count_statistics)


def _count_statistics(module: Any, *_: Any) -> None:
    # A compiled graph's change is counted.
    if module.training and not torch.compiler.is_compiling():
        _count([module.running_mean, module.running_var])


@caches.HOOKS
def _count_steps(is_kept: Callable[[Tensor], bool]) -> None:
    @torch.compiler.disable
    def count(optimizer: torch.optim.Optimizer) -> None:
        groups = [group for group in optimizer.param_groups if group.get("fused")]
        changed = [p for group in groups for p in group["params"] if p.grad is not None]
        _count([p for p in changed if is_kept(p)])

    def after_step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if any(group.get("fused") for group in optimizer.param_groups):
            count(optimizer)

    register_optimizer_step_post_hook(after_step)


def _count(changed: list[Tensor | None]) -> None:
    for tensor in changed:
        if tensor is not None and not tensor.is_inference():
            torch.autograd.graph.increment_version(tensor)
