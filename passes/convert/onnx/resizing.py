"""Resampling of ONNX: resizing by known scales, and samples at computed places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.indexing import gathered
from tiledialect.operators.layout import cast, constant, element_type, literal, shape
from tiledialect.operators.sampling import sample
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of

Values = Sequence[Value]
Array = npt.NDArray[np.float64]


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


def _cubic(node: Node) -> Callable[[Array], Array]:
    a = node.attribute("cubic_coeff_a", -0.75)

    def weight(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0))

    return weight


def _linear(x: Array) -> Array:
    return np.maximum(0, 1 - np.abs(x))


def _taps(node: Node, places: Array, scale: float) -> tuple[npt.NDArray[np.int64], Array]:
    """Elements that each output is made of, and their weights."""
    mode = node.attribute("mode", "nearest")
    if mode == "nearest":
        rounding = node.attribute("nearest_mode", "round_prefer_floor")
        chosen = NEAREST[rounding](places).astype(np.int64)
        return chosen[:, None], np.ones((len(places), 1))
    reach = {"linear": 1, "cubic": 2}.get(mode)
    if reach is None:
        raise node.refusal(f"there is no mode {mode}")
    weight = _cubic(node) if mode == "cubic" else _linear
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
    result: SSAValue | None = None
    column = [count if k == axis else 1 for k in range(len(shape(x)))]
    for k in range(taps.shape[1]):
        if not weights[:, k].any():
            continue
        own = np.clip(taps[:, k], 0, size - 1).astype(np.int32)
        is_same = count == size and (own == np.arange(size)).all()
        part = x if is_same else gathered(b, x, literal(b, own), axis)
        if not (weights[:, k] == 1).all():
            factor = literal(b, weights[:, k].astype(np.float32).reshape(column))
            part = b.mul(part, cast(b, factor, element_type(x)))
        result = part if result is None else b.add(result, part)
    assert result is not None
    if node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = (places < 0) | (places > size - 1)
        if outside.any():
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
        return [floor(sizes[k] * s) for k, s in zip(axes, scales, strict=True)], [*scales]
    wanted = node.numbers("sizes", 3) or []
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    ratios = [n / sizes[k] for k, n in zip(axes, wanted, strict=True)]
    if policy != "stretch":
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        ratios = [ratio] * len(ratios)
        wanted = [floor(ratio * sizes[k] + 0.5) for k in axes]
    return [*wanted], ratios


def _resize(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    rank = len(shape(x))
    axes = [axis_of(node, k, rank) for k in node.numbers("axes") or range(rank)]
    counts, scales = _scales(node, shape(x), axes)
    roi: list[float] = [0.0] * len(axes) + [1.0] * len(axes)
    is_cropped = node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    if is_cropped:
        roi = node.known(1).reshape(-1).tolist()
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


RESIZING: dict[str, Conversion] = {
    "GridSample": _grid_sample,
    "Resize": _resize,
    "Upsample": _upsample,
}
