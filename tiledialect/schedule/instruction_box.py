"""Place of an instruction in a schedule: the levels of its box, and its operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tiledialect.index.expr import IndexExpr
from tiledialect.index.integer.expressions import Expr, floordiv, mod
from tiledialect.schedule.instructions import Fragment, Instruction, find
from tiledialect.schedule.loops import (
    PARALLEL,
    UNROLLED,
    LoopLevel,
    Role,
    Schedule,
    ScheduleError,
)


@dataclass(frozen=True)
class Operand:
    """A tensor of a contraction: the index expressions of its access, and its type."""

    access: tuple[IndexExpr, ...]
    type: str

    @property
    def names(self) -> frozenset[str]:
        """The indices that move it."""
        return frozenset(name for e in self.access for name in e.names)


@dataclass(frozen=True)
class Box:
    """An instruction in a schedule."""

    instruction: Instruction
    indices: Mapping[str, str]
    """The index that each axis of the box is along."""
    levels: Mapping[int, LoopLevel]
    """The levels inside the box, by their numbers; their strides in steps along its axes."""
    operands: tuple[int, ...]
    """Number of the input of the contraction for each operand."""
    first: int
    """Number of levels outside, and so of the first that the instruction replaces."""
    lane: int | None
    """The vector level after the levels of the box, for each lane of which it is executed."""

    @property
    def lanes(self) -> tuple[int, ...]:
        """The numbers of the levels whose work-items execute it together, the fastest last."""
        return tuple(k for k, level in sorted(self.levels.items()) if level.role is Role.LOCAL)

    def steps(self, fragment: Fragment, place: Sequence[Expr]) -> dict[int, Expr]:
        """The step of each level inside the box at a place of an operand's."""
        along = {self.indices[axis]: p for axis, p in zip(fragment.axes, place, strict=True)}
        return {
            k: mod(floordiv(along[level.index], level.stride), level.extent)
            for k, level in self.levels.items()
            if level.index in along
        }


def find_box(schedule: Schedule, output: Operand, inputs: Sequence[Operand]) -> Box:
    """Find the place of the schedule's instruction, which computes a sum of products of ``inputs``.

    Raises:
        ScheduleError: the instruction does not fit the levels or the operands.
    """
    assert schedule.instruction is not None
    instruction = find(schedule.instruction.name)
    steps = schedule.instruction.steps
    indices = dict(zip(instruction.axes, (name for name, _ in steps), strict=False))
    if len(steps) != len(instruction.box) or len(set(indices.values())) != len(steps):
        axes = ", ".join(instruction.axes)
        raise ScheduleError(f"{instruction.name} needs an index for each of its axes {axes}")
    levels: dict[int, LoopLevel] = {}
    for step, (_, extent) in zip(steps, instruction.box, strict=True):
        levels.update(_levels_inside(instruction, schedule.levels, step, extent))
    loops = [k for k, level in levels.items() if level.role not in PARALLEL]
    operands = _operands(instruction, indices, output, inputs)
    first, last = min(loops, default=len(schedule.levels)), len(schedule.levels) - 1
    is_lane = (
        first < last
        and last not in levels
        and schedule.levels[last].role is Role.VECTOR
        and schedule.levels[last].index in output.names
    )
    box = Box(instruction, indices, levels, operands, first, last if is_lane else None)
    _check_levels(box, schedule.levels)
    _check_lanes(box, schedule.levels)
    inside = [(schedule.levels[k].index, schedule.levels[k].stride) for k in levels]
    for stage in schedule.stages:
        if not stage.local or stage.at in inside:
            place = f"is inside {instruction.name}" if stage.local else "is in registers"
            raise ScheduleError(
                f"{instruction.name} cannot read the stage 'input {stage.operand} {stage}': "
                f"it {place}"
            )
    return box


