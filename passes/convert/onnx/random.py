"""Random operators of ONNX, by the language's generator."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, literal, shape
from tiledialect.operators.random import dropout, normal, uniform
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, type_of

Values = Sequence[Value]


def _state(b: TensorBuilder, node: Node, stream: int = 0) -> SSAValue:
    """State of the generator, which depends on the node's seed, or on its name, alone."""
    seed = float(node.attribute("seed", 0.0))
    name = zlib.crc32(f"{node.proto.name}{node.proto.output[0]}{seed}".encode())
    return literal(b, np.array([name, stream, 0, 0], np.uint32))


def _sizes(node: Node) -> Sequence[int]:
    found = node.numbers("shape")
    return shape(node.tensor(0)) if found is None else found


def _type(node: Node) -> Attribute:
    if "dtype" in node.attributes:
        return type_of(node, node.attributes["dtype"])
    return element_type(node.tensor(0)) if node.proto.input else f32


def _uniform(b: TensorBuilder, node: Node) -> Values:
    low, high = node.attribute("low", 0.0), node.attribute("high", 1.0)
    own = uniform(b, _state(b, node), _sizes(node))
    return [cast(b, b.add(b.mul(own, high - low), low), _type(node))]


def _normal(b: TensorBuilder, node: Node) -> Values:
    own = normal(b, _state(b, node), _state(b, node, 1), _sizes(node))
    mean, scale = node.attribute("mean", 0.0), node.attribute("scale", 1.0)
    return [cast(b, b.add(b.mul(own, scale), mean), _type(node))]


def _bernoulli(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    is_one = fn.is_less(b, uniform(b, _state(b, node), shape(x)), x)
    return [cast(b, is_one, _type(node))]


def _dropout(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    ratio = float(node.number("ratio", 1, 0.5))
    trains = bool(node.known(2).reshape(-1)[0]) if node.has(2) else False
    if not trains or ratio == 0:
        return [x, layout.full(b, 1, shape(x), i1)]
    return dropout(b, _state(b, node), x, ratio)


RANDOM: dict[str, Conversion] = {
    "Bernoulli": _bernoulli,
    "Dropout": _dropout,
    "RandomNormal": _normal,
    "RandomNormalLike": _normal,
    "RandomUniform": _uniform,
    "RandomUniformLike": _uniform,
}
