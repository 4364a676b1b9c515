"""PyTorch's tensors as arrays in the same memory, and back."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.parameter import UninitializedTensorMixin
from xdsl.dialects.builtin import TensorType, bf16
from xdsl.ir import Attribute

from tiledialect.api.spans import Span, overlapping
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.passes.convert.aten.graph import check_on_cpu, element_type_of

Tensor = torch.Tensor
Given = tuple[Any, tuple[int, ...] | None]
"""A tensor with its axes in the order of its memory, and that order if it is another one; or what
is no tensor."""
BFLOAT16 = NUMPY_TYPES[bf16]

TORCH_TYPES = {str(dtype): getattr(torch, str(dtype)) for dtype in NUMPY_TYPES.values()}
"""PyTorch's element types by NumPy's names, which are the same."""


def tensor_of(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor in an array's memory."""
    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(name: str, tensor: Tensor) -> np.ndarray[Any, Any]:
    """A tensor's memory as an array."""
    check_on_cpu(name, tensor)
    if torch._C._functorch.is_legacy_batchedtensor(tensor):
        raise TileError(
            f"{name} is a batch of `is_grads_batched` or `vectorize`, which only operators of "
            "PyTorch take: use torch.vmap or torch.func.jacrev"
        )
    try:
        plain = tensor.detach().resolve_conj().resolve_neg()
        if plain.dtype == torch.bfloat16:
            return plain.contiguous().view(torch.int16).numpy().view(BFLOAT16)
        return plain.numpy()
    except (TypeError, RuntimeError) as error:
        raise TileError(f"{name} cannot be read as an array: {error}") from None


def with_memory(value: Any) -> Any:
    """A value; of a tensor that PyTorch knows to be zeros, and which has no memory, a copy."""
    return value.clone() if isinstance(value, Tensor) and value._is_zerotensor() else value


def tensor_type(value: Any) -> TensorType[Attribute]:
    """Type of a tensor, or an array; a TileError if there is none for its elements."""
    return TensorType(element_type_of(value.dtype), value.shape)


def has_storage(tensor: Tensor) -> bool:
    """Whether a tensor has memory of its own: sparse ones and those of lazy layers have none."""
    return tensor.layout is torch.strided and not isinstance(tensor, UninitializedTensorMixin)


def permuted(tensor: Tensor, order: Sequence[int] | None) -> Tensor:
    """A tensor, whose axes are in an order, with its own axes."""
    return tensor if order is None else tensor.permute([order.index(k) for k in range(len(order))])


def dense(value: Any) -> Given:
    """A tensor with its axes in the order of its memory, if they have one."""
    if not isinstance(value, Tensor) or value.is_contiguous():
        return value, None
    strides = value.stride()
    order = tuple(sorted(range(value.dim()), key=lambda k: -strides[k]))
    moved = value.permute(order)
    return (moved, order) if moved.is_contiguous() else (value, None)


def described(given: Given) -> Any:
    """Shape, element type and order of axes of an input, which calls of one function share."""
    value, order = given
    return (value.shape, value.dtype, order) if isinstance(value, Tensor) else value


def span(tensor: Tensor, number: int) -> Span:
    """Memory of a tensor, also of one with gaps."""
    start = tensor.data_ptr()
    if not tensor.numel():
        return start, start, number
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    count = 1 + sum((n - 1) * s for n, s in steps)
    return start, start + count * tensor.element_size(), number


def can_change(given: Sequence[Given], changed: Collection[int]) -> bool:
    """Whether a call can change tensors at these places where they are: they are dense, and have no
    memory in common with others."""
    if not changed:
        return True
    tensors = ((k, tensor) for k, (tensor, _) in enumerate(given) if isinstance(tensor, Tensor))
    are_apart = overlapping((span(t, k) for k, t in tensors), changed) is None
    return are_apart and all(given[k][0].is_contiguous() for k in changed)
