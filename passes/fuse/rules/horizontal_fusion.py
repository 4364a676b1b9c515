"""Horizontal fusion: elementwise kernels with a common operand, or of few elements, become one
kernel, and so do sums of few elements over tensors of one shape."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.dialects.tile.base import shape_of, size_of, tensor_type
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.common_subexpressions import cse
from tiledialect.passes.fuse.fusion_cost import merging
from tiledialect.passes.fuse.kernel_merging import MAX_ARGUMENTS, joint_arguments, merged
from tiledialect.passes.fuse.rules.producer_inlining import is_elementwise
from tiledialect.passes.fuse.rules.row_kernels import fuse_sums, may_have_rows
from tiledialect.schedule.cost.traffic import Gain, Machine

MAX_STREAMS = 16
"""Maximum number of tensors that a horizontally fused kernel reads and writes.

Tensors at the same place modulo a page compete for the same ways of the caches nearest to a core,
of which there are 8 to 16; a core prefetches about as many streams.
"""

FEW_ELEMENTS = 1024
"""Maximum number of elements of kernels without a common operand that become one: they take as long
as a launch does."""
FEW_SUMS = 4096
"""The same of sums: gradients by the offsets of layers, say."""


@dataclass(frozen=True)
class SmallKind:
    """Common properties of small kernels that may become one."""

    most_arguments: int
    """Maximum number of tensors that one kernel of two reads and writes."""
    sizes: frozenset[int]
    """Sizes of the largest input of each, and of its results."""


def small_kind(kernel: KernelOp) -> SmallKind | None:
    """Kind of a kernel of few elements, or of few sums; None if it is neither."""
    if is_small(kernel):
        most = MAX_ARGUMENTS
    elif is_small_sum(kernel):
        most = MAX_STREAMS
    else:
        return None
    largest = max(map(size_of, kernel.inputs), default=0)
    return SmallKind(most, frozenset({largest, *map(size_of, kernel.outputs)}))


def is_small(kernel: KernelOp) -> bool:
    """Whether a kernel computes few elements, one by one."""
    return is_elementwise(kernel) and size_of(kernel.outputs[0]) <= FEW_ELEMENTS


def is_small_sum(kernel: KernelOp) -> bool:
    """Whether a kernel computes few sums over rows or columns."""
    if not kernel.contractions or any(size_of(v) > FEW_SUMS for v in kernel.outputs):
        return False
    return kernel.scatter is None and kernel.scan is None and may_have_rows(kernel)


def fuse_horizontally(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of two that compute elements of one shape: few, or with an operand of that shape in
    common; or few sums over tensors of one shape.

    Common values are computed once.
    """
    if first.contractions and second.contractions:
        return _fuse_sums(first, second)
    if not _share(first, second) or not (is_elementwise(first) and is_elementwise(second)):
        return None
    kernel = merged(first, second)
    if kernel is not None:
        cse(kernel.body)
    return kernel


def _fuse_sums(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of two that compute sums over the same axes, and do not need each other."""
    return None if _needs(second, first) else fuse_sums(first, second)


def _share(first: KernelOp, second: KernelOp) -> bool:
    """Whether two kernels write and read tensors of one shape, and neither takes from the other."""
    shapes = {shape_of(tensor_type(v)) for v in (*first.outputs, *second.outputs)}
    if len(shapes) > 1 or _needs(second, first):
        return False
    if is_small(first):
        return True
    common = {*first.inputs} & {*second.inputs}
    is_common = any(shape_of(tensor_type(v)) in shapes for v in common)
    return is_common and joint_arguments(first, second) <= MAX_STREAMS


def _needs(kernel: KernelOp, other: KernelOp) -> bool:
    """Whether a kernel takes results of another one."""
    return not {*other.outputs}.isdisjoint(kernel.inputs)


def horizontal_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """Gain of the fused kernel over the two."""
    return merging(machine, (first, second), kernel)
