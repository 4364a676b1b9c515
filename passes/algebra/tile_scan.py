"""tile-scan: cumulative contractions become scans."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.combinations import result_element_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.prefix import Prefix, prefix
from tiledialect.ir.names import give_name, keep_origin
from tiledialect.passes.algebra.rewrites.segmented_scans import segmented_scan
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.normalize.tile_bounds import needed_constraints

MIN_SIZE = 8
"""Minimum elements of a scan: fewer are summed anew for each result."""


class ScanContraction(RewritePattern):
    """Replace a cumulative contraction by a scan of the aggregates at each place of an axis."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Replace the contraction, if it is cumulative."""
        if op.aggregation.data is Aggregation.assign or not op.is_static or op.no_defract:
            return
        if isinstance(op.parent_op(), KernelOp):
            return
        found = prefix(op.space())
        if found is None or found.source.output_shape[found.axis] < MIN_SIZE:
            return
        if is_scan(op, found):
            rewriter.replace(op, as_scan(op, found))
        elif made := segmented_scan(op, found):
            rewriter.replace(op, made)


def is_scan(op: ContractionOp, found: Prefix) -> bool:
    """Whether running aggregates, times the factors, are the contraction's result."""
    is_sum = op.aggregation.data is Aggregation.add
    t = result_element_type(op.aggregation.data, *_terms(op, found), None)
    if t != tensor_type(op.result).element_type:
        return False
    if found.factors and not (is_sum and op.combination.data is Combination.mul):
        return False
    # A place without points has a 0, which is neutral in sums alone.
    is_plain = is_sum and op.default is None
    return is_plain or sets.covers_output(found.source)


def as_scan(op: ContractionOp, found: Prefix) -> list[Operation]:
    """Ops that replace a cumulative contraction; the last one's result is its result."""
    made: list[Operation] = []
    combination, terms = _terms(op, found)
    factors = [op.inputs[k] for k in found.factors]
    source = terms[0]
    if not _is_input(found.source, source):
        new = _contraction(op, op.aggregation.data, combination, terms, found.source)
        give_name(new.result, "terms")
        made.append(new)
        source = new.result
    scan = ScanOp(op.aggregation.data, source, found.axis, reverse=found.reverse)
    made.append(scan)
    if not _is_input(found.result, scan.result):
        give_name(scan.result, "running")
        combination = Combination.mul if factors else Combination.none
        result = _contraction(
            op, Aggregation.assign, combination, [scan.result, *factors], found.result, op.default
        )
        made.append(result)
    keep_origin(made, op)
    return made


def _terms(op: ContractionOp, found: Prefix) -> tuple[Combination, list[SSAValue]]:
    """Combination and inputs of the aggregated terms: all inputs but the factors."""
    terms = [v for k, v in enumerate(op.inputs) if k not in found.factors]
    return op.combination.data if len(terms) > 1 else Combination.none, terms


def _is_input(space: IndexSpace, value: SSAValue) -> bool:
    """Whether a space copies its only input, element by element."""
    same = space.inputs == (space.output,) and space.output_shape == shape_of(tensor_type(value))
    return same and not needed_constraints(space)


def _contraction(
    op: ContractionOp,
    aggregation: Aggregation,
    combination: Combination,
    values: list[SSAValue],
    space: IndexSpace,
    default: SSAValue | None = None,
) -> ContractionOp:
    """A contraction on a space, with a domain if ``op`` has one."""
    new = ContractionOp(
        aggregation,
        combination,
        space.output,
        list(zip(values, space.inputs, strict=True)),
        [space.constraints[k] for k in needed_constraints(space)],
        shape=space.output_shape,
        default=default,
    )
    if op.domain is not None:
        set_domain(new, new.space())
    return new


class TileScanPass(ModulePass):
    """Makes scans of cumulative contractions, so that their work is linear in the size.

    A contraction is cumulative along an axis of its result if the points of an element are those of
    all places of another axis up to it, or from it on: `O[i] = +(I[k]), 0 <= i - k`, and any change
    of indices of that form. Terms that are combined, and aggregated over other indices, become a
    contraction before the scan; shifts, strides, and factors that sums have in common, one after
    it. Below 8 elements the contraction stays.

    A count or sum over elements equal to a running maximum or minimum, as in the gradient of that,
    becomes a scan of the runs in which the extreme stays the same.
    """

    name = "tile-scan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace every cumulative contraction."""
        PatternRewriteWalker(ScanContraction()).rewrite_module(op)
