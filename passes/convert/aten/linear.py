"""Products and convolutions of ATen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.groups import grouped_product, product_of_groups
from tiledialect.operators.indexing import gathered
from tiledialect.operators.layout import element_type, literal, reshape, shape, transpose
from tiledialect.operators.linear import (
    ConvolutionAxes,
    Window,
    convolution,
    convolution_by_kernel,
    convolution_by_x,
    matmul,
)
from tiledialect.operators.pooling import window_count
from tiledialect.operators.reductions import norm, reduced
from tiledialect.passes.convert.aten.base import (
    Call,
    Conversion,
    Number,
    Values,
    each,
    in_type,
    windows_of,
)

Sizes = Sequence[int]


def _product(b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue) -> SSAValue:
    return matmul(b, x, y, call.type)


def _added(
    b: TensorBuilder,
    call: Call,
    bias: SSAValue,
    x: SSAValue,
    y: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """``beta * bias + alpha * (x @ y)``."""
    product = matmul(b, x, y, call.type)
    if alpha != 1:
        product = b.mul(product, in_type(b, alpha, call.type))
    if beta == 0:
        return product
    return b.add(product, bias if beta == 1 else b.mul(bias, in_type(b, beta, call.type)))


def _grouped_product(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    y: SSAValue,
    ends: SSAValue | None = None,
    bias: SSAValue | None = None,
    *_: object,
) -> SSAValue:
    """Products of groups of rows, columns or of both by matrices."""
    t = call.type
    if bias is not None:
        raise call.refusal("a bias of groups is not supported")
    if ends is None:
        return matmul(b, x, y, t)
    match len(shape(x)), len(shape(y)):
        case 2, 3:
            return grouped_product(b, x, y, ends, t)
        case 3, 2:
            turned = grouped_product(
                b, transpose(b, y, [1, 0]), transpose(b, x, [0, 2, 1]), ends, t
            )
            return transpose(b, turned, [1, 0])
        case _:
            return product_of_groups(b, x, y, ends, t)


def _experts_backward(
    b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue, ends: SSAValue, cotangent: SSAValue
) -> Values:
    """Gradients of a product of groups of rows, by the rows and by the matrices."""
    t = element_type(cotangent)
    by_x = grouped_product(b, cotangent, transpose(b, y, [0, 2, 1]), ends, t)
    return by_x, product_of_groups(b, transpose(b, x, [1, 0]), cotangent, ends, t)


def _axes(rank: int) -> tuple[ConvolutionAxes, ConvolutionAxes, ConvolutionAxes]:
    axes = ConvolutionAxes(0, 1, tuple(range(2, rank + 2)))
    return axes, axes, axes


def _reach(counts: Sizes, windows: Sequence[Window], more: Sizes) -> list[int]:
    """Number of elements along each axis that windows cover."""
    return [
        (n - 1) * w.stride - 2 * w.low + w.dilation * (w.size - 1) + extra + 1
        for n, w, extra in zip(counts, windows, more, strict=True)
    ]


def _convolution(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    kernel: SSAValue,
    bias: SSAValue | None,
    strides: Sizes,
    pads: Sizes,
    dilations: Sizes,
    is_transposed: bool,
    more: Sizes,
    groups: int,
) -> SSAValue:
    batch, _, *spatial = shape(x)
    windows = windows_of(shape(kernel)[2:], strides, pads, dilations)
    axes = _axes(len(spatial))
    if is_transposed:
        own = _reach(spatial, windows, each(more, len(spatial)))
        sizes = (batch, groups * shape(kernel)[1], *own)
        result = convolution_by_x(b, x, kernel, windows, axes, sizes, call.type, groups)
    else:
        counts = (window_count(n, w, w.low) for n, w in zip(spatial, windows, strict=True))
        sizes = (batch, shape(kernel)[0], *counts)
        result = convolution(b, x, kernel, windows, axes, sizes, call.type, groups)
    if bias is None:
        return result
    return b.add(result, reshape(b, bias, (*shape(bias), *[1] * len(spatial))))


def _convolution_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    kernel: SSAValue,
    bias_sizes: Sizes | None,
    strides: Sizes,
    pads: Sizes,
    dilations: Sizes,
    is_transposed: bool,
    more: Sizes,
    groups: int,
    wanted: Sequence[bool],
) -> Values:
    windows = windows_of(shape(kernel)[2:], strides, pads, dilations)
    axes, t = _axes(len(windows)), element_type(cotangent)
    by_x, by_kernel, by_bias = None, None, None
    if wanted[0] and is_transposed:
        by_x = convolution(b, cotangent, kernel, windows, axes, shape(x), t, groups)
    elif wanted[0]:
        by_x = convolution_by_x(b, cotangent, kernel, windows, axes, shape(x), t, groups)
    if wanted[1]:
        # The result of the convolution of which a transposed one is the gradient is its input.
        result, source = (x, cotangent) if is_transposed else (cotangent, x)
        sizes = shape(kernel)
        by_kernel = convolution_by_kernel(b, result, source, windows, axes, sizes, t, groups)
    if wanted[2]:
        others = [0, *range(2, len(shape(cotangent)))]
        by_bias = reduced(b, cotangent, Aggregation.add, others, keeps=False)
    return by_x, by_kernel, by_bias


def _distances(
    b: TensorBuilder, call: Call, x: SSAValue, y: SSAValue, power: float, mode: int | None = None
) -> SSAValue:
    """Norms of the differences of all rows of two tensors."""
    *outer, rows, size = shape(x)
    left = reshape(b, x, (*outer, rows, 1, size))
    right = reshape(b, y, (*shape(y)[:-2], 1, shape(y)[-2], size))
    return norm(b, b.sub(left, right), len(outer) + 2, power)


def _own_distances(b: TensorBuilder, call: Call, x: SSAValue, power: float) -> SSAValue:
    """Norms of the differences of each two rows."""
    first, second = np.triu_indices(shape(x)[0], 1)
    rows = [gathered(b, x, literal(b, v.astype(np.int32)), 0) for v in (first, second)]
    return norm(b, b.sub(rows[0], rows[1]), 1, power)


LINEAR: dict[str, Conversion] = {
    "aten._cdist_forward.default": _distances,
    "aten._grouped_mm.default": _grouped_product,
    "aten._pdist_forward.default": _own_distances,
    "aten.addmm.default": _added,
    "aten.baddbmm.default": _added,
    "aten.bmm.default": _product,
    "aten.convolution.default": _convolution,
    "aten.convolution_backward.default": _convolution_backward,
    "aten.dot.default": _product,
    "aten.mm.default": _product,
    "aten.mv.default": _product,
    "transformers.grouped_mm_fallback.default": _grouped_product,
    "transformers.grouped_mm_fallback_backward.default": _experts_backward,
}
