"""Resampling of ONNX: resizing by known scales, samples and windows at computed places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, inf, isfinite, prod

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.deformable import Deformation
from tiledialect.operators.layout import cast, constant, element_type, literal, shape
from tiledialect.operators.regions import Regions
from tiledialect.operators.resizing import Array, cubic, linear, matrix, resized
from tiledialect.operators.sampling import sample
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of
from tiledialect.passes.convert.onnx.linear import groups_of, with_bias
from tiledialect.passes.convert.onnx.windows import windows_of

Values = Sequence[Value]


def _coordinates(node: Node, size: int, count: int, scale: float, roi: Sequence[float]) -> Array:
    """Places in the input of the outputs along an axis."""
    mode = node.attribute("coordinate_transformation_mode", "half_pixel")
    place = np.arange(count, dtype=np.float64)
    length = scale * size
    match mode:
        case "half_pixel":
            return (place + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            adjustment = count / length
            centre = size / 2
            return centre * (1 - adjustment) + (place + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (place + 0.5) / scale - 0.5 if length > 1 else place * 0
        case "align_corners":
            return place * (size - 1) / (length - 1) if length != 1 else place * 0
        case "asymmetric":
            return place / scale
        case "tf_crop_and_resize":
            start, end = roi
            if length > 1:
                return start * (size - 1) + place * (end - start) * (size - 1) / (length - 1)
            return place * 0 + 0.5 * (start + end) * (size - 1)
        case _:
            raise node.refusal(f"there is no coordinate_transformation_mode {mode}")


NEAREST: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _taps(node: Node, places: Array, scale: float) -> tuple[npt.NDArray[np.int64], Array]:
    """Elements that each output is made of, and their weights."""
    mode = node.attribute("mode", "nearest")
    if mode == "nearest":
        rounding = node.attribute("nearest_mode", "round_prefer_floor")
        if rounding not in NEAREST:
            raise node.refusal(f"there is no nearest_mode {rounding}")
        chosen = NEAREST[rounding](places).astype(np.int64)
        return chosen[:, None], np.ones((len(places), 1))
    reach = {"linear": 1, "cubic": 2}.get(mode)
    if reach is None:
        raise node.refusal(f"there is no mode {mode}")
    weight = cubic(node.attribute("cubic_coeff_a", -0.75)) if mode == "cubic" else linear
    widens = node.attribute("antialias", 0) and scale < 1
    factor = scale if widens else 1.0
    far = int(np.ceil(reach / factor))
    base = np.floor(places).astype(np.int64)
    taps = base[:, None] + np.arange(1 - far, far + 1)
    weights = weight((taps - places[:, None]) * factor)
    return taps, weights


def _resized_axis(
    b: TensorBuilder,
    node: Node,
    x: SSAValue,
    axis: int,
    count: int,
    scale: float,
    roi: Sequence[float],
) -> SSAValue:
    size = shape(x)[axis]
    places = _coordinates(node, size, count, scale, roi)
    taps, weights = _taps(node, places, scale)
    inside = (taps >= 0) & (taps < size)
    if node.attribute("exclude_outside", 0):
        weights = np.where(inside, weights, 0)
    weights = weights / weights.sum(1, keepdims=True)
    result = resized(b, x, axis, matrix(taps, weights, size))
    if node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = (places < 0) | (places > size - 1)
        if outside.any():
            column = [count if k == axis else 1 for k in range(len(shape(x)))]
            value = constant(b, float(node.attribute("extrapolation_value", 0.0)), element_type(x))
            result = b.select(literal(b, outside.reshape(column)), value, result)
    return cast(b, result, element_type(x))


def _scales(node: Node, sizes: Sequence[int], axes: Sequence[int]) -> tuple[list[int], list[float]]:
    """Sizes of the axes afterwards, and their scales."""
    first = 2 if node.version >= 11 else 1
    scales = node.attributes.get("scales")
    if scales is None and node.has(first):
        scales = node.known(first).astype(np.float64).reshape(-1).tolist()
    if scales:
        _check_axes(node, "scales", scales, axes)
        return [floor(sizes[k] * s) for k, s in zip(axes, scales, strict=True)], [*scales]
    wanted = node.numbers("sizes", 3) or []
    _check_axes(node, "sizes", wanted, axes)
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    ratios = [n / sizes[k] for k, n in zip(axes, wanted, strict=True)]
    if policy != "stretch":
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        ratios = [ratio] * len(ratios)
        wanted = [floor(ratio * sizes[k] + 0.5) for k in axes]
    return [*wanted], ratios


def _check_axes(
    node: Node, name: str, given: Sequence[float], axes: Sequence[int], least: float = 0.0
) -> None:
    """Refuse numbers that are not one for each axis, or too small ones."""
    if len(given) != len(axes) or not all(isfinite(n) and n > least for n in given):
        raise node.refusal(f"{name} {[*given]} do not fit {len(axes)} axes")


def _resize(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    rank = len(shape(x))
    axes = [axis_of(node, k, rank) for k in node.numbers("axes") or range(rank)]
    counts, scales = _scales(node, shape(x), axes)
    roi: list[float] = [0.0] * len(axes) + [1.0] * len(axes)
    is_cropped = node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    if is_cropped:
        roi = node.known(1).reshape(-1).tolist()
        _check_axes(node, "roi", roi, [*axes, *axes], -inf)
    for k, axis in enumerate(axes):
        if counts[k] != shape(x)[axis] or scales[k] != 1 or is_cropped:
            own = roi[k], roi[k + len(axes)]
            x = _resized_axis(b, node, x, axis, counts[k], scales[k], own)
    return [x]


def _upsample(b: TensorBuilder, node: Node) -> Values:
    node.attributes["coordinate_transformation_mode"] = "asymmetric"
    node.attributes["nearest_mode"] = "floor"
    return _resize(b, node)


SAMPLING = {"bilinear": "linear", "bicubic": "cubic"}
"""Names of modes in older versions."""


def _grid_sample(b: TensorBuilder, node: Node) -> Values:
    mode = node.attribute("mode", "linear")
    aligns = bool(node.attribute("align_corners", 0))
    border = node.attribute("padding_mode", "zeros")
    own = SAMPLING.get(mode, mode)
    return [sample(b, node.tensor(0), node.tensor(1), own, border, aligns_corners=aligns)]


def _roi_align(b: TensorBuilder, node: Node) -> Values:
    x, boxes = node.tensor(0), node.tensor(1)
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    mode = node.attribute("coordinate_transformation_mode", default)
    n, c, h, w = shape(x)
    counts = node.attribute("output_height", 1), node.attribute("output_width", 1)
    if min(counts) < 1:
        raise node.refusal(f"an output of {counts[0]} x {counts[1]} elements has none")
    regions = Regions(
        b,
        b.mul(boxes, node.attribute("spatial_scale", 1.0)),
        node.tensor(2),
        counts,
        (n, c, h, w),
        max(0, node.attribute("sampling_ratio", 0)),
        mode == "half_pixel",
    )
    if node.attribute("mode", "avg") == "avg":
        return [regions.mean(x)]
    if regions.ratio == 0:
        raise node.refusal("a maximum of as many samples as a box has elements is not supported")
    return [regions.maximum(x)]


def _deform_conv(b: TensorBuilder, node: Node) -> Values:
    x, kernel = node.tensor(0), node.tensor(1)
    windows = windows_of(node, shape(x)[2:], shape(kernel)[2:])
    offsets, mask = node.tensor(2), node.optional(4)
    groups, parts = groups_of(node, x, kernel), node.attribute("offset_group", 1)
    if parts < 1 or shape(x)[1] % parts:
        raise node.refusal(f"{shape(x)[1]} features are not {parts} groups")
    taps = parts * prod(w.size for w in windows.each)
    of_axes = {"offset": (offsets, taps * len(windows.each)), "mask": (mask, taps)}
    for name, (value, count) in of_axes.items():
        wanted = (shape(x)[0], count, *windows.sizes)
        if value is not None and shape(value) != wanted:
            raise node.refusal(f"{name} has the shape {[*shape(value)]}, not {[*wanted]}")
    own = windows.each, windows.sizes, groups, parts
    deformation = Deformation(b, x, kernel, offsets, mask, *own)
    return [with_bias(b, deformation.result(), node.optional(3))]


RESIZING: dict[str, Conversion] = {
    "DeformConv": _deform_conv,
    "GridSample": _grid_sample,
    "Resize": _resize,
    "RoiAlign": _roi_align,
    "Upsample": _upsample,
}
