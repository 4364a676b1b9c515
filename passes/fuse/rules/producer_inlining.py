"""Producer inlining: elementwise kernels join the contraction that alone takes their results."""

from __future__ import annotations

from math import prod

from xdsl.ir import BlockArgument

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import GatherOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.passes.fuse.fusion_cost import merging, operations
from tiledialect.passes.fuse.kernel_merging import merged, used_elsewhere
from tiledialect.schedule.cost.traffic import Gain, Machine

ELEMENTWISE = (ElementwiseOp, ConstantOp, YieldOp)


def inline_producer(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of both, where the second's contraction alone takes the first one's results."""
    return _inlined(first, second) if is_elementwise(first) else None


def inline_gathered_rows(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """The same where the first one gathers rows, or matrices, that are read as their copy would be.

    Each axis has an index of its own, and the last one is the result's: vectors of the result are
    vectors of rows then.
    """
    op = second.contraction
    if op is None or not _gathers_rows(first):
        return None
    outer = dict(zip(second.block.args, second.inputs, strict=True))
    for value, access in zip(op.inputs, op.accesses, strict=True):
        if isinstance(value, BlockArgument) and outer.get(value) in first.outputs:
            names = [e.variable for e in access.data if not e.is_constant]
            is_plain = None not in names and len({*names}) == len(names)
            is_along = access.data != () and op.output.data[-1:] == access.data[-1:]
            if not (is_plain and is_along and access.data[-1].variable):
                return None
    return _inlined(first, second)


def _inlined(first: KernelOp, second: KernelOp) -> KernelOp | None:
    op = second.contraction
    if op is None or used_elsewhere(first, second):
        return None
    arguments = dict(zip(second.inputs, second.block.args, strict=True))
    for value in first.outputs:
        for use in arguments[value].uses:
            if use.operation is not op or use.index >= len(op.inputs):
                return None
    return merged(first, second)


def is_elementwise(kernel: KernelOp) -> bool:
    """Whether a kernel has elementwise ops alone."""
    return kernel.axes is None and all(isinstance(op, ELEMENTWISE) for op in kernel.block.ops)


def _gathers_rows(kernel: KernelOp) -> bool:
    """Whether a kernel gathers rows, maybe with elementwise ops on them."""
    gathers = [op for op in kernel.block.ops if isinstance(op, GatherOp)]
    kinds = (GatherOp, *ELEMENTWISE)
    return (
        bool(gathers)
        and kernel.axes is None
        and all(isinstance(op, kinds) for op in kernel.block.ops)
        and all(len(shape(op.indices)) < len(shape(op.result)) for op in gathers)
    )


def inlining_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """Gain of the fused kernel over the two."""
    elements = sum(max(0, points_of(second) - size_of(v)) for v in first.outputs)
    again = elements / len(first.outputs) * operations(first.block.ops)
    return merging(machine, (first, second), kernel, again)


def points_of(kernel: KernelOp) -> int:
    """Number of points of a kernel's contraction."""
    assert kernel.contraction is not None
    return prod(r.extent for r in ranges_of(kernel.contraction).values())
