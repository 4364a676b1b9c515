"""Arguments of kernels that are parts of allocations, with the arguments of their offsets."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import gpu
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.discardable import OFFSET_PARAMETERS


def parts_of(kernel: gpu.FuncOp) -> frozenset[int]:
    """The numbers of the parameters that may be parts of allocations."""
    listed = kernel.attributes.get(OFFSET_PARAMETERS)
    return frozenset(listed.get_values() if isinstance(listed, DenseArrayBase) else ())


def add_parts(kernel: gpu.FuncOp, parameters: Iterable[int]) -> None:
    """Give a kernel the offsets of the buffers of more parameters."""
    if listed := sorted(parts_of(kernel).union(parameters)):
        kernel.attributes[OFFSET_PARAMETERS] = DenseArrayBase.from_list(i32, listed)


def is_part(value: SSAValue) -> bool:
    """Whether a value is a parameter that may be a part of an allocation."""
    kernel = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return (
        isinstance(value, BlockArgument)
        and isinstance(kernel, gpu.FuncOp)
        and value.index in parts_of(kernel)
    )
