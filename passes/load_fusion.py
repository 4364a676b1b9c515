"""Elementwise kernels into the contraction that takes what they make: computed where it loads."""

from __future__ import annotations

from math import prod

from tiledialect.dialects.tile.elementwise import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.passes.fusion_cost import Gain, Machine, operations, size_of
from tiledialect.passes.kernel_merging import merged, taken_elsewhere
from tiledialect.passes.normal_form import ranges_of


def at_loads(first: KernelOp, second: KernelOp) -> KernelOp | None:
    """A kernel of both, where the second's contraction alone takes what the first one makes."""
    op = second.contraction
    if op is None or not is_elementwise(first) or taken_elsewhere(first, second):
        return None
    arguments = dict(zip(second.inputs, second.block.args, strict=True))
    for value in first.outputs:
        for use in arguments[value].uses:
            if use.operation is not op or use.index >= len(op.inputs):
                return None
    return merged(first, second)


def is_elementwise(kernel: KernelOp) -> bool:
    """Whether a kernel has elementwise ops alone."""
    kinds = (ElementwiseOp, ConstantOp, YieldOp)
    return kernel.axes is None and all(isinstance(op, kinds) for op in kernel.block.ops)


def load_gain(first: KernelOp, second: KernelOp, kernel: KernelOp, machine: Machine) -> Gain:
    """What one kernel takes, and what two."""
    elements = sum(max(0, points_of(second) - size_of(v)) for v in first.outputs)
    again = elements / len(first.outputs) * operations(first.block.ops)
    apart = map(machine.traffic, (first, second))
    return machine.gain(apart, [machine.traffic(kernel)], again)


def points_of(kernel: KernelOp) -> int:
    """How many points the contraction of a kernel visits."""
    assert kernel.contraction is not None
    return prod(r.extent for r in ranges_of(kernel.contraction).values())
