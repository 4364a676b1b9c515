"""Layout copies: kernels that copy the operands that a schedule stages in global memory."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.attributes import (
    AccessAttr,
    Aggregation,
    Combination,
    DomainAttr,
    ScheduleAttr,
)
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels, operand_names
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import give_name, given_name, keep_name, keep_place, with_type
from tiledialect.schedule.loops import GlobalStage


def insert_layout_copies(module: ModuleOp) -> None:
    """Copy the operands that schedules stage in global memory, by a kernel before each.

    The copy for operand `K` of kernel `O` is called `O_K`, and has no schedule yet.
    """
    names = named_kernels(module)
    for kernel in list(names.values()):
        for stage in kernel.schedule.data.global_stages if kernel.schedule is not None else ():
            result = given_name(kernel.outputs[0]) or "kernel"
            name = f"{result}_{operand_names(kernel)[stage.operand]}"
            while name in names:
                name += "_copy"
            names[name] = _stage(kernel, stage, name)


def _stage(kernel: KernelOp, stage: GlobalStage, name: str) -> KernelOp:
    """Let a scheduled kernel read a copy of an operand; the kernel of the copy."""
    assert kernel.schedule is not None
    copy = read_copy(kernel, stage, name)
    Rewriter.insert_op(copy, InsertPoint.before(kernel))
    schedule = kernel.schedule.data
    left = tuple(s for s in schedule.global_stages if s is not stage)
    schedule = replace(schedule, global_stages=left).with_axes(stage.operand, stage.order.index)
    kernel.schedule = ScheduleAttr(schedule)
    return copy


def read_copy(kernel: KernelOp, stage: GlobalStage, name: str) -> KernelOp:
    """Let a kernel read a copy of an operand; the kernel of the copy, not in the block yet."""
    number, order = stage.operand, stage.order
    copy = copied(kernel.inputs[number], stage, name)
    keep_place(copy, kernel)
    kernel.operands[number] = copy.outputs[0]
    argument, op = kernel.block.args[number], kernel.contraction
    assert op is not None
    op.accesses = ArrayAttr(
        AccessAttr(tuple(a.data[axis] for axis in order)) if value is argument else a
        for a, value in zip(op.accesses, op.inputs, strict=True)
    )
    with_type(argument, copy.outputs[0].type)
    return copy


def copied(value: SSAValue, stage: GlobalStage, name: str) -> KernelOp:
    """A kernel that copies a tensor, its axes in an order and its rows padded."""
    assert isinstance(value.type, TensorType)
    shape, order = value.type.get_shape(), stage.order
    sizes = [shape[axis] for axis in order]
    if stage.pad:
        sizes[-1] += stage.pad
    block = Block(arg_types=[value.type])
    (argument,) = block.args
    keep_name(argument, value)
    axes = [IndexExpr.of(f"d{axis}") for axis in range(len(shape))]
    op = ContractionOp(
        Aggregation.assign,
        Combination.none,
        [axes[axis] for axis in order],
        [(argument, axes)],
        shape=tuple(sizes),
    )
    # Padding is filled with zeros.
    ranges = {f"d{axis}": Range(0, size) for axis, size in zip(order, sizes, strict=True)}
    op.domain = DomainAttr(tuple((name, ranges[name]) for name in op.index_names))
    give_name(op.result, name)
    block.add_ops([op, YieldOp([op.result])])
    kernel = KernelOp([value], block)
    kernel.attributes[STAGING] = UnitAttr()
    give_name(kernel.outputs[0], name)
    kernel.sym_name = StringAttr(name)
    return kernel
