"""How long a contraction takes on a CPU by a schedule, without running it.

A core is counted in cycles. The innermost body takes as long as its arithmetic (two vectors a
cycle), its loads (two a cycle), the chain of additions to one register, or what it fetches from the
cache that holds it, whichever is most. Loops, copies to tiles, blocks of sums that wait in memory,
and stores come on top; groups are shared among the cores, whose last round may be short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, gcd, inf, log2, prod

from tiledialect.lazy import lazy
from tiledialect.schedule.cost import Estimate
from tiledialect.schedule.device import Device
from tiledialect.schedule.facts import Facts, Shares, Steps, Walk, padded_indices
from tiledialect.schedule.leaves import WRITTEN_OUT, Leaf, Role, Schedule, summed_beside
from tiledialect.schedule.model import Copy, Model

FLOPS = 4
"""Additions and multiplications of a lane in a cycle: two fused ones."""
CHAIN = {True: 4.0, False: 5.0}
"""Cycles until a sum can be added to, by processors with AVX-512, and by those before them."""
STEP = 1.5
"""Cycles of a step of a loop."""
COPY = {True: 2.0, False: 5.0}
"""Cycles to copy a vector of neighbours, or one element by itself."""
TRANSPOSED = 8.0
"""Cycles to copy a vector of a square that is transposed in registers."""
WAITING = {True: 12.0, False: 16.0}
"""Cycles to read and write a vector of sums that wait in the second cache, or further away."""
PARTED_LINE = {True: 0.0, False: 1.2}
"""Cycles for each line that comes to the first cache for a few of its elements; with AVX-512 a step
of the summation computes twice as much, and they do not show."""
SPILLED = 2.0
"""Cycles for each time that a register is missing."""
REORDERED = 4
"""How many registers compilers save by another order where windows have elements in common."""
POWERS = (0, 1, 2, 4, 8, 16)
"""How many vectors compilers that may load ahead do not load so."""
COMPARED = 4.0
"""Operations of a maximum or minimum that carries NaN along."""
LINE = 64
"""Bytes of a cache line."""
AHEAD = 256
"""Bytes that come into the second cache together, as neighbours are fetched ahead."""
KEPT = 0.75
"""Which share of the second cache operands that are read again can have."""
SPLIT = 2.0
"""How many loads more one is that reads from two lines."""
WRITTEN_LINE = 3.0
"""Cycles for each line that elements are written to one by one."""
RATES = (64.0, 28.0, 8.0)
"""Bytes a cycle from the first cache, the second, and from further away."""
SCATTERED_ROWS = 512
"""Rows that lie so many bytes apart, or more, are in many places."""
SCATTERED = 2.0
"""How much slower the caches give what lies in many places, which cannot be foreseen."""
WAYS = 8
"""How many lines at the same place of a page the first cache has, surely."""
PAGE = 4096
"""Bytes of a page of memory."""
PAGES = 64
"""How many pages the core finds at once."""
PAGE_CYCLES = 8.0
"""Cycles to find another one."""
BEGIN_CYCLES = 60.0
"""Cycles until what comes from far away is foreseen, along a row of which more is read."""
FEW_ROWS = 32
"""Up to how often an element is used for it to be read as it lies: some whole rows at a time."""
GROUP = 1500.0
"""Cycles of starting a work-group."""
EDGE = 3.0
"""How much slower tiles with tested rows are; those with tested lanes are as many times slower."""
EDGE_LANES = 6.0
"""How much slower vectors are each of whose lanes is tested, as some may read outside a tensor."""
TESTED = {True: 0.4, False: 0.9}
"""How much longer a group takes some of whose tiles have tested rows, with AVX-512 and without."""
ALONE = 8.0
"""How much slower the same is by work-items of one element, which a compiler makes vectors of."""
UNEVEN = {True: 0.15, False: 0.3}
"""Which part of a group two cores wait for one another in the end, if both have as many, or not;
the more cores there are, the later is the last of them."""
OVERLAP_LOSS = 0.15
"""How much of what is not the bottleneck shows all the same."""
READ_TWICE = 2
"""How often an element is read at most for it to matter in which pieces."""
BEGIN = 256
"""How many bytes could be read while a piece elsewhere is found."""
SHARED_RATE = 3.0
"""How much faster the last cache is than memory."""
SHARED_LOSS = 0.5
"""How much of fetching from the last cache shows while a core computes."""
UNKNOWN = 2.0
"""How much slower the last vectors of an index are where rows may end, too."""


class CpuModel(Model):
    """A contraction, its schedule and a CPU."""

    def __init__(self, facts: Facts, schedule: Schedule, device: Device):
        super().__init__(facts, schedule, device)
        output = facts.outputs[0]
        self.width = device.lanes(output.type, output.bytes)
        """The lanes that the hardware has."""
        self.hardware = ceil(self.vector / self.width)
        """Registers of a vector."""
        self.inner = self.leaves[self.body :]
        self.rows = self.inner[:-1] if self.vector > 1 else self.inner
        """The leaves that are written out, the lanes left out."""
        self.inner_steps = self.steps[self.body :]
        self.row_steps = self.inner_steps[: len(self.rows)]
        self.caches = (*device.cache_sizes, 1 << 40, 1 << 40)

    @property
    def tests(self) -> Shares:
        """All of them: a loop that is left out at an edge saves a core its time."""
        return self.facts.shares

    @lazy
    def touched(self) -> Mapping[Walk, Sequence[int]]:
        """How many elements are touched in a work-item, inside its first leaf, and so on."""
        inside = self._passing()[self.parallel :]
        return {walk: walk.elements_inside(inside) for walk in self.walks}

    def _passing(self) -> Steps:
        """The steps without those that tests leave out."""
        steps = list(self.steps)
        for place, share in self.skips:
            if place > self.parallel:
                index, stride, extent = steps[place - 1]
                steps[place - 1] = index, stride, max(1, ceil(extent * share))
        return tuple(steps)

    @lazy
    def vectors(self) -> int:
        """How many registers of sums there are in the innermost body."""
        outputs = self.facts.output_indices
        count = prod(leaf.extent for leaf in self.inner if leaf.index in outputs)
        count *= prod(self.leaves[k].extent for k in summed_beside(self.leaves, outputs))
        return max(1, count // self.vector) * self.hardware

    def is_vector(self, walk: Walk) -> bool:
        """Whether the lanes read different elements."""
        return self.vector > 1 and walk.moved_by(self.inner[-1])

    def loads(self, walk: Walk) -> float:
        """The instructions that load an operand in the body."""
        places = walk.elements(self.row_steps)
        if not self.is_vector(walk):
            return places
        if self.is_row(walk, self.inner[-1]):
            return places * self.hardware
        return 2.0 * walk.elements(self.inner_steps)

    def _lines(self, walk: Walk) -> float:
        """How many loads one of neighbours is worth: more where vectors begin anywhere."""
        if not self.is_vector(walk) or not self.is_row(walk, self.inner[-1]):
            return 1.0
        lanes, size = self.vector, walk.tensor.bytes
        others = [leaf for leaf in self.leaves[:-1] if walk.moved_by(leaf)]
        copies = [c for c in self.copies(walk.tensor) if c.stage.local]
        if copies:
            last = (copies[-1].stage.order or range(len(walk.tensor.shape)))[-1]
            inside = [x for x in others if self._is_inside(x, copies[-1])]
            starts = [walk.moves[last].get(x.index, 0) * x.stride for x in inside]
            rows = walk.extents(copies[-1].inside)
            starts.append(rows[last] if prod(rows) > rows[last] else 0)
        else:
            starts = [self._stride(walk, leaf) for leaf in others]
        is_aligned = all(start % lanes == 0 for start in starts)
        share = min(1.0, min(lanes, self.width) * size / LINE)
        return 1.0 if is_aligned else 1.0 + SPLIT * share

    def _is_inside(self, leaf: Leaf, copy: Copy) -> bool:
        return (leaf.index, leaf.stride, leaf.extent) in copy.inside

    @property
    def operations(self) -> float:
        """The arithmetic instructions of the body."""
        steps = prod(leaf.extent for leaf in self.rows) * self.hardware
        each = COMPARED if self.facts.aggregation in ("max", "min") else 0.0
        return steps * (each + ceil(self.facts.operations / 2))

    @lazy
    def busy_cycles(self) -> float:
        """Cycles of the innermost body for what is in registers and the first cache."""
        operations = self.operations
        loads = [self.loads(walk) * self._lines(walk) for walk in self.walks]
        chain = CHAIN[self.device.has_long_vectors] * operations / self.vectors
        return max(operations / 2, sum(loads) / 2, chain)

    @lazy
    def lost_cycles(self) -> float:
        """Cycles of the innermost body that nothing else is done in."""
        parted = PARTED_LINE[self.device.has_long_vectors] * sum(map(self._parted, self.walks))
        pages = PAGE_CYCLES * sum(map(self._pages, self.walks))
        return self.conflicts + SPILLED * self.spilled + parted + pages

    def _pages(self, walk: Walk) -> float:
        """How often the body finds a page because a few elements of it come from far away."""
        loop = self._innermost_loop
        if loop is None or self.copies(walk.tensor) or not walk.moved_by(loop):
            return 0.0
        size = walk.tensor.bytes
        row = size * abs(walk.tensor.strides.get(loop.index, 0))
        if row < PAGE or self.facts.extents[loop.index] <= PAGES or self.goes_by(walk):
            return 0.0
        run = max(1, walk.run(self.inner_steps)) * size
        each = self.touched[walk][self.body - self.parallel] * size
        lines = ((run - size) / LINE + 1) * LINE / run
        near = self.caches[0] // 2 * _used_share(row, run)
        if self.touched[walk][self.body - 1 - self.parallel] * size * lines > near:
            return max(1.0, each / run)
        # What is left of lines that are still there is for the next tile.
        return self._filled(walk, int(near), lines) / LINE / lines

    def _parted(self, walk: Walk) -> float:
        """Lines of a packed operand that the body reads a part of, and that come from far away.

        Each step of the summation reads a few elements of another row of the copy.
        """
        loop = self._innermost_loop
        if loop is None or self.is_vector(walk) or not walk.moved_by(loop):
            return 0.0
        apart = walk.tensor.bytes * abs(self._strides_read(walk).get(loop.index, 0))
        run = max(1, walk.run(self.inner_steps)) * walk.tensor.bytes
        if not self.copies(walk.tensor) or apart < LINE or run >= LINE:
            return 0.0
        near, lines = self.caches[0] // 2, LINE / run
        touched = self.touched[walk][self.body - 1 - self.parallel] * walk.tensor.bytes
        # If they are still there, what is left of lines is for the next tile.
        return self._filled(walk, near, lines) / LINE if touched * lines > near else 0.0

    @property
    def held(self) -> float:
        """How many registers a step of the summation needs, if there is one.

        The sums, the vectors that meet several elements, and one of these elements; or the elements
        and one vector, if each vector meets all elements before the next one is read.
        """
        sums = 0 if all(index.is_output for index in self.facts.indices) else self.vectors
        if self._is_by_vectors:
            tile = tuple(x for x in self.row_steps if x[0] in self.facts.output_indices)
            rows = (walk.elements(tile) for walk in self.walks if not self.is_vector(walk))
            return sums + max(rows, default=0) + self.hardware
        return sums + self._columns + 1

    @property
    def _columns(self) -> float:
        """How many vectors a step of the summation loads, which meet several elements."""
        vectors = [self.loads(walk) for walk in self.walks if self.is_vector(walk)]
        return min(vectors, default=0.0) / self._summed_steps

    @lazy
    def _is_by_vectors(self) -> bool:
        """Whether rows that share vectors are inside those with vectors of their own.

        It matters where elements take up registers.
        """
        if self.device.has_long_vectors:
            return False
        leaves = [leaf for leaf in self.rows if leaf.index in self.facts.output_indices]
        vectors = [walk for walk in self.walks if self.is_vector(walk)]
        own = [any(walk.moved_by(leaf) for walk in vectors) for leaf in leaves]
        return len(own) > 1 and own[0] and not own[-1]

    def _carried(self, walk: Walk) -> int:
        """How many elements or vectors of an operand the next step of the summation needs, too.

        They are others than those that are held.
        """
        if self._is_by_vectors and not self.is_vector(walk):
            return 0
        outputs, size = self.facts.output_indices, self.hardware if self.is_vector(walk) else 1
        most = 0
        for k, leaf in enumerate(self.rows):
            if leaf.index not in outputs:
                inside = self.row_steps[k + 1 :]
                two = walk.elements(((leaf.index, leaf.stride, 2), *inside))
                most = max(most, 2 * walk.elements(inside) - two)
        return most * size

    @property
    def _summed_steps(self) -> int:
        """How many steps of the summation are written out in the body."""
        outputs = self.facts.output_indices
        return prod(leaf.extent for leaf in self.rows if leaf.index not in outputs)

    @property
    def spilled(self) -> float:
        """How often the body has a register too few."""
        registers = self.device.registers
        # What windows have in common is kept from one step to the next.
        carried = sum(map(self._carried, self.walks))
        if not self.device.has_long_vectors:
            return self._summed_steps * max(0.0, self.held + carried - registers)
        # Elements need no registers of their own; what is loaded ahead shows once a body.
        ahead = max(map(self.loads, self.walks), default=0) / 4
        needed = self.held + carried - REORDERED if carried else self.vectors + ahead + 1
        if self.device.loads_first and self._columns not in POWERS:
            needed = max(needed, self.held + (self._summed_steps - 1) * self._columns)
        return max(0.0, needed - registers)

    def streamed(self, walk: Walk) -> float:
        """Cycles for what the body fetches of an operand from where it lies."""
        if self.goes_by(walk):
            return self._going_by(walk)
        loop = self._innermost_loop
        if loop is None or not walk.moved_by(loop):
            return 0.0
        size = walk.tensor.bytes
        is_packed = bool(self.copies(walk.tensor))
        row = size * abs(walk.tensor.strides.get(loop.index, 0))
        run = max(1, walk.run(self.inner_steps)) * size
        each = self.touched[walk][self.body - self.parallel] * size
        lines = 1.0
        if not is_packed and row >= LINE and row > run:
            # Lines are fetched as a whole.
            lines = ceil(run / LINE) * LINE / run
        near = self.caches[0] // 2
        if not is_packed and row >= LINE:
            near = int(near * _used_share(row, run))
        cycles = max(
            each * lines / RATES[0],
            self._filled(walk, near, lines) / RATES[1],
            # The second cache keeps what is left of lines for the next tile.
            self._fetched(walk) / RATES[2],
        )
        if is_packed:
            return cycles
        if row >= SCATTERED_ROWS:
            cycles *= SCATTERED
        if row and row % (PAGE // 2) == 0:
            cycles *= SCATTERED
        return cycles

    def goes_by(self, walk: Walk) -> bool:
        """Whether an operand is read as it lies, each vector seldom, though more than twice."""
        elements = prod(walk.tensor.shape)
        is_seldom = READ_TWICE * elements < self.facts.points <= FEW_ROWS * elements
        is_plain = self.facts.is_product and not self.copies(walk.tensor)
        return is_seldom and is_plain and self.is_vector(walk)

    def _going_by(self, walk: Walk) -> float:
        """Cycles for what the body fetches of such an operand."""
        loop = next(filter(walk.moved_by, self._loops), None)
        if loop is None:
            return 0.0
        size = walk.tensor.bytes
        row = size * abs(walk.tensor.strides.get(loop.index, 0))
        run = max(1, walk.run(self.inner_steps)) * size
        each = self.touched[walk][self.body - self.parallel] * size
        # What is small was computed just before, and lies in the second cache.
        is_near = self.facts.moved <= self.caches[1] // 2
        near = int(self.caches[0] // 2 * _used_share(row, run))
        fetched = (
            (each, RATES[0]),
            (self._filled(walk, near, 1.0), RATES[1]),
            (self._filled(walk, self.caches[1], 1.0), RATES[1 if is_near else 2]),
        )
        # Whole lines that come for the first time share no places of the first cache.
        once = self.touched[walk][0] * size / self.trips(self.body) if run >= LINE else 0.0
        slower = SCATTERED ** ((row >= SCATTERED_ROWS) + (row > 0 and row % (PAGE // 2) == 0)) - 1
        cycles = max((count + max(0.0, count - once) * slower) / rate for count, rate in fetched)
        rows = prod(x.extent for x in (loop, *self.rows) if x.index == loop.index)
        if row >= PAGE and rows > PAGES:
            cycles += PAGE_CYCLES * each / run
        if row >= PAGE and not is_near:
            cycles += BEGIN_CYCLES * once / (size * self._stripe(walk, loop.index))
        return cycles

    def _stripe(self, walk: Walk, index: str) -> int:
        """How many neighbours are read while a loop goes over few rows, again and again."""
        for place in range(self.parallel, self.body):
            rows = prod(leaf.extent for leaf in self.leaves[place:] if leaf.index == index)
            if rows <= PAGES:
                return walk.run(self.steps[place:])
        return walk.run(self.inner_steps)

    def _filled(self, walk: Walk, size: int, lines: float) -> float:
        """Bytes that come into a cache of a size for each run of the body.

        What the loops inside some place touch, if it fits, comes once each time they begin.
        """
        for place in range(self.parallel, self.body):
            touched = self.touched[walk][place - self.parallel] * walk.tensor.bytes * lines
            if touched <= size:
                return touched * self.trips(place) / self.trips(self.body)
        return self.touched[walk][self.body - self.parallel] * walk.tensor.bytes * lines

    def _fetched(self, walk: Walk) -> float:
        """Bytes of an operand that come into the second cache for each run of the body."""
        place = self._kept_from
        touched = self.touched[walk][place - self.parallel] * walk.tensor.bytes
        return touched * self.trips(place) / self.trips(self.body)

    @lazy
    def _kept_from(self) -> int:
        """The outermost loop whose steps find in the second cache what the last one touched."""
        room = KEPT * self.caches[1]
        loops = range(self.parallel, self.body)
        return next((p for p in loops if self._kept(p + 1) <= room), self.body)

    def _kept(self, place: int) -> float:
        """The bytes of the second cache that hold what the leaves from a place on touch."""
        total = 0.0
        for walk, touched in self.touched.items():
            is_packed = bool(self.copies(walk.tensor))
            piece = LINE if is_packed else AHEAD
            run = max(1, walk.run(self.steps[place:])) * walk.tensor.bytes
            most = touched[0] if is_packed else prod(walk.tensor.shape)
            count = min(most, touched[place - self.parallel] * ceil(run / piece) * piece / run)
            total += count * walk.tensor.bytes
        return total

    @property
    def conflicts(self) -> float:
        """Cycles for rows of the body that the first cache cannot have at the same time."""
        rows = 0
        for walk in self.walks:
            moving = [leaf for leaf in self.rows if walk.moved_by(leaf)]
            strides, size = self._strides_read(walk), walk.tensor.bytes
            for leaf in moving:
                step = abs(strides.get(leaf.index, 0)) * leaf.stride * size
                if step and step % PAGE == 0:
                    rows += leaf.extent
        return max(0.0, rows - WAYS) * 2.0

    def _strides_read(self, walk: Walk) -> Mapping[str, int]:
        """How far a step of each index goes in memory, or in the copy that is read, in elements."""
        copies = [c for c in self.copies(walk.tensor) if c.stage.local]
        if not copies:
            return walk.tensor.strides
        found: dict[str, int] = {}
        extents, size = walk.extents(copies[-1].inside), 1
        for axis in reversed(copies[-1].stage.order or range(len(extents))):
            for name, step in walk.moves[axis].items():
                found[name] = found.get(name, 0) + abs(step) * size
            size *= extents[axis]
        return found

    @lazy
    def _loops(self) -> list[Leaf]:
        """The loops of a work-item around the body, the innermost first."""
        inside = self.leaves[self.parallel : self.body]
        return [x for x in reversed(inside) if x.role is Role.SERIAL]

    @property
    def _innermost_loop(self) -> Leaf | None:
        return next(iter(self._loops), None)

    def _stride(self, walk: Walk, leaf: Leaf) -> int:
        """How far a step of a leaf goes in memory, in elements."""
        return abs(walk.tensor.strides.get(leaf.index, 0)) * leaf.stride

    @property
    def copy_cycles(self) -> float:
        """Cycles of all copies that a group makes."""
        return sum(map(self._copy_cycles, self.all_copies))

    def _copy_cycles(self, copy: Copy) -> float:
        stage, walk = copy.stage, self.walk(copy.stage.operand)
        if walk is None:
            return 0.0
        elements = self.tile(copy) * self.trips(copy.place)
        size = walk.tensor.bytes
        rank = len(walk.tensor.shape)
        is_row = not stage.order or stage.order[-1] == rank - 1
        vector = COPY[True] if is_row else TRANSPOSED
        moved = elements * (vector / stage.vector if stage.vector > 1 else COPY[False])
        return moved + elements * size / RATES[2]

    @property
    def waiting_bytes(self) -> int:
        """The sums of a work-item, which wait in memory if they are more than registers hold."""
        return self.accumulators * self.facts.outputs[0].bytes

    @property
    def blocked_cycles(self) -> float:
        """Cycles for sums that wait in memory while others are added to."""
        outputs = self.facts.output_indices
        moving = range(self.first_reduction, len(self.leaves))
        serial = [
            k
            for k in moving
            if self.leaves[k].index in outputs and self.leaves[k].role is Role.SERIAL
        ]
        if not serial:
            return 0.0
        moved = WAITING[self.waiting_bytes <= self.caches[1]]
        return moved * (self.vectors * self.trips(serial[-1] + 1) + self.accumulators / self.width)

    @property
    def stored_cycles(self) -> float:
        """Cycles of writing the results of a group."""
        count = self.accumulators * self.trips(self.first_reduction) / min(self.vector, self.width)
        along = self.vector > 1 and self.inner[-1].index not in self.facts.output_indices
        joined = 2.0 * self.vector if along else 0.0
        stored = 2.0 if along or self._are_neighbours_stored else self._scattered_cycles
        return count * (stored + joined + self.facts.operations_after)

    @property
    def _scattered_cycles(self) -> float:
        """Cycles of writing the lanes of a vector one by one, and of the lines that they are in."""
        output = self.facts.outputs[0]
        run = min(output.walk.run(self.inner_steps) * output.bytes, LINE)
        return self.vector * (1.0 + WRITTEN_LINE * output.bytes / run)

    @property
    def _are_neighbours_stored(self) -> bool:
        """Whether the lanes are neighbours in the output."""
        last = self.leaves[-1] if self.leaves else None
        return last is None or abs(self.facts.outputs[0].strides.get(last.index, 0)) <= 1

    @property
    def edges(self) -> float:
        """How much slower all is by tiles that reach past the end."""
        slower, tested = 1.0, TESTED[self.device.has_long_vectors]
        uneven = [n for n, count in self.facts.extents.items() if self.reach.get(n, 1) != count]
        for name in uneven:
            own = [x for x in self.leaves if x.index == name]
            reach = self.reach.get(name, 1)
            last = [x for x in own if x.role in WRITTEN_OUT]
            if not last:
                continue
            is_lanes = self.vector > 1 and own[-1] is self.leaves[-1]
            readers = [w for w in self.walks if w.moved_by(own[-1]) and not self.copies(w.tensor)]
            share = prod(x.extent for x in last) / reach
            groups = prod(x.extent for x in own if x.role is Role.GROUP)
            if readers and is_lanes:
                is_known = len(uneven) == 1 or name in self.facts.reduced_indices
                slower += share * self._pieces(name) * (1.0 if is_known else UNKNOWN)
            elif readers:
                # All of a group's tiles are tested; in the only group, the last one alone.
                slower += max(share * EDGE, tested / groups if groups > 1 else 0.0)
        return slower + EDGE_LANES * self._outer_lanes

    @property
    def _outer_lanes(self) -> float:
        """Which share of the vectors may begin or end outside what they are read from."""
        if self.vector == 1:
            return 0.0
        name = self.leaves[-1].index
        padded = any(
            self.is_vector(w)
            and name in padded_indices(self.facts, w.tensor)
            and not self.copies(w.tensor)
            for w in self.walks
        )
        return min(1.0, 2 * self.vector / self.reach.get(name, 1)) if padded else 0.0

    def _pieces(self, name: str) -> float:
        """How many shorter vectors the last one of an index is, for each that a tile has."""
        rest = self.facts.extents[name] % self.vector
        vectors = prod([x.extent for x in self.inner if x.index == name]) // self.vector
        return rest.bit_count() / vectors

    @lazy
    def overhead(self) -> float:
        """Cycles of a work-group outside the innermost body."""
        loops = sum(
            self.trips(k + 1)
            for k in range(self.parallel, self.body)
            if self.leaves[k].role is Role.SERIAL
        )
        return STEP * loops + self.copy_cycles + self.blocked_cycles + self.stored_cycles + GROUP

    @lazy
    def bodies(self) -> float:
        """How often a work-group does what the innermost body does: more where that is slower."""
        times = self.trips(self.body) * self.edges
        return times * ALONE * self.items / self.width if self.items > 1 else times

    def busy(self, streamed: float, overhead: float) -> float:
        """Seconds of the cores.

        If what the innermost body fetches takes so many cycles, and all outside of it so many.
        """
        device = self.device
        units = device.compute_units
        rate = device.arithmetic * 1e9 / units / (FLOPS * device.native_vector_width)
        body = max(self.busy_cycles, streamed) + self.lost_cycles
        rounds = ceil(self.groups / units)
        # Groups are handed out as cores are free, of which one may be late.
        uneven = UNEVEN[self.groups % units == 0] * (1 + log2(units)) / 2
        groups = uneven + (self.groups / units if rounds > 8 else rounds)
        return (self.bodies * body + overhead) / rate * groups


def _used_share(row: int, run: int) -> float:
    """Which share of the first cache can hold runs that begin so many bytes from one another."""
    places = PAGE // gcd(PAGE, row)
    return min(1.0, places * ceil(run / LINE) * LINE / PAGE)


def least_cpu_seconds(m: CpuModel, enough: float = inf) -> float:
    """What a contraction takes at least by a schedule: all that it reads might be near.

    Where a part of that is enough already, the rest is not counted.
    """
    launch = m.device.launch * 1e-6
    least = m.busy(0.0, GROUP) + launch
    return least if least >= enough else m.busy(0.0, m.overhead) + launch


def cpu_cost_below(m: CpuModel, below: float) -> Estimate | None:
    """How long a contraction takes on a CPU by a schedule, if these are fewer seconds.

    What can be no faster is not weighed to the end.
    """
    if least_cpu_seconds(m, below) >= below:
        return None
    found = cpu_cost(m)
    return found if found.seconds < below else None


def cpu_cost(m: CpuModel) -> Estimate:
    """How long a contraction takes on a CPU by a schedule."""
    facts, device = m.facts, m.device
    busy = m.busy(sum(map(m.streamed, m.walks)), m.overhead)
    written = sum(t.size for t in (*facts.after, *facts.outputs))
    read = {walk.tensor.number: _read(m, walk) for walk in m.walks}
    memory = (sum(read.values()) + written) / (device.bandwidth * 1e9)
    cache = _first_reads(m) / (device.bandwidth * 1e9 * SHARED_RATE)
    cores = max(busy, cache) + SHARED_LOSS * min(busy, cache)
    launch = device.launch * 1e-6
    return Estimate(
        seconds=max(cores, memory) + OVERLAP_LOSS * min(cores, memory) + launch,
        arithmetic=busy,
        local=0.0,
        cache=cache,
        memory=memory,
        waiting=0.0,
        launch=launch,
        groups=m.groups,
        resident=1,
        registers=m.vectors,
        local_memory=m.local_memory,
        copy_steps=m.copy_steps,
    )


def _read(m: CpuModel, walk: Walk) -> float:
    """Bytes of a tensor, more if it is read but once or twice, and in pieces that end soon."""
    tensor = walk.tensor
    if m.facts.points > READ_TWICE * prod(tensor.shape):
        return tensor.size
    run = max(1, walk.run(m.steps[m.parallel :])) * tensor.bytes
    return tensor.size * (1 + BEGIN / run)


def _first_reads(m: CpuModel) -> float:
    """Bytes that groups fetch from the last cache, each what it touches once.

    A core's second cache keeps from one group to the next what fits beside the rest.
    """
    inside = m.steps[m.parallel :]
    touched = {w: w.elements(inside) * w.tensor.bytes for w in m.walks}
    room = KEPT * m.caches[1] - sum(touched.values())
    total = 0.0
    for walk, once in touched.items():
        is_kept = walk.tensor.size - once <= room
        fetched = once * m.groups
        total += min(fetched, walk.tensor.size * m.device.compute_units) if is_kept else fetched
    return total
