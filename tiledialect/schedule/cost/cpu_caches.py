"""Fetches of the innermost body of a contraction from the caches of a CPU.

Each operand comes from the cache that holds the footprint of the loops inside some place, in whole
lines.
"""

from __future__ import annotations

from math import ceil, gcd, prod

from tiledialect.schedule.cost.counts import timed
from tiledialect.schedule.cost.cpu_body import CpuBody
from tiledialect.schedule.cost.device import LINE
from tiledialect.schedule.cost.facts import READ_TWICE, AffineAccess

AHEAD = 256
"""Bytes that come into the second cache together, as neighbours are fetched ahead."""
SCATTERED_ROWS = 512
"""Rows that lie so many bytes apart, or more, are in many places."""
WAYS = 8
"""Number of lines at the same offset of a page that the first cache surely has."""
PAGE = 4096
"""Bytes of a page of memory."""
PAGES = 64
"""Number of pages that the core finds at once."""
FEW_ROWS = 32
"""Number of uses of an element up to which it is read in place: some whole rows at a time."""
STREAMS = 32
"""Number of rows that a core prefetches at a time, at most."""
FOLLOWED = 16
"""Number of rows, read a piece of each by turns, whose next pieces a core surely foresees."""
PREFETCH_DISTANCE = 2048
"""Prefetch distance of kernels in bytes (`nest-prefetch-streams`): processors stop at the end of a
page."""


