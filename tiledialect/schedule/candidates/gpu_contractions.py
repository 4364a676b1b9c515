"""Contractions on GPUs: tiles of work-groups, sub-groups and registers, fed from local memory.

Each schedule is a choice of a `Shape`. Of the indices that move the output, `n` runs along its
memory and `m` is one beside it; an item has a tile of both in registers. Of the summed ones, `k` is
cut into chunks, at each of which the operands are staged; the others, such as the taps of a
convolution, are loops around the chunks or inside of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.candidates.asynchronous import copied_alone
from tiledialect.schedule.candidates.gpu_tables import table_roles
from tiledialect.schedule.candidates.loops import digits, kept
from tiledialect.schedule.cost import cost
from tiledialect.schedule.default import on_grid
from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts, Tensor
from tiledialect.schedule.leaves import Leaf, Role, Schedule, Stage
from tiledialect.schedule.model import Model

FEW = 8
"""What has fewer values is not cut into tiles: taps, channels of pictures, residue classes."""
LEAST_ITEMS, MOST_ITEMS = 64, 256
"""How many work-items groups have."""
CHUNKS = (4, 8, 16, 32)
MOST_CHUNKS = 4
SHARES = (8, 16)
"""Among how many items the steps of a chunk are divided where the tiles of a group are few."""
LONGEST = 64
"""The longest chunk whose steps are divided."""
MOST_ALIKE = 2
"""How many tilings the cost model compares that differ only in how items make groups of a size."""
WRITTEN_OUT = (640, 1152)
"""How many copies of a multiplication an item has at most: a small body, or a large one."""
WRITTEN_OUT_PLAIN = (1152, 2304)
"""The same without taps, which makes it simpler."""
MOST_CLASSES, MOST_SUMS = 16, 48
"""How many residue classes and the like an item may have, and accumulators for all of them."""
MOST_APART = 64
"""How many sums of windows an item may have that do not lie together where they are stored."""
LONG_ROW = 32
"""Pixels next to one another in memory that are as many move items, as a sub-group has them."""
MOST_TILINGS = 6
"""How many tilings are looked at with all chunks."""
ROWS = 64
"""Up to which size an index is cut into any tiles that divide it."""


@dataclass(frozen=True)
class Roles:
    """What the indices of a contraction are good for."""

    n: str
    m: str
    beside: str | None
    """An output index next to `m`, for the items of a group where `m` is short."""
    inner: tuple[str, ...]
    """Output indices of few values, all of which an item may have accumulators for."""
    rest: tuple[str, ...]
    """The other output indices: each value has groups of its own."""
    k: str
    taps: tuple[str, ...]
    """Summed indices of few values, inside or around the chunks."""
    outer: tuple[str, ...]
    """The other summed indices: loops around everything."""
    is_turned: bool = False
    """Whether what is fastest in the output's memory is `m`, or beside it."""


def roles(facts: Facts) -> Iterator[Roles]:
    """Those of a contraction of two tensors or more, if it has tiles."""
    extents, strides = facts.extents, facts.outputs[0].strides
    outputs = sorted(facts.output_indices, key=lambda name: abs(strides.get(name, 0)))
    outputs = [name for name in outputs if extents[name] > 1]
    if len(outputs) < 2 or not facts.reduced_indices:
        return
    lone = {name for name in outputs if all(name in t.names for t in facts.inputs)}
    n = next((name for name in outputs if extents[name] >= FEW), outputs[0])
    plain = _roles(facts, outputs, lone, n)
    yield plain
    rows = {x for x in facts.reduced_indices if all(x in t.contiguous for t in facts.inputs)}
    if (k := next(iter(rows - {plain.k}), None)) is not None and extents[k] >= FEW:
        yield _roles(facts, outputs, lone, n, k)
    # Channels may move items, though pixels are neighbours in memory: few sums of one element.
    beside_n = {x for t in facts.inputs if n in t.names for x in t.names}
    channels = [x for x in outputs if x not in beside_n and extents[x] >= FEW]
    if channels and _are_few_in_windows(facts, n):
        found = _roles(facts, outputs, lone, max(channels, key=lambda x: extents[x]))
        yield replace(found, is_turned=True)


