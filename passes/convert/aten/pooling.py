"""Pools of ATen and their gradients, along the last one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import cast, reshape, shape
from tiledialect.operators.linear import Window, fold_blocks
from tiledialect.operators.pooling import (
    adaptive_average,
    adaptive_average_by_x,
    all_windows,
    over_counts,
    place_in_window,
    pooled,
    spread_at,
    spread_windows,
    window_count,
)
from tiledialect.passes.convert.aten.base import Call, Conversion, Values, each, windows_of

Sizes = Sequence[int]


@dataclass(frozen=True)
class Windows:
    """Windows along the last axes of a tensor."""

    each: tuple[Window, ...]
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    """Sizes of the axes."""


def _windows(
    x: SSAValue,
    rank: int,
    taps: Sizes,
    strides: Sizes,
    pads: Sizes,
    dilations: Sizes = (1,),
    rounds_up: bool = False,
) -> Windows:
    own = tuple(windows_of(each(taps, rank), strides or taps, pads, dilations))
    sizes = tuple(shape(x)[-rank:])
    counts = tuple(
        window_count(n, window, window.low, rounds_up=rounds_up)
        for n, window in zip(sizes, own, strict=True)
    )
    return Windows(own, counts, sizes)


def _max_pool(rank: int) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        x: SSAValue,
        taps: Sizes,
        strides: Sizes = (),
        pads: Sizes = (0,),
        dilations: Sizes = (1,),
        rounds_up: bool = False,
    ) -> Values:
        windows = _windows(x, rank, taps, strides, pads, dilations, rounds_up)
        found = pooled(b, x, windows.each, windows.counts, Aggregation.max)
        axes = range(len(shape(x)) - rank, len(shape(x)))
        place = place_in_window(b, x, found, all_windows(x, windows.each), axes)
        return found, cast(b, place, i64)

    return convert


def _max_pool_backward(rank: int) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        cotangent: SSAValue,
        x: SSAValue,
        taps: Sizes,
        strides: Sizes,
        pads: Sizes,
        dilations: Sizes,
        rounds_up: bool,
        places: SSAValue,
    ) -> SSAValue:
        windows = _windows(x, rank, taps, strides, pads, dilations, rounds_up)
        return spread_at(b, cotangent, places, windows.each, shape(x))

    return convert


def _over(
    b: TensorBuilder, x: SSAValue, windows: Windows, with_padding: bool, divisor: int | None
) -> SSAValue:
    if divisor:
        return b.div(x, float(divisor))
    own = windows.each
    high = [window.low for window in own]
    return over_counts(b, x, own, windows.sizes, high, with_padding=with_padding)


def _average_pool(rank: int) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        x: SSAValue,
        taps: Sizes,
        strides: Sizes = (),
        pads: Sizes = (0,),
        rounds_up: bool = False,
        with_padding: bool = True,
        divisor: int | None = None,
    ) -> SSAValue:
        windows = _windows(x, rank, taps, strides, pads, rounds_up=rounds_up)
        total = pooled(b, x, windows.each, windows.counts, Aggregation.add)
        return _over(b, total, windows, with_padding, divisor)

    return convert


def _average_pool_backward(rank: int) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        cotangent: SSAValue,
        x: SSAValue,
        taps: Sizes,
        strides: Sizes,
        pads: Sizes,
        rounds_up: bool,
        with_padding: bool,
        divisor: int | None,
    ) -> SSAValue:
        windows = _windows(x, rank, taps, strides, pads, rounds_up=rounds_up)
        own = _over(b, cotangent, windows, with_padding, divisor)
        return spread_windows(b, own, windows.each, shape(x))

    return convert


def _adaptive(b: TensorBuilder, call: Call, x: SSAValue, counts: Sizes) -> SSAValue:
    return adaptive_average(b, x, counts)


def _adaptive_backward(rank: int) -> Conversion:
    def convert(b: TensorBuilder, call: Call, cotangent: SSAValue, x: SSAValue) -> SSAValue:
        return adaptive_average_by_x(b, cotangent, shape(x)[-rank:])

    return convert


def _fold(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    sizes: Sizes,
    taps: Sizes,
    dilations: Sizes,
    pads: Sizes,
    strides: Sizes,
) -> SSAValue:
    """Sum of overlapping blocks at their places, as of columns."""
    windows = windows_of(taps, strides, pads, dilations)
    counts = [window_count(n, w, w.low) for n, w in zip(sizes, windows, strict=True)]
    outer = shape(x)[:-2]
    features = shape(x)[-2]
    for tap in taps:
        features //= tap
    own = reshape(b, x, (*(outer or (1,)), features, *taps, *counts))
    return reshape(b, fold_blocks(b, own, windows, sizes), (*outer, features, *sizes))


POOLING: dict[str, Conversion] = {
    "aten._adaptive_avg_pool2d.default": _adaptive,
    "aten._adaptive_avg_pool2d_backward.default": _adaptive_backward(2),
    "aten._adaptive_avg_pool3d.default": _adaptive,
    "aten._adaptive_avg_pool3d_backward.default": _adaptive_backward(3),
    "aten.avg_pool2d.default": _average_pool(2),
    "aten.avg_pool2d_backward.default": _average_pool_backward(2),
    "aten.avg_pool3d.default": _average_pool(3),
    "aten.avg_pool3d_backward.default": _average_pool_backward(3),
    "aten.col2im.default": _fold,
    "aten.max_pool2d_with_indices.default": _max_pool(2),
    "aten.max_pool2d_with_indices_backward.default": _max_pool_backward(2),
    "aten.max_pool3d_with_indices.default": _max_pool(3),
    "aten.max_pool3d_with_indices_backward.default": _max_pool_backward(3),
}
