"""Reductions of StableHLO: along axes, over windows, and the gradients of those."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, Region, SSAValue

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.stablehlo.windows import numbers as each
from tiledialect.dialects.stablehlo.windows import pairs
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import reductions
from tiledialect.operators.layout import element_type
from tiledialect.operators.linear import Window
from tiledialect.passes.convert.stablehlo.base import Conversion, numbers, result_shape
from tiledialect.passes.convert.stablehlo.elementwise import apply, body_of

Values = Sequence[SSAValue]

AGGREGATIONS: dict[type[Operation], Aggregation] = {
    hlo.AddOp: Aggregation.add,
    hlo.MultiplyOp: Aggregation.mul,
    hlo.MaximumOp: Aggregation.max,
    hlo.MinimumOp: Aggregation.min,
}

LOGICAL: dict[type[Operation], Aggregation] = {
    hlo.AddOp: Aggregation.max,
    hlo.OrOp: Aggregation.max,
    hlo.MultiplyOp: Aggregation.min,
    hlo.AndOp: Aggregation.min,
}
"""Aggregations of bools."""


def aggregation_of(region: Region) -> Aggregation | None:
    """Aggregation that a function of two scalars is; None if it is another function."""
    block = body_of(region)
    first, last = block.first_op, block.last_op
    if first is None or last is None or first.next_op is not last:
        return None
    if set(first.operands) != set(block.args) or [*last.operands] != [*first.results]:
        return None
    table = AGGREGATIONS | LOGICAL if element_type(first.results[0]) == i1 else AGGREGATIONS
    return table.get(type(first))


def _combine(b: TensorBuilder, region: Region) -> reductions.Combine:
    return lambda left, right: apply(b, region, [*left, *right])


def _reduce(b: TensorBuilder, op: added.ReduceOp, operands: Values) -> Values:
    count, axes = len(op.inputs), numbers(op.dimensions)
    values, starts = operands[:count], operands[count:]
    found = aggregation_of(op.body) if count == 1 else None
    if found is not None:
        return [reductions.reduce(b, values[0], starts[0], found, axes)]
    return reductions.fold(b, values, starts, _combine(b, op.body), axes)


def _windows(op: added.ReduceWindowOp) -> list[Window]:
    rank = len(result_shape(op))
    parts = zip(
        numbers(op.window_dimensions),
        each(op.window_strides, rank),
        [low for low, _ in pairs(op.padding, rank)],
        each(op.base_dilations, rank),
        each(op.window_dilations, rank),
        strict=True,
    )
    return [Window(*part) for part in parts]


def _reduce_window(b: TensorBuilder, op: added.ReduceWindowOp, operands: Values) -> Values:
    count, windows, sizes = len(op.inputs), _windows(op), result_shape(op)
    values, starts = operands[:count], operands[count:]
    found = aggregation_of(op.body) if count == 1 else None
    if found is not None:
        return [reductions.reduce_window(b, values[0], starts[0], found, windows, sizes)]
    combine = _combine(b, op.body)
    return reductions.fold_windows(b, values, starts, combine, windows, sizes)


REDUCTIONS: dict[type[Operation], Conversion] = {
    added.ReduceOp: _reduce,
    added.ReduceWindowOp: _reduce_window,
}
