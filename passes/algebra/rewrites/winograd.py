"""Sums of products over windows of 3 x 3 by Winograd's minimal filtering: 16 products for 4 pixels
instead of 36.

Along an axis, windows of three taps at two neighbouring pixels read four places `d`. With the taps
`g` their sums of products `o` are linear in four products of sums of each,

    sum of d[r + j] * g[j] * o[r]  =  sum over a of (W d)[a] * (T g)[a] * (P o)[a]

for three small matrices, and in two dimensions in 16 products. The form is symmetric in `d`, `g`
and `o`: so the result, its gradient by the image and its gradient by the weights are computed
alike, each being one of the three.

S. Winograd, "Arithmetic Complexity of Computations" (1980); A. Lavin and S. Gray, "Fast Algorithms
for Convolutional Neural Networks" (2016), with the matrices of F(2x2, 3x3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import Access, Constraint, IndexExpr, Range
from tiledialect.index.names import numbered_names
from tiledialect.ir.names import give_name, given_name, keep_origin
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.split.rewrites.piece_names import piece_name
from tiledialect.passes.views.initial_values import filled
from tiledialect.rounding import ceil_div

TAPS, PIXELS, PLACES = 3, 2, 4
"""Extents of a window, of a tile of pixels, and of the places that a tile's windows read."""
AXES = 2
RESULT = 2
"""Number of the result among the three tensors of a product."""
WINDOWS, WEIGHTS, TILES = range(3)
"""Numbers of the tables that multiply places, taps and pixels."""
MATRICES: tuple[tuple[tuple[float, ...], ...], ...] = (
    ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
    ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)),
    ((1, 0), (1, 1), (1, -1), (0, -1)),
)
"""Tables for windows, weights and tiles: a row for each product."""

Names = tuple[str, ...]


@dataclass(frozen=True)
class Slide:
    """Axis along which windows slide."""

    pixel: str
    tap: str
    start: int
    """First place of the first pixel's window."""
    is_flipped: bool
    """Whether the last tap is read first."""

    @staticmethod
    def of(e: IndexExpr, ranges: Mapping[str, Range]) -> Slide | None:
        """The slide of an index expression, if it is one."""
        taps = [n for n in e.names if ranges[n].extent == TAPS and abs(e.coefficient(n)) == 1]
        pixels = [n for n in e.names if ranges[n].extent > TAPS and e.coefficient(n) == 1]
        if len(taps) != 1 or len(pixels) != 1 or len(e.names) != 2:
            return None
        is_flipped = e.coefficient(taps[0]) < 0
        start = int(e.constant) - (TAPS - 1) * is_flipped
        return Slide(pixels[0], taps[0], start, is_flipped)


@dataclass(frozen=True)
class SlidingSum:
    """Sum of products of two tensors, in one of which windows slide along two axes."""

    op: ContractionOp
    slides: tuple[Slide, ...]
    slid: int
    """Number of the tensor that the windows slide over."""
    weights: int
    """Number of the tensor that the taps index: an input, or the result."""
    tiled: int
    """Number of the tensor that the pixels index."""

    @staticmethod
    def of(op: ContractionOp) -> SlidingSum | None:
        """The sliding sum of a contraction in normal form, if it is one."""
        if not _is_plain(op):
            return None
        assert op.domain is not None
        accesses = (*(a.data for a in op.accesses), op.output.data)
        found = [
            (k, Slide.of(e, op.domain.ranges))
            for k, access in enumerate(accesses)
            for e in access
            if e.variable is None
        ]
        slides = tuple(slide for _, slide in found if slide is not None)
        if len(slides) != AXES or len(found) != AXES or found[0][0] != found[1][0]:
            return None
        return _placed(op, slides, found[0][0], accesses)

    @property
    def tensors(self) -> tuple[tuple[SSAValue, Access], ...]:
        """The three tensors with their accesses."""
        places = (*self.op.accesses, self.op.output)
        values = (*self.op.inputs, self.op.result)
        return tuple((v, tuple(a.data)) for v, a in zip(values, places, strict=True))


def _is_plain(op: ContractionOp) -> bool:
    """Whether a contraction outside kernels sums products of two f32 tensors at all its indices."""
    if op.aggregation.data is not Aggregation.add or op.combination.data is not Combination.mul:
        return False
    if len(op.inputs) != RESULT or op.constraints.data or op.default is not None:
        return False
    if isinstance(op.parent_op(), KernelOp) or not op.is_static or op.domain is None:
        return False
    if any(r.lower != 0 or not r.extent for r in op.domain.ranges.values()):
        return False
    return {tensor_type(v).element_type for v in (*op.inputs, op.result)} == {f32}


