"""Products and convolutions of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, shape, spread
from tiledialect.operators.linear import (
    ConvolutionAxes,
    Window,
    convolution,
    einsum,
    fold_blocks,
    matmul,
)
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value
from tiledialect.passes.convert.onnx.windows import Windows, transposed_windows, windows_of

Values = Sequence[Value]


def _matmul(b: TensorBuilder, node: Node) -> Values:
    x, y = node.tensor(0), node.tensor(1)
    return [matmul(b, x, y, element_type(x))]


def _gemm(b: TensorBuilder, node: Node) -> Values:
    x, y = node.tensor(0), node.tensor(1)
    left = "ki" if node.attribute("transA", 0) else "ik"
    right = "jk" if node.attribute("transB", 0) else "kj"
    t = element_type(x)
    result = einsum(b, [x, y], [left, right], "ij", t)
    if (alpha := node.attribute("alpha", 1.0)) != 1:
        result = b.mul(result, fn.like(b, x, alpha))
    if (c := node.optional(2)) is not None:
        beta = node.attribute("beta", 1.0)
        result = b.add(result, c if beta == 1 else b.mul(c, fn.like(b, x, beta)))
    return [cast(b, result, t)]


def _einsum(b: TensorBuilder, node: Node) -> Values:
    operands = node.tensors
    equation = node.attributes["equation"].replace(" ", "")
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    if "->" not in equation:
        letters = inputs.replace(",", "").replace(".", "")
        output = "..." * ("." in inputs)
        output += "".join(sorted(c for c in {*letters} if letters.count(c) == 1))
    terms, output = _named_dots(node, terms, output, operands)
    for letter in output:
        if output.count(letter) > 1 or letter not in "".join(terms):
            raise node.refusal(f"each axis of the output is one of the inputs, once: {equation}")
    return [einsum(b, operands, terms, output, element_type(operands[0]))]


def _named_dots(
    node: Node, terms: Sequence[str], output: str, operands: Sequence[SSAValue]
) -> tuple[list[str], str]:
    """Terms with names in the place of their dots."""
    if "." not in "".join(terms):
        return [*terms], output
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in "".join(terms)]
    counts = [
        len(shape(v)) - len(t.replace("...", "")) for t, v in zip(terms, operands, strict=True)
    ]
    most = max(count for count, term in zip(counts, terms, strict=True) if "..." in term)
    dots = "".join(free[:most])
    given = [
        term.replace("...", dots[most - count :]) for term, count in zip(terms, counts, strict=True)
    ]
    return given, output.replace("...", dots)


def _axes(rank: int) -> ConvolutionAxes:
    return ConvolutionAxes(0, 1, tuple(range(2, rank)))


def groups_of(node: Node, x: SSAValue, kernel: SSAValue) -> int:
    """Number of groups of features that have parts of the kernel of their own."""
    groups, (out, inner), features = node.attribute("group", 1), shape(kernel)[:2], shape(x)[1]
    if groups < 1 or out % groups or inner * groups != features:
        raise node.refusal(
            f"a kernel of {out} x {inner} features in {groups} groups does not fit {features}"
        )
    return groups


def _convolved(
    b: TensorBuilder, node: Node, x: SSAValue, kernel: SSAValue, windows: Windows, t: Attribute
) -> SSAValue:
    """Convolution of features along the second axis, in groups."""
    groups, axes = groups_of(node, x, kernel), _axes(len(shape(x)))
    sizes = (shape(x)[0], shape(kernel)[0], *windows.sizes)
    return convolution(b, x, kernel, windows.each, (axes, axes, axes), sizes, t, groups)


def _conv(b: TensorBuilder, node: Node) -> Values:
    x, kernel = node.tensor(0), node.tensor(1)
    windows = windows_of(node, shape(x)[2:], shape(kernel)[2:])
    result = _convolved(b, node, x, kernel, windows, element_type(x))
    return [with_bias(b, result, node.optional(2))]


def with_bias(b: TensorBuilder, x: SSAValue, bias: SSAValue | None) -> SSAValue:
    """A tensor and a number for each of its features, if there are any."""
    if bias is None:
        return x
    column = (shape(bias)[0], *[1] * (len(shape(x)) - 2))
    return b.add(x, layout.reshape(b, bias, column))


def _conv_transpose(b: TensorBuilder, node: Node) -> Values:
    x, kernel = node.tensor(0), node.tensor(1)
    groups = node.attribute("group", 1)
    windows, sizes = transposed_windows(node, shape(x)[2:], shape(kernel)[2:])
    features = groups * shape(kernel)[1]
    axes = _axes(len(shape(x)))
    result = convolution(
        b,
        x,
        _with_features_first(b, kernel, groups),
        windows,
        (axes, axes, axes),
        (shape(x)[0], features, *sizes),
        element_type(x),
        groups,
    )
    return [with_bias(b, result, node.optional(2))]


def _with_features_first(b: TensorBuilder, kernel: SSAValue, groups: int) -> SSAValue:
    """A kernel of input and output features of a group, with the output features of all first."""
    own, features, *taps = shape(kernel)
    spatial = range(2, 2 + len(taps))
    if groups == 1:
        return layout.transpose(b, kernel, [1, 0, *spatial])
    # Output features of a group are beside its input features.
    parts = layout.reshape(b, kernel, (groups, own // groups, features, *taps))
    turned = layout.transpose(b, parts, [0, 2, 1, *(k + 1 for k in spatial)])
    return layout.reshape(b, turned, (groups * features, own // groups, *taps))


def _shifted(b: TensorBuilder, x: SSAValue, zero: SSAValue | None, axis: int) -> SSAValue:
    """Integers of 32 bits less their zero point: one for all, or one for each place of an axis."""
    wide = cast(b, x, i32)
    if zero is None:
        return wide
    zero = cast(b, zero, i32)
    if shape(zero) in ((), (1,)):
        return b.sub(wide, layout.reshape(b, zero, ()))
    if len(shape(zero)) == 1:
        return b.sub(wide, layout.broadcast(b, zero, shape(x), [axis % len(shape(x))]))
    return b.sub(wide, spread(b, zero, shape(x)))


def _matmul_integer(b: TensorBuilder, node: Node) -> Values:
    x = _shifted(b, node.tensor(0), node.optional(2), -2)
    y = _shifted(b, node.tensor(1), node.optional(3), -1)
    return [matmul(b, x, y, i32)]


def _conv_integer(b: TensorBuilder, node: Node) -> Values:
    x, kernel = node.tensor(0), node.tensor(1)
    windows = windows_of(node, shape(x)[2:], shape(kernel)[2:])
    x, kernel = _shifted(b, x, node.optional(2), 1), _shifted(b, kernel, node.optional(3), 0)
    return [_convolved(b, node, x, kernel, windows, i32)]


def _scaled(b: TensorBuilder, total: SSAValue, factor: SSAValue, zero: SSAValue) -> SSAValue:
    """Sums of products of integers, quantized again."""
    scaled = fn.round_to_even(b, b.mul(cast(b, total, f32), factor))
    return fn.saturated(b, b.add(scaled, cast(b, zero, f32)), element_type(zero))


def _along(b: TensorBuilder, scale: SSAValue, axis: int, rank: int) -> SSAValue:
    """Scale in f32 of a number, or of each place of an axis."""
    scale = cast(b, scale, f32)
    if shape(scale) in ((), (1,)):
        return layout.reshape(b, scale, ())
    if len(shape(scale)) > 1:
        return scale
    sizes = tuple(shape(scale)[0] if k == axis else 1 for k in range(rank))
    return layout.reshape(b, scale, sizes)


def _q_linear_matmul(b: TensorBuilder, node: Node) -> Values:
    x, x_scale, x_zero, y, y_scale, y_zero, scale, zero = map(node.tensor, range(8))
    total = matmul(b, _shifted(b, x, x_zero, -2), _shifted(b, y, y_zero, -1), i32)
    rank = len(shape(total))
    factor = b.mul(_along(b, x_scale, rank - 2, rank), _along(b, y_scale, rank - 1, rank))
    return [_scaled(b, total, b.div(factor, _along(b, scale, rank - 1, rank)), zero)]


def _q_linear_conv(b: TensorBuilder, node: Node) -> Values:
    x, x_scale, x_zero, kernel, scales, zeros, scale, zero = map(node.tensor, range(8))
    windows = windows_of(node, shape(x)[2:], shape(kernel)[2:])
    own = _shifted(b, x, x_zero, 1), _shifted(b, kernel, zeros, 0)
    total = _convolved(b, node, *own, windows, i32)
    total = with_bias(b, total, node.optional(8))
    rank = len(shape(total))
    factor = b.mul(_along(b, x_scale, 1, rank), _along(b, scales, 1, rank))
    return [_scaled(b, total, b.div(factor, _along(b, scale, 1, rank)), zero)]


def _col2im(b: TensorBuilder, node: Node) -> Values:
    x, sizes, taps = node.tensor(0), node.numbers("", 1) or [], node.numbers("", 2) or []
    rank = len(sizes)
    strides = node.numbers("strides") or [1] * rank
    dilations = node.numbers("dilations") or [1] * rank
    pads = node.numbers("pads") or [0] * (2 * rank)
    windows = [Window(taps[k], strides[k], pads[k], dilation=dilations[k]) for k in range(rank)]
    counts = [
        (sizes[k] + pads[k] + pads[k + rank] - (taps[k] - 1) * dilations[k] - 1) // strides[k] + 1
        for k in range(rank)
    ]
    features = shape(x)[1] // prod(taps)
    own = layout.reshape(b, x, (shape(x)[0], features, *taps, *counts))
    return [fold_blocks(b, own, windows, sizes)]


LINEAR: dict[str, Conversion] = {
    "Col2Im": _col2im,
    "Conv": _conv,
    "ConvInteger": _conv_integer,
    "ConvTranspose": _conv_transpose,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _q_linear_conv,
    "QLinearMatMul": _q_linear_matmul,
}
