"""The innermost body of a contraction on a CPU: its instructions, and the registers it needs.

The body takes as long as its arithmetic (two vectors a cycle), its loads (two a cycle), or the
chain of additions to one register, whichever is most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from tiledialect.lazy import lazy
from tiledialect.schedule.cost.copies import Copy
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.facts import AffineAccess, Facts, Shares, Steps
from tiledialect.schedule.cost.rates import Rates
from tiledialect.schedule.loops import (
    LOADED_LANES,
    LONG_LANES,
    LoopLevel,
    Role,
    Schedule,
    separate_sums,
)

REORDERED = 4
"""Number of registers that compilers save by reordering where windows share elements."""
POWERS = (0, 1, 2, 4, 8, 16)
"""Numbers of vectors that compilers with early loads do not load early."""
COMPARED = 4.0
"""Operations of a maximum or minimum that carries NaN along."""
WAITED = 2.0
"""Operations among them on the dependence chain where elements equal to the extreme are counted:
whether an element is NaN is known before."""


@dataclass(frozen=True)
class TilePart:
    """A part of a tile: a share of the steps of one of its levels."""

    level: LoopLevel | None = None
    share: float = 1.0

    def read(self, access: AffineAccess) -> float:
        """Share of the reads of an operand of a whole tile that a part makes."""
        return self.share if self.level is not None and access.moved_by(self.level) else 1.0


class CpuBody(Model):
    """The innermost body of a contraction by a schedule on a CPU."""

    def __init__(self, facts: Facts, schedule: Schedule, device: Device):
        super().__init__(facts, schedule, device)
        output = facts.outputs[0]
        self.width = device.lanes(output.type, output.bytes)
        """The lanes that the hardware has."""
        self.hardware = ceil(self.vector / self.width)
        """Registers of a vector."""
        self.inner = self.levels[self.body :]
        self.rows = self.inner[:-1] if self.vector > 1 else self.inner
        """The unrolled levels without the lanes."""
        self.inner_steps = self.steps[self.body :]
        self.row_steps = self.inner_steps[: len(self.rows)]
        self.caches = (*device.cache_sizes, 1 << 40, 1 << 40)

    def _set_rates(self, rates: Rates) -> None:
        super()._set_rates(rates)
        self.core = rates.of_cpu.core

    @property
    def tests(self) -> Shares:
        """All tests: a loop that is skipped at an edge saves a core its time."""
        return self.facts.shares

    @lazy
    def touched(self) -> Mapping[AffineAccess, Sequence[int]]:
        """Number of elements touched in a work-item, inside its first level, and so on."""
        inside = self._passing()[self.parallel :]
        return {access: access.elements_inside(inside) for access in self.accesses}

    def _passing(self) -> Steps:
        """The steps without those that tests skip."""
        steps = list(self.steps)
        for place, share in self.skips:
            if place > self.parallel:
                index, stride, extent = steps[place - 1]
                steps[place - 1] = index, stride, max(1, ceil(extent * share))
        return tuple(steps)

    @lazy
    def vectors(self) -> int:
        """Number of registers of sums in the innermost body."""
        outputs = self.facts.output_indices
        count = prod(level.extent for level in self.inner if level.index in outputs)
        count *= prod(self.levels[k].extent for k in separate_sums(self.levels, outputs))
        return max(1, count // self.vector) * self.hardware

    def is_vector(self, access: AffineAccess) -> bool:
        """Whether the lanes read different elements."""
        return self.vector > 1 and access.moved_by(self.inner[-1])

    def loads(self, access: AffineAccess) -> float:
        """The instructions that load an operand in the body."""
        places = access.elements(self.row_steps)
        if not self.is_vector(access):
            return places
        if self.is_row(access, self.inner[-1]):
            return places * self.hardware
        if count := self._spread(access):
            # Each shuffle but the first waits for the one before.
            shuffled = self.core.shuffled * (2 * count - 3)
            spread = self.hardware * (count * self._parted_load(access) + shuffled)
            return places * min(spread, 2.0 * self.vector)
        return 2.0 * access.elements(self.inner_steps)

    def _spread(self, access: AffineAccess) -> int:
        """Number of long vectors of a row from which strided lanes are shuffled."""
        if self.vector < LONG_LANES or access.tensor.type != "f32":
            return 0
        apart = self.row_step(access, self.inner[-1])
        return apart if 1 < apart <= self.vector // LOADED_LANES else 0

    def _parted_load(self, access: AffineAccess) -> float:
        """Cost in loads of a load that begins anywhere in a line."""
        return 1.0 + self.core.split_load * min(
            1.0, min(self.vector, self.width) * access.tensor.bytes / LINE
        )

    def _lines(self, access: AffineAccess) -> float:
        """Cost in loads of a load of neighbours: more where vectors begin anywhere."""
        if not self.is_vector(access) or not self.is_row(access, self.inner[-1]):
            return 1.0
        lanes = self.vector
        others = [level for level in self.levels[:-1] if access.moved_by(level)]
        copies = [c for c in self.copies(access.tensor) if c.stage.local]
        if copies:
            last = (copies[-1].stage.order or range(len(access.tensor.shape)))[-1]
            inside = [x for x in others if self._is_inside(x, copies[-1])]
            starts = [access.moves[last].get(x.index, 0) * x.stride for x in inside]
            rows = access.extents(copies[-1].inside)
            starts.append(rows[last] if prod(rows) > rows[last] else 0)
        else:
            starts = [self._stride(access, level) for level in others]
        is_aligned = all(start % lanes == 0 for start in starts)
        return 1.0 if is_aligned else self._parted_load(access)

    def _is_inside(self, level: LoopLevel, copy: Copy) -> bool:
        return (level.index, level.stride, level.extent) in copy.inside

    @property
    def operations(self) -> float:
        """The arithmetic instructions of the body."""
        steps = prod(level.extent for level in self.rows) * self.hardware * self._known_share
        each = COMPARED if self.facts.aggregation in ("max", "min") else 0.0
        return steps * (each + ceil(self.facts.operations / 2))

    @lazy
    def known(self) -> frozenset[str]:
        """Indices with all values unrolled in the body, which makes their tests constant.

        Only with AVX-512: with 16 registers tiles of whole residue classes take 1.8 ms where others
        take 1.3 (1-D windows of 4, stride 2).
        """
        if not self.device.has_long_vectors:
            return frozenset()
        reach: dict[str, int] = {}
        for level in self.rows:
            reach[level.index] = reach.get(level.index, 1) * level.extent
        extents = self.facts.extents
        return frozenset(n for n, count in extents.items() if count in (1, reach.get(n)))

    @lazy
    def _known_share(self) -> float:
        """Share of the body that remains where tests are constant: copies need none."""
        known = self.known if any(names <= self.known for names, _ in self.facts.shares) else ()
        read = (
            [access.tensor for access in self.accesses if not self.copies(access.tensor)]
            if known
            else ()
        )
        return prod(share for names, share in self.facts.shares_of(read, 2) if names <= self.known)

    @property
    def _chained(self) -> float:
        """Operations on the dependence chain, without those of counting.

        Lanes that share the points are joined at the end: few sums at a time gain nothing.
        """
        is_shared = self.vector > 1 and self.inner[-1].index not in self.facts.output_indices
        if is_shared or not self.facts.counts:
            return self.operations
        steps = prod(level.extent for level in self.rows) * self.hardware * self._known_share
        return WAITED * steps

    def busy_in(self, part: TilePart) -> float:
        """Cycles of a body for a part of a tile, with operands in registers and the first cache."""
        operations = self.operations
        loads = sum(self._loads_made(w) * self._lines(w) * part.read(w) for w in self.accesses)
        chain = self.core.chain * self._chained / self.vectors / self._overlapped
        return max(operations * part.share / 2, loads / self.core.loaded, chain)

    @lazy
    def _overlapped(self) -> float:
        """Number of bodies under way at a time: sums that are complete in a body do not wait for
        those of the body before."""
        if self.first_reduction < self.body:
            return 1.0
        instructions = self.operations + sum(map(self.loads, self.accesses))
        return max(1.0, self.core.window / instructions)

    def _loads_made(self, access: AffineAccess) -> float:
        """Loads of an operand, also of what windows share.

        With AVX-512 a product with the only vector of its step takes its element from memory, where
        another product had it, too.
        """
        if not (self.device.has_long_vectors and self._is_met_once) or self.is_vector(access):
            return self.loads(access)
        moved = (level.extent for level in self.rows if access.moved_by(level))
        return self.core.own_load * prod(moved)

    @property
    def held(self) -> float:
        """Number of registers that a step of the summation needs, if there is one.

        The sums, the vectors that meet several elements, and one of these elements; or the elements
        and one vector, if each vector meets all elements before the next one is read. Where each
        element meets one vector alone, the next one is loaded before a sum has its place: of 14
        sums two are on the stack in each step, and they take 1.25 times as long as 12.
        """
        sums = 0 if all(index.is_output for index in self.facts.indices) else self.vectors
        if self._is_by_vectors:
            tile = tuple(x for x in self.row_steps if x[0] in self.facts.output_indices)
            rows = (access.elements(tile) for access in self.accesses if not self.is_vector(access))
            return sums + max(rows, default=0) + self.hardware
        ahead = 1 if self._is_met_once and not self.device.has_long_vectors else 0
        return sums + self._columns + 1 + ahead

    @property
    def _columns(self) -> float:
        """Number of vectors, each for several elements, that a step of the summation loads."""
        vectors = [self.loads(access) for access in self.accesses if self.is_vector(access)]
        return min(vectors, default=0.0) / self._summed_steps

    @lazy
    def _is_met_once(self) -> bool:
        """Whether elements meet one vector each."""
        return self._columns == 1 and not all(map(self.is_vector, self.accesses))

    @lazy
    def _is_by_vectors(self) -> bool:
        """Whether rows that share vectors are inside rows with vectors of their own.

        This matters where elements take up registers.
        """
        if self.device.has_long_vectors:
            return False
        levels = [level for level in self.rows if level.index in self.facts.output_indices]
        vectors = [access for access in self.accesses if self.is_vector(access)]
        own = [any(access.moved_by(level) for access in vectors) for level in levels]
        return len(own) > 1 and own[0] and not own[-1]

    def _carried(self, access: AffineAccess) -> int:
        """Number of elements or vectors of an operand that the next step of the summation needs,
        too.

        Elements that are held anyway do not count, but those that strided windows share with the
        step after the next.
        """
        is_held = self._is_by_vectors and not self.is_vector(access)
        outputs, size = self.facts.output_indices, self.hardware if self.is_vector(access) else 1
        most = 0
        for k, level in enumerate(self.rows):
            if level.index not in outputs:
                inside = self.row_steps[k + 1 :]
                one = access.elements(inside)
                next_, later = (
                    2 * one - access.elements(((level.index, k * level.stride, 2), *inside))
                    for k in (1, 2)
                )
                shared = later if is_held and not next_ and level.extent > 2 else next_
                most = max(most, 0 if is_held and next_ else shared)
        return most * size

    @property
    def _summed_steps(self) -> int:
        """Number of unrolled steps of the summation in the body."""
        outputs = self.facts.output_indices
        return prod(level.extent for level in self.rows if level.index not in outputs)

    @property
    def spilled(self) -> float:
        """Number of registers that the body lacks."""
        registers = self.device.registers
        # Elements that windows share are kept from one step to the next.
        carried = sum(map(self._carried, self.accesses))
        if not self.device.has_long_vectors:
            return self._summed_steps * max(0.0, self.held + carried - registers)
        # Elements need no registers of their own; early loads show once a body.
        ahead = max(map(self.loads, self.accesses), default=0) / 4
        needed = self.held + carried - REORDERED if carried else self.vectors + ahead + 1
        if self.device.loads_first and self._columns not in POWERS:
            needed = max(needed, self.held + (self._summed_steps - 1) * self._columns)
        return max(0.0, needed - registers)

    def _strides_read(self, access: AffineAccess) -> Mapping[str, int]:
        """Strides of each index in memory, or in the copy that is read, in elements."""
        copies = [c for c in self.copies(access.tensor) if c.stage.local]
        if not copies:
            return access.tensor.strides
        found: dict[str, int] = {}
        extents, size = access.extents(copies[-1].inside), 1
        for axis in reversed(copies[-1].stage.order or range(len(extents))):
            for name, step in access.moves[axis].items():
                found[name] = found.get(name, 0) + abs(step) * size
            size *= extents[axis]
        return found

    @lazy
    def _loops(self) -> list[LoopLevel]:
        """The loops of a work-item around the body, the innermost first."""
        inside = self.levels[self.parallel : self.body]
        return [x for x in reversed(inside) if x.role is Role.SERIAL]

    @property
    def _innermost_loop(self) -> LoopLevel | None:
        return next(iter(self._loops), None)

    def _stride(self, access: AffineAccess, level: LoopLevel) -> int:
        """Stride of a level in memory, in elements."""
        return abs(access.tensor.strides.get(level.index, 0)) * level.stride
