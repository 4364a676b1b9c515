"""What a schedule makes a device do, counted: registers, tiles, accesses, and what is fetched.

The cost models (`cost.py`, `cpu_cost.py`) divide this by the rates of devices.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import ceil, prod

from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts, Tensor, Walk
from tiledialect.schedule.leaves import (
    PARALLEL,
    WRITTEN_OUT,
    Leaf,
    Role,
    Schedule,
    Stage,
    first_written_out,
    place_of,
)

SECTOR = {Kind.GPU: 32, Kind.CPU: 64}
"""Bytes that are fetched together."""
OWN_REGISTERS = 32
"""Registers for addresses and loops."""
AHEAD_REGISTERS = 1.5
"""Registers for each word that is fetched ahead: for itself, and for where it goes."""
TEST_REGISTERS = 32
"""Registers for the tests of sizes that tiles do not divide."""


class Model:
    """A kernel, its schedule and a device, and what follows from them."""

    def __init__(self, facts: Facts, schedule: Schedule, device: Device):
        self.facts = facts
        self.schedule = schedule
        self.device = device
        self.leaves = schedule.leaves
        self.parallel = sum(leaf.role in PARALLEL for leaf in self.leaves)
        self.items = schedule.work_items
        self.groups = prod(schedule.extents(Role.GROUP))
        self.local = [leaf for leaf in self.leaves if leaf.role is Role.LOCAL]
        self.walks = [tensor.walk for tensor in facts.inputs]

    # -- the loops -------------------------------------------------------------------------

    @cached_property
    def first_reduction(self) -> int:
        """Where the accumulators begin: the number of leaves outside them."""
        outputs = set(self.facts.output_indices)
        for k in range(self.parallel, len(self.leaves)):
            if self.leaves[k].index not in outputs:
                return k
        return min(self.body, len(self.leaves))

    @cached_property
    def body(self) -> int:
        """Where the innermost leaves that are written out begin."""
        return first_written_out(self.leaves)

    def trips(self, k: int) -> float:
        """How often a work-item comes to leaf ``k``, on the average of the groups."""
        steps = prod(leaf.extent for leaf in self.leaves[self.parallel : k])
        return steps * prod(share for place, share in self.skips if place <= k)

    @cached_property
    def skips(self) -> list[tuple[int, float]]:
        """Inside which leaves whole groups have only a share of the points."""
        found: list[tuple[int, float]] = []
        for names, share in self.facts.tests:
            moved = [k for k, leaf in enumerate(self.leaves) if leaf.index in names]
            if all(self.leaves[k].role in (Role.GROUP, Role.SERIAL) for k in moved):
                found.append((max(moved, default=-1) + 1, share))
        return found

    @property
    def points(self) -> float:
        """How many points a work-item visits."""
        return self.trips(len(self.leaves))

    @property
    def written_out(self) -> int:
        """How many copies of the body there are."""
        return prod(x.extent for x in self.leaves if x.role in WRITTEN_OUT)

    @property
    def vector(self) -> int:
        """The lanes of the innermost loop, as far as the hardware has them."""
        last = self.leaves[-1] if self.leaves else None
        return last.extent if last is not None and last.role is Role.VECTOR else 1

    @cached_property
    def lanes(self) -> list[Leaf]:
        """The steps of local leaves that a sub-group's items run, the fastest ones."""
        found: list[Leaf] = []
        count = 1
        for axis in "xyz":
            for leaf in reversed([x for x in self.local if x.axis == axis]):
                steps = min(leaf.extent, ceil(self.device.sub_group_size / count))
                if steps > 1:
                    found.append(replace(leaf, extent=steps))
                    count *= steps
        return found

    # -- what an item does -----------------------------------------------------------------

    @cached_property
    def accumulators(self) -> int:
        """How many elements of the outputs an item keeps."""
        if self.facts.aggregation is None:
            return 0
        outputs = set(self.facts.output_indices)
        moving = self.leaves[self.first_reduction :]
        count = prod(leaf.extent for leaf in moving if leaf.index in outputs)
        return (
            count if self.vector == 1 or self.leaves[-1].index in outputs else count * self.vector
        )

    @cached_property
    def sharing(self) -> int:
        """Among how many items of a group each sum is divided."""
        outputs = set(self.facts.output_indices)
        return prod(leaf.extent for leaf in self.local if leaf.index not in outputs)

    def stages(self, tensor: Tensor) -> list[Stage]:
        """The stages of an input, the outermost first."""
        own = [s for s in self.schedule.stages if s.operand == tensor.number]
        return sorted(own, key=lambda s: (place_of(s, self.leaves), not s.local))

    def inside(self, stage: Stage) -> list[Leaf]:
        """The leaves that move what a stage holds."""
        place = place_of(stage, self.leaves)
        own = list(self.leaves[place:])
        return [*self.local, *own] if stage.local else own

    @cached_property
    def reads(self) -> list[tuple[Walk, float, int]]:
        """For each input, how often an item reads it, and how many elements at a time."""
        found: list[tuple[Walk, float, int]] = []
        for walk in self.walks:
            stages = self.stages(walk.tensor)
            body = [*self.leaves[self.body :]]
            place, width = self.body, 1
            if stages and not stages[-1].local:
                place = place_of(stages[-1], self.leaves)
                body = list(self.leaves[place:])
                width = stages[-1].vector
            elif body and body[-1].role is Role.VECTOR and self._is_row(walk, body[-1]):
                width = body[-1].extent
            width = min(width, self.device.max_vector_width) if not self.is_cpu else width
            found.append((walk, self.trips(place) * walk.elements(body) / width, width))
        return found

    def _is_row(self, walk: Walk, leaf: Leaf) -> bool:
        """Whether the leaf goes along neighbours where the tensor is read from."""
        stages = [s for s in self.stages(walk.tensor) if s.local]
        rank = len(walk.tensor.shape)
        order = (stages[-1].order if stages else ()) or tuple(range(rank))
        return bool(rank) and walk.moves[order[-1]].get(leaf.index, 0) * leaf.stride == 1

    @property
    def sector(self) -> int:
        """The bytes that are fetched together."""
        return SECTOR[self.device.kind]

    @property
    def is_cpu(self) -> bool:
        """Whether an item is a core, and vectors are the hardware's."""
        return self.device.kind is Kind.CPU

    @cached_property
    def registers(self) -> int:
        """Registers of a work-item."""
        per = self.vector if self.is_cpu else 1
        words = self.accumulators * max(self.facts.outputs[0].bytes, 4) / 4 / per
        for walk in self.walks:
            own = [s for s in self.stages(walk.tensor) if not s.local]
            kept = self.inside(own[-1]) if own else self._one_step
            words += walk.elements(kept) * max(walk.tensor.bytes, 4) / 4 / per
        if self.is_cpu:
            return ceil(words)
        for stage in self.schedule.stages:
            if stage.copies > 1:
                words += AHEAD_REGISTERS * self.tile(stage) / self.items
        return ceil(words) + OWN_REGISTERS + (TEST_REGISTERS if self.overshoots else 0)

    @cached_property
    def overshoots(self) -> bool:
        """Whether loops reach beyond the ranges of indices, so that there are tests."""
        reach: dict[str, int] = {}
        for leaf in self.leaves:
            reach[leaf.index] = reach.get(leaf.index, 1) * leaf.extent
        return any(reach.get(name, 0) > n for name, n in self.facts.extents.items())

    @property
    def _one_step(self) -> list[Leaf]:
        outputs = set(self.facts.output_indices)
        return [leaf for leaf in self.leaves[self.body :] if leaf.index in outputs]

    # -- copies ----------------------------------------------------------------------------

    def walk(self, number: int) -> Walk | None:
        """That of an input; None for what the kernel computes."""
        return next((w for w in self.walks if w.tensor.number == number), None)

    def tile(self, stage: Stage) -> int:
        """The elements of a stage's tile."""
        walk = self.walk(stage.operand)
        return prod(walk.extents(self.inside(stage))) if walk is not None else 0

    @property
    def copy_steps(self) -> int:
        """In how many steps the items of a group copy the largest tile that is fetched ahead."""
        ahead = [stage for stage in self.schedule.stages if stage.copies > 1]
        return max((ceil(self.tile(s) / s.vector / self.items) for s in ahead), default=0)

    @property
    def local_memory(self) -> int:
        """Bytes of local memory of a group."""
        total = 0
        for stage in self.schedule.stages:
            walk = self.walk(stage.operand)
            if stage.local and walk is not None:
                rank = len(walk.tensor.shape)
                order = stage.order or tuple(range(rank))
                sizes = walk.extents(self.inside(stage))
                last = sizes[order[-1]] if rank else 1
                rows = prod(sizes) // max(last, 1)
                copies = stage.copies if self.items > 1 else 1
                total += rows * (last + stage.pad) * walk.tensor.bytes * copies
        if self.sharing > 1:
            total += self.accumulators * self.items * self.facts.outputs[0].bytes
        return total

    def fetched(self, walk: Walk) -> tuple[float, float, float]:
        """What a group fetches of an input: sectors' bytes, copies' chunks, and waits."""
        stages = self.stages(walk.tensor)
        sector, size = self.sector, walk.tensor.bytes
        place = place_of(stages[0], self.leaves) if stages else self.body
        if stages and stages[0].local:
            inside = self.inside(stages[0])
            elements, run, shares = walk.elements(inside), walk.run(inside), 1.0
            chunks = elements / stages[0].vector
        else:
            inside = [*self.lanes, *self.leaves[place:]]
            elements, run = walk.elements(inside), walk.run(self.neighbours)
            shares = self.items / max(1, prod(x.extent for x in self.lanes))
            chunks = 0.0
        times = self.trips(place)
        bytes_ = elements * shares * times * size * in_sectors(run * size, sector)
        return bytes_, chunks * times, times

    @property
    def neighbours(self) -> list[Leaf]:
        """The steps that a sub-group makes at once."""
        return [*self.lanes, *(leaf for leaf in self.leaves[-1:] if leaf.role is Role.VECTOR)]


def in_sectors(run: int, sector: int) -> float:
    """How much more than a run of bytes is fetched, as sectors are whole."""
    return ceil(run / sector) * sector / run if run else 1.0