def _placed(
    op: ContractionOp, slides: tuple[Slide, ...], slid: int, accesses: Sequence[Sequence[IndexExpr]]
) -> SlidingSum | None:
    """The sliding sum and its tensors of taps and pixels, if all their other indices are plain."""
    names = [[n for e in access for n in e.names] for access in accesses]
    taps, pixels = ({getattr(s, kind) for s in slides} for kind in ("tap", "pixel"))
    others = [k for k in range(len(names)) if k != slid]
    weights = [k for k in others if taps <= set(names[k]) and not pixels & set(names[k])]
    tiled = [k for k in others if pixels <= set(names[k]) and not taps & set(names[k])]
    if slid == RESULT or len(weights) != 1 or len(tiled) != 1 or len(taps | pixels) != 2 * AXES:
        return None
    found = SlidingSum(op, slides, slid, weights[0], tiled[0])
    # Each index is one of two tensors: summed channels, channels of the result, images.
    is_twice = all(sum(n in own for own in names) == 2 for n in op.index_names)
    is_once = all(len(set(own)) == len(own) for own in names)
    if not (is_twice and is_once and _has_all(found)):
        return None
    channels = [{*names[k]} & {*names[found.weights]} - taps for k in (slid, found.tiled)]
    return found if all(channels) else None


def _has_all(found: SlidingSum) -> bool:
    """Whether the accesses cover all of the tensors, but for places around the images."""
    assert found.op.domain is not None
    ranges = found.op.domain.ranges
    return all(
        e.variable is None or ranges[e.variable].extent == size
        for value, access in found.tensors
        for e, size in zip(access, shape_of(tensor_type(value)) or (), strict=True)
    )


class WinogradRewrite:
    """Ops that replace a sum of products; the last one's result is its result."""

    def __init__(self, found: SlidingSum):
        self.found = found
        self.op = op = found.op
        assert op.domain is not None
        self.extents = {name: r.extent for name, r in op.domain.ranges.items()}
        taken = set(op.index_names)
        self.product = _fresh("e", taken)
        self.tiles = [_fresh(f"{s.pixel}_tile", taken) for s in found.slides]
        self.places = [_fresh(f"{s.pixel}_place", taken) for s in found.slides]
        for slide, tile in zip(found.slides, self.tiles, strict=True):
            self.extents[tile] = ceil_div(self.extents[slide.pixel], PIXELS)
        self.extents[self.product] = PLACES**AXES
        self.groups = self._groups()
        self.table: SSAValue | None = None
        self.made: list[Operation] = []

    def ops(self) -> list[Operation]:
        """Sums of each factor's elements, their products, and sums of the products."""
        self.table = self._insert(*table())
        factors = [self._factor(k) for k in range(RESULT)]
        places = [self._group_access(k) for k in range(RESULT + 1)]
        sizes = [prod(self.extents[n] for n in names) for names in self._of(RESULT)]
        products = self._sum(
            places[RESULT],
            (self.extents[self.product], *sizes),
            [*zip(factors, places[:RESULT], strict=True)],
        )
        self._name("products")
        plain = (self.product, *(n for names in self._of(RESULT) for n in names))
        shaped = ReshapeOp.of(products, tuple(map(self._extent, plain)))
        value = self._insert(shaped)
        inputs = [(value, tuple(map(IndexExpr.of, plain))), self._numbers(RESULT)]
        shape = self.op.space().output_shape
        self._sum(self._access(RESULT), shape, inputs, self._constraints(RESULT))
        keep_origin(self.made, self.op)
        for new in self.made:
            if given_name(new.results[0]) is None:
                give_name(new.results[0], _name(new))
        return self.made

    def _groups(self) -> dict[str, Names]:
        """Indices that two tensors share, merged into one in the products: summed channels, the
        result's channels, and tiles of all images.
        """
        found, names = self.found, [self._names(k) for k in range(RESULT + 1)]
        slid, weights, tiled = (names[k] for k in (found.slid, found.weights, found.tiled))
        return {
            "c": tuple(n for n in slid if n in weights),
            "k": tuple(n for n in tiled if n in weights),
            "p": tuple(n for n in slid if n in tiled),
        }

    def _names(self, k: int) -> Names:
        """The indices of a tensor, tiles for pixels, in the order of its axes."""
        slides = self.found.slides
        tiles = {s.pixel: t for s, t in zip(slides, self.tiles, strict=True)}
        taps = {s.tap for s in slides}
        names = [n for e in self.found.tensors[k][1] for n in e.names if n not in taps]
        return tuple(tiles.get(n, n) for n in names)

    def _labels(self, k: int) -> tuple[str, str]:
        """Groups of a tensor, the group of its last axis last."""
        names = self._names(k)
        own = [label for label, group in self.groups.items() if {*group} <= {*names}]
        first, last = sorted(own, key=lambda label: names[-1] in self.groups[label])
        return first, last

    def _of(self, k: int) -> tuple[Names, Names]:
        first, last = self._labels(k)
        return self.groups[first], self.groups[last]

    def _group_access(self, k: int) -> Access:
        return tuple(map(IndexExpr.of, (self.product, *self._labels(k))))

    def _factor(self, k: int) -> SSAValue:
        """Sums of a factor's elements for each product: a matrix of two groups of indices."""
        names = (self.product, *(n for group in self._of(k) for n in group))
        inputs = [(self.found.tensors[k][0], self._access(k)), self._numbers(k)]
        shape = tuple(map(self._extent, names))
        sums = self._sum(tuple(map(IndexExpr.of, names)), shape, inputs, self._constraints(k))
        self._name(("windows", "weights", "tiles")[self._kind(k)])
        sizes = [prod(map(self._extent, group)) for group in self._of(k)]
        return self._insert(ReshapeOp.of(sums, (self._extent(self.product), *sizes)))

    def _kind(self, k: int) -> int:
        found = self.found
        return [found.slid, found.weights, found.tiled].index(k)

    def _access(self, k: int) -> Access:
        """Access of a tensor, with tiles and places in them instead of pixels."""
        return tuple(self._place(e) for e in self.found.tensors[k][1])

    def _place(self, e: IndexExpr) -> IndexExpr:
        for slide, tile, place in zip(self.found.slides, self.tiles, self.places, strict=True):
            at = PIXELS * IndexExpr.of(tile) + IndexExpr.of(place)
            if slide.pixel in e.names:
                return at if e.variable is not None else at + slide.start
        return e

    def _numbers(self, k: int) -> tuple[SSAValue, Access]:
        """Table of the multipliers of a tensor's elements, and its access."""
        assert self.table is not None
        kind = self._kind(k)
        at = [IndexExpr.of(place) for place in self.places]
        if kind == WEIGHTS:
            taps = [(IndexExpr.of(s.tap), s.is_flipped) for s in self.found.slides]
            at = [IndexExpr.of(TAPS - 1) - tap if flipped else tap for tap, flipped in taps]
        return self.table, (IndexExpr.of(kind), IndexExpr.of(self.product), *at)

    def _constraints(self, k: int) -> tuple[Constraint, ...]:
        """Constraints of places to a tile, where no access implies them."""
        places = self.places if self._kind(k) == TILES else ()
        return tuple(Constraint(IndexExpr.of(p), IndexExpr.of(PIXELS)) for p in places)

    def _extent(self, name: str) -> int:
        return self.extents[name]

    def _sum(
        self,
        output: Access,
        shape: Sequence[int],
        inputs: Sequence[tuple[SSAValue, Access]],
        constraints: Sequence[Constraint] = (),
    ) -> SSAValue:
        made = ContractionOp(
            Aggregation.add, Combination.mul, output, inputs, constraints, shape=tuple(shape)
        )
        set_domain(made, made.space())
        return self._insert(made)

    def _insert(self, *ops: Operation) -> SSAValue:
        self.made += ops
        return ops[-1].results[0]

    def _name(self, what: str) -> None:
        """Name the last result after the sum that it is a part of."""
        give_name(self.made[-1].results[0], piece_name(self.op, what))


