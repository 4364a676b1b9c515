"""Random schedules of row kernels."""

from __future__ import annotations

import random

from running import Array
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import reduced_by, shape
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role, Schedule, Stage


def kernels_of(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a module."""
    return [op for op in module.walk() if isinstance(op, KernelOp)]


def random_schedule(kernel: KernelOp, choose: random.Random) -> Schedule:
    """A legal schedule: levels that may reach too far, in any order, and stages."""
    parallel: list[LoopLevel] = []
    inner: list[LoopLevel] = []
    items = 1
    for index in kernel.indices:
        for level in split(index, choose):
            role = choose.choice([Role.GROUP, Role.LOCAL, Role.SERIAL, Role.UNROLL])
            fits = items * level.extent <= 64
            if role is Role.GROUP and index.is_output:
                parallel.append(with_role(level, role, choose.choice("xyz")))
            elif role is Role.LOCAL and fits:
                items *= level.extent
                parallel.append(with_role(level, role, choose.choice("xyz")))
            elif role is Role.UNROLL and level.extent <= 4:
                inner.append(with_role(level, role))
            else:
                inner.append(with_role(level, Role.SERIAL))
    choose.shuffle(parallel)
    choose.shuffle(inner)
    if inner and inner[-1].stride == 1 and inner[-1].extent in (2, 4) and choose.random() < 0.7:
        inner[-1] = with_role(inner[-1], Role.VECTOR)
    return Schedule((*parallel, *inner), random_stages(kernel, inner, choose))


def with_role(level: LoopLevel, role: Role, axis: str = "") -> LoopLevel:
    """A level with another role."""
    return LoopLevel(level.index, level.stride, level.extent, role, axis)


def split(index: LoopIndex, choose: random.Random) -> list[LoopLevel]:
    """An index as levels that reach all of its range."""
    levels: list[LoopLevel] = []
    stride = 1
    for _ in range(choose.randrange(3)):
        levels.append(LoopLevel(index.name, stride, choose.choice([2, 3, 4]), Role.SERIAL))
        stride *= levels[-1].extent
    rest = -(-index.range.extent // stride)
    return [*levels, LoopLevel(index.name, stride, rest, Role.SERIAL)]


def random_stages(
    kernel: KernelOp, inner: list[LoopLevel], choose: random.Random
) -> tuple[Stage, ...]:
    """Stages of some values of a kernel."""
    stages: list[Stage] = []
    axes = kernel.axes.ranges if kernel.axes is not None else {}
    for number, value in enumerate(kernel.values):
        if choose.random() < 0.5:
            continue
        owner = value.owner
        if isinstance(value, BlockArgument):
            local = choose.random() < 0.5
            pad = choose.randrange(2) if local and len(shape(value)) > 1 else 0
            stages.append(Stage(number, local, pad=pad))
        elif isinstance(owner, ElementwiseOp) or (
            isinstance(owner, ContractionOp) and not reduced_by(owner, axes)
        ):
            stages.append(Stage(number, local=False))
    return tuple(stages)


def tuple_of(results: Array | tuple[Array, ...]) -> tuple[Array, ...]:
    """The results of a function, of which one is no tuple."""
    return tuple(results) if isinstance(results, tuple) else (results,)
