"""Facts of a kernel that the choice of its schedule depends on: a plain value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import product
from math import ceil, gcd, prod

from tiledialect import caches
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.sets import interval
from tiledialect.lazy import lazy
from tiledialect.schedule.loops import LoopIndex, LoopLevel

MOST_TRIED = 4096
"""Number of values of its indices up to which a test is evaluated exhaustively."""
READ_TWICE = 2
"""Number of reads of an element, on average, up to which it counts as read once."""
COMMON = 0.8
"""Share of the points that pass a test from which the test is ignored."""
COMMON_IN_GROUPS = 0.95
"""Share from which a test is ignored where whole work-groups skip the other points, as at edges of
small images."""

Shares = tuple[tuple[frozenset[str], float], ...]
"""The indices that tests depend on, and the share of their values that pass each."""
Steps = tuple[tuple[str, int, int], ...]
"""Levels reduced to index, stride and extent, which determine their footprint."""


def steps_of(levels: Iterable[LoopLevel]) -> Steps:
    """Levels without their roles."""
    return tuple([(x.index, x.stride, x.extent) for x in levels])


@dataclass(frozen=True)
class Tensor:
    """A tensor that a kernel reads or writes, and its index expressions."""

    number: int
    """Number of the input or output of the kernel, by which stages name it."""
    shape: tuple[int, ...]
    access: tuple[IndexExpr, ...] | None
    """An expression of the indices for each axis; None: the data says where, as in a gather."""
    type: str
    """The element type, such as ``f32``."""
    bytes: int
    """The size of an element."""

    @lazy
    def names(self) -> frozenset[str]:
        """The indices that move it."""
        return frozenset(name for e in self.access or () for name in e.names)

    @lazy
    def strides(self) -> Mapping[str, int]:
        """Distance in elements of memory that a step of each index moves it."""
        found: dict[str, int] = {}
        for axis, e in enumerate(self.access or ()):
            for name in e.names:
                step = int(e.coefficient(name)) * prod(self.shape[axis + 1 :])
                found[name] = found.get(name, 0) + step
        return found

    @lazy
    def affine_access(self) -> AffineAccess:
        """Moves of the tensor by the levels of schedules."""
        return AffineAccess(self)

    @property
    def contiguous(self) -> tuple[str, ...]:
        """Indices a step of which moves it to the next element in memory."""
        return tuple(name for name, stride in self.strides.items() if stride == 1)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return prod(self.shape) * self.bytes


@dataclass(frozen=True, eq=False)
class AffineAccess:
    """Moves of a tensor by the levels of a schedule: integers alone, for frequent queries.

    A tensor has one, which is the key of cached answers. A gather or scatter counts as an access to
    one element.
    """

    tensor: Tensor

    @lazy
    def moves(self) -> tuple[Mapping[str, int], ...]:
        """Distance along each axis that a step of each index moves."""
        tensor = self.tensor
        access = (IndexExpr(),) * len(tensor.shape) if tensor.access is None else tensor.access
        return tuple({n: int(e.coefficient(n)) for n in e.names} for e in access)

    def extents(self, steps: Steps) -> tuple[int, ...]:
        """Number of elements along each axis that the steps touch, without gaps."""
        return _touched(self, steps)[0]

    def apart(self, axis: int, steps: Steps) -> Mapping[int, int]:
        """Number of touched elements along an axis between consecutive positions of each step.

        The key of a step is its distance along the axis.
        """
        return _apart(self, axis, tuple(x for x in steps if x[2] > 1 and x[0] in self.moves[axis]))

    def elements(self, steps: Steps) -> int:
        """Number of different elements that the steps touch."""
        return _touched(self, steps)[1]

    def run(self, steps: Steps) -> int:
        """Lower bound of the run of neighbours in memory that the steps touch."""
        return _touched(self, steps)[2]

    def elements_inside(self, steps: Steps) -> tuple[int, ...]:
        """Number of different elements touched by all of the steps, by all but the first, and so
        on."""
        return _touched_inside(self, steps)

    def moved_by(self, level: LoopLevel) -> bool:
        """Whether the level moves it."""
        return level.index in self.tensor.names


@caches.FOOTPRINTS
def _touched(access: AffineAccess, steps: Steps) -> tuple[tuple[int, ...], int, int]:
    """Places along each axis, their number, and the length of a run of neighbours.

    Schedules differ in few of their levels, so that most queries repeat.
    """
    shape, names = access.tensor.shape, access.tensor.names
    extents = _extents(access, tuple(x for x in steps if x[2] > 1 and x[0] in names))
    run = 1
    for n, size in zip(reversed(extents), reversed(shape), strict=True):
        run *= min(n, size)
        if n < size:
            break
    return extents, prod(map(min, extents, shape)), run


@caches.FOOTPRINTS
def _touched_inside(access: AffineAccess, steps: Steps) -> tuple[int, ...]:
    shape = access.tensor.shape
    along: list[list[tuple[int, int]]] = [[] for _ in shape]
    extents = [1] * len(shape)
    found = [1]
    for index, stride, extent in reversed(steps):
        if extent == 1 or index not in access.tensor.names:
            found.append(found[-1])
            continue
        for axis, moves in enumerate(access.moves):
            if index in moves:
                along[axis].append((abs(moves[index]) * stride, extent))
                extents[axis] = _reach(along[axis])
        found.append(prod(map(min, extents, shape)))
    return tuple(reversed(found))


@caches.FOOTPRINTS
def _extents(access: AffineAccess, steps: Steps) -> tuple[int, ...]:
    """The places along each axis, by steps that move the tensor."""
    return tuple(
        _reach([(abs(moves[n]) * stride, extent) for n, stride, extent in steps if moves.get(n)])
        for moves in access.moves
    )


@caches.FOOTPRINTS
def _apart(access: AffineAccess, axis: int, steps: Steps) -> Mapping[int, int]:
    moves = access.moves[axis]
    found: dict[int, int] = {}
    count = 1
    for reach, unit, sizes in _gapless([(abs(moves[n]) * s, extent) for n, s, extent in steps]):
        found |= {size: size // unit * count for size in sizes}
        count *= reach // unit + 1
    return found


def _reach(steps: list[tuple[int, int]]) -> int:
    """The number of places along an axis: steps that leave no gap go together."""
    if len(steps) < 2:
        return steps[0][1] if steps else 1
    count = 1
    for reach, unit, _ in _gapless(steps):
        count *= reach // unit + 1
    return count


def _gapless(steps: list[tuple[int, int]]) -> list[tuple[int, int, list[int]]]:
    """Steps that leave no gap, together: how far they reach, their unit, and how far each goes."""
    steps.sort()
    found: list[tuple[int, int, list[int]]] = []
    reach, unit = 0, 1
    for size, extent in steps:
        if reach == 0 or size > reach + unit:
            reach, unit = 0, size
            found.append((0, size, []))
        unit = gcd(unit, size)
        reach += size * (extent - 1)
        found[-1] = (reach, unit, [*found[-1][2], size])
    return found


@dataclass(frozen=True)
class Facts:
    """A kernel: the points that its loops visit, and its reads, operations and writes there."""

    indices: tuple[LoopIndex, ...]
    inputs: tuple[Tensor, ...]
    """Reads at each point: a contraction's operands, or an elementwise kernel's."""
    outputs: tuple[Tensor, ...]
    aggregation: str | None = None
    """Aggregation of points, as ``add``; None: each is an element of the outputs."""
    combination: str = "none"
    """Combination of a contraction's operands, as ``mul``."""
    operations: float = 1.0
    """Cost of a point, in additions or multiplications."""
    after: tuple[Tensor, ...] = ()
    """Reads for each element of the outputs, after the aggregation."""
    operations_after: float = 0.0
    """Cost of each element of the outputs after the aggregation."""
    constraints: tuple[Constraint, ...] = ()
    """Tests at points besides the bounds of all tensors."""
    counts: bool = False
    """Whether elements equal to an extreme are counted, once it is known: nothing else waits for
    that."""
    loaded: frozenset[int] = frozenset()
    """The inputs that are no operands: these are computed of them where they are loaded."""
    is_rows: bool = False
    """Whether the kernel is a row kernel: several contractions over some of the axes."""
    kept: tuple[int, ...] = ()
    """Values that a row kernel should keep in registers, by number: inputs that it needs again, and
    costly intermediate values."""
    live: int = 0
    """Number of these in registers at a time."""
    sums: int = 0
    """Most aggregates that a row kernel makes in one pass over a row."""
    held: int = 0
    """Most numbers that a lane of a row kernel holds in a pass without kept values."""
    guessed: bool = False
    """Whether some passes of a row kernel are one if means are guessed."""
    joined_bytes: int = 0
    """Bytes of one of each aggregate when work-items that share a sum or a row join them: numbers
    of 16 bits are kept in 32."""
    passes: tuple[int, ...] = ()
    """Number of reads of each input by a row kernel without kept values."""

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def _hash(self) -> int:
        # Caches have facts as keys, for each schedule that is estimated.
        return hash(tuple(getattr(self, f.name) for f in fields(self)))

    @lazy
    def extents(self) -> Mapping[str, int]:
        """Number of values of each index."""
        return {index.name: index.range.extent for index in self.indices}

    @lazy
    def output_indices(self) -> tuple[str, ...]:
        """The indices that move the outputs, outermost first."""
        return tuple(index.name for index in self.indices if index.is_output)

    @lazy
    def reduced_indices(self) -> tuple[str, ...]:
        """The indices that are aggregated over."""
        return tuple(index.name for index in self.indices if not index.is_output)

    @property
    def tests(self) -> Shares:
        """Tests among `shares` that many values do not pass."""
        return _rare(self.shares)

    @lazy
    def shares(self) -> Shares:
        """Tests of accesses: their indices, and the share of values that pass.

        Few values at a time are tried exhaustively; so are the values of residue classes, each of
        which has its own points.
        """
        return self._tests_of(2)

    @lazy
    def all_tests(self) -> Shares:
        """Tests that are constant in whole groups, including tests of one index: residue classes of
        which only some have points."""
        return _rare(self._tests_of(1), COMMON_IN_GROUPS)

    def _tests_of(self, least: int) -> Shares:
        """The tests of at least so many indices."""
        return self.shares_of(self.inputs, least)

    def shares_of(self, inputs: Iterable[Tensor], least: int) -> Shares:
        """Tests of accesses to some of the inputs alone, with the share of values that pass."""
        found: dict[frozenset[str], float] = {}
        for tensor in inputs:
            for e, size in zip(tensor.access or (), tensor.shape, strict=False):
                names = [n for n in e.names if self.extents[n] > 1]
                count = prod(self.extents[n] for n in names)
                if len(names) >= least and count <= MOST_TRIED:
                    terms = [
                        [
                            int(e.coefficient(i.name)) * v
                            for v in range(i.range.lower, i.range.upper)
                        ]
                        for i in self.indices
                        if i.name in e.names
                    ]
                    first = int(e.constant)
                    if first + sum(map(min, terms)) >= 0 and first + sum(map(max, terms)) < size:
                        continue
                    sums = (first + sum(values) for values in product(*terms))
                    share = sum(0 <= place < size for place in sums) / count
                    key = frozenset(names)
                    found[key] = min(share, found.get(key, 1.0))
        return tuple((names, share) for names, share in found.items() if share < 1)

    @lazy
    def padded(self) -> frozenset[str]:
        """Indices along which some points would read outside some input."""
        return frozenset[str]().union(
            *(padded_indices(self, t) for t in self.inputs if t.access is not None)
        )

    @property
    def points(self) -> int:
        """Number of points."""
        return prod(self.extents.values())

    @property
    def results(self) -> int:
        """Number of points of the output's indices."""
        return prod(self.extents[name] for name in self.output_indices)

    @lazy
    def read(self) -> int:
        """Bytes of the inputs, each tensor once."""
        return sum(t.size for t in {t.number: t for t in self.inputs}.values())

    @lazy
    def moved(self) -> int:
        """Bytes of all tensors, each once: every schedule moves at least these."""
        return self.read + sum(t.size for t in (*self.after, *self.outputs))

    @property
    def aggregates(self) -> bool:
        """Whether values at one element are combined: neither assigned, nor rows of a row
        kernel."""
        return not self.is_rows and self.aggregation not in (None, "assign")

    @property
    def is_product(self) -> bool:
        """Whether the kernel sums products of two tensors."""
        return (self.aggregation, self.combination, len(self.inputs)) == ("add", "mul", 2)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors that are read or written."""
        return (*self.inputs, *self.after, *self.outputs)


@caches.PADDED_INDICES
def padded_indices(
    facts: Facts, tensor: Tensor, known: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Indices that move a tensor's axes along which some points would read outside it.

    Points outside are skipped beforehand where all indices that move an axis are ``known``.
    """
    ranges = {index.name: index.range for index in facts.indices}
    found: set[str] = set()
    for e, size in zip(tensor.access or (), tensor.shape, strict=True):
        low, high = interval(e, ranges)
        if (low < 0 or high >= size) and not known.issuperset(e.names):
            found.update(e.names)
    return frozenset(found)


def between_lanes(facts: Facts, name: str) -> str | None:
    """The index whose values fill the gaps that an index's steps leave in the output's memory.

    Such is the residue class that a strided convolution's gradient is made of.
    """
    strides = facts.outputs[0].strides
    gap = abs(strides.get(name, 0))
    filling = (n for n in facts.output_indices if strides.get(n) == 1 and n != name)
    return next((n for n in filling if facts.extents[n] == gap > 1), None)


def _rare(shares: Shares, common: float = COMMON) -> Shares:
    """The tests that not nearly all values pass."""
    return tuple((names, share) for names, share in shares if share < common)


def in_sectors(run: int, sector: int) -> float:
    """Ratio of the fetched bytes to a run of bytes, as sectors are whole."""
    return ceil(run / sector) * sector / run if run else 1.0