def _name(op: Operation) -> str:
    """Name of a result that is a reshape of another, or a part of the table."""
    named = given_name(op.operands[0]) if isinstance(op, ReshapeOp) else None
    return named or "number"


def table() -> list[Operation]:
    """Ops that compute the tables, all in one kernel."""
    made = filled(0.0, f32, (len(MATRICES), *(PLACES,) * (2 * AXES)))
    shape = made[-1].results[0]
    assert isinstance(made[-1], ContractionOp)
    set_domain(made[-1], made[-1].space())

    def insert(op: Operation) -> SSAValue:
        made.append(op)
        return op.results[0]

    def position(axis: int) -> SSAValue:
        return insert(ew.IndexOp.along(shape, axis))

    def number(value: float) -> SSAValue:
        return insert(ew.ConstantOp.of(value))

    def next_to(a: SSAValue, b: SSAValue) -> SSAValue:
        return insert(ew.AddOp.make(insert(ew.MulOp.make(a, number(PLACES))), b))

    def entry(axis: int) -> SSAValue:
        """Entry of a table for one of the axes that windows slide along."""
        place = next_to(next_to(position(0), position(1 + axis)), position(1 + AXES + axis))
        found = number(0.0)
        for key, value in _entries():
            is_there = insert(ew.CmpEqOp.make(place, number(key)))
            found = insert(ew.SelectOp.make(is_there, number(value), found))
        return found

    numbers = insert(ew.MulOp.make(entry(0), entry(1)))
    give_name(numbers, "numbers")
    insert(ReshapeOp.of(numbers, (len(MATRICES), PLACES**AXES, *(PLACES,) * AXES)))
    return made


def _entries() -> list[tuple[int, float]]:
    """The nonzero entries, keyed by matrix, row and column as digits."""
    return [
        ((kind * PLACES + row) * PLACES + column, float(value))
        for kind, matrix in enumerate(MATRICES)
        for row, numbers in enumerate(matrix)
        for column, value in enumerate(numbers)
        if value
    ]


def _fresh(base: str, taken: set[str]) -> str:
    """An unused index name."""
    name = base if base not in taken else next(numbered_names(base, taken))
    taken.add(name)
    return name
