"""Reductions of ONNX along axes, running sums and products, and places of extremes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.indexing import top_along
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.reductions import place_of_extreme, reduced, running
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of

Values = Sequence[Value]
Function = Callable[[TensorBuilder, SSAValue], SSAValue]


def _same(b: TensorBuilder, x: SSAValue) -> SSAValue:
    return x


def _axes(node: Node, rank: int) -> list[int] | None:
    """Axes of a reduction; None if it is to do nothing."""
    axes = node.numbers("axes", 1)
    if not axes:
        return None if node.attribute("noop_with_empty_axes", 0) else [*range(rank)]
    return [axis_of(node, axis, rank) for axis in axes]


def _reduction(kind: Aggregation, before: Function = _same, after: Function = _same) -> Conversion:
    def convert(b: TensorBuilder, node: Node) -> Values:
        x = before(b, node.tensor(0))
        axes = _axes(node, len(shape(x)))
        if axes is None:
            return [after(b, x)]
        return [after(b, reduced(b, x, kind, axes, keeps=bool(node.attribute("keepdims", 1))))]

    return convert


def _mean(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axes = _axes(node, len(shape(x)))
    if axes is None:
        return [x]
    total = reduced(b, x, Aggregation.add, axes, keeps=bool(node.attribute("keepdims", 1)))
    count = prod(shape(x)[k] for k in axes)
    is_real = et.is_float(element_type(x))
    return [b.div(total, float(count) if is_real else count)]


def _log_sum_exp(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axes = _axes(node, len(shape(x)))
    if axes is None:
        return [x]
    most = reduced(b, x, Aggregation.max, axes, keeps=True)
    # An infinity would leave no difference.
    finite = b.select(fn.is_finite(b, most), most, fn.like(b, most, 0))
    shifted = b.op(ew.ExpOp, b.sub(x, finite))
    total = b.op(ew.LogOp, reduced(b, shifted, Aggregation.add, axes, keeps=True))
    result = b.add(total, finite)
    if not node.attribute("keepdims", 1):
        sizes = tuple(n for k, n in enumerate(shape(x)) if k not in axes)
        result = layout.reshape(b, result, sizes)
    return [result]


def _as_real(b: TensorBuilder, x: SSAValue) -> SSAValue:
    return x if et.is_float(element_type(x)) else cast(b, x, et.CONCRETE["f32"])


def _log_sum(b: TensorBuilder, node: Node) -> Values:
    return _reduction(Aggregation.add, _as_real, lambda b, x: b.op(ew.LogOp, x))(b, node)


def _norm(b: TensorBuilder, node: Node) -> Values:
    t = element_type(node.tensor(0))
    root = _reduction(
        Aggregation.add,
        lambda b, x: fn.square(b, _as_real(b, x)),
        lambda b, x: b.op(ew.SqrtOp, x),
    )
    return [cast(b, v, t) for v in root(b, node) if isinstance(v, SSAValue)]


def _extreme_place(kind: Aggregation) -> Conversion:
    def convert(b: TensorBuilder, node: Node) -> Values:
        x = node.tensor(0)
        axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
        is_last = bool(node.attribute("select_last_index", 0))
        place = place_of_extreme(b, x, kind, axis, is_last=is_last)
        if not node.attribute("keepdims", 1):
            sizes = tuple(n for k, n in enumerate(shape(x)) if k != axis)
            place = layout.reshape(b, place, sizes)
        return [cast(b, place, i64)]

    return convert


def _hardmax(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axis, sizes = node.attribute("axis", -1 if node.version >= 13 else 1), shape(x)
    axis = axis_of(node, axis, len(sizes))
    if node.version < 13:
        x = layout.reshape(b, x, (prod(sizes[:axis]), prod(sizes[axis:])))
        axis = 1
    place = place_of_extreme(b, x, Aggregation.max, axis)
    is_best = b.op(ew.CmpEqOp, layout.iota(b, shape(x), axis, i32), place)
    one = b.select(is_best, fn.like(b, x, 1), fn.like(b, x, 0))
    return [layout.reshape(b, one, sizes)]


def _running(kind: Aggregation) -> Conversion:
    def convert(b: TensorBuilder, node: Node) -> Values:
        x = node.tensor(0)
        axis = axis_of(node, int(node.known(1).reshape(-1)[0]), len(shape(x)))
        is_exclusive = bool(node.attribute("exclusive", 0))
        is_reverse = bool(node.attribute("reverse", 0))
        found = running(b, x, kind, axis, is_exclusive=is_exclusive, is_reverse=is_reverse)
        return [cast(b, found, element_type(x))]

    return convert


def _top_k(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axis = axis_of(node, node.attribute("axis", -1), len(shape(x)))
    count = (node.numbers("k", 1) or [1])[0]
    values, places = top_along(b, x, axis, count, is_least=not node.attribute("largest", 1))
    return [values, cast(b, places, i64)]


REDUCTIONS: dict[str, Conversion] = {
    "ArgMax": _extreme_place(Aggregation.max),
    "ArgMin": _extreme_place(Aggregation.min),
    "CumProd": _running(Aggregation.mul),
    "CumSum": _running(Aggregation.add),
    "Hardmax": _hardmax,
    "ReduceL1": _reduction(Aggregation.add, lambda b, x: b.op(ew.AbsOp, x)),
    "ReduceL2": _norm,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _reduction(Aggregation.max),
    "ReduceMean": _mean,
    "ReduceMin": _reduction(Aggregation.min),
    "ReduceProd": _reduction(Aggregation.mul),
    "ReduceSum": _reduction(Aggregation.add),
    "ReduceSumSquare": _reduction(Aggregation.add, fn.square),
    "TopK": _top_k,
}