def _roles(facts: Facts, outputs: list[str], lone: set[str], n: str, k: str | None = None) -> Roles:
    """The roles of all other indices."""
    extents = facts.extents
    # The innermost that is long enough for tiles, and along which some operand stays the same.
    m, *others = sorted(
        [name for name in outputs if name != n],
        key=lambda x: (x in lone, -min(extents[x], FEW)),
    )
    inner = tuple(name for name in others if extents[name] <= FEW // 2)
    far = {*lone, *inner[:1], *(x for x in inner if _is_tap(facts, x))}
    beside = next((x for x in others if x not in far), None)
    along = [x for t in facts.inputs for x in t.contiguous]
    slide = _sliding(facts, m)
    reduced = sorted(
        facts.reduced_indices,
        key=lambda x: (
            x == k,
            min(extents[x], 2 * FEW),
            x in along,
            x not in slide or extents[x] > FEW,
            -_stride(facts, x),
        ),
        reverse=True,
    )
    taps = [x for x in facts.reduced_indices if x != reduced[0] and 1 < extents[x] <= FEW]
    outer = [x for x in facts.reduced_indices if x != reduced[0] and x not in taps]
    rest = [x for x in facts.output_indices if x not in (n, m, beside, *inner)]
    return Roles(n, m, beside, inner, tuple(rest), reduced[0], tuple(taps), tuple(outer))


def _sliding(facts: Facts, m: str) -> set[str]:
    """The indices whose steps move an operand as those of `m` do: windows that neighbours share."""
    axes = [e.names for t in facts.inputs for e in t.access or () if m in e.names]
    return {name for names in axes for name in names} - {m}


def _are_few_in_windows(facts: Facts, n: str) -> bool:
    """Whether pixels next to one another are few for items, or far from those they read."""
    slides = [walk for walk in _windows(facts, n) if len(walk) > 1]
    return bool(slides) and (
        facts.extents[n] < LONG_ROW or any(abs(moves[n]) > 1 for moves in slides)
    )


def _is_tap(facts: Facts, name: str) -> bool:
    """Whether an output index is a point of a window, with an axis of its own in the result."""
    written = [tuple(e.names) for e in facts.outputs[0].access or ()]
    return (name,) in written and bool(_sliding(facts, name))


def _windows(facts: Facts, name: str) -> Iterator[Mapping[str, int]]:
    """How indices move along the axes of inputs that an index moves along."""
    return (moves for t in facts.inputs for moves in t.walk.moves if name in moves)


def _stride(facts: Facts, name: str) -> int:
    """How far an index moves some input."""
    return max(abs(t.strides.get(name, 0)) for t in facts.inputs)


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
    inner: tuple[str, ...] = ()
    """The short indices for all of whose values an item has accumulators."""
    shared: int = 1
    """Items among which the steps of a chunk are divided."""
    all_local: bool = False
    """Whether what each item reads for itself, as its tile moves it both ways, is staged too."""
    chunk: int = 8
    taps_inside: bool = True
    copies: int = 2
    written_out: int = WRITTEN_OUT[0]

    @property
    def has_classes(self) -> bool:
        """Whether an item has accumulators for several short indices."""
        return len(self.inner) > 1

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return prod((*self.warps, *self.lanes, self.beside, self.shared))


def gpu_contractions(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Every shape that suits the sizes of a contraction."""
    if device.kind is not Kind.GPU or not facts.aggregates or len(facts.inputs) < 2:
        return
    if any(t.access is None for t in facts.inputs) or table_roles(facts) is not None:
        return
    for found in roles(facts):
        for shape in _shapes(facts, found, device):
            yield copied_alone(facts, Builder(facts, found, shape).schedule(), device)


def _shapes(facts: Facts, r: Roles, device: Device) -> Iterator[Shape]:
    """The best tilings, which are compared at one size of chunk, with all chunks."""

    def seconds(shape: Shape) -> float:
        for copies in (2, 1):
            schedule = Builder(facts, r, replace(shape, copies=copies)).schedule()
            model = Model(facts, schedule, device)
            if model.local_memory <= device.local_mem_size:
                return cost(model).seconds
        return inf

    extent = facts.extents[r.k]
    # Long rows of which a part is needed come late: they are fetched ahead, in pieces.
    gaps = any(abs(t.walk.moves[-1].get(r.k, 0)) > 1 for t in facts.inputs if t.names)
    lonely = any({r.m, r.n} <= t.names for t in facts.inputs)
    tilings = [
        replace(
            shape,
            inner=inner,
            all_local=local,
            chunk=_chunks(extent, shape.shared)[-1],
            # Whole groups skip taps that are not their residue class's, if these are outside.
            taps_inside=not facts.tests,
        )
        for shape, inner, local in product(
            (*_tiles_in_fours(facts, r), *_tiles_in_rows(facts, r)),
            ((), r.inner[:1]) if r.inner else ((),),
            (False, True) if lonely else (False,),
        )
        if shape.items <= device.max_work_group_size
        # What is stored apart needs registers for its places.
        and not (r.is_turned and r.taps and prod(shape.tile) > MOST_APART)
    ]
    tilings += [
        replace(shape, inner=r.inner, all_local=True, chunk=_chunks(extent, 1)[-1])
        for shape in _tiles_of_classes(facts, r)
    ]
    alike: dict[object, list[Shape]] = {}
    for shape in sorted(tilings, key=lambda shape: _roughly(facts, r, shape, device)):
        # Rows of tiles differ in their lanes alone; of the others, small groups may be better.
        size = shape.items if shape.fours or shape.shared > 1 else 0
        item = shape.tile, shape.inner, shape.fours, shape.all_local, shape.shared, size
        alike.setdefault(item, []).append(shape)
    compared = [shape for shapes in alike.values() for shape in shapes[:MOST_ALIKE]]
    compared.sort(key=seconds)
    plain_ones = [shape for shape in compared if not shape.has_classes]
    of_classes = [shape for shape in compared if shape.has_classes]
    for shape in plain_ones[:MOST_TILINGS] + of_classes[:MOST_TILINGS]:
        plain = not r.taps and not shape.inner
        for chunk, inside, copies, most in product(
            _chunks(extent, shape.shared),
            (True, False) if r.taps else (True,),
            (2, 1),
            WRITTEN_OUT_PLAIN if plain else WRITTEN_OUT,
        ):
            if extent > chunk or (copies == 1 and not (gaps and chunk > 2 * FEW)):
                yield replace(
                    shape, chunk=chunk, taps_inside=inside, copies=copies, written_out=most
                )


def _chunks(extent: int, shared: int) -> list[int]:
    """Sizes of chunks that waste little of an extent; the one to compare tilings at is last."""
    if extent <= FEW:
        return [shared * ceil_div(extent, shared)] if shared > 1 else [extent, 1]
    if shared > 1:
        steps = range(shared, LONGEST + 1, shared)
        found = [c for c in steps if ceil_div(extent, c) * c <= extent * 33 // 32] or [2 * shared]
        return found[-MOST_CHUNKS:]
    found = [c for c in CHUNKS if ceil_div(extent, c) * c <= extent * 33 // 32]
    divisors = [c for c in range(32, 3, -1) if extent % c == 0 and c not in found]
    found = [*found, *divisors][:MOST_CHUNKS] or [*CHUNKS]
    return sorted(found, key=lambda c: -abs(c - CHUNKS[1]))


def _roughly(facts: Facts, r: Roles, shape: Shape, device: Device) -> float:
    """What a tiling costs by what it wastes and loads, and how it fills the device."""
    extents = facts.extents
    block = {
        r.m: shape.warps[0] * shape.lanes[0] * shape.tile[0],
        r.n: shape.warps[1] * shape.lanes[1] * shape.tile[1],
        r.beside: shape.beside,
        **{name: extents[name] for name in shape.inner},
    }
    deep = prod(extents[name] for name in shape.inner)
    groups, waste = 1, 1.0
    for name in facts.output_indices:
        count = ceil_div(extents[name], block.get(name, 1))
        groups *= count
        waste *= count * block.get(name, 1) / extents[name]
    fill = groups / device.compute_units / ceil_div(groups, device.compute_units)
    rows, columns = block[r.m] * shape.beside * deep, block[r.n]
    near = 0.5 / (shape.tile[0] * deep) + 0.5 / shape.tile[1]
    return waste * (1 + near + 8 / rows + 8 / columns) / fill


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
    if m >= ROWS and not _sliding(facts, r.m):
        return
    for wide in (4, 8):
        for columns in (x for x in (1, 2, 4, 8, 16, 32) if x * wide < n + wide * x / 2):
            for rows in _row_tiles(m):
                for along in _counts(ceil_div(m, rows)):
                    for beside in _counts(facts.extents[r.beside] if r.beside else 1):
                        items = columns * along * beside
                        for shared in (1,) if items >= LEAST_ITEMS else SHARES:
                            if LEAST_ITEMS <= items * shared <= MOST_ITEMS and _is_even(items):
                                lanes, tile = (along, columns), (rows, wide)
                                yield Shape((1, 1), lanes, beside, tile, shared=shared)


def _tiles_of_classes(facts: Facts, r: Roles) -> Iterator[Shape]:
    """An item has several short indices as a whole, and few neighbours along `m` and `n`.

    So all residue classes of a strided convolution's input gradient share what an item loads.
    """
    deep = prod(facts.extents[name] for name in r.inner)
    if len(r.inner) < 2 or deep > MOST_CLASSES or not _share_windows(facts, r):
        return
    m, n = facts.extents[r.m], facts.extents[r.n]
    for rows, wide in ((1, 4), (2, 4), (1, 8)):
        if rows * wide * deep <= MOST_SUMS:
            for lanes in product(_counts(ceil_div(m, rows)), _counts(ceil_div(n, wide))):
                if LEAST_ITEMS <= prod(lanes) <= MOST_ITEMS and _is_even(prod(lanes)):
                    yield Shape((1, 1), lanes, 1, (rows, wide))


def _share_windows(facts: Facts, r: Roles) -> bool:
    """Whether short indices share what an item loads.

    Residue classes do. Results for each tap do if windows overlap along a long row of the sum.
    """
    taps = [x for x in r.inner if _is_tap(facts, x)]
    steps = [abs(moves.get(r.k, 0)) for x in taps for moves in _windows(facts, x)]
    return not taps or (1 in steps and facts.extents[r.k] >= 2 * FEW)


def _is_even(items: int) -> bool:
    """Whether items fill whole sub-groups, or nearly."""
    return items < LEAST_ITEMS or ceil_div(items, 32) * 32 <= items * 9 // 8


def _row_tiles(extent: int) -> list[int]:
    """Numbers of neighbours that divide an extent, or waste little of it."""
    sizes = range(4, min(extent, 16) + 1)
    good = [n for n in sizes if extent % n == 0]
    return good or [n for n in sizes if ceil_div(extent, n) * n <= extent * 9 // 8] or [extent]


def _counts(extent: int) -> list[int]:
    """Numbers of items along an index that waste little of it."""
    counts = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 32)
    return [n for n in counts if ceil_div(extent, n) * n <= extent * 9 // 8]


class Builder:
    """The schedule of a shape."""

    def __init__(self, facts: Facts, r: Roles, shape: Shape):
        self.facts = facts
        self.roles = r
        self.shape = shape

    def schedule(self) -> Schedule:
        """The leaves, then the stages."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        rows, m = self._rows()
        columns, n = self._columns()
        beside = r.beside if r.beside not in s.inner else None
        high, b = digits(beside, [(s.beside, Role.LOCAL, "x")]) if beside else (1, [])
        inner = [Leaf(name, 1, extents[name], Role.UNROLL) for name in s.inner]
        tiled = ((beside, high), (r.m, rows), (r.n, columns))
        single = [*r.rest, *(x for x in r.inner if x not in (*s.inner, beside))]
        blocks = [(name, 1, extents[name]) for name in single]
        blocks += [(name, reach, ceil_div(extents[name], reach)) for name, reach in tiled if name]
        parts = [Leaf(r.k, s.chunk // s.shared, s.shared, Role.LOCAL, "x")]
        items = [*parts, *b, *_by_role(m, Role.LOCAL), *_by_role(n, Role.LOCAL)]
        # Those of whole sub-groups are outside.
        warp = {name: x * t for name, x, t in zip((r.m, r.n), s.lanes, s.tile, strict=True)}
        items.sort(key=lambda leaf: leaf.stride < warp.get(leaf.index, leaf.stride))
        body = [*inner, *_by_role(m, Role.UNROLL), *_by_role(n, Role.UNROLL)]
        body += _by_role(n, Role.VECTOR)
        sums = self._sums(prod(leaf.extent for leaf in body))
        return Schedule((*on_grid(blocks), *kept(items), *sums, *kept(body)), self._stages(sums))

    def _rows(self) -> tuple[int, list[Leaf]]:
        """How many values of `m` a group has, and the leaves, innermost first."""
        s, local, unroll = self.shape, (Role.LOCAL, "x"), (Role.UNROLL, "")
        if not s.fours:
            return digits(self.roles.m, [(s.tile[0], *unroll), (s.lanes[0], *local)])
        parts = (4, s.lanes[0], s.tile[0] // 4, s.warps[0])
        roles = (unroll, local, unroll, local)
        return digits(self.roles.m, [(p, *role) for p, role in zip(parts, roles, strict=True)])

    def _columns(self) -> tuple[int, list[Leaf]]:
        """How many values of `n` a group has, and the leaves, innermost first."""
        s, local = self.shape, (Role.LOCAL, "x")
        parts = (4, s.lanes[1], s.tile[1] // 4, s.warps[1])
        roles = ((Role.VECTOR, ""), local, (Role.UNROLL, ""), local)
        return digits(self.roles.n, [(p, *role) for p, role in zip(parts, roles, strict=True)])

    def _sums(self, body: int) -> list[Leaf]:
        """The leaves of the summed indices, outermost first."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        outer = [Leaf(name, 1, extents[name], Role.SERIAL) for name in r.outer]
        chunks = Leaf(r.k, s.chunk, ceil_div(extents[r.k], s.chunk), Role.SERIAL)
        own = s.chunk // s.shared
        steps = [Leaf(r.k, 1, own, Role.UNROLL)] if s.chunk > 1 else []
        taps = [Leaf(name, 1, extents[name], Role.UNROLL) for name in r.taps]
        inner = [*steps, *taps] if s.taps_inside else steps
        around = [] if s.taps_inside else [_serial(tap) for tap in taps]
        # What does not fit the instruction cache stays a loop, the outermost first.
        for k, leaf in enumerate(inner):
            if body * prod(x.extent for x in inner[k:]) > s.written_out:
                inner[k] = _serial(leaf)
        return [*outer, *around, chunks, *inner]

    def _stages(self, sums: list[Leaf]) -> tuple[Stage, ...]:
        r, s = self.roles, self.shape
        staged = [t for t in self.facts.inputs if t.names]
        local = [t for t in staged if s.all_local or not {r.n, r.m} <= t.names]
        last = sums[-1].index, sums[-1].stride
        private = [
            Stage(
                t.number,
                local=False,
                at=self._window(t, sums) or last,
                vector=4 if r.n in t.names or s.fours or s.has_classes else 2,
            )
            for t in staged
        ]
        return (*(self._local(t, (r.k, s.chunk)) for t in local), *private)

    def _window(self, tensor: Tensor, sums: list[Leaf]) -> tuple[str, int] | None:
        """The leaf inside which the last tap and the neighbours of a tile make a window."""
        tap = sums[-1]
        moved = {self.roles.m, self.roles.n, *(self.shape.inner if self.shape.has_classes else ())}
        for moves in tensor.walk.moves:
            if tap.role is Role.UNROLL and tap.index in moves and moved & moves.keys():
                return (sums[-2].index, sums[-2].stride) if len(sums) > 1 else None
        return None

    def _local(self, tensor: Tensor, at: tuple[str, int]) -> Stage:
        """The stage of an operand: its axis along `m` or `n` lies fastest."""
        r, rank = self.roles, len(tensor.shape)
        along = r.n if r.n in tensor.names else r.m
        axis = next((k for k, moves in enumerate(tensor.walk.moves) if along in moves), rank - 1)
        order = (*(k for k in range(rank) if k != axis), axis)
        if self.shape.has_classes and along not in tensor.names:
            # What all items read for a step of the sum lies together.
            order = tuple(sorted(range(rank), key=lambda k: r.k not in tensor.walk.moves[k]))
        is_plain = order == tuple(range(rank))
        return Stage(
            tensor.number,
            local=True,
            at=at,
            copies=self.shape.copies,
            # Of turned roles the neighbours in memory are along the sum or taps, and stored apart.
            pad=0 if is_plain or not (self.shape.fours or r.is_turned) else 4,
            order=() if is_plain else order,
            vector=4,
        )


def _serial(leaf: Leaf) -> Leaf:
    return Leaf(leaf.index, leaf.stride, leaf.extent, Role.SERIAL)


def _by_role(leaves: list[Leaf], role: Role) -> list[Leaf]:
    """The leaves of a role, outermost first."""
    return [leaf for leaf in reversed(leaves) if leaf.role is role]
