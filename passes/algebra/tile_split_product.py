"""tile-split-product: a sum of products of three factors as two sums of products of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64, i32, i64
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Access, IndexExpr
from tiledialect.ir.named_values import names_text, option_name
from tiledialect.ir.names import give_name, given_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.split.rewrites.piece_names import is_kept, piece_name
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.search.choice import best_seconds
from tiledialect.schedule.search.tensor_cores import SPLIT_GAIN

FACTORS = 3
TYPES = (f32, f64, i32, i64)
"""Types whose inner products are kept in memory without a loss that the sum does not have."""


def is_plain(op: ContractionOp) -> bool:
    """Whether a contraction outside kernels sums products of three factors at all their indices."""
    if op.aggregation.data is not Aggregation.add or op.combination.data is not Combination.mul:
        return False
    if len(op.inputs) != FACTORS or op.constraints.data or op.default is not None:
        return False
    if isinstance(op.parent_op(), KernelOp) or not op.is_static:
        return False
    if op.domain is None or any(r.lower != 0 or not r.extent for r in op.domain.ranges.values()):
        return False
    kinds = {tensor_type(v).element_type for v in (*op.inputs, op.result)}
    plain = all(e.variable is not None or e == IndexExpr() for e in op.all_exprs)
    return plain and len(kinds) == 1 and kinds <= {*TYPES}


def split(op: ContractionOp, pair: tuple[int, ...]) -> tuple[ContractionOp, ContractionOp]:
    """The product of two factors, summed over their own indices, and the outer sum."""
    assert op.domain is not None
    ranges = op.domain.ranges
    factors = [(v, a.data) for v, a in zip(op.inputs, op.accesses, strict=True)]
    inner = [factors[k] for k in pair]
    (outer,) = (f for k, f in enumerate(factors) if k not in pair)
    outside = _names(op.output.data) | _names(outer[1])
    own = [name for _, access in inner for e in access for name in e.names]
    kept = [name for name in dict.fromkeys(own) if name in outside]
    place = tuple(IndexExpr.of(name) for name in kept)
    first = _sum(inner, place, tuple(ranges[name].extent for name in kept))
    second = _sum([(first.result, place), outer], op.output.data, op.space().output_shape)
    give_name(first.result, piece_name(op, "factor"))
    keep_origin([first, second], op)
    return first, second


def best_split(op: ContractionOp, device: Device) -> tuple[ContractionOp, ContractionOp] | None:
    """The fastest split, if the cost model says that it is faster than the whole."""
    least = SPLIT_GAIN * best_seconds(contraction_facts(op), device)
    best = None
    for pair in combinations(range(FACTORS), 2):
        found = split(op, pair)
        seconds = sum(best_seconds(contraction_facts(x), device) for x in found)
        if seconds < least:
            least, found, best = seconds, best, found
        for unused in reversed(found or ()):
            unused.erase()
    return best


def _sum(
    factors: Sequence[tuple[SSAValue, Access]], output: Access, shape: Sequence[int]
) -> ContractionOp:
    made = ContractionOp(Aggregation.add, Combination.mul, output, factors, shape=tuple(shape))
    set_domain(made, made.space())
    return made


def _names(access: Access) -> set[str]:
    return {name for e in access for name in e.names}


@dataclass(frozen=True)
class TileSplitProductPass(ModulePass):
    """Computes sums of products of three factors as two sums of products of two.

    The indices that two of the factors alone have are summed first, and the inner products are kept
    in memory: `A[i, k] * W[k, l] * B[j, l]`, summed over `k` and `l`, is two matrix products. The
    cost model chooses the first two factors, and whether to split at all, for the device of the
    module's DLTI target spec. Products are split where all indices stand alone and no constraint is
    left, for f32, f64, i32 and i64.
    """

    name = "tile-split-product"

    first: tuple[str, ...] = ()
    """The factors that are multiplied first, without the `%`; by default the cost model chooses."""
    keep: tuple[str, ...] = ()
    """Results that the cost model leaves whole, directly or as elementwise functions of them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every product that is named, or faster when split."""
        device = device_of(op)
        plain = [x for x in ops_of(op, ContractionOp) if is_plain(x)]
        for product in self._named(plain) if self.first else plain:
            if (made := self._split(product, device)) is not None:
                Rewriter.replace_op(product, made, [made[-1].result])

    def _split(
        self, op: ContractionOp, device: Device | None
    ) -> tuple[ContractionOp, ContractionOp] | None:
        """The two sums that replace a product; None if it stays."""
        if self.first:
            return split(op, self._places(op))
        if device is None or is_kept([op], self.keep):
            return None
        return best_split(op, device)

    def _places(self, op: ContractionOp) -> tuple[int, ...]:
        """Numbers of the factors of a product that are multiplied first."""
        first = [*map(option_name, self.first)]
        return tuple(k for k, v in enumerate(op.inputs) if given_name(v) in first)

    def _named(self, plain: list[ContractionOp]) -> list[ContractionOp]:
        """The products that have the two named factors."""
        names = " and ".join(self.first)
        if len(self.first) != 2:
            raise TileError(f"`first` must name 2 factors, got {len(self.first)} ({names})")
        if found := [op for op in plain if len(self._places(op)) == 2]:
            return found
        known = names_text([v for op in plain for v in op.inputs])
        raise TileError(
            f"`first` must name two factors of a sum of products of three, got {names}; "
            f"there is {known}"
        )
