"""Reductions of ATen, running sums and products, sorting."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, prod
from typing import Any

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.indexing import histogram, top_along
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.reductions import (
    is_extreme,
    place_of_extreme,
    reduced,
    running,
    scanned,
)
from tiledialect.passes.convert.aten.base import Call, Conversion, Number, Values, in_type
from tiledialect.passes.convert.aten.elementwise import as_bool

Axes = int | Sequence[int] | None
Pair = tuple[SSAValue, SSAValue]


def _reduction(kind: Aggregation) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        x: SSAValue,
        axes: Axes = None,
        keeps: bool = False,
        t: Attribute | None = None,
    ) -> SSAValue:
        own = in_type(b, x, call.type)
        return reduced(b, own, kind, call.axes(axes, len(shape(x))), keeps=keeps)

    return convert


def _over_all(kind: Aggregation) -> Conversion:
    """Reduction of all elements, whose second argument is a type."""
    own = _reduction(kind)

    def convert(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> Values:
        return own(b, call, x)

    return convert


def _mean(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axes: Axes = None,
    keeps: bool = False,
    t: Attribute | None = None,
) -> SSAValue:
    axes = call.axes(axes, len(shape(x)))
    total = reduced(b, in_type(b, x, call.type), Aggregation.add, axes, keeps=keeps)
    return b.div(total, float(prod(shape(x)[k] for k in axes)))


def _mean_of_all(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> SSAValue:
    return _mean(b, call, x)


def _truth(kind: Aggregation) -> Conversion:
    def convert(
        b: TensorBuilder, call: Call, x: SSAValue, axes: Axes = None, keeps: bool = False
    ) -> SSAValue:
        # Unlike other reductions, these take no axes as none.
        chosen = [] if axes in ([], ()) else call.axes(axes, len(shape(x)))
        found = reduced(b, cast(b, as_bool(b, x), i32), kind, chosen, keeps=keeps)
        # The extremes of no numbers are the limits of the type.
        return cast(b, b.op(ew.CmpGtOp, found, 0), call.type)

    return convert


def _variance_and_mean(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axes: Axes = None,
    correction: Number | None = 1,
    keeps: bool = False,
) -> Pair:
    axes = call.axes(axes, len(shape(x)))
    count = prod(shape(x)[k] for k in axes)
    mean = _mean(b, call, x, axes, keeps=True)
    square = fn.square(b, b.sub(x, mean))
    total = reduced(b, square, Aggregation.add, axes, keeps=keeps)
    degrees = max(0.0, count - float(1 if correction is None else correction))
    return b.div(total, degrees), mean if keeps else _without(b, mean, *axes)


def _variance(b: TensorBuilder, call: Call, x: SSAValue, *given: Any) -> SSAValue:
    return _variance_and_mean(b, call, x, *given)[0]


def _unbiased_variance(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axes: Axes,
    is_unbiased: bool = True,
    keeps: bool = False,
) -> SSAValue:
    return _variance(b, call, x, axes, int(is_unbiased), keeps)


def _place(kind: Aggregation) -> Conversion:
    def convert(
        b: TensorBuilder, call: Call, x: SSAValue, axis: int | None = None, keeps: bool = False
    ) -> SSAValue:
        rank = len(shape(x))
        if axis is None or rank == 0:
            sizes = (1,) * rank if keeps else ()
            flat = layout.reshape(b, x, (prod(shape(x)),))
            return cast(b, layout.reshape(b, place_of_extreme(b, flat, kind, 0), sizes), i64)
        place = _place_along(b, x, kind, call.axis(axis, rank), keeps=keeps)
        return cast(b, place, i64)

    return convert


def _place_along(
    b: TensorBuilder, x: SSAValue, kind: Aggregation, axis: int, *, keeps: bool
) -> SSAValue:
    place = place_of_extreme(b, x, kind, axis)
    return place if keeps else _without(b, place, axis)


def _without(b: TensorBuilder, x: SSAValue, *axes: int) -> SSAValue:
    """A tensor without axes of one element."""
    return layout.reshape(b, x, tuple(n for k, n in enumerate(shape(x)) if k not in axes))


def _extreme(kind: Aggregation) -> Conversion:
    """Extremes along an axis, and their places."""

    def convert(
        b: TensorBuilder, call: Call, x: SSAValue, axis: int, keeps: bool = False
    ) -> Values:
        if not shape(x):
            return x, layout.constant(b, 0, i64)
        axis = call.axis(axis, len(shape(x)))
        best = reduced(b, x, kind, [axis], keeps=keeps)
        return best, cast(b, _place_along(b, x, kind, axis, keeps=keeps), i64)

    return convert


def _running(kind: Aggregation) -> Conversion:
    def convert(
        b: TensorBuilder, call: Call, x: SSAValue, axis: int, t: Attribute | None = None
    ) -> SSAValue:
        own = in_type(b, x, call.type)
        return running(b, own, kind, call.axis(axis, len(shape(x)))) if shape(x) else own

    return convert


def _running_extreme(kind: Aggregation) -> Conversion:
    """Extremes of the elements up to each place, and the last places of those."""

    def convert(b: TensorBuilder, call: Call, x: SSAValue, axis: int) -> Values:
        if not shape(x):
            return x, layout.constant(b, 0, i64)
        axis = call.axis(axis, len(shape(x)))
        best = running(b, x, kind, axis)
        places = layout.iota(b, shape(x), axis, i32)
        place = cast(b, b.select(is_extreme(b, x, best), places, 0), i32)
        return best, cast(b, running(b, place, Aggregation.max, axis), i64)

    return convert


def _running_sum_of_exponentials(b: TensorBuilder, call: Call, x: SSAValue, axis: int) -> SSAValue:
    """Logarithms of running sums of exponentials."""
    if not shape(x):
        return x

    def combine(one: SSAValue, other: SSAValue) -> SSAValue:
        most, least = b.op(ew.MaxOp, one, other), b.op(ew.MinOp, one, other)
        # Equal infinities differ by 0.
        apart = b.select(b.op(ew.CmpEqOp, most, least), fn.like(b, x, 0), b.sub(least, most))
        return b.add(most, b.op(ew.Log1pOp, b.op(ew.ExpOp, apart)))

    return scanned(b, x, combine, -inf, call.axis(axis, len(shape(x))))


def _histogram(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    bins: int = 100,
    low: Number = 0,
    high: Number = 0,
) -> SSAValue:
    """Counts between two numbers; between the extremes if these are equal."""
    flat = layout.reshape(b, x, (prod(shape(x)),))
    if not et.is_float(element_type(x)):
        raise call.refusal("histograms of integers are not supported")
    if 0 in shape(x):
        return layout.full(b, 0, (bins,), call.type)
    first, last = in_type(b, float(low), call.type), in_type(b, float(high), call.type)
    if low == high:
        first, last = (
            reduced(b, flat, kind, [0], keeps=False) for kind in (Aggregation.min, Aggregation.max)
        )
        is_one = b.op(ew.CmpEqOp, first, last)
        width = b.select(is_one, fn.like(b, x, 1), fn.like(b, x, 0))
        first, last = b.sub(first, width), b.add(last, width)
    return histogram(b, flat, bins, first, last)


def _least(b: TensorBuilder, x: SSAValue, axis: int, number: int, *, keeps: bool) -> Pair:
    """The element along an axis before which there are ``number``, in order, and its place."""
    found, places = _top(b, x, axis, number + 1, is_least=True)
    value, place = (layout.section(b, v, axis, number, number + 1) for v in (found, places))
    return (value, place) if keeps else (_without(b, value, axis), _without(b, place, axis))


def _of_rank(
    b: TensorBuilder, call: Call, x: SSAValue, rank: int, axis: int = -1, keeps: bool = False
) -> Values:
    if not shape(x):
        return x, layout.constant(b, 0, i64)
    return _least(b, x, call.axis(axis, len(shape(x))), rank - 1, keeps=keeps)


def _median(b: TensorBuilder, call: Call, x: SSAValue, axis: int, keeps: bool = False) -> Pair:
    """The lower of two medians, or the first NaN."""
    if not shape(x):
        return x, layout.constant(b, 0, i64)
    axis = call.axis(axis, len(shape(x)))
    value, at = _least(b, x, axis, (shape(x)[axis] - 1) // 2, keeps=keeps)
    if not et.is_float(element_type(x)):
        return value, at
    most = reduced(b, x, Aggregation.max, [axis], keeps=keeps)
    place = cast(b, _place_along(b, x, Aggregation.max, axis, keeps=keeps), i64)
    is_none = fn.is_nan(b, most)
    return b.select(is_none, most, value), b.select(is_none, place, at)


def _median_of_all(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    if 0 in shape(x) and et.is_float(element_type(x)):
        return layout.constant(b, nan, element_type(x))
    return _median(b, call, layout.reshape(b, x, (prod(shape(x)),)), 0)[0]


def _sort(
    b: TensorBuilder, call: Call, x: SSAValue, axis: int = -1, is_descending: bool = False
) -> Values:
    if not shape(x):
        return x, layout.constant(b, 0, i64)
    axis = call.axis(axis, len(shape(x)))
    return _top(b, x, axis, shape(x)[axis], is_least=not is_descending)


def _stable_sort(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    is_stable: bool | None,
    axis: int = -1,
    is_descending: bool = False,
) -> Values:
    return _sort(b, call, x, axis, is_descending)


def _top_k(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    number: int,
    axis: int = -1,
    is_largest: bool = True,
    is_sorted: bool = True,
) -> Values:
    if not shape(x):
        return x, layout.constant(b, 0, i64)
    return _top(b, x, call.axis(axis, len(shape(x))), number, is_least=not is_largest)


def _top(b: TensorBuilder, x: SSAValue, axis: int, number: int, *, is_least: bool) -> Pair:
    t = element_type(x)
    values, places = top_along(
        b, cast(b, x, i32) if t == i1 else x, axis, number, is_least=is_least
    )
    return cast(b, values, t), cast(b, places, i64)


REDUCTIONS: dict[str, Conversion] = {
    "aten.all.default": _truth(Aggregation.min),
    "aten.all.dim": _truth(Aggregation.min),
    "aten.all.dims": _truth(Aggregation.min),
    "aten.amax.default": _reduction(Aggregation.max),
    "aten.amin.default": _reduction(Aggregation.min),
    "aten.any.default": _truth(Aggregation.max),
    "aten.any.dim": _truth(Aggregation.max),
    "aten.any.dims": _truth(Aggregation.max),
    "aten.argmax.default": _place(Aggregation.max),
    "aten.argmin.default": _place(Aggregation.min),
    "aten.cummax.default": _running_extreme(Aggregation.max),
    "aten.cummin.default": _running_extreme(Aggregation.min),
    "aten.cumprod.default": _running(Aggregation.mul),
    "aten.cumsum.default": _running(Aggregation.add),
    "aten.histc.default": _histogram,
    "aten.kthvalue.default": _of_rank,
    "aten.logcumsumexp.default": _running_sum_of_exponentials,
    "aten.max.default": _over_all(Aggregation.max),
    "aten.max.dim": _extreme(Aggregation.max),
    "aten.mean.default": _mean_of_all,
    "aten.mean.dim": _mean,
    "aten.median.default": _median_of_all,
    "aten.median.dim": _median,
    "aten.min.default": _over_all(Aggregation.min),
    "aten.min.dim": _extreme(Aggregation.min),
    "aten.prod.default": _over_all(Aggregation.mul),
    "aten.prod.dim_int": _reduction(Aggregation.mul),
    "aten.sort.default": _sort,
    "aten.sort.stable": _stable_sort,
    "aten.sum.default": _over_all(Aggregation.add),
    "aten.sum.dim_IntList": _reduction(Aggregation.add),
    "aten.topk.default": _top_k,
    "aten.var.correction": _variance,
    "aten.var.dim": _unbiased_variance,
    "aten.var_mean.correction": _variance_and_mean,
}
