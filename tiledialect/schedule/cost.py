"""The cost model: how long a kernel takes by a schedule on a device, without running it.

The model counts what a schedule makes the device do, and divides by the device's rates:

- *instructions*: the points' operations, the loads that feed them, the copies of stages, and what
  loops cost; a compute unit issues as many as its arithmetic rate allows;
- *local traffic*: what is read near the items: local memory on a GPU, the first cache on a CPU;
- *shared traffic*: what groups fetch from the last cache, each for itself;
- *global traffic*: each tensor once, and again where it does not fit the last cache;
- *waiting*: each step of a loop that fetches from far waits, and only other groups on the unit,
  or fetching ahead, hide that.

Groups come in waves, of which the last may leave units idle. The parts overlap, but not wholly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, gcd, prod

from tiledialect.index.expr import IndexExpr
from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts, Tensor
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

OVERLAP_LOSS = 0.3
"""How much of what is not the bottleneck shows all the same."""
LATENCY = {Kind.GPU: 0.4e-6, Kind.CPU: 0.08e-6}
"""Seconds until what is fetched from global memory is there."""
BARRIER = {Kind.GPU: 0.1e-6, Kind.CPU: 0.0}
"""Seconds that a barrier costs if no other group runs: until stores are seen and loads are back."""
SEEN = 0.25
"""Which share of the waiting for what is not fetched ahead other groups do not hide."""
LOCAL_RATE = {Kind.GPU: 0.2, Kind.CPU: 1.0}
"""Words (vectors on a CPU) that are read near for each that is computed with in the same time."""
SHARED_RATE = 2.0
"""How much faster the last cache is than global memory."""
SECTOR = {Kind.GPU: 32, Kind.CPU: 64}
"""Bytes that are fetched together."""
LINE = 128
"""Bytes of a line of the first cache of a GPU."""
COPY_INSTRUCTIONS = 24.0
"""What a copy costs beside its load and store: the place of each element, and its test."""
JOIN_INSTRUCTIONS = 8.0
"""What a step of the tree costs that joins the accumulators of several items."""
LOOP_INSTRUCTIONS = 2.0
"""What a step of a loop costs."""
GROUP_INSTRUCTIONS = 100.0
"""What a work-item costs before it does anything."""
OWN_REGISTERS = 32
"""Registers for addresses and loops."""
AHEAD_REGISTERS = 1.5
"""Registers for each word that is fetched ahead: for itself, and for where it goes."""
TEST_REGISTERS = 32
"""Registers for the tests of sizes that tiles do not divide."""
SPILL = 4.0
"""How much slower an item with too many registers is."""
SCHEDULERS = 4
"""How many sub-groups a unit of a GPU issues from at a time."""
WARPS_FOR_HALF = 0.9
"""With how many sub-groups a unit issues half of what it could: a few hide one another's waits."""
CYCLES_A_WORD = 0.5
"""How long reading a word takes a sub-group at least, though all read the same."""
CACHED_COPIES = 4096
"""Up to how many copies of the innermost body the instruction cache holds."""


@dataclass(frozen=True)
class Estimate:
    """The seconds that a kernel is thought to take, and where they go."""

    seconds: float
    arithmetic: float
    """Issuing instructions, those of copies and loops too."""
    near: float
    """Reading local memory, or the first cache."""
    shared: float
    """Fetching from the last cache."""
    far: float
    """Global memory."""
    waiting: float
    """For what is fetched, where nothing hides it."""
    launch: float
    groups: int
    resident: int
    """How many groups share a compute unit."""
    registers: int
    """Registers of a work-item."""
    local_memory: int
    """Bytes of a group."""
    copy_steps: int
    """In how many steps the items of a group copy what is fetched ahead."""

    @property
    def bound(self) -> str:
        """What takes longest."""
        parts = ("arithmetic", "near", "shared", "far", "waiting", "launch")
        return max(parts, key=lambda part: getattr(self, part))