def _levels_inside(
    instruction: Instruction, levels: Sequence[LoopLevel], step: tuple[str, int], extent: int
) -> dict[int, LoopLevel]:
    """The levels along an axis, in steps of it."""
    index, size = step
    inside = {
        k: replace(x, stride=x.stride // size)
        for k, x in enumerate(levels)
        if x.index == index and x.stride % size == 0 and x.stride < extent * size
    }
    if prod(level.extent for level in inside.values()) != extent:
        raise ScheduleError(
            f"{instruction.name} takes {extent} steps of {LoopLevel(*step, 0, Role.SERIAL).step} "
            f"at once: the loops over {index} must be split there"
        )
    return inside


def _operands(
    instruction: Instruction,
    indices: Mapping[str, str],
    output: Operand,
    inputs: Sequence[Operand],
) -> tuple[int, ...]:
    """The inputs that the instruction's operands are."""
    along = frozenset(indices.values())
    _check_operand(instruction, instruction.result, indices, output, along, "the output")
    if len(inputs) != len(instruction.operands):
        raise ScheduleError(
            f"{instruction.name} multiplies {len(instruction.operands)} operands, not {len(inputs)}"
        )
    found: list[int] = []
    for fragment in instruction.operands:
        wanted = frozenset(indices[axis] for axis in fragment.axes)
        matching = [k for k, x in enumerate(inputs) if k not in found and x.names & along == wanted]
        if not matching:
            raise ScheduleError(
                f"{instruction.name} needs an input that {' and '.join(sorted(wanted))} move"
            )
        number = matching[0]
        what = f"input {number}"
        _check_operand(instruction, fragment, indices, inputs[number], along, what)
        found.append(number)
    return tuple(found)


def _check_operand(
    instruction: Instruction,
    fragment: Fragment,
    indices: Mapping[str, str],
    operand: Operand,
    along: frozenset[str],
    what: str,
) -> None:
    wanted = frozenset(indices[axis] for axis in fragment.axes)
    if operand.names & along != wanted:
        raise ScheduleError(
            f"{instruction.name} needs {what} to be moved by {' and '.join(sorted(wanted))}"
        )
    if operand.type != fragment.stored:
        raise ScheduleError(
            f"{instruction.name} takes {fragment.stored}, but {what} is {operand.type}"
        )


def _check_levels(box: Box, levels: Sequence[LoopLevel]) -> None:
    """The levels in the box are lanes, or the innermost ones."""
    name, summed = box.instruction.name, set(box.instruction.axes)
    summed -= set(box.instruction.result.axes)
    for k, level in enumerate(levels):
        if level.role in PARALLEL:
            continue
        if k >= box.first and k not in box.levels and k != box.lane:
            raise ScheduleError(f"the loop {level} must stand outside the box of {name}")
        if k not in box.levels:
            continue
        is_summed = level.index in {box.indices[axis] for axis in summed}
        allowed = (Role.SERIAL, Role.UNROLL) if is_summed else UNROLLED
        if level.role not in allowed:
            roles = " or ".join(allowed)
            raise ScheduleError(f"the loop {level} is inside {name}: its role must be {roles}")


def _check_lanes(box: Box, levels: Sequence[LoopLevel]) -> None:
    """The work-items hold the elements of the result that the instruction gives them."""
    entry = box.instruction
    lanes = box.lanes
    fastest = [k for k, level in enumerate(levels) if (level.role, level.axis) == (Role.LOCAL, "x")]
    count = prod(box.levels[k].extent for k in lanes)
    outside = [level for level in box.levels.values() if level.role is Role.GROUP]
    if outside or count != entry.lanes or list(lanes) != fastest[len(fastest) - len(lanes) :]:
        raise ScheduleError(
            f"{entry.name} is executed by {entry.lanes} work-items: the last loops of role "
            f"local.x must be those inside its box, with {entry.lanes} steps together"
        )
    for lane in range(entry.lanes):
        own = _digits(lane, [box.levels[k].extent for k in lanes])
        for element in range(entry.result.count):
            place = entry.result.at(lane, element)
            steps = box.steps(entry.result, [Expr.const(p) for p in place])
            first = box.steps(entry.result, [Expr.const(p) for p in entry.result.at(0, element)])
            given = [steps[k].value for k in lanes if k in steps]
            same = all(steps[k] == first[k] for k in steps if k not in lanes)
            if given != own or not same:
                at = ", ".join(
                    f"{box.indices[axis]} + {p}"
                    for axis, p in zip(entry.result.axes, place, strict=True)
                )
                raise ScheduleError(
                    f"{entry.name} gives work-item {lane} the element at {at} of its box, "
                    "unlike the loops of role local.x"
                )


def _digits(number: int, extents: Sequence[int]) -> list[int]:
    """The digits of a number in mixed radix, the most significant first."""
    found: list[int] = []
    for extent in reversed(extents):
        number, digit = divmod(number, extent)
        found.insert(0, digit)
    return found
