"""Copies in global memory that kernels of their own make, and the stages that they were."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.kernel import STAGING, KernelOp
from tiledialect.schedule.leaves import GlobalStage, Schedule


def copied_order(value: SSAValue) -> tuple[int, ...] | None:
    """In which order the axes of an operand lie in a value, if that is a copy of it."""
    kernel = value.owner
    if not isinstance(kernel, KernelOp) or STAGING not in kernel.attributes:
        return None
    op = kernel.contraction
    assert op is not None
    return tuple(op.accesses.data[0].data.index(e) for e in op.output.data)


def as_given(kernel: KernelOp) -> Schedule:
    """The schedule of a kernel, with the stages from which the copies that it reads were made."""
    assert kernel.schedule is not None
    schedule = kernel.schedule.data
    for k, value in enumerate(kernel.inputs):
        if (order := copied_order(value)) is not None:
            schedule = schedule.with_axes(k, order.__getitem__)
            stages = (*schedule.global_stages, GlobalStage(k, order))
            schedule = replace(schedule, global_stages=stages)
    return schedule
