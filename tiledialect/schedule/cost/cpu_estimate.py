"""Estimated time of a contraction by a schedule on a CPU.

Time is counted in cycles of a core. The innermost body takes as long as its arithmetic (two vectors
a cycle), its loads (two a cycle), the chain of additions to one register, or its fetches from the
nearest cache that holds them, whichever is most. Loops, copies to tiles, blocks of sums in memory
and stores come on top; groups are shared among the cores, whose last round may be short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, inf, log2, prod

from tiledialect.lazy import lazy
from tiledialect.schedule.cost.copies import Copy
from tiledialect.schedule.cost.counts import timed
from tiledialect.schedule.cost.cpu_body import TilePart
from tiledialect.schedule.cost.cpu_caches import CpuCaches, lines_kept
from tiledialect.schedule.cost.device import LINE
from tiledialect.schedule.cost.facts import (
    READ_TWICE,
    AffineAccess,
    Steps,
    between_lanes,
    padded_indices,
)
from tiledialect.schedule.cost.parts import Estimate
from tiledialect.schedule.loops import LONG_LANES, UNROLLED, LoopLevel, Role

FLOPS = 4
"""Additions and multiplications of a lane in a cycle: two fused ones."""


class CpuModel(CpuCaches):
    """A contraction, its schedule and a CPU."""

    @property
    def copy_cycles(self) -> float:
        """Cycles of all copies that a group makes: each read of a tensor has its own."""
        return sum(self._copy_cycles(copy) for w in self.accesses for copy in self.copies(w.tensor))

    def _copy_cycles(self, copy: Copy) -> float:
        stage, access = copy.stage, copy.access
        if access is None:
            return 0.0
        elements = copy.size * self.trips(copy.place)
        size = access.tensor.bytes
        rank = len(access.tensor.shape)
        is_row = not stage.order or stage.order[-1] == rank - 1
        core = self.core
        vector = core.copied_vector if is_row else core.transposed_vector
        moved = elements * (vector / stage.vector if stage.vector > 1 else core.copied_element)
        return moved + elements * size / core.far_bytes

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the sums of a work-item, which are in memory if registers do not hold them."""
        return self.accumulators * self.facts.outputs[0].bytes

    @property
    def blocked_cycles(self) -> float:
        """Cycles for sums that wait in memory while others are added to."""
        outputs = self.facts.output_indices
        moving = range(self.first_reduction, len(self.levels))
        serial = [
            k
            for k in moving
            if self.levels[k].index in outputs and self.levels[k].role is Role.SERIAL
        ]
        if not serial:
            return 0.0
        is_near = self.waiting_bytes <= self.caches[1]
        moved = self.core.waiting_near if is_near else self.core.waiting_far
        return moved * (self.vectors * self.trips(serial[-1] + 1) + self.accumulators / self.width)

    @property
    def stored_cycles(self) -> float:
        """Cycles of writing the results of a group."""
        count = self.accumulators * self.trips(self.first_reduction) / min(self.vector, self.width)
        along = self.vector > 1 and self.inner[-1].index not in self.facts.output_indices
        joined = 2.0 * self.vector if along else 0.0
        if along or self._are_neighbours_stored:
            stored = self.core.stored
        else:
            stored = self.core.interleaved if self._are_interleaved else self._scattered_cycles
        return count * (stored + joined + self.facts.operations_after)

    @property
    def _scattered_cycles(self) -> float:
        """Cycles of writing the lanes of a vector one by one, and of the lines that they are in."""
        output = self.facts.outputs[0]
        run = min(output.affine_access.run(self.inner_steps) * output.bytes, LINE)
        core = self.core
        written = core.written_line * output.bytes / run
        lines = core.evicted_line if self._are_lanes_evicted else written
        if self.facts.moved > self.caches[2] / 2:
            lines += core.far_line * output.bytes / LINE
        return self.vector * (1.0 + lines)

    @property
    def _are_lanes_evicted(self) -> bool:
        """Whether the lanes of the body are written to more lines than the first cache keeps."""
        output, index = self.facts.outputs[0], self.levels[-1].index
        lanes = prod(level.extent for level in self.inner if level.index == index)
        return lanes > lines_kept(abs(output.strides.get(index, 0)) * output.bytes)

    @property
    def _are_neighbours_stored(self) -> bool:
        """Whether the lanes are neighbours in the output."""
        last = self.levels[-1] if self.levels else None
        return last is None or abs(self.facts.outputs[0].strides.get(last.index, 0)) <= 1

    @property
    def _are_interleaved(self) -> bool:
        """Whether the body has all elements between its lanes in the output."""
        turns = between_lanes(self.facts, self.levels[-1].index)
        return self.vector >= LONG_LANES and turns in self.known

    @property
    def edges(self) -> float:
        """Factor of slowdown by tiles that reach past the end."""
        slower, core = 1.0, self.core
        uneven = [n for n, count in self.facts.extents.items() if self.reach.get(n, 1) != count]
        for name in uneven:
            own = [x for x in self.levels if x.index == name]
            reach = self.reach.get(name, 1)
            last = [x for x in own if x.role in UNROLLED]
            if not last:
                continue
            is_lanes = self.vector > 1 and own[-1] is self.levels[-1]
            readers = [
                w for w in self.accesses if w.moved_by(own[-1]) and not self.copies(w.tensor)
            ]
            share = prod(x.extent for x in last) / reach
            groups = prod(x.extent for x in own if x.role is Role.GROUP)
            if readers and is_lanes and groups > 1 and self._has_other_edges(name):
                slower += core.alone_lanes * self.vector / groups
            elif readers and is_lanes:
                is_known = len(uneven) == 1 or name in self.facts.reduced_indices
                slower += share * self._pieces(name) * (1.0 if is_known else core.unknown_lanes)
            elif readers:
                # All of a group's tiles are tested; in the only group, the last one alone.
                slower += max(share * core.edge, core.tested / groups if groups > 1 else 0.0)
        return slower + core.edge_lanes * self._outer_lanes

    def _has_other_edges(self, name: str) -> bool:
        """Whether groups are at an edge, though not at the end of an index.

        Their lanes are not known statically there.
        """
        tested = {n for n, count in self.facts.extents.items() if self.reach.get(n, 1) != count}
        others = (tested | self.facts.padded) - {name}
        on_grid = {level.index for level in self.levels if level.role is Role.GROUP}
        return name in self.facts.padded or not on_grid.isdisjoint(others)

    @lazy
    def _last_tile(self) -> tuple[int, TilePart] | None:
        """Number of steps of the loop whose last tile is only the remainder, and that remainder.

        It is unrolled separately then (`nest-peel`), without the absent part.
        """
        uneven = [n for n, count in self.facts.extents.items() if self.reach.get(n, 1) != count]
        if len(uneven) != 1 or (tile := self._alone_at_end(uneven[0])) is None:
            return None
        loop, written = tile
        rest = self.facts.extents[loop.index] % loop.stride
        return loop.extent, TilePart(written, rest / loop.stride)

    def _mean(self, cycles: Callable[[TilePart], float]) -> float:
        """Mean over all bodies of a cost of parts of tiles."""
        whole = cycles(TilePart())
        if self._last_tile is None:
            return whole
        steps, last = self._last_tile
        return whole - (whole - cycles(last)) / steps

    @timed
    def busy_cycles(self) -> float:
        """Cycles of the innermost body with operands in registers and the first cache."""
        return self._mean(self.busy_in)

    def _fetched_in(self, part: TilePart) -> float:
        """Cycles of the body together with its fetches from farther away."""
        streamed = sum(self.streamed(w) * part.read(w) for w in self.accesses)
        return max(self.busy_in(part), streamed)

    def _alone_at_end(self, name: str) -> tuple[LoopLevel, LoopLevel] | None:
        """Loop of an index whose last step is unrolled separately, and the level that it shortens.

        This holds if nothing is copied or tested for each tile, neither its reads nor its residue
        class; and if its sums do not wait in memory, where all are added to. Only whole vectors are
        left out.
        """
        own = [k for k, level in enumerate(self.levels) if level.index == name]
        if len(own) < 2 or name not in self.facts.output_indices:
            return None
        loop, *inside = (self.levels[k] for k in own)
        lanes = inside[-1].extent if inside[-1].role is Role.VECTOR else 1
        rest = self.facts.extents[name] % loop.stride
        is_tile = loop.role is Role.SERIAL and own[0] < self.first_reduction and own[1] >= self.body
        if not is_tile or not rest or rest % lanes:
            return None
        is_copied = any(copy.place > own[0] for copy in self.all_copies)
        is_read = any(name in w.tensor.names and not self.copies(w.tensor) for w in self.accesses)
        has_classes = any(len(e.names) > 1 for e in self.facts.outputs[0].access or ())
        return None if is_copied or is_read or has_classes else (loop, inside[0])

    @property
    def _outer_lanes(self) -> float:
        """Share of the vectors that may begin or end outside the tensor that they are read from."""
        if self.vector == 1 or (name := self.levels[-1].index) not in self.facts.padded:
            return 0.0
        padded = any(
            self.is_vector(w)
            and name in padded_indices(self.facts, w.tensor)
            and not self.copies(w.tensor)
            for w in self.accesses
        )
        return min(1.0, 2 * self.vector / self.reach.get(name, 1)) if padded else 0.0

    def _pieces(self, name: str) -> float:
        """Number of shorter vectors in the last one of an index, for each vector of a tile."""
        rest = self.facts.extents[name] % self.vector
        vectors = prod([x.extent for x in self.inner if x.index == name]) // self.vector
        return rest.bit_count() / vectors

    @timed
    def overhead(self) -> float:
        """Cycles of a work-group outside the innermost body."""
        loops = sum(
            self.trips(k + 1)
            for k in range(self.parallel, self.body)
            if self.levels[k].role is Role.SERIAL
        )
        core = self.core
        inside = core.loop_step * loops + self.copy_cycles + self.blocked_cycles
        return inside + self.stored_cycles + core.group

    @timed
    def bodies(self) -> float:
        """Number of bodies of a work-group, weighted by their slowdown."""
        times = self.trips(self.body) * self.edges
        return times * self.core.alone * self.items / self.width if self.items > 1 else times

    @property
    def busy(self) -> float:
        """Seconds of the cores."""
        return self.seconds(self._mean(self._fetched_in) + self.lost_cycles, self.overhead)

    def seconds(self, body: float, overhead: float) -> float:
        """Seconds of the cores for cycles of the innermost body and cycles outside of it."""
        rate, groups = self._rounds
        return (self.bodies * body + overhead) / rate * groups

    @timed
    def _rounds(self) -> tuple[float, float]:
        """The cycles of a core in a second, and how many groups one has after the other."""
        device = self.device
        units = device.compute_units
        rate = device.arithmetic * 1e9 / units / (FLOPS * device.native_vector_width)
        rounds = ceil(self.groups / units)
        # Groups are handed out as cores are free, of which one may be late.
        is_whole = self.groups % units == 0
        uneven = self.core.uneven_whole if is_whole else self.core.uneven_rest
        uneven *= (1 + log2(units)) / 2
        return rate, uneven + (self.groups / units if rounds > 8 else rounds)

    def at_least(self) -> Iterator[tuple[float, float]]:
        """Cycles that the innermost body takes at least, and all outside of it.

        Each pair is no less than the one before, and takes longer to find.
        """
        computed = self._mean(lambda part: self.operations * part.share / 2)
        yield computed, self.core.group
        yield computed, self.overhead
        yield self.busy_cycles, self.overhead
        yield self.busy_cycles + self.lost_cycles, self.overhead


