"""Copies in global memory that kernels of their own make, and the stages that they were."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.schedule.loops import GlobalStage, Schedule


def copied(number: int, value: SSAValue) -> GlobalStage | None:
    """The stage of an operand, of which a value is the copy; None if it is none."""
    kernel = value.owner
    if not isinstance(kernel, KernelOp) or STAGING not in kernel.attributes:
        return None
    op = kernel.contraction
    assert op is not None
    order = tuple(op.accesses.data[0].data.index(e) for e in op.output.data)
    source, result = (list(shape_of(tensor_type(v)) or ()) for v in (op.inputs[0], op.result))
    pad = result[-1] - source[order[-1]] if order else 0
    return GlobalStage(number, order, pad)


def copies_of(kernel: KernelOp) -> set[KernelOp]:
    """Kernels that make the copies which a kernel reads."""
    values = (v for k, v in enumerate(kernel.inputs) if copied(k, v) is not None)
    return {value.owner for value in values if isinstance(value.owner, KernelOp)}


def as_given(kernel: KernelOp) -> Schedule:
    """The schedule of a kernel, with the stages from which the copies that it reads were made."""
    assert kernel.schedule is not None
    schedule = kernel.schedule.data
    for k, value in enumerate(kernel.inputs):
        if (stage := copied(k, value)) is not None:
            schedule = schedule.with_axes(k, stage.order.__getitem__)
            schedule = replace(schedule, global_stages=(*schedule.global_stages, stage))
    return schedule
