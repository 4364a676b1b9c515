"""Functions of linalg and tensor ops, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import erf
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A function in MLIR, and in NumPy."""

    name: str
    arguments: str
    """Arguments, as `%a: tensor<4xf32>`."""
    result: str
    body: str
    """Ops, of which the last value is `%r`."""
    meaning: Callable[..., Array]

    @property
    def text(self) -> str:
        """The function."""
        return (
            f"func.func @{self.name}({self.arguments}) -> {self.result} {{\n{self.body}\n"
            f"  func.return %r : {self.result}\n}}\n"
        )


def random_array(t: Attribute, rng: np.random.Generator) -> Array:
    """Elements of a type; small integers."""
    assert isinstance(t, TensorType)
    kind = np.dtype(NUMPY_TYPES[t.element_type])
    if kind.kind == "b":
        return rng.random(t.get_shape()) < 0.3
    if kind.kind == "f" or kind.itemsize == 2:
        return rng.normal(size=t.get_shape()).astype(kind)
    return rng.integers(-100, 100, t.get_shape()).astype(kind)


def _named(
    name: str,
    shapes: Sequence[str],
    meaning: Callable[..., Array],
    *,
    op: str | None = None,
    attributes: str = "",
) -> Case:
    """A named op on tensors, the last one the initial value and the result."""
    types = [f"tensor<{shape}>" for shape in shapes]
    values = [f"%x{k}" for k in range(len(types))]
    arguments = ", ".join(f"{v}: {t}" for v, t in zip(values, types, strict=True))
    ins = f"ins({', '.join(values[:-1])} : {', '.join(types[:-1])})"
    outs = f"outs({values[-1]} : {types[-1]})"
    body = f"  %r = linalg.{op or name}{attributes} {ins} {outs} -> {types[-1]}"
    return Case(name, arguments, types[-1], body, meaning)


def _conv(x: Array, k: Array, spec: str, stride: int = 1, dilation: int = 1) -> Array:
    """A convolution by einsum: capital letters of the first operand are windows."""
    operands, output = spec.split("->")
    first, second = operands.split(",")
    windows = [axis for axis, letter in enumerate(first) if letter.isupper()]
    sizes = [(k.shape[second.index(first[axis].lower())] - 1) * dilation + 1 for axis in windows]
    views = np.lib.stride_tricks.sliding_window_view(x, sizes, axis=windows)
    for number, axis in enumerate(windows):
        views = np.take(views, range(0, views.shape[axis], stride), axis)
        last = x.ndim + number
        views = np.take(views, range(0, views.shape[last], dilation), last)
    inner = "".join(first[axis].lower() for axis in windows)
    outer = {letter.lower(): letter for letter in first if letter.isupper()}
    result = "".join(outer.get(letter, letter) for letter in output)
    return np.einsum(f"{first}{inner},{second}->{result}", views, k)


def _pool(x: Array, w: Array, layout: str, function: Any, stride: int = 1) -> Array:
    axes = [k for k, letter in enumerate(layout) if letter not in "nc"]
    views = np.lib.stride_tricks.sliding_window_view(x, w.shape, axis=axes)
    for axis in axes:
        views = np.take(views, range(0, views.shape[axis], stride), axis)
    return function(views, axis=tuple(range(x.ndim, views.ndim)))


def _steps(stride: int, dilation: int, count: int = 2) -> str:
    dense = "dense<{}> : tensor<{}xi64>"
    return (
        f" {{dilations = {dense.format(dilation, count)}, strides = {dense.format(stride, count)}}}"
    )