@dataclass(frozen=True)
class Walk:
    """How the leaves of a schedule move a tensor: integers alone, as it is asked often."""

    tensor: Tensor
    moves: tuple[Mapping[str, int], ...]
    """For each axis, how far a step of each index goes along it."""

    @staticmethod
    @lru_cache(maxsize=256)
    def of(tensor: Tensor) -> Walk:
        """That of a tensor; as of one element, if the data says the places."""
        access = (IndexExpr(),) * len(tensor.shape) if tensor.access is None else tensor.access
        return Walk(tensor, tuple({n: int(e.coefficient(n)) for n in e.names} for e in access))

    def extents(self, leaves: Iterable[Leaf]) -> tuple[int, ...]:
        """How many elements along each axis the leaves touch, gaps left out."""
        inside = list(leaves)
        return tuple(_reach(moves, inside) for moves in self.moves)

    def elements(self, leaves: Iterable[Leaf]) -> int:
        """How many different elements the leaves touch."""
        sizes = zip(self.extents(leaves), self.tensor.shape, strict=True)
        return prod(min(n, size) for n, size in sizes)

    def run(self, leaves: Iterable[Leaf]) -> int:
        """How many neighbours in memory the leaves touch, at least."""
        run = 1
        for n, size in zip(
            reversed(self.extents(leaves)), reversed(self.tensor.shape), strict=True
        ):
            run *= min(n, size)
            if n < size:
                break
        return run

    def moved_by(self, leaf: Leaf) -> bool:
        """Whether the leaf moves it."""
        return any(leaf.index in moves for moves in self.moves)


