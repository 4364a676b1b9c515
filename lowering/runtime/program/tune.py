"""Tuning: the cost model's best candidates are measured, and the winners kept on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from tiledialect import disk
from tiledialect.caches import compilation
from tiledialect.dialects.tile.global_stage import copied
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import named_kernels, read_schedules, schedule_text
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import queue_for
from tiledialect.lowering.runtime.program import cache
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.lowering.runtime.program.specialization import Specialization
from tiledialect.lowering.runtime.progress import progress
from tiledialect.passes.schedule.tile_loop_tiling import runnable
from tiledialect.schedule.cost import device as described

NOTHING_TUNED = (
    "nothing of {} is tuned: it is of Lift's patterns alone, whose kernels have no schedules"
)
RUNS = 3
"""Runs of each kernel; the median counts."""

CandidateTexts = Mapping[str, Sequence[str]]
"""Candidates of each kernel as texts, in the order of their estimated times."""


@dataclass(frozen=True)
class Task:
    """Subject of tuning: a program for arrays of some types on a device."""

    program: Program
    types: Types
    device: Device
    arrays: Sequence[Any]
    warn: Callable[[tuple[str, ...]], None]
    """Function that reports warnings before anything runs."""


@compilation()
def tuned_schedules(task: Task, count: int) -> tuple[str, ...]:
    """The fastest of each kernel's best ``count`` candidates on the device, as texts.

    Kernels with schedules in the program keep them.
    """
    program, types, device = task.program, task.types, task.device
    if not program.is_scheduled:
        task.warn((NOTHING_TUNED.format(program.name),))
        return ()
    name = cache.key(
        *("tune", str(count), program.text, program.name, repr(program.gradients)),
        *(*program.schedules, *map(str, types), str(target_system_spec(device))),
        *(device.platform, device.name, device.driver),
    )
    path = disk.folder() / "tuned" / name if name is not None else None
    # The name says for which program and package they were measured: they fit.
    if path is not None and (found := disk.read_sealed(path)) is not None:
        return tuple(json.loads(found))
    best = _measured(task, _candidates(task, count))
    texts = tuple(f"{kernel}: {text}" for kernel, text in best.items())
    if path is not None:
        disk.write_sealed(path, json.dumps(texts).encode())
    return texts


def _candidates(task: Task, count: int) -> CandidateTexts:
    module = lowered(task.program, task.types, task.device, "tile-fuse")
    target = described.device_of(module)
    given = {name for text in task.program.schedules for name in read_schedules(text)}
    if target is None:
        return {}
    return {
        name: _texts(kernel, target, count)
        for name, kernel in named_kernels(module).items()
        if kernel.schedule is None and name not in given
    }


def _texts(kernel: KernelOp, target: described.Device, count: int) -> list[str]:
    found: list[str] = []
    for schedule in runnable(kernel, target):
        kernel.schedule = schedule
        found.append(schedule_text(kernel))
        if len(found) == count:
            break
    return found


def _measured(task: Task, candidates: CandidateTexts) -> dict[str, str]:
    """The fastest candidate of each kernel.

    A run has the candidates of one rank for all kernels, so that there are few runs.
    """
    most = max(map(len, candidates.values()), default=0)
    best = {kernel: (float("inf"), texts[0]) for kernel, texts in candidates.items()}
    for rank in range(most if most > 1 else 0):
        chosen = {k: texts[min(rank, len(texts) - 1)] for k, texts in candidates.items()}
        with progress(f"tuning {task.program.result_name}: {rank + 1} of {most}"):
            for kernel, seconds in _times(task, chosen):
                best[kernel] = min(best[kernel], (seconds, chosen[kernel]))
    # What was not measured is left to the compiler: the device may refuse all, or not survive them.
    return {kernel: text for kernel, (seconds, text) in best.items() if isfinite(seconds)}


def _times(task: Task, chosen: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Times of kernels by a schedule, without kernels that the device refuses.

    Kernels that end the process were tried in another one, and are refused as well.
    """
    texts = tuple(f"{kernel}: {text}" for kernel, text in chosen.items())
    scheduled = replace(task.program, schedules=(*task.program.schedules, *texts))
    try:
        specialization = Specialization(scheduled, task.types, task.device)
        task.warn(specialization.plan.warnings)
        state = state_of(queue_for(task.device, profiling=True))
        _, profile = specialization.executable(state, on_host=True).profile(task.arrays, RUNS)
    except TileError:
        # One of them may be to blame: the others are measured without it.
        names = sorted(chosen)
        middle = len(names) // 2
        for half in (names[:middle], names[middle:]) if middle else ():
            yield from _times(task, {name: chosen[name] for name in half})
        return
    kernels = named_kernels(lowered(scheduled, task.types, task.device, "tile-loop-tiling"))
    names = [*kernels]
    for kernel in chosen:
        if len(names) == len(profile.kernels):
            made = {
                v.owner for k, v in enumerate(kernels[kernel].inputs) if copied(k, v) is not None
            }
            # The copies that it reads are a part of its schedule.
            own = [n for n in names if n == kernel or kernels[n] in made]
            yield kernel, sum(profile.kernels[names.index(n)].seconds for n in own)
        else:
            # Kernels have no launches of their own: all win or lose together.
            yield kernel, profile.seconds