def _plus(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function of all but the last argument, which is added."""
    return lambda *args: args[-1] + function(*args[:-1])


def _einsum(spec: str) -> Callable[..., Array]:
    return _plus(lambda a, b: np.einsum(spec, a, b))


PRODUCTS: Sequence[Case] = (
    _named("matmul", ["4x8xf32", "8x3xf32", "4x3xf32"], _einsum("mk,kn->mn")),
    _named("matmul_transpose_a", ["8x4xf32", "8x3xf32", "4x3xf32"], _einsum("km,kn->mn")),
    _named("matmul_transpose_b", ["4x8xf32", "3x8xf32", "4x3xf32"], _einsum("mk,nk->mn")),
    _named(
        "matmul_maps",
        ["8x4xf32", "8x3xf32", "4x3xf32"],
        _einsum("km,kn->mn"),
        op="matmul",
        attributes=" indexing_maps = [affine_map<(a, b, c) -> (c, a)>, "
        "affine_map<(a, b, c) -> (c, b)>, affine_map<(a, b, c) -> (a, b)>]",
    ),
    _named(
        "contract",
        ["2x8xf32", "3x8xf32", "3x2xf32"],
        _einsum("mk,nk->nm"),
        attributes=" indexing_maps = [affine_map<(a, b, c) -> (b, c)>, "
        "affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b)>]",
    ),
    _named("batch_matmul", ["2x4x8xf32", "2x8x3xf32", "2x4x3xf32"], _einsum("bmk,bkn->bmn")),
    _named(
        "batch_matmul_transpose_b",
        ["2x4x8xf32", "2x3x8xf32", "2x4x3xf32"],
        _einsum("bmk,bnk->bmn"),
    ),
    _named("batch_reduce_matmul", ["2x4x8xf32", "2x8x3xf32", "4x3xf32"], _einsum("bmk,bkn->mn")),
    _named("matvec", ["4x8xf32", "8xf32", "4xf32"], _einsum("mk,k->m")),
    _named("vecmat", ["8xf32", "8x3xf32", "3xf32"], _einsum("k,kn->n")),
    _named("dot", ["8xf32", "8xf32", "f32"], _einsum("k,k->")),
    _named("batch_matvec", ["2x4x8xf32", "2x8xf32", "2x4xf32"], _einsum("bmk,bk->bm")),
    _named("mmt4d", ["2x3x4x5xf32", "6x3x7x5xf32", "2x6x4x7xf32"], _einsum("mkil,nkjl->mnij")),
    _named(
        "matmul_f16",
        ["4x8xf16", "8x3xf16", "4x3xf32"],
        _plus(lambda a, b: a.astype("f") @ b.astype("f")),
        op="matmul",
    ),
    _named(
        "matmul_i8",
        ["4x8xi8", "8x3xi8", "4x3xi32"],
        _plus(lambda a, b: a.astype("i4") @ b.astype("i4")),
        op="matmul",
    ),
    Case(
        "quantized_matmul",
        "%x0: tensor<4x8xi8>, %x1: tensor<8x3xi8>, %x2: tensor<4x3xi32>",
        "tensor<4x3xi32>",
        "  %za = arith.constant 3 : i32\n  %zb = arith.constant -2 : i32\n"
        "  %r = linalg.quantized_matmul ins(%x0, %x1, %za, %zb : tensor<4x8xi8>, tensor<8x3xi8>, "
        "i32, i32) outs(%x2 : tensor<4x3xi32>) -> tensor<4x3xi32>",
        _plus(lambda a, b: (a.astype("i4") - 3) @ (b.astype("i4") + 2)),
    ),
)

CONVOLUTIONS: Sequence[Case] = (
    _named("conv_1d", ["9xf32", "3xf32", "7xf32"], _plus(lambda x, k: _conv(x, k, "X,x->x"))),
    _named(
        "conv_2d", ["9x8xf32", "3x2xf32", "7x7xf32"], _plus(lambda x, k: _conv(x, k, "YX,yx->yx"))
    ),
    _named(
        "conv_1d_nwc_wcf",
        ["2x9x3xf32", "2x3x4xf32", "2x8x4xf32"],
        _plus(lambda x, k: _conv(x, k, "nXc,xcf->nxf")),
    ),
    _named(
        "conv_1d_ncw_fcw",
        ["2x3x9xf32", "4x3x2xf32", "2x4x4xf32"],
        _plus(lambda x, k: _conv(x, k, "ncX,fcx->nfx", 2)),
        attributes=_steps(2, 1, 1),
    ),
    _named(
        "conv_2d_nhwc_hwcf",
        ["2x9x8x3xf32", "3x2x3x4xf32", "2x4x4x4xf32"],
        _plus(lambda x, k: _conv(x, k, "nYXc,yxcf->nyxf", 2)),
        attributes=_steps(2, 1),
    ),
    _named(
        "conv_2d_nhwc_fhwc",
        ["2x9x8x3xf32", "4x3x2x3xf32", "2x5x6x4xf32"],
        _plus(lambda x, k: _conv(x, k, "nYXc,fyxc->nyxf", 1, 2)),
        attributes=_steps(1, 2),
    ),
    _named(
        "conv_2d_nchw_fchw",
        ["2x3x9x8xf32", "4x3x3x2xf32", "2x4x3x3xf32"],
        _plus(lambda x, k: _conv(x, k, "ncYX,fcyx->nfyx", 2, 2)),
        attributes=_steps(2, 2),
    ),
    _named(
        "conv_2d_ngchw_fgchw",
        ["2x2x3x6x5xf32", "4x2x3x3x2xf32", "2x2x4x4x4xf32"],
        _plus(lambda x, k: _conv(x, k, "ngcYX,fgcyx->ngfyx")),
        attributes=_steps(1, 1),
    ),
    _named(
        "conv_2d_nhwgc_gfhwc",
        ["2x6x5x2x3xf32", "2x4x3x2x3xf32", "2x4x4x2x4xf32"],
        _plus(lambda x, k: _conv(x, k, "nYXgc,gfyxc->nyxgf")),
        attributes=_steps(1, 1),
    ),
    _named(
        "conv_3d_ndhwc_dhwcf",
        ["1x4x5x4x2xf32", "2x2x2x2x3xf32", "1x3x4x3x3xf32"],
        _plus(lambda x, k: _conv(x, k, "nZYXc,zyxcf->nzyxf")),
    ),
    _named(
        "depthwise_conv_2d_nhwc_hwc",
        ["2x9x8x3xf32", "3x2x3xf32", "2x4x4x3xf32"],
        _plus(lambda x, k: _conv(x, k, "nYXc,yxc->nyxc", 2)),
        attributes=_steps(2, 1),
    ),
    _named(
        "depthwise_conv_2d_nhwc_hwcm",
        ["2x9x8x3xf32", "3x2x3x2xf32", "2x7x7x3x2xf32"],
        _plus(lambda x, k: _conv(x, k, "nYXc,yxcm->nyxcm")),
    ),
    _named(
        "depthwise_conv_2d_nchw_chw",
        ["2x3x9x8xf32", "3x3x2xf32", "2x3x7x7xf32"],
        _plus(lambda x, k: _conv(x, k, "ncYX,cyx->ncyx")),
    ),
    _named(
        "pooling_nchw_max",
        ["2x3x9x8xf32", "3x2xf32", "2x3x4x4xf32"],
        lambda x, w, o: np.maximum(o, _pool(x, w, "ncyx", np.max, 2)),
        attributes=_steps(2, 1),
    ),
    _named(
        "pooling_nhwc_sum",
        ["2x9x8x3xf32", "3x2xf32", "2x7x7x3xf32"],
        lambda x, w, o: o + _pool(x, w, "nyxc", np.sum),
        attributes=_steps(1, 1),
    ),
    _named(
        "pooling_nhwc_min",
        ["2x9x8x3xi32", "3x2xi32", "2x7x7x3xi32"],
        lambda x, w, o: np.minimum(o, _pool(x, w, "nyxc", np.min)),
    ),
    _named(
        "pooling_nhwc_max_unsigned",
        ["2x9x8x3xi32", "3x2xi32", "2x7x7x3xi32"],
        lambda x, w, o: np.maximum(o.astype("u4"), _pool(x.astype("u4"), w, "nyxc", np.max)).astype(
            "i4"
        ),
    ),
    _named(
        "pooling_ndhwc_max",
        ["1x4x5x4x2xf32", "2x2x2xf32", "1x3x4x3x2xf32"],
        lambda x, w, o: np.maximum(o, _pool(x, w, "nzyxc", np.max)),
    ),
)


def _round(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)


UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "erf": np.vectorize(erf, otypes=["f"]),
    "exp": np.exp,
    "floor": np.floor,
    "log": lambda x: np.log(np.abs(x)),
    "negf": np.negative,
    "reciprocal": lambda x: 1 / x,
    "round": _round,
    "rsqrt": lambda x: 1 / np.sqrt(np.abs(x)),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "square": np.square,
    "tanh": np.tanh,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "powf": lambda x, y: np.power(np.abs(x), y),
    "sub": np.subtract,
}


def _unary(name: str, function: Callable[[Array], Array]) -> Case:
    """A unary op, on absolute values where a root or a logarithm is taken."""
    t = "tensor<4x5xf32>"
    absolute = f"  %a = math.absf %x : {t}\n"
    source = "%a" if name in ("log", "rsqrt", "sqrt") else "%x"
    body = f"{absolute}  %r = linalg.{name} ins({source} : {t}) outs(%o : {t}) -> {t}"
    return Case(f"unary_{name}", f"%x: {t}, %o: {t}", t, body, lambda x, o: function(x))


def _binary(name: str, function: Callable[[Array, Array], Array]) -> Case:
    t = "tensor<4x5xf32>"
    absolute = f"  %a = math.absf %x : {t}\n" if name == "powf" else ""
    source = "%a" if name == "powf" else "%x"
    body = f"{absolute}  %r = linalg.{name} ins({source}, %y : {t}, {t}) outs(%o : {t}) -> {t}"
    arguments = f"%x: {t}, %y: {t}, %o: {t}"
    return Case(f"binary_{name}", arguments, t, body, lambda x, y, o: function(x, y))


def _softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


OTHERS: Sequence[Case] = (
    *(_unary(name, function) for name, function in UNARY.items()),
    *(_binary(name, function) for name, function in BINARY.items()),
    _named(
        "softmax", ["4x5xf32", "4x5xf32"], lambda x, o: _softmax(x, 0), attributes=" dimension(0)"
    ),
    _named(
        "elementwise",
        ["4x5xf32", "5xf32", "4x5xf32"],
        lambda x, y, o: x * y,
        attributes=" kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(a, b) -> (a, b)>"
        ", affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>]",
    ),
    _named("copy", ["4x5xf32", "4x5xf32"], lambda x, o: x),
    _named(
        "select",
        ["4x5xi1", "4x5xf32", "4x5xf32", "4x5xf32"],
        lambda c, x, y, o: np.where(c, x, y),
    ),
    Case(
        "transpose",
        "%x: tensor<2x3x4xf32>, %o: tensor<4x2x3xf32>",
        "tensor<4x2x3xf32>",
        "  %r = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<4x2x3xf32>) "
        "permutation = [2, 0, 1]",
        lambda x, o: x.transpose(2, 0, 1),
    ),
    Case(
        "broadcast",
        "%x: tensor<2x4xf32>, %o: tensor<2x3x4xf32>",
        "tensor<2x3x4xf32>",
        "  %r = linalg.broadcast ins(%x : tensor<2x4xf32>) outs(%o : tensor<2x3x4xf32>) "
        "dimensions = [1]",
        lambda x, o: np.broadcast_to(x[:, None], (2, 3, 4)),
    ),
    Case(
        "reduce",
        "%x: tensor<2x3x4xf32>, %o: tensor<2x4xf32>",
        "tensor<2x4xf32>",
        "  %r = linalg.reduce { arith.addf } ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<2x4xf32>)"
        " dimensions = [1]",
        lambda x, o: o + x.sum(1),
    ),
    Case(
        "reduce_long",
        "%x: tensor<2x3x4xf32>, %o: tensor<3xf32>",
        "tensor<3xf32>",
        "  %r = linalg.reduce ins(%x : tensor<2x3x4xf32>) outs(%o : tensor<3xf32>)"
        " dimensions = [0, 2]\n  (%a: f32, %b: f32) {\n    %m = arith.maximumf %a, %b : f32\n"
        "    linalg.yield %m : f32\n  }",
        lambda x, o: np.maximum(o, x.max((0, 2))),
    ),
    Case(
        "map",
        "%x: tensor<4xf32>, %y: tensor<4xf32>, %o: tensor<4xf32>",
        "tensor<4xf32>",
        "  %s = linalg.map { arith.addf } ins(%x, %y : tensor<4xf32>, tensor<4xf32>)"
        " outs(%o : tensor<4xf32>)\n"
        "  %r = linalg.map ins(%s : tensor<4xf32>) outs(%o : tensor<4xf32>) (%a: f32, %old: f32) {\n"
        "    %e = math.exp %a : f32\n    linalg.yield %e : f32\n  }",
        lambda x, y, o: np.exp(x + y),
    ),
    Case(
        "filled",
        "%x: tensor<4x5xf32>",
        "tensor<4x5xf32>",
        "  %c = arith.constant 2.5 : f32\n  %e = tensor.empty() : tensor<4x5xf32>\n"
        "  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>\n"
        "  %r = arith.addf %x, %f : tensor<4x5xf32>",
        lambda x: x + np.float32(2.5),
    ),
)
