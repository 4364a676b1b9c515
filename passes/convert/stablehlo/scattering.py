"""Scatters of StableHLO, and the gradients of pooling."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, Region, SSAValue
from xdsl_jax.dialects.stablehlo.attributes import ComparisonDirection

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.stablehlo.windows import numbers as each
from tiledialect.dialects.stablehlo.windows import pairs
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.indexing import Places, scatter, scatter_extreme, scatter_replacing
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.linear import Window
from tiledialect.operators.reductions import COMBINED, neutral, select_and_scatter
from tiledialect.passes.convert.stablehlo.base import Conversion, numbers, refusal, result_shape
from tiledialect.passes.convert.stablehlo.elementwise import body_of
from tiledialect.passes.convert.stablehlo.indexing import starts_of
from tiledialect.passes.convert.stablehlo.reductions import aggregation_of

Values = Sequence[SSAValue]


def _scatter(b: TensorBuilder, op: hlo.ScatterOp, operands: Values) -> Values:
    if len(op.inputs) != 1:
        raise refusal(op, "it scatters several tensors together")
    x, indices, updates = operands
    places, updates = _places(b, op, indices, updates)
    aggregation = aggregation_of(op.update_computation)
    if aggregation is Aggregation.add:
        total = scatter(b, updates, places, shape(x))
        return [b.add(x, cast(b, total, element_type(x)))]
    try:
        if aggregation is not None:
            unit = neutral(aggregation, element_type(x))
            found = scatter_extreme(b, updates, places, shape(x), aggregation, unit)
            return [b.op(COMBINED[aggregation], x, found)]
        if not _replaces(op.update_computation):
            raise refusal(op, "its function neither adds, nor replaces, nor is another aggregate")
        is_unique = bool(op.unique_indices.value.data) or all(n == 1 for n in places.batch)
        return [scatter_replacing(b, x, updates, places, is_unique=is_unique)]
    except TileError as error:
        raise refusal(op, error.message) from None


def _replaces(region: Region) -> bool:
    """Whether a function of a value and a new one is the new one."""
    block = body_of(region)
    last = block.last_op
    return last is block.first_op and last is not None and last.operands[0] is block.args[1]


def _places(
    b: TensorBuilder, op: hlo.ScatterOp, indices: SSAValue, updates: SSAValue
) -> tuple[Places, SSAValue]:
    """Windows of a scatter; the updates with the batch axes, then those of a window."""
    d = op.scatter_dimension_numbers
    batched = list(
        zip(numbers(d.input_batching_dims), numbers(d.scatter_indices_batching_dims), strict=True)
    )
    axes = numbers(d.scatter_dims_to_operand_dims)
    starts, batch = starts_of(b, indices, d.index_vector_dim.value.data, axes, batched)
    inner = numbers(d.update_window_dims)
    outer = [k for k in range(len(shape(updates))) if k not in inner]
    updates = layout.transpose(b, updates, [*outer, *inner])
    left_out = {*numbers(d.inserted_window_dims), *(axis for axis, _ in batched)}
    given = iter(shape(updates)[len(batch) :])
    whole = shape(op.inputs[0])
    sizes = tuple(1 if axis in left_out else next(given) for axis in range(len(whole)))
    for axis, (n, m) in enumerate(zip(whole, sizes, strict=True)):
        if m < n and axis not in starts:
            starts[axis] = layout.full(b, 0, batch, i32)
    return Places(starts, sizes, batch), layout.reshape(b, updates, (*batch, *sizes))


def _select_and_scatter(b: TensorBuilder, op: added.SelectAndScatterOp, operands: Values) -> Values:
    x, source, start = operands
    first = body_of(op.select).first_op
    is_comparison = (
        isinstance(first, added.CompareOp) and first.next_op is body_of(op.select).last_op
    )
    if aggregation_of(op.scatter) is not Aggregation.add or not is_comparison:
        raise refusal(op, "it selects no extreme, or does not add")
    assert isinstance(first, added.CompareOp)
    direction = first.comparison_direction.data
    greater = (ComparisonDirection.GE, ComparisonDirection.GT)
    if direction not in (*greater, ComparisonDirection.LE, ComparisonDirection.LT):
        raise refusal(op, f"it selects by {direction}")
    if list(first.operands) != list(body_of(op.select).args):
        raise refusal(op, "its comparison has its operands in another order")
    extreme = Aggregation.max if direction in greater else Aggregation.min
    is_first = direction in (ComparisonDirection.GE, ComparisonDirection.LE)
    rank = len(result_shape(op))
    windows = [
        Window(size, stride, low)
        for size, stride, (low, _) in zip(
            each(op.window_dimensions, rank),
            each(op.window_strides, rank),
            pairs(op.padding, rank),
            strict=True,
        )
    ]
    total = select_and_scatter(b, x, source, extreme, windows, is_first=is_first)
    made = constant_of(start)
    return [total if made is not None and made.number == 0 else b.add(total, start)]


SCATTERING: dict[type[Operation], Conversion] = {
    hlo.ScatterOp: _scatter,
    added.SelectAndScatterOp: _select_and_scatter,
}
