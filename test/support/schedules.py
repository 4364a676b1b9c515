"""Random legal schedules for kernels (hypothesis strategies)."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from hypothesis import strategies as st
from xdsl.ir import BlockArgument

from tiledialect.dialects.discardable import STAGING
from tiledialect.dialects.tile.attributes import Aggregation, ScheduleAttr
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.operand_loads import is_loaded
from tiledialect.dialects.tile.structure.row_axes import reduced_by
from tiledialect.schedule.loops import (
    PARALLEL,
    GlobalStage,
    LoopIndex,
    LoopLevel,
    Role,
    Schedule,
    Stage,
    check,
    place_of,
    sub_group_share,
)

MOST_ITEMS = 32
"""Most work-items of a group: simulators run them one by one."""
MAX_UNROLLED = 24
"""Most copies of a body by unrolled loops and vectors."""

EXTENTS = (2, 2, 3, 4, 4, 5)
LONG_EXTENTS = (2, 3, 4, 5, 8, 8, 13, 16)

OUTPUT_ROLES = (*Role, Role.LOCAL, Role.GROUP)
SUMMED_ROLES = (Role.SERIAL, Role.SERIAL, Role.UNROLL, Role.LOCAL, Role.VECTOR)
WHOLE_ROLES = (Role.SERIAL, Role.UNROLL)
"""Roles of the other loops where elements are assigned: nobody can have a part of one."""


@st.composite
def splits(draw: st.DrawFn, index: LoopIndex) -> list[LoopLevel]:
    """The range of an index as digits, which may reach further; their roles are to come."""
    levels: list[LoopLevel] = []
    reach = 1
    extents = EXTENTS if index.range.extent <= max(EXTENTS) else LONG_EXTENTS
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        extent = draw(st.sampled_from(extents))
        levels.append(LoopLevel(index.name, reach, extent, Role.SERIAL))
        reach *= extent
    rest = -(-index.range.extent // reach)
    if rest > 1 or not levels:
        extra = draw(st.sampled_from([0, 0, 0, 1] if rest <= max(EXTENTS) else [0, 0, 1, 7]))
        levels.append(LoopLevel(index.name, reach, max(rest, 1) + extra, Role.SERIAL))
    return levels


@st.composite
def levels(draw: st.DrawFn, kernel: KernelOp) -> list[LoopLevel]:
    """Loops over all indices, in any order that is legal."""
    indices = kernel.indices
    op = kernel.contraction
    assigns = op is not None and op.aggregation.data is Aggregation.assign
    inner_roles = WHOLE_ROLES if assigns else SUMMED_ROLES
    items = copies = 1
    found: list[LoopLevel] = []
    is_output = {index.name: index.is_output for index in indices}
    drawn = draw(st.permutations([x for index in indices for x in draw(splits(index))]))
    for level in drawn:
        role = draw(st.sampled_from(OUTPUT_ROLES if is_output[level.index] else inner_roles))
        if role is Role.LOCAL and items * level.extent > MOST_ITEMS:
            role = Role.SERIAL
        if role in (Role.UNROLL, Role.VECTOR) and copies * level.extent > MAX_UNROLLED:
            role = Role.SERIAL
        if role is Role.VECTOR and any(x.role is Role.VECTOR for x in found):
            role = Role.UNROLL
        items *= level.extent if role is Role.LOCAL else 1
        copies *= level.extent if role in (Role.UNROLL, Role.VECTOR) else 1
        axis = draw(st.sampled_from("xxyz")) if role in PARALLEL else ""
        found.append(LoopLevel(level.index, level.stride, level.extent, role, axis))
    # What must be so; otherwise they stay as drawn.
    return sorted(found, key=lambda x: (x.role not in PARALLEL) + (x.role is Role.VECTOR))


@st.composite
def stages(draw: st.DrawFn, kernel: KernelOp, order: list[LoopLevel]) -> list[Stage]:
    """Tiles of some operands of a kernel's contraction, or what a row kernel keeps."""
    if kernel.axes is not None:
        return draw(kept(kernel))
    if kernel.contraction is None:
        return []
    found: list[Stage] = []
    places = [(x.index, x.stride) for x in order if x.role not in PARALLEL]
    for number, value in enumerate(kernel.values):
        shape = shape_of(tensor_type(value)) or ()
        is_read = value in kernel.contraction.inputs or is_loaded(value, kernel.contraction)
        for _ in range(draw(st.sampled_from([0, 1, 1, 2])) if is_read else 0):
            local = draw(st.booleans()) or prod(shape) > MAX_UNROLLED
            asynchronous = local and draw(st.sampled_from([False, False, True]))
            found.append(
                Stage(
                    number,
                    local,
                    at=draw(st.sampled_from([None, *places])),
                    copies=draw(st.sampled_from([2, 3, 4] if asynchronous else [1, 1, 2]))
                    if local
                    else 1,
                    asynchronous=asynchronous,
                    pad=draw(st.sampled_from([0, 0, 1, 3])) if local else 0,
                    rotate=draw(st.sampled_from([0, 0, 1, 4])) if local else 0,
                    order=tuple(draw(st.permutations(range(len(shape)))))
                    if draw(st.booleans())
                    else (),
                    vector=draw(st.sampled_from([1, 1, 2, 4])),
                )
            )
    return nested(found, order)