class CpuCaches(CpuBody):
    """Cache traffic of a contraction by a schedule on a CPU."""

    @timed
    def lost_cycles(self) -> float:
        """Cycles of the innermost body that nothing else is done in."""
        core = self.core
        parted = core.parted_line * sum(map(self._parted, self.accesses))
        pages = core.page * sum(map(self._pages, self.accesses))
        begun = core.stream_begin * sum(map(self._begun, self.accesses))
        each = core.spilled_sum if self.facts.aggregates else core.spilled
        return self.conflicts + each * self.spilled + parted + pages + begun

    def _pages(self, access: AffineAccess) -> float:
        """Number of times that the body looks up a page because a few elements of it come from far
        away."""
        loop = self._innermost_loop
        if loop is None or self.copies(access.tensor) or not access.moved_by(loop):
            return 0.0
        size = access.tensor.bytes
        row = size * abs(access.tensor.strides.get(loop.index, 0))
        if row < PAGE or self.facts.extents[loop.index] <= PAGES or self.is_streamed_past(access):
            return 0.0
        run = max(1, access.run(self.inner_steps)) * size
        each = self.touched[access][self.body - self.parallel] * size
        lines = ((run - size) / LINE + 1) * LINE / run
        near = self.caches[0] // 2 * used_share(row, run)
        if self.touched[access][self.body - 1 - self.parallel] * size * lines > near:
            return max(1.0, each / run)
        # The rest of lines that are still cached is for the next tile.
        return self._filled(access, int(near), lines) / LINE / lines

    def _parted(self, access: AffineAccess) -> float:
        """Lines of a packed operand that the body reads a part of, and that come from far away.

        Each step of the summation reads a few elements of another row of the copy.
        """
        loop = self._innermost_loop
        if loop is None or self.is_vector(access) or not access.moved_by(loop):
            return 0.0
        apart = access.tensor.bytes * abs(self._strides_read(access).get(loop.index, 0))
        run = max(1, access.run(self.inner_steps)) * access.tensor.bytes
        if not self.copies(access.tensor) or apart < LINE or run >= LINE:
            return 0.0
        near, lines = self.caches[0] // 2, LINE / run
        touched = self.touched[access][self.body - 1 - self.parallel] * access.tensor.bytes
        # The rest of lines that are still cached is for the next tile.
        return self._filled(access, near, lines) / LINE if touched * lines > near else 0.0

    def _begun(self, access: AffineAccess) -> float:
        """Pieces of many rows that come from far away, unforeseen, for each run of the body.

        A loop reads the rows on, as blocks of channels for the next pixels: 512 channels of 1599
        places in blocks of 16, 32 pieces at a time, take 1.4 times as long as 4 at a time.
        """
        if self.is_vector(access) or self.copies(access.tensor):
            return 0.0
        piece, rows = self._by_turns(access)
        piece *= access.tensor.bytes
        if piece <= LINE or rows <= FOLLOWED:
            return 0.0
        # The second cache has kept some of what is read again.
        again = self.touched[access][self._kept_from - self.parallel] * access.tensor.bytes
        far = self._fetched(access) * max(0.0, 1.0 - self.caches[1] / again)
        return (1.0 - FOLLOWED / rows) * far / piece

    def _by_turns(self, access: AffineAccess) -> tuple[int, float]:
        """Elements of a piece that loops read in one go, and the number of rows of which they read
        a piece each before one is read on."""
        piece, is_by_turns = access.run(self.inner_steps), False
        for place in reversed(range(self.parallel, self.body)):
            if not access.moved_by(self.levels[place]):
                continue
            run = access.run(self.steps[place:])
            if run > piece and is_by_turns:
                return piece, self.touched[access][place + 1 - self.parallel] / piece
            if run > piece:
                piece = run
            else:
                is_by_turns = True
        return piece, 1.0

    def streamed(self, access: AffineAccess) -> float:
        """Cycles for the body's fetches of an operand in place."""
        if self.is_streamed_past(access):
            return self._streamed_past(access)
        loop = self._innermost_loop
        if loop is None or not access.moved_by(loop):
            return 0.0
        size, core = access.tensor.bytes, self.core
        is_packed = bool(self.copies(access.tensor))
        row = size * abs(access.tensor.strides.get(loop.index, 0))
        run = max(1, access.run(self.inner_steps)) * size
        each = self.touched[access][self.body - self.parallel] * size
        lines = 1.0
        if not is_packed and row >= LINE and row > run:
            # Lines are fetched as a whole.
            lines = ceil(run / LINE) * LINE / run
        near = self.caches[0] // 2
        if not is_packed and row >= LINE:
            near = int(near * used_share(row, run))
        cycles = max(
            each * lines / core.near_bytes,
            self._filled(access, near, lines) / core.second_bytes,
            # The second cache keeps the rest of lines for the next tile.
            self._fetched(access) / core.far_bytes,
        )
        if is_packed:
            return cycles
        is_once = self.facts.points <= READ_TWICE * prod(access.tensor.shape)
        if row >= SCATTERED_ROWS or access.elements(self.inner_steps) * size > STREAMS * run:
            # Neighbours that are read but once are prefetched, and come along.
            is_in_pieces = row < SCATTERED_ROWS or run < row
            share = min(1.0, AHEAD / run) if is_in_pieces else 0.0
            cycles *= 1 + (core.scattered - 1) * (share if is_once else 1.0)
        # Whole lines that nobody reads again may share their places of the first cache.
        if row and row % (PAGE // 2) == 0 and not (is_once and run >= LINE):
            cycles *= core.scattered
        return cycles

    def is_streamed_past(self, access: AffineAccess) -> bool:
        """Whether an operand is read as it lies, each vector seldom, though more than twice."""
        elements = prod(access.tensor.shape)
        is_seldom = READ_TWICE * elements < self.facts.points <= FEW_ROWS * elements
        is_plain = self.facts.is_product and not self.copies(access.tensor)
        return is_seldom and is_plain and self.is_vector(access)

    def _streamed_past(self, access: AffineAccess) -> float:
        """Cycles for the body's fetches of a streamed operand."""
        loop = next(filter(access.moved_by, self._loops), None)
        if loop is None:
            return 0.0
        size, core = access.tensor.bytes, self.core
        row = size * abs(access.tensor.strides.get(loop.index, 0))
        run = max(1, access.run(self.inner_steps)) * size
        each = self.touched[access][self.body - self.parallel] * size
        # Small operands were computed just before, and are in the second cache.
        is_near = self.facts.moved <= self.caches[1] // 2
        near = int(self.caches[0] // 2 * used_share(row, run))
        fetched = (
            (each, core.near_bytes),
            (self._filled(access, near, 1.0), core.second_bytes),
            (
                self._filled(access, self.caches[1], 1.0),
                core.second_bytes if is_near else core.far_bytes,
            ),
        )
        # Whole lines that come for the first time share no places of the first cache.
        once = self.touched[access][0] * size / self.trips(self.body) if run >= LINE else 0.0
        slower = (
            core.scattered ** ((row >= SCATTERED_ROWS) + (row > 0 and row % (PAGE // 2) == 0)) - 1
        )
        cycles = max((count + max(0.0, count - once) * slower) / rate for count, rate in fetched)
        rows = prod(x.extent for x in (loop, *self.rows) if x.index == loop.index)
        if row >= PAGE and rows > PAGES:
            cycles += core.page * each / run
        if row >= PAGE and not is_near:
            cycles += core.stream_begin * once / (size * self._stripe(access, loop.index))
        return cycles

    def _stripe(self, access: AffineAccess, index: str) -> int:
        """Number of neighbours that are read while a loop repeats over few rows."""
        for place in range(self.parallel, self.body):
            rows = prod(level.extent for level in self.levels[place:] if level.index == index)
            if rows <= PAGES:
                return access.run(self.steps[place:])
        return access.run(self.inner_steps)

    def _filled(self, access: AffineAccess, size: int, lines: float) -> float:
        """Bytes that come into a cache of a size for each run of the body.

        What the loops inside some place touch, if it fits, comes once each time they begin.
        """
        for place in range(self.parallel, self.body):
            touched = self.touched[access][place - self.parallel] * access.tensor.bytes * lines
            if touched <= size:
                return touched * self.trips(place) / self.trips(self.body)
        return self.touched[access][self.body - self.parallel] * access.tensor.bytes * lines

    def _fetched(self, access: AffineAccess) -> float:
        """Bytes of an operand that come into the second cache for each run of the body."""
        place = self._kept_from
        touched = self.touched[access][place - self.parallel] * access.tensor.bytes
        return touched * self.trips(place) / self.trips(self.body)

    @timed
    def _kept_from(self) -> int:
        """Outermost loop whose steps reuse the second cache's contents of the last one."""
        room = self.core.reused_share * self.caches[1]
        loops = range(self.parallel, self.body)
        return next((p for p in loops if self._kept(p + 1) <= room), self.body)

    def _kept(self, place: int) -> float:
        """Bytes of the second cache that hold the footprint of the levels from a place on."""
        total = 0.0
        for access, touched in self.touched.items():
            is_packed = bool(self.copies(access.tensor))
            piece = LINE if is_packed else AHEAD
            run = max(1, access.run(self.steps[place:])) * access.tensor.bytes
            most = touched[0] if is_packed else prod(access.tensor.shape)
            count = min(most, touched[place - self.parallel] * ceil(run / piece) * piece / run)
            total += count * access.tensor.bytes
        return total

    @property
    def conflicts(self) -> float:
        """Cycles for rows of the body that the first cache cannot have at the same time."""
        rows = 0
        for access in self.accesses:
            moving = [level for level in self.rows if access.moved_by(level)]
            strides, size = self._strides_read(access), access.tensor.bytes
            for level in moving:
                step = abs(strides.get(level.index, 0)) * level.stride * size
                if step and step % PAGE == 0:
                    rows += level.extent
        return max(0.0, rows - WAYS) * self.core.conflict


def lines_kept(apart: int) -> int:
    """Number of lines at a distance of so many bytes that the first cache can hold at a time."""
    return WAYS * min(PAGE // LINE, PAGE // gcd(PAGE, apart))


def used_share(row: int, run: int) -> float:
    """Share of the first cache that can hold runs whose starts are so many bytes apart."""
    places = PAGE // gcd(PAGE, row)
    return min(1.0, places * ceil(run / LINE) * LINE / PAGE)
