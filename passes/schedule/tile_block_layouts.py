"""tile-block-layouts: tensors between kernels lie in blocks of the vectors that compute them.

The result `O[n, o, y, x]` of a convolution becomes `O[n, o/32, y, x, 32]`: a tile of registers, a
few pixels and two vectors of channels, writes whole lines, and the next convolution reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.ir.names import given_name, keep_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.schedule.rewrites.block_classes import (
    blocked_axis,
    classes_of,
    constant_operands,
)
from tiledialect.passes.schedule.rewrites.blocked_axes import (
    BlockedKernel,
    Blocks,
    blockable,
    values_of,
)
from tiledialect.passes.schedule.rewrites.constants import known_values
from tiledialect.passes.schedule.rewrites.layout_copies import copied
from tiledialect.passes.schedule.tile_join_axes import TileJoinAxesPass
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.loops import GlobalStage
from tiledialect.schedule.search.choice import COPY_GAIN, best_or_default


@dataclass
class _Rewriting:
    """A function while its kernels are replaced by those for values in blocks."""

    blocks: Mapping[SSAValue, Blocks]
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Results of kernels, in blocks, by those that they replace."""
    before: list[Operation] = field(default_factory=list[Operation])
    """Views and copies of a kernel's operands."""

    def view(self, value: SSAValue, wanted: Shape) -> SSAValue:
        """A value in another shape."""
        value = self.made.get(value, value)
        if shape(value) == wanted:
            return value
        reshape = ReshapeOp.of(value, wanted)
        keep_name(reshape.result, value)
        self.before.append(reshape)
        return reshape.result

    def packed(self, value: SSAValue, wanted: Shape, order: Sequence[int]) -> SSAValue:
        """A constant with other axes, in another order."""
        name = f"{given_name(value) or 'constant'}_blocks"
        copy = copied(self.view(value, wanted), GlobalStage(0, tuple(order)), name)
        # It is no stage of a schedule.
        del copy.attributes[STAGING]
        self.before.append(copy)
        return copy.outputs[0]

    def replace(self, kernel: KernelOp, constants: Sequence[SSAValue]) -> bool:
        """Put a kernel for values in blocks before one; whether there are such values."""
        own = {v: self.blocks[v] for v in values_of(kernel.block) if v in self.blocks}
        if not own:
            return False
        self.before = []
        new = BlockedKernel(kernel, own, constants).made(self.view, self.packed)
        Rewriter.insert_op((*self.before, new), InsertPoint.before(kernel))
        for old, result in zip(kernel.outputs, new.outputs, strict=True):
            keep_name(result, old)
            if old in self.blocks:
                self.made[old] = result
                continue
            after = ReshapeOp.of(result, shape(old))
            Rewriter.insert_op(after, InsertPoint.before(kernel))
            old.replace_all_uses_with(after.result)
        return True


def block_layouts(function: func.FuncOp, constants: Sequence[str], device: Device) -> bool:
    """Let values between kernels lie in blocks, whatever the gain; whether there are any."""
    known = known_values(function, constants)
    own = [op for op in function.body.block.ops if isinstance(op, KernelOp)]
    kernels = [kernel for kernel in own if blockable(kernel, known)]
    axis = blocked_axis(kernels, known)
    if axis is None:
        return False
    rewriting = _Rewriting(classes_of(function, known, axis).blocks(device))
    replaced = [k for k in kernels if rewriting.replace(k, constant_operands(k, known))]
    for kernel in reversed(replaced):
        Rewriter.erase_op(kernel)
    return bool(replaced)


def _seconds(module: ModuleOp, constants: Sequence[str], device: Device) -> float:
    """Estimate of all kernels that depend on more than constants, by their best schedules."""
    joined = module.clone()
    TileJoinAxesPass().apply(Context(), joined)
    found = 0.0
    for function in ops_of(joined, func.FuncOp):
        known = known_values(function, constants)
        for kernel in [op for op in function.body.block.ops if isinstance(op, KernelOp)]:
            if kernel.schedule is None and not any(v in known for v in kernel.outputs):
                best = best_or_default(kernel_facts(kernel, device), device)
                found += best.estimate.seconds
    return found


@dataclass(frozen=True)
class TileBlockLayoutsPass(ModulePass):
    """Lets tensors between kernels lie in blocks of two vectors, or of one, on CPUs.

    A convolution whose weights are constant has vectors along its channels. Its result
    `O[n, o, y, x]` is then `O[n, o/32, y, x, 32]`, so that they are stored as they are. Tensors
    that elementwise ops combine with it have the same layout, weights lie in the order in which
    they are read, and later kernels read blocks. Tensors that are given or returned stay, and so
    do those that other ops take. The cost model weighs the best schedules of all kernels with and
    without it.
    """

    name = "tile-block-layouts"

    constants: tuple[str, ...] = ()
    """Names of arguments that seldom change."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let tensors lie in blocks, if that is estimated to be faster."""
        device = device_of(op)
        if device is None or not device.traits.has_vectors:
            return
        blocked = op.clone()
        found = [block_layouts(f, self.constants, device) for f in ops_of(blocked, func.FuncOp)]
        if not any(found):
            return
        seconds = [_seconds(m, self.constants, device) for m in (op, blocked)]
        if seconds[1] < COPY_GAIN * seconds[0]:
            for function in ops_of(op, func.FuncOp):
                block_layouts(function, self.constants, device)
