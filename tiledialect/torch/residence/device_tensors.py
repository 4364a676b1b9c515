"""Tensors whose elements stay on a device until an operator of PyTorch takes them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from tiledialect.torch.tensors import TORCH_TYPES, Tensor, permuted, tensor_of

NOTHING: Mapping[str, Any] = {}
Layout = tuple[Sequence[int], Sequence[int], torch.dtype]
"""Sizes, strides and element type of a tensor."""


def layout_of(shape: Sequence[int], dtype: Any, order: Sequence[int] | None) -> Layout:
    """The layout of a tensor for an array of a shape and of NumPy's element type."""
    # Permuting memory that is not there gives the shape and the strides.
    like = permuted(torch.empty(tuple(shape), device="meta"), order)
    return like.shape, like.stride(), TORCH_TYPES[str(dtype)]


class DeviceTensor(Tensor):
    """A tensor of the host by its type, with an array on a device in the place of its memory.

    Kernels of that device take the array. An operator of PyTorch is given a tensor with the
    elements, which is made for the first one; the array does not count from then on.
    """

    array: Any
    """The array; None when an operator has taken the elements."""
    order: Sequence[int] | None
    """Order of the tensor's axes in the array, if it is another one."""

    @staticmethod
    def __new__(cls, array: Any, order: Sequence[int] | None = None, layout: Layout | None = None):
        """A tensor of the array's shape, or with other axes."""
        sizes, strides, dtype = layout or layout_of(array.shape, array.dtype, order)
        return Tensor._make_wrapper_subclass(cls, sizes, strides=strides, dtype=dtype)

    def __init__(
        self, array: Any, order: Sequence[int] | None = None, layout: Layout | None = None
    ):
        super().__init__()
        self.array = array
        self.order = order

    @cached_property
    def elements(self) -> Tensor:
        """A tensor with the elements, in the host's memory."""
        found = permuted(tensor_of(self.array.get()), self.order)
        self.array = None
        return found

    @property
    def is_on_device(self) -> bool:
        """Whether no operator of PyTorch has taken the elements, and perhaps changed them."""
        return self.array is not None

    @property
    def whole(self) -> DeviceTensor:
        """The tensor with its axes in the order of the array."""
        return self if self.order is None else DeviceTensor(self.array)

    def numpy(self, *, force: bool = False) -> Any:
        """An array of the elements."""
        return self.elements.numpy(force=force)

    def tolist(self) -> Any:
        """The elements in lists."""
        return self.elements.tolist()

    def data_ptr(self) -> int:
        """Address of the elements."""
        return self.elements.data_ptr()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.elements.__deepcopy__(memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.elements.__reduce_ex__(protocol)

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(
        cls,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The operator's results for tensors with the elements."""
        given = args, kwargs or NOTHING
        args, kwargs = tree_map_only(DeviceTensor, lambda t: t.elements, given)
        return func(*args, **kwargs)