def least_core_seconds(m: CpuModel, enough: float = inf) -> float:
    """Lower bound of the seconds of a contraction by a schedule: all operands might be near.

    Counting stops where a part of it is ``enough`` already.
    """
    launch, least = m.device.launch_seconds, 0.0
    for body, overhead in m.at_least():
        least = m.seconds(body, overhead) + launch
        if least >= enough:
            break
    return least


def core_estimate(m: CpuModel) -> Estimate:
    """Estimate of a contraction by a schedule on a CPU, without its launch."""
    facts, bandwidth = m.facts, m.device.bandwidth * 1e9
    busy = m.busy
    written = sum(t.size for t in (*facts.after, *facts.outputs))
    read = {access.tensor.number: _read(m, access) for access in m.accesses}
    memory = (sum(read.values()) + written) / bandwidth
    cache = _first_reads(m) / (bandwidth * m.core.shared_rate)
    cores = max(busy, cache) + m.core.shared_loss * min(busy, cache)
    return Estimate(
        seconds=m.overlapped(cores, memory),
        arithmetic=busy,
        cache=cache,
        memory=memory,
        groups=m.groups,
        registers=m.vectors,
        local_memory=m.local_memory,
        copy_steps=m.copy_steps,
    )


def _read(m: CpuModel, access: AffineAccess) -> float:
    """Bytes of a tensor, more if it is read but once or twice, and in pieces that end soon."""
    tensor = access.tensor
    if m.facts.points > READ_TWICE * prod(tensor.shape):
        return tensor.size
    run = max(1, access.run(m.steps[m.parallel :])) * tensor.bytes
    return tensor.size * (1 + m.core.piece_begin / run)


def _first_reads(m: CpuModel) -> float:
    """Bytes that groups fetch from the last cache, each footprint once, in whole lines.

    A core's second cache keeps data that fits from one group to the next.
    """
    inside = m.steps[m.parallel :]
    touched = {w: w.elements(inside) * w.tensor.bytes * _in_lines(w, inside) for w in m.accesses}
    room = m.core.reused_share * m.caches[1] - sum(touched.values())
    total = 0.0
    for access, once in touched.items():
        is_kept = access.tensor.size - once <= room
        fetched = once * m.groups
        total += min(fetched, access.tensor.size * m.device.compute_units) if is_kept else fetched
    return total


def _in_lines(access: AffineAccess, inside: Steps) -> float:
    """Ratio of the bytes of whole lines to the bytes of runs that begin anywhere in them."""
    size = access.tensor.bytes
    run = max(1, access.run(inside)) * size
    return 1.0 if run % LINE == 0 else ((run - size) / LINE + 1) * LINE / run
