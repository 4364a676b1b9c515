"""Operators of ONNX that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import onnx
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import constant, element_type, literal, shape, sliced, spread
from tiledialect.passes.convert.onnx.base import (
    Conversion,
    Node,
    Value,
    axis_of,
    type_of,
)

Values = Sequence[Value]


def _reshape(b: TensorBuilder, node: Node) -> Values:
    x, wanted = node.tensor(0), node.numbers("shape", 1) or []
    given = shape(x)
    if not node.attribute("allowzero", 0):
        if any(n == 0 and k >= len(given) for k, n in enumerate(wanted)):
            raise node.refusal(f"shape {wanted} has a 0 where the input has no axis")
        wanted = [given[k] if n == 0 else n for k, n in enumerate(wanted)]
    rest = prod(n for n in wanted if n != -1)
    sizes = [prod(given) // max(1, rest) if n == -1 else n for n in wanted]
    if prod(sizes) != prod(given):
        raise node.refusal(f"{[*given]} does not have the elements of {wanted}")
    return [layout.reshape(b, x, tuple(sizes))]


def _flatten(b: TensorBuilder, node: Node) -> Values:
    x, axis = node.tensor(0), node.attribute("axis", 1)
    sizes = shape(x)
    axis = axis if axis == len(sizes) else axis_of(node, axis, max(1, len(sizes)))
    return [layout.reshape(b, x, (prod(sizes[:axis]), prod(sizes[axis:])))]


def _squeeze(b: TensorBuilder, node: Node) -> Values:
    x, axes = node.tensor(0), node.numbers("axes", 1)
    sizes = shape(x)
    if axes is None:
        axes = [k for k, n in enumerate(sizes) if n == 1]
    axes = [axis_of(node, k, len(sizes)) for k in axes]
    if any(sizes[k] != 1 for k in axes):
        raise node.refusal(f"{[*sizes]} has more than one element along an axis of {axes}")
    return [layout.reshape(b, x, tuple(n for k, n in enumerate(sizes) if k not in axes))]


def _unsqueeze(b: TensorBuilder, node: Node) -> Values:
    x, axes = node.tensor(0), node.numbers("axes", 1) or []
    rank = len(shape(x)) + len(axes)
    new = {axis_of(node, k, rank) for k in axes}
    if len(new) < len(axes):
        raise node.refusal(f"axes {axes} name one twice")
    sizes = iter(shape(x))
    return [layout.reshape(b, x, tuple(1 if k in new else next(sizes) for k in range(rank)))]


def _transpose(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axes = [*range(len(shape(x)))]
    order = node.numbers("perm") or axes[::-1]
    if sorted(order) != axes:
        raise node.refusal(f"perm {order} is no order of {len(axes)} axes")
    return [layout.transpose(b, x, order)]


def _concat(b: TensorBuilder, node: Node) -> Values:
    parts = node.tensors
    return [
        layout.concatenate(b, parts, axis_of(node, node.attributes["axis"], len(shape(parts[0]))))
    ]


def _slice(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    sizes = shape(x)
    starts, ends = node.numbers("starts", 1) or [], node.numbers("ends", 2) or []
    axes, steps = node.numbers("axes", 3), node.numbers("steps", 4)
    axes = [*range(len(starts))] if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        x = sliced(b, x, axis_of(node, axis, len(sizes)), slice(start, end, step))
    return [x]


def parts_of(node: Node, size: int) -> list[int]:
    """Sizes of the parts that ``Split`` makes of an axis."""
    found = node.numbers("split", 1)
    if found is None:
        count = node.attribute("num_outputs", len(node.proto.output))
        each = -(-size // count)
        found = [min(each, size - k * each) for k in range(count)]
    if sum(found) != size:
        raise node.refusal(f"parts of {found} are not {size} elements")
    return found


def _split(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
    results: list[SSAValue] = []
    start = 0
    for size in parts_of(node, shape(x)[axis]):
        results.append(layout.section(b, x, axis, start, start + size))
        start += size
    return results


def _pad(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    rank, pads, axes = len(shape(x)), node.numbers("pads", 1) or [], node.numbers("axes", 3)
    places = [*range(rank)] if axes is None else [axis_of(node, k, rank) for k in axes]
    low, high = [0] * rank, [0] * rank
    for k, axis in enumerate(places):
        low[axis], high[axis] = pads[k], pads[k + len(places)]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        value = node.optional(2) if node.has(2) else None
        if value is None:
            number = node.attribute("value", 0.0)
            t = element_type(x)
            value = constant(b, number if number else 0, t)
        return [layout.pad(b, x, layout.reshape(b, value, ()), low, high, [0] * rank)]
    if mode not in layout.PADDINGS:
        raise node.refusal(f"there is no padding by {mode}")
    for axis in range(rank):
        if low[axis] or high[axis]:
            x = layout.pad_with_elements(b, x, axis, low[axis], high[axis], mode)
    return [x]


def _expand(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    sizes = np.broadcast_shapes(shape(x), tuple(node.numbers("shape", 1) or []))
    return [spread(b, x, sizes)]


def _tile(b: TensorBuilder, node: Node) -> Values:
    return [layout.tile(b, node.tensor(0), node.numbers("repeats", 1) or [])]


def _blocks(node: Node, x: SSAValue) -> tuple[int, ...]:
    return (*shape(x), node.attributes["blocksize"])


def _depth_to_space(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    n, c, h, w, s = _blocks(node, x)
    if node.attribute("mode", "DCR") == "DCR":
        parts, order = (n, s, s, c // s**2, h, w), [0, 3, 4, 1, 5, 2]
    else:
        parts, order = (n, c // s**2, s, s, h, w), [0, 1, 4, 2, 5, 3]
    moved = layout.transpose(b, layout.reshape(b, x, parts), order)
    return [layout.reshape(b, moved, (n, c // s**2, h * s, w * s))]


def _space_to_depth(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    n, c, h, w, s = _blocks(node, x)
    parts = layout.reshape(b, x, (n, c, h // s, s, w // s, s))
    is_depth_first = node.attribute("mode", "DCR") == "DCR"
    moved = layout.transpose(b, parts, [0, 3, 5, 1, 2, 4] if is_depth_first else [0, 1, 3, 5, 2, 4])
    return [layout.reshape(b, moved, (n, c * s**2, h // s, w // s))]


def _known(b: TensorBuilder, node: Node) -> Values:
    """A result that ONNX's own evaluator computes, of numbers that are known beforehand."""
    return [literal(b, node.scope.known(node.proto.output[0]))]


