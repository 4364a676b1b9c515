"""Random operators of ONNX, by the language's generator."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import pi

import numpy as np
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.base import make_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import PrngValueOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, literal, shape
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, type_of

Values = Sequence[Value]


def uniform(b: TensorBuilder, node: Node, sizes: Sequence[int], stream: int = 0) -> SSAValue:
    """Numbers from [0, 1), which depend on the node's seed, or on its name, alone."""
    seed = float(node.attribute("seed", 0.0))
    name = zlib.crc32(f"{node.proto.name}{node.proto.output[0]}{seed}".encode())
    state = literal(b, np.array([name, stream, 0, 0], np.uint32))
    t = make_type(tuple(sizes), f32)
    return b.insert(PrngValueOp.create(operands=[state], result_types=[t]))


def _sizes(node: Node) -> Sequence[int]:
    found = node.numbers("shape")
    return shape(node.tensor(0)) if found is None else found


def _type(node: Node) -> Attribute:
    if "dtype" in node.attributes:
        return type_of(node, node.attributes["dtype"])
    return element_type(node.tensor(0)) if node.proto.input else f32


def _uniform(b: TensorBuilder, node: Node) -> Values:
    low, high = node.attribute("low", 0.0), node.attribute("high", 1.0)
    own = uniform(b, node, _sizes(node))
    return [cast(b, b.add(b.mul(own, high - low), low), _type(node))]


def _normal(b: TensorBuilder, node: Node) -> Values:
    """Box and Muller's transformation of two uniform numbers."""
    sizes = _sizes(node)
    radius = b.sub(1.0, uniform(b, node, sizes))
    angle = b.mul(uniform(b, node, sizes, 1), 2 * pi)
    size = b.op(ew.SqrtOp, b.mul(b.op(ew.LogOp, radius), -2.0))
    own = b.mul(size, b.op(ew.CosOp, angle))
    mean, scale = node.attribute("mean", 0.0), node.attribute("scale", 1.0)
    return [cast(b, b.add(b.mul(own, scale), mean), _type(node))]


def _bernoulli(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    is_one = fn.is_less(b, uniform(b, node, shape(x)), x)
    return [cast(b, is_one, _type(node))]


def _dropout(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    ratio = float(node.number("ratio", 1, 0.5))
    trains = bool(node.known(2).reshape(-1)[0]) if node.has(2) else False
    if not trains or ratio == 0:
        return [x, layout.full(b, 1, shape(x), i1)]
    kept = b.op(ew.CmpGeOp, uniform(b, node, shape(x)), ratio)
    scaled = b.mul(x, 1 / (1 - ratio))
    return [cast(b, b.select(kept, scaled, fn.like(b, x, 0)), element_type(x)), kept]


RANDOM: dict[str, Conversion] = {
    "Bernoulli": _bernoulli,
    "Dropout": _dropout,
    "RandomNormal": _normal,
    "RandomNormalLike": _normal,
    "RandomUniform": _uniform,
    "RandomUniformLike": _uniform,
}
