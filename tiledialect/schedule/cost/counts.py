"""Work of a schedule on a device, counted: registers, tiles, accesses and fetched bytes.

`estimate` and `cpu_estimate` divide it by the rates of devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil, prod
from operator import mul
from typing import Self, TypeVar

from tiledialect.lazy import lazy
from tiledialect.schedule.cost.copies import Copy
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import (
    COMMON,
    AffineAccess,
    Facts,
    Shares,
    Steps,
    Tensor,
    in_sectors,
    steps_of,
)
from tiledialect.schedule.cost.rates import Rates
from tiledialect.schedule.cost.traits import Traits
from tiledialect.schedule.loops import (
    COPIED_BYTES,
    UNROLLED,
    LoopLevel,
    Role,
    Schedule,
    Stage,
    first_unrolled,
    place_of,
    sub_group_share,
)

T = TypeVar("T")

PAIR = 2
"""A vector of so many words is loaded in the time of as many loads of a word."""


class timed(lazy[T]):  # noqa: N801
    """A lazy attribute of a model that depends on the rates, not on counts alone."""


class Model:
    """A kernel, its schedule, a device, and the counts that follow from them.

    There is one for each schedule that is estimated; counts used more than once are cached.
    """

    def __init__(self, facts: Facts, schedule: Schedule, device: Device):
        self.facts = facts
        self.schedule = schedule
        self.device = device
        self._set_rates(device.rates)
        self.levels = schedule.levels
        self.steps = steps_of(self.levels)
        groups = [x.extent for x in self.levels if x.role is Role.GROUP]
        self.local = [x for x in self.levels if x.role is Role.LOCAL]
        self.parallel = len(groups) + len(self.local)
        self.groups = prod(groups)
        self.items = prod([x.extent for x in self.local])
        """Work-items of a group."""
        self.body = first_unrolled(self.levels)
        """First of the innermost unrolled levels."""
        last = self.levels[-1] if self.levels else None
        self.vector = last.extent if last is not None and last.role is Role.VECTOR else 1
        """The lanes of the innermost loop, as far as the hardware has them."""
        self.accesses = [tensor.affine_access for tensor in facts.inputs]
        inner = [extent for _, _, extent in self.steps[self.parallel :]]
        self._visits = [*accumulate(inner, mul, initial=1)]
        """Number of times that a work-item reaches each level inside it."""
        self.all_copies = [*map(self._copy_of, schedule.stages)]
        self._copies: dict[int, list[Copy]] = {}
        for copy in sorted(self.all_copies, key=lambda c: (c.place, not c.stage.local)):
            self._copies.setdefault(copy.stage.operand, []).append(copy)

    def _set_rates(self, rates: Rates) -> None:
        self.rates = rates
        self.overlap_loss = rates.items.overlap_loss

    def at(self, rates: Rates) -> Self:
        """The same counts with other rates."""
        kind = type(self)
        other = kind.__new__(kind)
        other.__dict__ |= {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), timed)
        }
        other._set_rates(rates)
        return other

    def overlapped(self, *seconds: float) -> float:
        """Seconds of parts of the work that overlap, except for a share."""
        longest, *others = sorted(seconds, reverse=True)
        return longest + self.overlap_loss * sum(others)

    # -- the loops -------------------------------------------------------------------------

    @lazy
    def first_reduction(self) -> int:
        """First level of the accumulators: the number of levels outside them."""
        for k in range(self.parallel, len(self.levels)):
            if self.levels[k].index not in self.facts.output_indices:
                return k
        return min(self.body, len(self.levels))

    def trips(self, k: int) -> float:
        """Number of times that a work-item reaches level ``k``, on average over the groups."""
        visits = self._visits[max(0, k - self.parallel)]
        if not self.skips:
            return visits
        return visits * prod(share for place, share in self.skips if place <= k)

    @property
    def tests(self) -> Shares:
        """The tests that are counted: the indices of each, and the share of values that pass."""
        # Groups without points leave a unit to the others on it; cores balance the rest badly.
        return self.facts.all_tests if self.traits.interleaves_groups else self.facts.tests

    @lazy
    def skips(self) -> list[tuple[int, float]]:
        """Levels inside which whole groups have only a share of the points, with that share."""
        found: list[tuple[int, float]] = []
        if not self.tests:
            return found
        tiles = min((c.place for c in self.all_copies if c.stage.local), default=0)
        for names, share in self.tests:
            moved = [k for k, level in enumerate(self.levels) if level.index in names]
            place = max(moved, default=-1) + 1
            # Few skipped points gain little, unless their operands are not copied either.
            counts = share < COMMON or place < tiles
            if counts and all(self.levels[k].role in (Role.GROUP, Role.SERIAL) for k in moved):
                found.append((place, share))
        return found

    @property
    def points(self) -> float:
        """Number of points that a work-item visits."""
        return self.trips(len(self.levels))

    @property
    def unrolled(self) -> int:
        """Number of copies of the body."""
        return prod(x.extent for x in self.levels if x.role in UNROLLED)

    @property
    def statements(self) -> float:
        """Number of operations in the text of the unrolled body; one for all lanes of a vector."""
        return self.unrolled / self.vector * self.facts.operations

    @lazy
    def lanes(self) -> Steps:
        """The steps of local levels that a sub-group's items run, the fastest ones."""
        found: list[tuple[str, int, int]] = []
        count = 1
        for axis in "xyz":
            for level in reversed([x for x in self.local if x.axis == axis]):
                steps = min(level.extent, ceil(self.device.sub_group_size / count))
                if steps > 1:
                    found.append((level.index, level.stride, steps))
                    count *= steps
        return tuple(found)

    # -- what an item does -----------------------------------------------------------------

    @lazy
    def accumulators(self) -> int:
        """Number of output elements that an item accumulates."""
        if self.facts.aggregation is None:
            return 0
        outputs = self.facts.output_indices
        moving = self.levels[self.first_reduction :]
        count = prod(level.extent for level in moving if level.index in outputs)
        is_summed = self.vector > 1 and self.levels[-1].index not in outputs
        return count * self.vector if is_summed else count

    @lazy
    def sharing(self) -> int:
        """Number of items of a group that share each sum."""
        outputs = self.facts.output_indices
        return prod(level.extent for level in self.local if level.index not in outputs)

    def copies(self, tensor: Tensor) -> Sequence[Copy]:
        """Stages of an input, the outermost first."""
        return self._copies.get(tensor.number, ())

    def _copy_of(self, stage: Stage) -> Copy:
        place = place_of(stage, self.levels)
        inside = self.steps[place:]
        if stage.local and self.local:
            inside = steps_of(self.local) + inside
        access = next((w for w in self.accesses if w.tensor.number == stage.operand), None)
        return Copy(stage, access, place, inside)

    @lazy
    def reads(self) -> list[tuple[AffineAccess, float, int]]:
        """Reads of each input by an item: their number, and the elements of each."""
        found: list[tuple[AffineAccess, float, int]] = []
        for access in self.accesses:
            copies = self.copies(access.tensor)
            place, width = self.body, 1
            last = self.levels[-1] if self.body < len(self.levels) else None
            if copies and not copies[-1].stage.local:
                place = copies[-1].place
                width = copies[-1].stage.vector
                if width > PAIR and not self._begin_aligned(access, copies):
                    width = 1
            elif last is not None and last.role is Role.VECTOR and self.is_row(access, last):
                width = last.extent
            width = width if self.traits.has_vectors else min(width, self.device.max_vector_width)
            touched = access.elements(self.steps[place:])
            found.append((access, self.trips(place) * touched / width, width))
        return found

    def _begin_aligned(self, access: AffineAccess, copies: Sequence[Copy]) -> bool:
        """Whether vectors that an item loads from local memory begin at multiples of themselves.

        GPUs load other vectors element by element, as of a row of 4 with two more taps.
        """
        tiles, own = [c for c in copies if c.stage.local], copies[-1]
        if self.traits.unaligned_vectors or not tiles:
            return True
        tile, vector = tiles[-1], own.stage.vector
        sizes = zip(access.extents(tile.inside), tile.pitches(access), strict=True)
        outside = tile.distances(step for step in tile.inside if step not in own.inside)
        # The pitch is 1 along the axis of neighbours.
        apart = [pitch for extent, pitch in sizes if extent > 1 and pitch > 1]
        return all(place % vector == 0 for place in (*apart, *outside))

    def is_row(self, access: AffineAccess, level: LoopLevel) -> bool:
        """Whether the level goes along neighbours where the tensor is read from."""
        return self.row_step(access, level) == 1

    def row_step(self, access: AffineAccess, level: LoopLevel) -> int:
        """Distance that a level moves along rows of the tensor's source."""
        orders = [c.stage.order for c in self.copies(access.tensor) if c.stage.local]
        rank = len(access.tensor.shape)
        last = orders[-1][-1] if orders and orders[-1] else rank - 1
        return access.moves[last].get(level.index, 0) * level.stride if rank else 0

    @property
    def sector(self) -> int:
        """The bytes that are fetched together."""
        return self.traits.sector

    @property
    def traits(self) -> Traits:
        """Structure of the device."""
        return self.device.traits

    @timed
    def registers(self) -> int:
        """Registers of a work-item."""
        per = self.vector if self.traits.has_vectors else 1
        words = self.accumulators * max(self.facts.outputs[0].bytes, 4) / 4 / per
        for access in self.accesses:
            own = [c for c in self.copies(access.tensor) if not c.stage.local]
            kept = own[-1].inside if own else self._one_step
            words += access.elements(kept) * max(access.tensor.bytes, 4) / 4 / per
        if self.traits.has_vectors:
            return ceil(words)
        rates = self.rates.items
        if self.facts.is_rows and not self.schedule.stages:
            # The sums, and half of the loads where all is unrolled.
            words = self.vector * self.facts.held + self.unrolled * len(self.accesses) / 2
        for copy in self.all_copies:
            if copy.stage.copies > 1 and not copy.stage.asynchronous:
                words += rates.ahead_registers * copy.size / self.items
        return ceil(words + rates.own_registers + rates.test_registers * self.overshoots)

    @lazy
    def overshoots(self) -> bool:
        """Whether loops reach beyond the ranges of indices, so that there are tests."""
        return any(self.reach.get(name, 0) > n for name, n in self.facts.extents.items())

    @lazy
    def reach(self) -> Mapping[str, int]:
        """Number of values of each index that the levels span."""
        found: dict[str, int] = {}
        for index, _, extent in self.steps:
            found[index] = found.get(index, 1) * extent
        return found

    @property
    def _one_step(self) -> Steps:
        outputs = self.facts.output_indices
        return tuple(step for step in self.steps[self.body :] if step[0] in outputs)

    # -- copies ----------------------------------------------------------------------------

    def copy_loads(self, copy: Copy, access: AffineAccess) -> tuple[int, int]:
        """Number of loads of an item for a piece of a tile, and number of neighbours in a row."""
        loads = 1 if self._is_aligned(access, copy) else copy.width
        return loads, access.extents(copy.inside)[-1]

    def copies_alone(self, copy: Copy) -> bool:
        """Whether items can leave it to the device to copy a tile, in whole pieces."""
        access, stage = copy.access, copy.stage
        if access is None or stage.order or stage.pad:
            return False
        whole = copy.width * access.tensor.bytes == COPIED_BYTES[-1]
        return whole and self._is_aligned(access, copy)

    def _is_aligned(self, access: AffineAccess, copy: Copy) -> bool:
        """Whether all rows of a tile begin at whole vectors in memory."""
        moves, shape, vector = access.moves[-1], access.tensor.shape, copy.width
        outside = [x for x in self.steps if x not in copy.inside]
        jumps = [moves.get(name, 0) * stride for name, stride, _ in outside]
        assert access.tensor.access
        last = access.tensor.access[-1]
        lowers = {index.name: index.range.lower for index in self.facts.indices}
        begin = int(last.constant) + sum(n * lowers[name] for name, n in moves.items())
        # A negative move begins at the other end.
        back = [n * s * (e - 1) for name, s, e in copy.inside if (n := moves.get(name, 0)) < 0]
        return all(n % vector == 0 for n in (*jumps, begin + sum(back), shape[-1]))

    @lazy
    def copy_steps(self) -> int:
        """Number of steps in which the items of a group copy the largest tile that is fetched
        ahead."""
        ahead = [copy for copy in self.all_copies if copy.stage.copies > 1]
        return max((ceil(copy.size // copy.width / self.items) for copy in ahead), default=0)

    @lazy
    def tile_memory(self) -> int:
        """Bytes of local memory of a group for its tiles."""
        total = 0
        # Each read of a tensor has tiles of its own.
        for access in self.accesses:
            for stage, _, _, inside in self.copies(access.tensor):
                if stage.local:
                    sizes = access.extents(inside)
                    last = sizes[stage.order[-1] if stage.order else -1] if sizes else 1
                    rows = prod(sizes) // max(last, 1)
                    copies = stage.copies if self.items > 1 else 1
                    total += rows * (last + stage.pad) * access.tensor.bytes * copies
        return total

    @lazy
    def local_memory(self) -> int:
        """Bytes of local memory of a group."""
        if self.sharing == 1:
            return self.tile_memory
        size = 0 if self.facts.is_rows else self.facts.joined_bytes
        # Half of the parts are handed over, then half of these, elsewhere.
        handed = 1 if self.sharing == 2 else ceil(self.sharing * 3 / 4)
        parts = self.accumulators * ceil(self.items / self.sharing) * handed
        return self.tile_memory + parts * (size or self.facts.outputs[0].bytes)

    @lazy
    def joining_memory(self) -> int:
        """Bytes of local memory in which work-items that share rows join their aggregates.

        Each aggregate has its own memory there; sub-groups need it once.
        """
        lanes = sub_group_share(self.schedule, self.facts.reduced_indices)
        if self.sharing <= lanes:
            return 0
        outputs = self.facts.output_indices
        moving = self.levels[self.first_reduction :]
        count = prod(level.extent for level in moving if level.index in outputs)
        return self.items // lanes * count * self.facts.joined_bytes

    def fetched(self, access: AffineAccess) -> tuple[float, float, float]:
        """Fetches of an input by a group: bytes in whole sectors, chunks of copies, and waits."""
        copies = self.copies(access.tensor)
        sector, size = self.sector, access.tensor.bytes
        place = copies[0].place if copies else self.body
        if copies and copies[0].stage.local:
            inside = copies[0].inside
            elements, run, shares = access.elements(inside), access.run(inside), 1.0
            chunks = elements / copies[0].width
        else:
            elements = access.elements(self.lanes + self.steps[place:])
            run = self.run(access)
            shares = self.items / max(1, prod(extent for _, _, extent in self.lanes))
            chunks = 0.0
        times = self.trips(place)
        shares *= self.unshared(access)
        bytes_ = elements * shares * times * size * in_sectors(run * size, sector)
        return bytes_, chunks * times, times

    def unshared(self, access: AffineAccess) -> float:
        """Share of a group's reads of a tensor at several nearby places that is new.

        Earlier reads of its items, which are lanes, are in the first cache, as in a stencil.
        """
        own = access.tensor
        near = [w.tensor for w in self.accesses if w.tensor.number == own.number]
        if self.traits.has_vectors or len(near) == 1 or self.copies(own) or own.access is None:
            return 1.0
        apart: list[list[int]] = []
        for other in near:
            if other.access is None:
                return 1.0
            moved = [a - b for a, b in zip(other.access, own.access, strict=True)]
            if not all(e.is_constant for e in moved):
                return 1.0
            apart.append([int(e.constant) for e in moved])
        extents = access.extents(self.lanes + self.steps[self.body :])
        spans = (max(axis) - min(axis) for axis in zip(*apart, strict=True))
        union = prod(n + span for n, span in zip(extents, spans, strict=True))
        return min(1.0, union / (len(near) * max(1, prod(extents))))

    @lazy
    def neighbours(self) -> Steps:
        """The steps that a sub-group makes at once."""
        is_vector = bool(self.levels) and self.levels[-1].role is Role.VECTOR
        return self.lanes + self.steps[-1:] if is_vector else self.lanes

    @lazy
    def together(self) -> Steps:
        """Steps of a sub-group at once, or one directly after another.

        An unrolled row of few elements lies between those of the neighbouring lanes.
        """
        return self.lanes + self.steps[self.body :] if self.facts.is_rows else self.neighbours

    def run(self, access: AffineAccess) -> int:
        """Number of neighbours in memory that are accessed together."""
        return max(access.run(self.neighbours), access.run(self.together))