def _constant_of_shape(b: TensorBuilder, node: Node) -> Values:
    value = node.attributes.get("value")
    array = np.zeros(1, np.float32) if value is None else onnx.numpy_helper.to_array(value)
    t = ELEMENT_TYPES[array.dtype]
    return [layout.full(b, array.reshape(-1)[0].item(), tuple(node.numbers("input", 0) or []), t)]


def _eye_like(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    t = type_of(node, node.attributes["dtype"]) if "dtype" in node.attributes else element_type(x)
    offset = node.attribute("k", 0)
    row, column = (layout.iota(b, shape(x), axis, i32) for axis in (0, 1))
    is_one = b.op(ew.CmpEqOp, b.add(row, offset), column)
    return [layout.cast(b, b.select(is_one, constant(b, 1, t), constant(b, 0, t)), t)]


def _range(b: TensorBuilder, node: Node) -> Values:
    start, limit, delta = (node.known(k) for k in range(3))
    return [literal(b, np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype))]


def _trilu(b: TensorBuilder, node: Node) -> Values:
    compared = ew.CmpGeOp if node.attribute("upper", 1) else ew.CmpLeOp
    return [layout.triangle(b, node.tensor(0), int(node.number("k", 1, 0)), compared)]


def _center_crop_pad(b: TensorBuilder, node: Node) -> Values:
    x, wanted = node.tensor(0), node.numbers("shape", 1) or []
    axes = node.numbers("axes") or [*range(len(shape(x)))]
    zero = constant(b, 0, element_type(x))
    for axis, size in zip(axes, wanted, strict=True):
        axis = axis_of(node, axis, len(shape(x)))
        more = size - shape(x)[axis]
        low, high = [0] * len(shape(x)), [0] * len(shape(x))
        low[axis] = more // 2 if more > 0 else -(-more // 2)
        high[axis] = more - low[axis]
        x = layout.pad(b, x, zero, low, high, [0] * len(low))
    return [x]


LAYOUT: dict[str, Conversion] = {
    "CenterCropPad": _center_crop_pad,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "MelWeightMatrix": _known,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _known,
    "Size": _known,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
