"""Fourier transforms of ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from tiledialect.index.expr import IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.fourier import fourier
from tiledialect.operators.layout import shape
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of

Values = Sequence[Value]


def _dft(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    rank = len(shape(x))
    default = 1 if node.version < 20 else -2
    axis = axis_of(node, int(node.number("axis", 2, default)), rank)
    is_inverse, is_onesided = (bool(node.attribute(k, 0)) for k in ("inverse", "onesided"))
    own = shape(x)[axis]
    if is_inverse and is_onesided:
        own = 2 * (own - 1)
    length = int(node.known(1).reshape(-1)[0]) if node.has(1) else own
    return [fourier(b, x, axis, length, is_inverse=is_inverse, is_onesided=is_onesided)]


def _stft(b: TensorBuilder, node: Node) -> Values:
    x, step, window = node.tensor(0), int(node.known(1).reshape(-1)[0]), node.optional(2)
    if node.has(3):
        length = int(node.known(3).reshape(-1)[0])
    elif window is not None:
        length = shape(window)[0]
    else:
        raise node.refusal("neither a window nor a frame_length is given")
    sizes = shape(x)
    if len(sizes) == 2:
        x = layout.reshape(b, x, (*sizes, 1))
    batch, size, parts = shape(x)
    frames = (size - length) // step + 1
    n, f, k, c = map(IndexExpr.of, ("n", "f", "k", "c"))
    own = layout.copy(b, x, (batch, frames, length, parts), [n, f, k, c], [n, step * f + k, c])
    if window is not None:
        own = b.mul(own, layout.reshape(b, window, (shape(window)[0], 1)))
    is_onesided = bool(node.attribute("onesided", 1))
    return [fourier(b, own, 2, length, is_onesided=is_onesided)]


FOURIER: dict[str, Conversion] = {"DFT": _dft, "STFT": _stft}
