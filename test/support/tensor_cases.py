"""Functions of tensor, arith and math ops on tensors, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from linalg_cases import Array, Case


def _on(name: str, arguments: str, result: str, meaning: Callable[..., Array], *ops: str) -> Case:
    return Case(f"tensor_{name}", arguments, result, "\n".join(f"  {op}" for op in ops), meaning)


def _written(x: Array, y: Array) -> Array:
    made = y.copy()
    made[1, 1::2] = x
    return made


TENSORS: Sequence[Case] = (
    _on(
        "extract_slice",
        "%x: tensor<6x9xf32>",
        "tensor<3x4xf32>",
        lambda x: x[1:4, 1:9:2],
        "%r = tensor.extract_slice %x[1, 1] [3, 4] [1, 2] : tensor<6x9xf32> to tensor<3x4xf32>",
    ),
    _on(
        "extract_row",
        "%x: tensor<6x9xf32>",
        "tensor<9xf32>",
        lambda x: x[2],
        "%r = tensor.extract_slice %x[2, 0] [1, 9] [1, 1] : tensor<6x9xf32> to tensor<9xf32>",
    ),
    _on(
        "insert_slice",
        "%x: tensor<4xf32>, %y: tensor<3x9xf32>",
        "tensor<3x9xf32>",
        _written,
        "%r = tensor.insert_slice %x into %y[1, 1] [1, 4] [1, 2] : tensor<4xf32> into tensor<3x9xf32>",
    ),
    _on(
        "pad",
        "%x: tensor<2x3xf32>",
        "tensor<4x6xf32>",
        lambda x: np.pad(x, ((1, 1), (0, 3)), constant_values=-1.5),
        "%c = arith.constant -1.5 : f32",
        "%r = tensor.pad %x low[1, 0] high[1, 3] {",
        "^bb0(%i: index, %j: index):",
        "  tensor.yield %c : f32",
        "} : tensor<2x3xf32> to tensor<4x6xf32>",
    ),
    _on(
        "concat",
        "%x: tensor<2x3xf32>, %y: tensor<2x4xf32>",
        "tensor<2x10xf32>",
        lambda x, y: np.concatenate([x, y, x], 1),
        "%r = tensor.concat dim(1) %x, %y, %x : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>)"
        " -> tensor<2x10xf32>",
    ),
    _on(
        "collapse_expand",
        "%x: tensor<2x3x4xf32>",
        "tensor<3x2x4xf32>",
        lambda x: x.reshape(3, 2, 4),
        "%c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>",
        "%r = tensor.expand_shape %c [[0, 1], [2]] output_shape [3, 2, 4] : tensor<6x4xf32> into "
        "tensor<3x2x4xf32>",
    ),
    _on(
        "reshape",
        "%x: tensor<2x3x4xf32>, %s: tensor<2xi64>",
        "tensor<4x6xf32>",
        lambda x, s: x.reshape(4, 6),
        "%r = tensor.reshape %x(%s) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<4x6xf32>",
    ),
    _on(
        "from_elements",
        "%x: f32, %y: tensor<3xf32>",
        "tensor<2x2xf32>",
        lambda x, y: np.array([[x, y[2]], [x + y[2], 1]], "f"),
        "%two = arith.constant 2 : index",
        "%one = arith.constant 1.0 : f32",
        "%e = tensor.extract %y[%two] : tensor<3xf32>",
        "%s = arith.addf %x, %e : f32",
        "%r = tensor.from_elements %x, %e, %s, %one : tensor<2x2xf32>",
    ),
    _on(
        "splat",
        "%x: f32",
        "tensor<2x3xf32>",
        lambda x: np.full((2, 3), x * x, "f"),
        "%m = arith.mulf %x, %x : f32",
        "%e = tensor.splat %m : tensor<2x3xf32>",
        "%r = tensor.cast %e : tensor<2x3xf32> to tensor<2x3xf32>",
    ),
    _on(
        "inserted",
        "%x: f32, %y: tensor<2x3xf32>",
        "tensor<2x3xf32>",
        lambda x, y: np.where(np.arange(6).reshape(2, 3) == 5, x, y),
        "%one = arith.constant 1 : index",
        "%two = arith.constant 2 : index",
        "%r = tensor.insert %x into %y[%one, %two] : tensor<2x3xf32>",
    ),
    _on(
        "arith",
        "%x: tensor<5xf32>, %y: tensor<5xf32>",
        "tensor<5xf32>",
        lambda x, y: np.fmax(np.tanh(x), 2 * y + np.arctan2(x, y)),
        "%two = arith.constant dense<2.0> : tensor<5xf32>",
        "%t = math.tanh %x : tensor<5xf32>",
        "%m = arith.mulf %two, %y : tensor<5xf32>",
        "%a = math.atan2 %x, %y : tensor<5xf32>",
        "%s = arith.addf %m, %a : tensor<5xf32>",
        "%r = arith.maxnumf %t, %s : tensor<5xf32>",
    ),
    _on(
        "integers",
        "%x: tensor<5xi32>, %y: tensor<5xi32>",
        "tensor<5xi32>",
        lambda x, y: (
            (x.view("u4") >> 3).view("i4")
            + (x // (np.abs(y) + 1))
            + (x.view("u4") // np.uint32(3)).view("i4")
        ),
        "%three = arith.constant dense<3> : tensor<5xi32>",
        "%one = arith.constant dense<1> : tensor<5xi32>",
        "%s = arith.shrui %x, %three : tensor<5xi32>",
        "%a = math.absi %y : tensor<5xi32>",
        "%b = arith.addi %a, %one : tensor<5xi32>",
        "%d = arith.floordivsi %x, %b : tensor<5xi32>",
        "%e = arith.divui %x, %three : tensor<5xi32>",
        "%t = arith.addi %s, %d : tensor<5xi32>",
        "%r = arith.addi %t, %e : tensor<5xi32>",
    ),
    _on(
        "rounding",
        "%x: tensor<5xf32>",
        "tensor<5xf32>",
        lambda x: (
            np.rint(2 * x) / 2
            + np.trunc(x)
            + np.cbrt(x)
            + np.log2(np.abs(x))
            + np.exp2(x)
            + np.arcsinh(x)
            + np.arctanh(np.tanh(x))
        ),
        "%two = arith.constant dense<2.0> : tensor<5xf32>",
        "%m = arith.mulf %x, %two : tensor<5xf32>",
        "%e = math.roundeven %m : tensor<5xf32>",
        "%d = arith.divf %e, %two : tensor<5xf32>",
        "%t = math.trunc %x : tensor<5xf32>",
        "%c = math.cbrt %x : tensor<5xf32>",
        "%a = math.absf %x : tensor<5xf32>",
        "%l = math.log2 %a : tensor<5xf32>",
        "%p = math.exp2 %x : tensor<5xf32>",
        "%h = math.asinh %x : tensor<5xf32>",
        "%y = math.tanh %x : tensor<5xf32>",
        "%z = math.atanh %y : tensor<5xf32>",
        "%s1 = arith.addf %d, %t : tensor<5xf32>",
        "%s2 = arith.addf %s1, %c : tensor<5xf32>",
        "%s3 = arith.addf %s2, %l : tensor<5xf32>",
        "%s4 = arith.addf %s3, %p : tensor<5xf32>",
        "%s5 = arith.addf %s4, %h : tensor<5xf32>",
        "%r = arith.addf %s5, %z : tensor<5xf32>",
    ),
)
