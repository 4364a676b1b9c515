"""Operators that reduce: aggregates along axes and over windows, reductions by any function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import Access, TensorBuilder
from tiledialect.operators.layout import (
    broadcast,
    cast,
    concatenate,
    constant,
    element_type,
    indices,
    iota,
    pad,
    reshape,
    section,
    shape,
)
from tiledialect.operators.linear import Window

Combine = Callable[[Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]]
"""Combination of two tuples of tensors, element by element; associative."""

COMBINED: dict[Aggregation, type[ew.ElementwiseOp]] = {
    Aggregation.add: ew.AddOp,
    Aggregation.mul: ew.MulOp,
    Aggregation.max: ew.MaxOp,
    Aggregation.min: ew.MinOp,
}


def neutral(aggregation: Aggregation, t: Attribute) -> int | float:
    """Value that changes no aggregate."""
    if aggregation in (Aggregation.add, Aggregation.mul):
        return int(aggregation is Aggregation.mul)
    if et.is_float(t):
        return -inf if aggregation is Aggregation.max else inf
    return et.limits(t)[aggregation is Aggregation.min]


def aggregated(
    b: TensorBuilder,
    x: SSAValue,
    start: SSAValue,
    aggregation: Aggregation,
    access: Access,
    output: Access,
    sizes: Shape,
    constraints: Sequence[Constraint] = (),
    *,
    is_covered: bool = True,
) -> SSAValue:
    """Aggregate of elements of ``x`` and a scalar; elements may be none unless ``is_covered``."""
    t = element_type(x)
    if 0 in shape(x):
        return broadcast(b, start, sizes, ())
    unit, made = neutral(aggregation, t), constant_of(start)
    default = None
    if not is_covered and unit != 0:
        default = made.result if made is not None and made.number == unit else None
        default = b.insert(ew.ConstantOp.of(unit, t)) if default is None else default
    result = b.insert(
        ContractionOp(
            aggregation,
            Combination.none,
            output,
            [(x, access)],
            constraints,
            shape=sizes,
            default=default,
        )
    )
    result = cast(b, result, t)
    if made is not None and made.number == unit:
        return result
    return cast(b, b.op(COMBINED[aggregation], start, result), t)


def reduce(
    b: TensorBuilder, x: SSAValue, start: SSAValue, aggregation: Aggregation, axes: Sequence[int]
) -> SSAValue:
    """Aggregate along axes, which the result lacks."""
    places = indices(len(shape(x)))
    kept = [k for k in range(len(places)) if k not in axes]
    sizes = tuple(shape(x)[k] for k in kept)
    return aggregated(b, x, start, aggregation, places, [places[k] for k in kept], sizes)


def running(
    b: TensorBuilder,
    x: SSAValue,
    aggregation: Aggregation,
    axis: int,
    *,
    is_exclusive: bool = False,
    is_reverse: bool = False,
) -> SSAValue:
    """Aggregate at each place of the elements along an axis up to it, or from it on."""
    sizes, t = shape(x), element_type(x)
    if 0 in sizes:
        return x
    output = indices(len(sizes))
    source = IndexExpr.of("s")
    access = [source if k == axis else e for k, e in enumerate(output)]
    distance = source - output[axis] if is_reverse else output[axis] - source
    if is_exclusive:
        distance = distance - 1
    unit = neutral(aggregation, t)
    default = constant(b, unit, t) if is_exclusive and unit != 0 else None
    result = ContractionOp(
        aggregation,
        Combination.none,
        output,
        [(x, access)],
        [Constraint(distance, IndexExpr.of(sizes[axis]))],
        shape=sizes,
        default=default,
    )
    return cast(b, b.insert(result), t)


def scanned(
    b: TensorBuilder,
    x: SSAValue,
    combine: Callable[[SSAValue, SSAValue], SSAValue],
    unit: int | float,
    axis: int,
) -> SSAValue:
    """Aggregate by any associative function at each place of the elements along an axis up to it.

    ``unit`` changes no aggregate. W. D. Hillis and G. L. Steele: each step doubles the distance.
    """
    sizes, t = shape(x), element_type(x)
    none = [0] * len(sizes)
    distance = 1
    while distance < sizes[axis]:
        front = section(b, x, axis, 0, sizes[axis] - distance)
        low = [distance if k == axis else 0 for k in range(len(sizes))]
        earlier = pad(b, front, constant(b, unit, t), low, none, none)
        x = cast(b, combine(earlier, x), t)
        distance *= 2
    return x


def reduced(
    b: TensorBuilder, x: SSAValue, kind: Aggregation, axes: Sequence[int], *, keeps: bool
) -> SSAValue:
    """Aggregate along axes, which stay with one element if ``keeps``."""
    t = element_type(x)
    result = reduce(b, x, constant(b, neutral(kind, t), t), kind, axes)
    if keeps:
        sizes = tuple(1 if k in axes else n for k, n in enumerate(shape(x)))
        result = reshape(b, result, sizes)
    return result


def edges_by_x(b: TensorBuilder, cotangent: SSAValue, axis: int, low: int, high: int) -> SSAValue:
    """Gradient of a continuation along an axis by the elements at its ends.

    A negative number before or after is one of removed elements.
    """
    length, rank = shape(cotangent)[axis], len(shape(cotangent))
    first, last = max(0, low), length - max(0, high)

    def padded(x: SSAValue, before: int, after: int) -> SSAValue:
        low, high = ([n if k == axis else 0 for k in range(rank)] for n in (before, after))
        return pad(b, x, constant(b, 0, element_type(x)), low, high, [0] * rank)

    result = section(b, cotangent, axis, first, last)
    result = padded(result, max(0, -low), max(0, -high))
    size = shape(result)[axis]
    for start, stop, place in ((0, first, 0), (last, length, size - 1)):
        if start < stop:
            part = section(b, cotangent, axis, start, stop)
            total = reduced(b, part, Aggregation.add, [axis], keeps=True)
            result = b.add(result, padded(total, place, size - 1 - place))
    return result


def norm(b: TensorBuilder, x: SSAValue, axis: int, power: float) -> SSAValue:
    """The norm of a power along an axis, which the result lacks."""
    size = b.op(ew.AbsOp, x)
    if power == inf:
        return reduced(b, size, Aggregation.max, [axis], keeps=False)
    if power == 0:
        size = cast(b, b.op(ew.CmpNeOp, x, 0), element_type(x))
    elif power != 1:
        size = b.mul(x, x) if power == 2 else b.op(ew.PowOp, size, power)
    total = reduced(b, size, Aggregation.add, [axis], keeps=False)
    if power in (0, 1):
        return total
    return b.op(ew.SqrtOp, total) if power == 2 else b.op(ew.PowOp, total, 1 / power)


def reduce_window(
    b: TensorBuilder,
    x: SSAValue,
    start: SSAValue,
    aggregation: Aggregation,
    windows: Sequence[Window],
    sizes: Shape,
) -> SSAValue:
    """Aggregate of each window."""
    places = indices(len(sizes))
    access: list[IndexExpr] = []
    constraints: list[Constraint] = []
    for k, window in enumerate(windows):
        offset = IndexExpr.of(f"w{k}") if window.size > 1 else IndexExpr()
        if window.size > 1:
            constraints.append(Constraint(offset, IndexExpr.of(window.size)))
        access.append(window.place(places[k], offset))
    is_covered = all(map(_is_covered, windows, shape(x), sizes))
    return aggregated(
        b, x, start, aggregation, access, places, sizes, constraints, is_covered=is_covered
    )


def _is_covered(window: Window, size: int, count: int) -> bool:
    """Whether the window of each output has an element."""
    return all(
        any(
            place % window.base_dilation == 0 and 0 <= place // window.base_dilation < size
            for k in range(window.size)
            for place in [window.stride * output + window.dilation * k - window.low]
        )
        for output in range(count)
    )


def fold(
    b: TensorBuilder,
    values: Sequence[SSAValue],
    starts: Sequence[SSAValue],
    combine: Combine,
    axes: Sequence[int],
) -> list[SSAValue]:
    """Reduction of tensors together by any associative function, by halves."""
    parts = list(values)
    for axis in axes:
        while (size := shape(parts[0])[axis]) > 1:
            even = [section(b, v, axis, 0, size - size % 2, 2) for v in parts]
            odd = [section(b, v, axis, 1, size, 2) for v in parts]
            last = [section(b, v, axis, size - 1, size) for v in parts] if size % 2 else None
            parts = list(combine(even, odd))
            if last is not None:
                pairs = zip(parts, last, strict=True)
                parts = [concatenate(b, pair, axis) for pair in pairs]
    kept = [n for k, n in enumerate(shape(values[0])) if k not in axes]
    spread = [broadcast(b, s, tuple(kept), ()) for s in starts]
    if 0 in (shape(values[0])[axis] for axis in axes):
        return spread
    return list(combine(spread, [reshape(b, v, tuple(kept)) for v in parts]))


def fold_windows(
    b: TensorBuilder,
    values: Sequence[SSAValue],
    starts: Sequence[SSAValue],
    combine: Combine,
    windows: Sequence[Window],
    sizes: Shape,
) -> list[SSAValue]:
    """Windows of tensors reduced together by any associative function."""
    rank = len(sizes)
    padded = [_window_base(b, v, s, windows, sizes) for v, s in zip(values, starts, strict=True)]
    places = indices(rank)
    spread = tuple(n for k, window in enumerate(windows) for n in (sizes[k], window.size))
    parts: list[SSAValue] = []
    for value in padded:
        offsets = [IndexExpr.of(f"w{k}") for k in range(rank)]
        access = [
            w.stride * p + w.dilation * o for w, p, o in zip(windows, places, offsets, strict=True)
        ]
        output = [e for pair in zip(places, offsets, strict=True) for e in pair]
        made = ContractionOp(
            Aggregation.assign, Combination.none, output, [(value, access)], shape=spread
        )
        parts.append(b.insert(made))
    return fold(b, parts, starts, combine, [2 * k + 1 for k in range(rank)])


def _window_base(
    b: TensorBuilder, x: SSAValue, start: SSAValue, windows: Sequence[Window], sizes: Shape
) -> SSAValue:
    """Tensor with its padding and dilation, as far as windows reach."""
    reach = [
        w.stride * (n - 1) + w.dilation * (w.size - 1) + 1
        for w, n in zip(windows, sizes, strict=True)
    ]
    high = [
        r - w.low - (n + (w.base_dilation - 1) * max(0, n - 1))
        for w, n, r in zip(windows, shape(x), reach, strict=True)
    ]
    interior = [w.base_dilation - 1 for w in windows]
    low = [w.low for w in windows]
    if not any((*low, *high, *interior)):
        return x
    return pad(b, x, start, low, high, interior)


def select_and_scatter(
    b: TensorBuilder,
    x: SSAValue,
    source: SSAValue,
    extreme: Aggregation,
    windows: Sequence[Window],
    *,
    is_first: bool,
) -> SSAValue:
    """Sum of elements of ``source``, each at the place of the extreme of a window of ``x``.

    Of several places the first or the last one is taken.
    """
    start = b.insert(ew.ConstantOp.of(neutral(extreme, element_type(x)), element_type(x)))
    best = reduce_window(b, x, start, extreme, windows, shape(source))
    places = indices(len(windows))
    offsets = [IndexExpr.of(f"w{k}") for k in range(len(windows))]
    access = [w.place(p, o) for w, p, o in zip(windows, places, offsets, strict=True)]
    sizes = tuple(w.size for w in windows)
    numbers = reshape(b, iota(b, (prod(sizes),), 0, i32), sizes)
    # From 1 on, as 0 is no place.
    numbers = b.sub(prod(sizes), numbers) if is_first else b.add(numbers, 1)
    chosen = b.insert(
        ContractionOp(
            Aggregation.max,
            Combination.cond,
            places,
            [(x, access), (best, places), (numbers, offsets)],
            shape=shape(source),
        )
    )
    total = ContractionOp(
        Aggregation.add,
        Combination.cond,
        access,
        [(chosen, places), (numbers, offsets), (source, places)],
        shape=shape(x),
    )
    return cast(b, b.insert(total), element_type(source))


def is_extreme(b: TensorBuilder, x: SSAValue, best: SSAValue) -> SSAValue:
    """Whether elements are an extreme; NaN is one."""
    is_best = b.op(ew.CmpEqOp, x, best)
    if not et.is_float(element_type(x)):
        return is_best
    return b.op(ew.BitOrOp, is_best, b.op(ew.CmpNeOp, x, x))


def place_of_extreme(
    b: TensorBuilder, x: SSAValue, kind: Aggregation, axis: int, *, is_last: bool = False
) -> SSAValue:
    """Place along an axis of the first, or last, extreme as i32; the axis stays.

    NaN is an extreme.
    """
    best = reduced(b, x, kind, [axis], keeps=True)
    place = iota(b, shape(x), axis, i32)
    other = -1 if is_last else shape(x)[axis]
    found = b.select(is_extreme(b, x, best), place, other)
    pick = Aggregation.max if is_last else Aggregation.min
    return reduced(b, cast(b, found, i32), pick, [axis], keeps=True)
