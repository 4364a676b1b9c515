"""Operators of ATen and torchvision that sample tensors between their elements, or resize them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.deformable import Deformation
from tiledialect.operators.layout import reshape, section, shape
from tiledialect.operators.linear import Window
from tiledialect.operators.pooling import window_count
from tiledialect.operators.reductions import reduced
from tiledialect.operators.regions import Regions
from tiledialect.operators.resizing import Array, Filter, antialiased, cubic, linear, resized
from tiledialect.operators.sampling import sample, sample_gradients
from tiledialect.passes.convert.aten.base import Call, Conversion, Values

MODES = ("linear", "nearest", "cubic")
BORDERS = ("zeros", "border", "reflection")
"""Names of ATen's numbers for ways to interpolate and to continue a tensor."""


def _grid_sampler(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    grid: SSAValue,
    mode: int,
    border: int,
    aligns_corners: bool,
) -> SSAValue:
    return sample(b, x, grid, MODES[mode], BORDERS[border], aligns_corners=aligns_corners)


def _grid_sampler_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    grid: SSAValue,
    mode: int,
    border: int,
    aligns_corners: bool,
    wanted: Sequence[bool],
) -> Values:
    by_x, by_grid = sample_gradients(
        b, cotangent, x, grid, MODES[mode], BORDERS[border], aligns_corners=aligns_corners
    )
    return by_x if wanted[0] else None, by_grid


def _regions(
    b: TensorBuilder,
    rois: SSAValue,
    scale: float,
    counts: tuple[int, int],
    sizes: Sequence[int],
    ratio: int,
    is_aligned: bool,
) -> Regions:
    """Boxes of torchvision: a column of the images' numbers, then the corners."""
    batch = reshape(b, section(b, rois, 1, 0, 1), (shape(rois)[0],))
    boxes = b.mul(section(b, rois, 1, 1, 5), scale)
    n, c, h, w = sizes
    return Regions(b, boxes, batch, counts, (n, c, h, w), max(0, ratio), is_aligned)


def _roi_align(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    rois: SSAValue,
    scale: float,
    height: int,
    width: int,
    ratio: int,
    is_aligned: bool,
) -> SSAValue:
    return _regions(b, rois, scale, (height, width), shape(x), ratio, is_aligned).mean(x)


def _roi_align_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    rois: SSAValue,
    scale: float,
    height: int,
    width: int,
    *given: int,
) -> SSAValue:
    *sizes, ratio, is_aligned = given
    counts = (height, width)
    return _regions(b, rois, scale, counts, sizes, ratio, bool(is_aligned)).mean_by_x(cotangent)


def _deformation(
    b: TensorBuilder,
    x: SSAValue,
    kernel: SSAValue,
    offsets: SSAValue,
    mask: SSAValue,
    numbers: Sequence[int],
) -> Deformation:
    """Deformable convolution by the numbers that end the arguments of torchvision's operator."""
    strides, pads, dilations = (numbers[k : k + 2] for k in (0, 2, 4))
    windows = [
        Window(tap, stride, pad, dilation=dilation)
        for tap, stride, pad, dilation in zip(
            shape(kernel)[2:], strides, pads, dilations, strict=True
        )
    ]
    counts = [window_count(n, w, w.low) for n, w in zip(shape(x)[2:], windows, strict=True)]
    groups, offset_groups, has_mask = numbers[6:]
    own = mask if has_mask else None
    return Deformation(b, x, kernel, offsets, own, windows, counts, groups, offset_groups)


def _deform_conv(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    kernel: SSAValue,
    offsets: SSAValue,
    mask: SSAValue,
    bias: SSAValue,
    *numbers: int,
) -> SSAValue:
    found = _deformation(b, x, kernel, offsets, mask, numbers).result()
    return b.add(found, reshape(b, bias, (1, shape(bias)[0], 1, 1)))


def _deform_conv_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    kernel: SSAValue,
    offsets: SSAValue,
    mask: SSAValue,
    bias: SSAValue,
    *numbers: int,
) -> Values:
    by = _deformation(b, x, kernel, offsets, mask, numbers).gradients(cotangent)
    by_x, by_kernel, by_offsets, by_mask = by
    by_bias = reduced(b, cotangent, Aggregation.add, [0, 2, 3], keeps=False)
    # PyTorch gives a gradient of a mask that is not used, too.
    none = b.zeros_like(mask)
    return by_x, by_kernel, by_offsets, none if by_mask is None else by_mask, by_bias


def _weights(
    kind: tuple[Filter, int],
    size: int,
    count: int,
    aligns_corners: bool,
    scale: float | None,
) -> Array | None:
    """Weights of an axis; None if it keeps its size, when PyTorch leaves it as it is."""
    if count == size:
        return None
    if aligns_corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = 1 / scale if scale is not None and scale > 0 else size / count
    return antialiased(*kind, size, count, step)


def _antialiased(kind: tuple[Filter, int]) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        x: SSAValue,
        counts: Sequence[int],
        aligns_corners: bool,
        *scales: float | None,
    ) -> SSAValue:
        for axis, count, scale in zip((2, 3), counts, scales, strict=True):
            weights = _weights(kind, shape(x)[axis], count, aligns_corners, scale)
            x = x if weights is None else resized(b, x, axis, weights)
        return x

    return convert


def _antialiased_backward(kind: tuple[Filter, int]) -> Conversion:
    def convert(
        b: TensorBuilder,
        call: Call,
        cotangent: SSAValue,
        counts: Sequence[int],
        sizes: Sequence[int],
        aligns_corners: bool,
        *scales: float | None,
    ) -> SSAValue:
        for axis, count, scale in zip((2, 3), counts, scales, strict=True):
            weights = _weights(kind, sizes[axis], count, aligns_corners, scale)
            cotangent = cotangent if weights is None else resized(b, cotangent, axis, weights.T)
        return cotangent

    return convert


LINEAR, CUBIC = (linear, 1), (cubic(-0.5), 2)
"""Filters and how far they reach."""

SAMPLING: dict[str, Conversion] = {
    "aten._upsample_bicubic2d_aa.default": _antialiased(CUBIC),
    "aten._upsample_bicubic2d_aa_backward.default": _antialiased_backward(CUBIC),
    "aten._upsample_bilinear2d_aa.default": _antialiased(LINEAR),
    "aten._upsample_bilinear2d_aa_backward.default": _antialiased_backward(LINEAR),
    "aten.grid_sampler_2d.default": _grid_sampler,
    "aten.grid_sampler_2d_backward.default": _grid_sampler_backward,
    "aten.grid_sampler_3d.default": _grid_sampler,
    "aten.grid_sampler_3d_backward.default": _grid_sampler_backward,
    "torchvision._deform_conv2d_backward.default": _deform_conv_backward,
    "torchvision._roi_align_backward.default": _roi_align_backward,
    "torchvision.deform_conv2d.default": _deform_conv,
    "torchvision.roi_align.default": _roi_align,
}