@st.composite
def kept(draw: st.DrawFn, kernel: KernelOp) -> list[Stage]:
    """Values that a row kernel keeps in registers or local memory."""
    found: list[Stage] = []
    axes = kernel.axes.ranges if kernel.axes is not None else {}
    for number, value in enumerate(kernel.values):
        op = value.owner
        size = prod(shape_of(tensor_type(value)) or ())
        if isinstance(op, ContractionOp) and reduced_by(op, axes):
            continue
        if draw(st.booleans()) and size <= MAX_UNROLLED:
            local = isinstance(value, BlockArgument) and draw(st.booleans())
            found.append(Stage(number, local))
    return found


def nested(stages: list[Stage], order: list[LoopLevel]) -> list[Stage]:
    """The stages that can be copied from one another, those in local memory first."""
    found: list[Stage] = []
    for stage in sorted(stages, key=lambda s: (place_of(s, order), not s.local)):
        outer = [other for other in found if other.operand == stage.operand]
        places = [place_of(other, order) for other in outer if other.local]
        if stage.local and (
            any(not other.local for other in outer) or place_of(stage, order) in places
        ):
            continue
        found.append(replace(stage, copies=1, asynchronous=False) if outer else stage)
    return found


@st.composite
def schedules(draw: st.DrawFn, kernel: KernelOp) -> ScheduleAttr:
    """A schedule that the kernel can run by."""
    order = draw(levels(kernel))
    schedule = Schedule(tuple(order), tuple(draw(stages(kernel, order))))
    summed = {index.name for index in kernel.indices if not index.is_output}
    sizes = [n for n in (2, 4, 8, 16) if joins_in_sub_groups(schedule, n, summed)]
    schedule = replace(
        schedule,
        sub_groups=draw(st.sampled_from([0, *sizes, *sizes])),
        global_stages=tuple(draw(global_stages(kernel))),
    )
    check(kernel.indices, schedule, [len(shape_of(tensor_type(v)) or ()) for v in kernel.values])
    return ScheduleAttr(kernel.mark(schedule))


@st.composite
def global_stages(draw: st.DrawFn, kernel: KernelOp) -> list[GlobalStage]:
    """Copies in global memory of some inputs that a contraction alone reads."""
    op = kernel.contraction if STAGING not in kernel.attributes else None
    found: list[GlobalStage] = []
    for number, value in enumerate(kernel.block.args if op is not None else ()):
        alone = all(u.operation is op and u.index < len(op.inputs) for u in value.uses if op)
        if alone and draw(st.sampled_from([False, False, True])):
            axes = range(len(shape_of(tensor_type(value)) or ()))
            found.append(GlobalStage(number, tuple(draw(st.permutations(axes)))))
    return found


def joins_in_sub_groups(schedule: Schedule, size: int, summed: set[str]) -> bool:
    """Whether sub-groups of a size have something to join."""
    shared = sub_group_share(replace(schedule, sub_groups=size), summed)
    return schedule.extents(Role.LOCAL)[0] % size == 0 and shared > 1
