"""Contractions on GPUs: tiles of work-groups, sub-groups and registers, fed from local memory.

Each schedule is a choice of a `Shape`. Of the indices that move the output, `n` runs along its
memory and `m` is the one beside it; an item has a tile of both in registers. Of the summed ones,
`k` is cut into chunks, at each of which the operands are staged; the others, such as the taps of a
convolution, are loops around the chunks or inside of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from tiledialect.schedule.candidates.loops import ceil_div, digits, kept, on_grid
from tiledialect.schedule.cost import cost
from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts, Tensor
from tiledialect.schedule.leaves import Leaf, Role, Schedule, Stage

FEW_TAPS = 9
"""Up to how many values of the other summed indices are written out."""
MOST_WRITTEN_OUT = 2304
"""How many copies of a multiplication an item has at most."""
ITEMS = (64, 128, 256)
"""How many work-items groups have."""
CHUNKS = (4, 8, 16, 32)
MOST_TILINGS = 12
"""How many tilings are looked at with all chunks."""
ROWS = 32
"""Up to which size an index is cut into any tiles that divide it."""


@dataclass(frozen=True)
class Roles:
    """What the indices of a contraction are good for."""

    n: str
    m: str
    beside: str | None
    """The output index next to `m`, for items of a group where `m` is short."""
    rest: tuple[str, ...]
    """The other output indices: each value has groups of its own."""
    k: str
    taps: tuple[str, ...]
    """Summed indices of few values, inside or around the chunks."""
    outer: tuple[str, ...]
    """The other summed indices: loops around everything."""


def roles(facts: Facts) -> Roles | None:
    """Those of a contraction of two tensors or more; None if it has no tiles."""
    extents, output = facts.extents, facts.outputs[0]
    outputs = [name for name in facts.output_indices if extents[name] > 1]
    reduced = list(facts.reduced_indices)
    if len(outputs) < 2 or not reduced:
        return None
    outputs.sort(key=lambda name: abs(output.strides.get(name, 0)))
    n, m, *others = outputs
    if extents[n] < 8:
        n, m = m, n
    beside = others[0] if others else None
    along = [x for t in facts.inputs for x in t.contiguous if x in reduced]
    k = max(reduced, key=lambda name: (min(extents[name], 16), name in along, extents[name]))
    small = [name for name in reduced if name != k]
    taps = [name for name in small if extents[name] <= FEW_TAPS]
    rest = [name for name in facts.output_indices if name not in (n, m, beside)]
    outer = [name for name in small if name not in taps]
    return Roles(n, m, beside, tuple(rest), k, tuple(taps), tuple(outer))


@dataclass(frozen=True)
class Shape:
    """The numbers that make a schedule."""

    warps: tuple[int, int]
    """Sub-groups of a group along `m` and `n`."""
    lanes: tuple[int, int]
    """Items of a sub-group along `m` and `n`."""
    beside: int
    """Items of a group along the index beside `m`."""
    tile: tuple[int, int]
    """Accumulators of an item along `m` and `n`."""
    fours: bool = False
    """Whether accumulators along `m` come in fours that items share out."""
    chunk: int = 8
    taps_inside: bool = True
    copies: int = 2

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return prod((*self.warps, *self.lanes, self.beside))


def gpu_contractions(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Every shape that suits the sizes of a contraction."""
    if device.kind is not Kind.GPU or facts.is_rows or len(facts.inputs) < 2:
        return
    if facts.aggregation in (None, "assign") or any(t.access is None for t in facts.inputs):
        return
    found = roles(facts)
    if found is None:
        return
    for shape in _shapes(facts, found, device):
        yield Builder(facts, found, shape).schedule()


def _shapes(facts: Facts, r: Roles, device: Device) -> Iterator[Shape]:
    """The best tilings, which are compared at one size of chunk, with all chunks."""

    def seconds(shape: Shape) -> float:
        return cost(facts, Builder(facts, r, shape).schedule(), device).seconds

    tilings = [*_tiles_in_fours(facts, r), *_tiles_in_rows(facts, r)]
    tilings = [shape for shape in tilings if shape.items <= device.max_work_group_size]
    has_taps = prod(facts.extents[name] for name in r.taps) > 1
    for shape in sorted(tilings, key=seconds)[:MOST_TILINGS]:
        for chunk in CHUNKS:
            if chunk > CHUNKS[0] and chunk >= 2 * facts.extents[r.k]:
                continue
            for inside in (True, False) if has_taps else (True,):
                for copies in (1, 2) if facts.extents[r.k] > chunk else (1,):
                    yield replace(shape, chunk=chunk, taps_inside=inside, copies=copies)


