"""Sums of few parts, as sums of elements that a row kernel reads at several places.

The sum of a product's partial results is one, in the kernel of which a normalization takes it.
"""

from __future__ import annotations

from itertools import product

from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.aggregation import accumulator_type
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import AddOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import names_in, shape
from tiledialect.dialects.tile.structure.small_stencils import points_of_element
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.names import keep_name

MOST_PARTS = 64
"""Most parts of a sum that is made at each element."""


def is_part_sum(op: ContractionOp) -> bool:
    """Whether an op adds few parts of an input, each of the shape of the result.

    The sum is made in its own element type.
    """
    if op.aggregation.data is not Aggregation.add or op.combination.data is not Combination.none:
        return False
    if op.constraints.data or op.default is not None or op.symbols or op.domain is None:
        return False
    (value,), (access,) = op.inputs, op.accesses
    ranges, output = op.domain.ranges, [e for e in op.output.data if e.names]
    summed = set(op.index_names) - names_in(output)
    own = [e for e in access.data if e.names and not names_in([e]) & summed]
    parts = [
        (e, size)
        for e, size in zip(access.data, shape(value), strict=True)
        if names_in([e]) & summed
    ]
    # Parts along other axes are not together in memory.
    is_first = [e for e, _ in parts] == [*access.data[: len(parts)]]
    return (
        isinstance(value, BlockArgument)
        and is_first
        and accumulator_type(op) == tensor_type(value).element_type
        and own == output
        and all(
            n == 1 for e, n in zip(op.output.data, shape(op.result), strict=True) if not e.names
        )
        and all(e == IndexExpr.of(e.names[0]) for e in (*output, *(e for e, _ in parts)))
        and all(ranges[e.names[0]] == Range(0, size) for e, size in parts)
        and 1 < points_of_element(op, ranges) <= MOST_PARTS
    )


def add_parts(kernel: KernelOp, sizes: Shape) -> None:
    """Make the sums of few parts of a shape in a kernel by additions of their elements, in
    place."""
    for op in [op for op in kernel.contractions if is_part_sum(op) and shape(op.result) == sizes]:
        Rewriter.replace_op(op, [], [_sum(op)])


def _sum(op: ContractionOp) -> SSAValue:
    """Insert the additions of an op's parts before it."""
    assert op.domain is not None
    (value,), (access,) = op.inputs, op.accesses
    ranges = op.domain.ranges
    names = [n for n in op.index_names if n not in names_in(op.output.data)]
    total: SSAValue | None = None
    for place in product(*(range(ranges[n].upper) for n in names)):
        at = {n: IndexExpr.of(k) for n, k in zip(names, place, strict=True)}
        part = ContractionOp(
            Aggregation.assign,
            Combination.none,
            op.output.data,
            [(value, [e.substitute(at) for e in access.data])],
            shape=shape(op.result),
        )
        Rewriter.insert_op(part, InsertPoint.before(op))
        if total is None:
            total = part.result
            continue
        both = AddOp.make(total, part.result)
        Rewriter.insert_op(both, InsertPoint.before(op))
        total = both.res
    assert total is not None
    keep_name(total, op.result)
    return total