def _reach(moves: Mapping[str, int], leaves: Sequence[Leaf]) -> int:
    """The number of places along an axis: coefficients that leave no gap go together."""
    steps = sorted(
        (abs(moves[leaf.index]) * leaf.stride, leaf.extent)
        for leaf in leaves
        if leaf.extent > 1 and moves.get(leaf.index)
    )
    count, reach, unit = 1, 0, 1
    for size, extent in steps:
        if reach == 0 or size > reach + unit:
            count *= reach // unit + 1
            reach, unit = 0, size
        unit = gcd(unit, size)
        reach += size * (extent - 1)
    return count * (reach // unit + 1)


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
        self.walks = [Walk.of(tensor) for tensor in facts.inputs]

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
        sector, size = SECTOR[self.device.kind], walk.tensor.bytes
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
        bytes_ = elements * shares * times * size * _rounded(run * size, sector)
        return bytes_, chunks * times, times

    @property
    def neighbours(self) -> list[Leaf]:
        """The steps that a sub-group makes at once."""
        return [*self.lanes, *(leaf for leaf in self.leaves[-1:] if leaf.role is Role.VECTOR)]


def _rounded(run: int, sector: int) -> float:
    """How much more than a run of bytes is fetched, as sectors are whole."""
    return ceil(run / sector) * sector / run if run else 1.0


def cost(facts: Facts, schedule: Schedule, device: Device) -> Estimate:
    """How long a kernel takes by a schedule; see the head of this file."""
    m = Model(facts, schedule, device)
    units = device.compute_units
    unit_rate = device.arithmetic * 1e9 / units
    lanes = max(1, min(m.vector, device.native_vector_width)) if m.is_cpu else 1
    if m.is_cpu:
        unit_rate *= lanes / device.native_vector_width

    fetched = [m.fetched(walk) for walk in m.walks]
    loads = sum(times for _, times, _ in m.reads) / (lanes if m.is_cpu else 1)
    loops = LOOP_INSTRUCTIONS * sum(
        m.trips(k + 1) for k in range(m.parallel, len(m.leaves)) if m.leaves[k].role is Role.SERIAL
    )
    copies = sum(chunks for _, chunks, _ in fetched) * COPY_INSTRUCTIONS
    outputs = m.points if facts.aggregation is None else m.accumulators * m.trips(m.first_reduction)
    per_item = m.points * facts.operations + 2 * loads + 2 * loops + 2 * GROUP_INSTRUCTIONS
    per_item += outputs * (facts.operations_after + 2 * (len(facts.outputs) + len(facts.after)))
    # A tree joins what items share.
    per_item += 2 * m.accumulators * JOIN_INSTRUCTIONS * (m.sharing - 1).bit_length()
    group_flops = per_item * m.items + 2 * copies
    if m.registers > device.registers:
        group_flops *= SPILL
    if m.written_out > CACHED_COPIES:
        group_flops *= 2
    arithmetic = group_flops / unit_rate
    near = _near(m) / (unit_rate / 2 * LOCAL_RATE[device.kind])

    groups_unit = ceil(m.groups / units)
    resident = max(1, min(_resident(m), groups_unit))
    waits = max((n for _, _, n in fetched), default=0)
    ahead = any(s.copies > 1 for s in schedule.stages) or m.is_cpu
    wait = waits * LATENCY[device.kind]
    own = max(arithmetic, near) + OVERLAP_LOSS * min(arithmetic, near)
    # All groups on the unit share it; each by itself waits for what it fetches.
    alone = max(own, wait) if ahead else own + wait
    seen = 0.0 if ahead else SEEN * wait
    # What is not fetched ahead overwrites what is read: a barrier before, and one after.
    barriers = waits * BARRIER[device.kind] * (1 if ahead else 2)
    rounds, last = divmod(groups_unit, resident)
    busy = sum(
        times * (max(own * n / _issue(m, n), alone) + seen + barriers / n)
        for n, times in ((resident, rounds), (last, 1))
        if n
    )

    shared_bytes = sum(b for b, _, _ in fetched) * m.groups + _written(m)
    far_bytes = float(sum(t.size for t in {t.number: t for t in facts.inputs}.values()))
    far_bytes += sum(t.size for t in (*facts.after, *facts.outputs))
    bandwidth = device.bandwidth * 1e9
    shared = shared_bytes / (bandwidth * SHARED_RATE)
    far = far_bytes / bandwidth
    parts = sorted((busy, shared, far), reverse=True)
    launch = device.launch * 1e-6
    seconds = parts[0] + OVERLAP_LOSS * sum(parts[1:]) + launch
    share = groups_unit
    return Estimate(
        seconds,
        arithmetic * share,
        near * share,
        shared,
        far,
        max(0.0, busy - own * share),
        launch,
        m.groups,
        resident,
        m.registers,
        m.local_memory,
        m.copy_steps,
    )


def _issue(m: Model, groups: int) -> float:
    """Which share of its instructions a unit issues with some groups on it."""
    if m.is_cpu:
        return 1.0
    warps = groups * max(1.0, m.items / m.device.sub_group_size)
    return min(1.0, warps / SCHEDULERS) * warps / (warps + WARPS_FOR_HALF)


def _near(m: Model) -> float:
    """The words that a group reads near its items: what lanes have in common counts once."""
    total = 0.0
    lanes = prod(leaf.extent for leaf in m.lanes) or 1
    for walk, times, width in m.reads:
        if not m.is_cpu:
            different = max(1, walk.elements(m.lanes))
            # In a cycle of the unit as many words go by as a sub-group has items.
            least = m.device.sub_group_size * max(1.0, width * CYCLES_A_WORD, _lines(m, walk))
            times *= max(different * width, least) / lanes
        total += times * m.items
    return total


def _lines(m: Model, walk: Walk) -> float:
    """How many lines of a cache a sub-group reads at once: each takes a cycle."""
    if any(stage.local for stage in m.stages(walk.tensor)):
        return 1.0
    size = walk.tensor.bytes
    run = walk.run(m.neighbours) * size
    return walk.elements(m.neighbours) * size / run * ceil(run / LINE)


def _resident(m: Model) -> int:
    """How many groups a compute unit runs at a time."""
    device = m.device
    limits = [device.work_items_unit // max(1, m.items)]
    if device.registers_unit:
        limits.append(device.registers_unit // (min(m.registers, device.registers) * m.items))
    if m.local_memory and not m.is_cpu:
        limits.append(device.local_mem_unit // m.local_memory)
    return max(1, min(limits))


def _written(m: Model) -> float:
    """The bytes that all groups write, in sectors."""
    sector = SECTOR[m.device.kind]
    total = 0.0
    for tensor in m.facts.outputs:
        run = Walk.of(tensor).run(m.neighbours) * tensor.bytes
        total += tensor.size * _rounded(run, sector)
    return total