def _tiles_in_fours(facts: Facts, r: Roles) -> Iterator[Shape]:
    """Two-dimensional sub-groups whose items share out fours along both indices."""
    m, n = facts.extents[r.m], facts.extents[r.n]
    for lanes in ((4, 8), (8, 4)):
        for tile in ((4, 4), (8, 4), (8, 8), (16, 4), (16, 8)):
            for warps in ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (2, 4)):
                rows, columns = (w * x * t for w, x, t in zip(warps, lanes, tile, strict=True))
                if rows < 2 * m and columns < 2 * n:
                    yield Shape(warps, lanes, 1, tile, fours=True)


def _tiles_in_rows(facts: Facts, r: Roles) -> Iterator[Shape]:
    """An item has neighbours along `m`, and the items of a group go along `n`, `m` and beside."""
    m, n = facts.extents[r.m], facts.extents[r.n]
    if m >= ROWS and not _slides(facts, r.m):
        return
    across = [x for x in (4, 8, 16, 32) if x == 4 or (x - 4) * 4 < n]
    for wide in (4, 8):
        for columns in across:
            for rows in _row_tiles(m):
                for along in _counts(ceil_div(m, rows)):
                    for beside in _counts(facts.extents[r.beside] if r.beside else 1):
                        if columns * along * beside in ITEMS and columns * wide < 2 * max(n, 4):
                            yield Shape((1, 1), (along, columns), beside, (rows, wide))


def _slides(facts: Facts, m: str) -> bool:
    """Whether an operand is read in windows that neighbours along `m` share."""
    return any(m in e.names and len(e.names) > 1 for t in facts.inputs for e in t.access or ())


def _row_tiles(extent: int) -> list[int]:
    """Numbers of neighbours that divide an extent, or waste little of it."""
    sizes = range(4, min(extent, 16) + 1)
    good = [n for n in sizes if extent % n == 0]
    return good or [n for n in sizes if ceil_div(extent, n) * n <= extent * 9 // 8] or [extent]


def _counts(extent: int) -> list[int]:
    return [n for n in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32) if n <= extent]


