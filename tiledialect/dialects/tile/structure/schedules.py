"""Checks that a kernel's body can be computed as a schedule says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.aggregation import accumulator_type
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.operand_loads import is_loaded
from tiledialect.dialects.tile.structure.row_axes import reduced_by
from tiledialect.index.expr import Range
from tiledialect.schedule.instruction_box import Box, Operand, find_box
from tiledialect.schedule.loops import (
    GlobalStage,
    LoopIndex,
    Role,
    Schedule,
    ScheduleError,
    Stage,
)


def instruction_box(op: ContractionOp | None, schedule: Schedule) -> Box | None:
    """Box of the schedule's instruction in a kernel's contraction; None if it has none.

    Raises:
        ScheduleError: the instruction cannot compute the contraction.
    """
    if schedule.instruction is None:
        return None
    name = schedule.instruction.name
    if (
        op is None
        or op.aggregation.data is not Aggregation.add
        or op.combination.data is not Combination.mul
    ):
        raise ScheduleError(f"{name} computes sums of products alone")
    output = Operand(op.output.data, str(accumulator_type(op)))
    inputs = [
        Operand(a.data, str(tensor_type(v).element_type))
        for a, v in zip(op.accesses, op.inputs, strict=True)
    ]
    return find_box(schedule, output, inputs)


def check_undivided(
    op: ContractionOp | None, indices: Sequence[LoopIndex], schedule: Schedule
) -> None:
    """Check that no loop divides an assignment: partial results can be summed, not assigned."""
    if op is None or op.aggregation.data is not Aggregation.assign:
        return
    inner = {index.name for index in indices if not index.is_output}
    for level in schedule.levels:
        parted = level.role in (Role.LOCAL, Role.VECTOR)
        if level.index in inner and level.extent > 1 and parted:
            raise ScheduleError(
                f"the loop {level} divides elements among its work-items or lanes, but "
                f"{name_of(op.result)} assigns its elements"
            )


def check_stage(
    stage: Stage, value: SSAValue, op: ContractionOp | None, axes: Mapping[str, Range] | None
) -> None:
    """Check that a stage is of use, and one that keeps a value that is computed."""
    is_read = op is not None and (value in op.inputs or is_loaded(value, op))
    if axes is None and not is_read:
        raise VerifyException(f"{name_of(value)} is staged, but no contraction here reads it")
    is_kept = axes is not None and not isinstance(value, BlockArgument)
    if is_kept and stage != Stage(stage.operand, local=False):
        raise VerifyException(f"{name_of(value)} is computed: it can be kept 'private', alone")
    owner = value.owner
    if isinstance(owner, ContractionOp) and reduced_by(owner, axes or {}):
        raise VerifyException(f"{name_of(value)} needs no stage: it is not computed twice")


def check_global_stages(
    stages: Sequence[GlobalStage],
    values: Sequence[SSAValue],
    op: ContractionOp | None,
    is_copy: bool,
) -> None:
    """Check that the operand of a global stage is an input that can be read from the copy.

    ``is_copy`` tells that the kernel is such a copy.
    """
    for stage in stages:
        if stage.operand >= len(values):
            raise VerifyException(f"there is no input {stage.operand} to stage")
        value = values[stage.operand]
        text = f"{name_of(value)} {stage}"
        if is_copy:
            raise VerifyException(f"the stage '{text}' copies the operand of a copy")
        if not isinstance(value, BlockArgument):
            raise VerifyException(f"the stage '{text}' copies a value that the kernel computes")
        if op is None or any(
            use.operation is not op or use.index >= len(op.inputs) for use in value.uses
        ):
            raise VerifyException(
                f"the stage '{text}' must be of an operand that a contraction alone reads, "
                "in a kernel without axes"
            )
        rank = len(shape_of(tensor_type(value)) or ())
        if sorted(stage.order) != list(range(rank)):
            raise VerifyException(f"the stage '{text}' must order the axes 0 to {rank - 1}")
        is_product = op.combination.data in (Combination.none, Combination.mul)
        is_sum = op.aggregation.data is Aggregation.add and is_product
        if stage.pad and not (rank and is_sum):
            raise VerifyException(f"the stage '{text}' pads rows with 0s, which change a result")
        if sum(other.operand == stage.operand for other in stages) > 1:
            raise VerifyException(f"the stage '{text}' has another one in global memory")
