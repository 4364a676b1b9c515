"""Operators of lists of tensors, as `_foreach_add`, of which optimizers consist."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

PREFIX = "aten::_foreach_"


def _added(join: Callable[..., Tensor], x: Tensor, first: Tensor, second: Tensor, value: Any = 1):
    """``addcmul`` and ``addcdiv``; ``value`` is a number, or a tensor with one."""
    if not any(own.is_floating_point() for own in (x, first, second)):
        # As the others: an integer.
        value = value.long() if isinstance(value, Tensor) else int(value)
    return x + join(value * first, second)


def _copied(x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    return source.to(x.dtype).expand(x.shape).clone()


def _norm(x: Tensor, order: float = 2, dtype: torch.dtype | None = None) -> Tensor:
    return torch.linalg.vector_norm(x, order, dtype=dtype)


def _power_sum(x: Tensor, order: float = 2, dtype: torch.dtype | None = None) -> Tensor:
    return x.to(dtype or x.dtype).abs().pow(order).sum()


OTHERS: Mapping[str, Callable[..., Tensor]] = {
    "addcdiv": partial(_added, torch.div),
    "addcmul": partial(_added, torch.mul),
    "copy": _copied,
    "maximum": torch.clamp_min,
    "minimum": torch.clamp_max,
    "norm": _norm,
    "powsum": _power_sum,
    "zero": torch.zeros_like,
}
"""Operators on the tensors of a list whose names or operands are others than those of `torch`."""


def _each(operator: Callable[..., Tensor], per_tensor: Sequence[bool], *given: Any, **named: Any):
    """The results of an operator for the elements of lists."""
    columns = [own if k else repeat(own) for own, k in zip(given, per_tensor, strict=False)]
    return [operator(*own, **named) for own in zip(*columns, strict=False)]


def _decomposition(operator: Callable[..., Tensor], arguments: Sequence[Any]):
    # A tensor of scalars has one for each tensor.
    per_tensor = [isinstance(a.type, torch.ListType) or a.name == "scalars" for a in arguments]
    return partial(_each, operator, per_tensor)


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions of the operators of lists that this version of PyTorch has."""
    found = dict[Any, Callable[..., Any]]()
    names = torch._C._dispatch_get_all_op_names()
    for full in (own.removeprefix(PREFIX) for own in names if own.startswith(PREFIX)):
        name, _, overload = full.partition(".")
        operator = OTHERS.get(name, getattr(torch, name, None))
        is_functional = not name.endswith("_") and not overload.endswith("out")
        if is_functional and operator is not None:
            own = getattr(getattr(torch.ops.aten, f"_foreach_{name}"), overload or "default")
            found[own] = _decomposition(operator, own._schema.arguments)
    return found