class Builder:
    """The schedule of a shape."""

    def __init__(self, facts: Facts, r: Roles, shape: Shape):
        self.facts = facts
        self.roles = r
        self.shape = shape

    def schedule(self) -> Schedule:
        """The leaves, then the stages."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        m_reach, m = self._rows()
        n_reach, n = self._columns()
        b_reach, b = digits(r.beside, [(s.beside, Role.LOCAL, "x")]) if r.beside else (1, [])
        blocks = [(name, 1, extents[name]) for name in r.rest]
        if r.beside:
            blocks.append((r.beside, b_reach, ceil_div(extents[r.beside], b_reach)))
        blocks.append((r.m, m_reach, ceil_div(extents[r.m], m_reach)))
        blocks.append((r.n, n_reach, ceil_div(extents[r.n], n_reach)))
        items = [*b, *_by_role(m, Role.LOCAL), *_by_role(n, Role.LOCAL)]
        if s.fours:
            items = sorted(items, key=lambda leaf: leaf.stride < _warp_stride(s, leaf, r))
        body = [*_by_role(m, Role.UNROLL), *_by_role(n, Role.UNROLL), *_by_role(n, Role.VECTOR)]
        sums = self._sums(prod(leaf.extent for leaf in body))
        leaves = (*on_grid(blocks), *kept(items), *sums, *kept(body))
        return Schedule(leaves, self._stages(sums))

    def _rows(self) -> tuple[int, list[Leaf]]:
        """The leaves of `m`, innermost first."""
        s, local, unroll = self.shape, (Role.LOCAL, "x"), (Role.UNROLL, "")
        if not s.fours:
            return digits(self.roles.m, [(s.tile[0], *unroll), (s.lanes[0], *local)])
        return digits(
            self.roles.m,
            [
                (4, *unroll),
                (s.lanes[0], *local),
                (s.tile[0] // 4, *unroll),
                (s.warps[0], *local),
            ],
        )

    def _columns(self) -> tuple[int, list[Leaf]]:
        """The leaves of `n`, innermost first."""
        s, local = self.shape, (Role.LOCAL, "x")
        return digits(
            self.roles.n,
            [
                (4, Role.VECTOR, ""),
                (s.lanes[1], *local),
                (s.tile[1] // 4, Role.UNROLL, ""),
                (s.warps[1], *local),
            ],
        )

    def _sums(self, body: int) -> list[Leaf]:
        """The leaves of the summed indices, outermost first."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        outer = [Leaf(name, 1, extents[name], Role.SERIAL) for name in r.outer]
        chunks = Leaf(r.k, s.chunk, ceil_div(extents[r.k], s.chunk), Role.SERIAL)
        steps = Leaf(r.k, 1, s.chunk, Role.UNROLL)
        taps = [Leaf(name, 1, extents[name], Role.UNROLL) for name in r.taps]
        inner = [steps, *taps] if s.taps_inside else [steps]
        around = [] if s.taps_inside else [_serial(tap) for tap in taps]
        # What does not fit the instruction cache stays a loop, the outermost first.
        for k, leaf in enumerate(inner):
            if body * prod(x.extent for x in inner[k:]) > MOST_WRITTEN_OUT:
                inner[k] = _serial(leaf)
        return [*outer, *around, chunks, *inner]

    def _stages(self, sums: list[Leaf]) -> tuple[Stage, ...]:
        r, s = self.roles, self.shape
        at = r.k, s.chunk
        staged = [self._local(tensor, at) for tensor in self._staged()]
        last = sums[-1]
        private: list[Stage] = []
        for tensor in self._staged():
            along = r.m if r.m in tensor.names else r.n
            width = 4 if along == r.n or s.fours else 2
            place = self._window(tensor, sums) or (last.index, last.stride)
            private.append(Stage(tensor.number, local=False, at=place, vector=width))
        return (*staged, *private)

    def _staged(self) -> list[Tensor]:
        """The operands that several items read the same elements of."""
        r = self.roles
        return [t for t in self.facts.inputs if t.access and not {r.n, r.m} <= t.names]

    def _window(self, tensor: Tensor, sums: list[Leaf]) -> tuple[str, int] | None:
        """The leaf inside which the taps and the neighbours of `m` make a window."""
        for axis in tensor.access or ():
            if self.roles.m in axis.names and len(axis.names) > 1:
                inside = [k for k, leaf in enumerate(sums) if leaf.index in axis.names]
                if inside and min(inside) > 0 and sums[min(inside)].role is Role.UNROLL:
                    outer = sums[min(inside) - 1]
                    return outer.index, outer.stride
        return None

    def _local(self, tensor: Tensor, at: tuple[str, int]) -> Stage:
        """The stage of an operand: its axis along `m` or `n` lies fastest."""
        rank = len(tensor.shape)
        along = self.roles.n if self.roles.n in tensor.names else self.roles.m
        axis = next((k for k, e in enumerate(tensor.access or ()) if along in e.names), rank - 1)
        order = (*(k for k in range(rank) if k != axis), axis)
        is_plain = order == tuple(range(rank))
        return Stage(
            tensor.number,
            local=True,
            at=at,
            copies=self.shape.copies,
            pad=0 if is_plain or not self.shape.fours else 4,
            order=() if is_plain else order,
            vector=4,
        )


def _serial(leaf: Leaf) -> Leaf:
    return Leaf(leaf.index, leaf.stride, leaf.extent, Role.SERIAL)


def _by_role(leaves: list[Leaf], role: Role) -> list[Leaf]:
    """The leaves of a role, outermost first."""
    return [leaf for leaf in reversed(leaves) if leaf.role is role]


def _warp_stride(shape: Shape, leaf: Leaf, r: Roles) -> int:
    """From which stride on an index's leaves are those of whole sub-groups."""
    side = 0 if leaf.index == r.m else 1
    return shape.lanes[side] * shape.tile[side]
