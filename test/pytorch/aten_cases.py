"""Arguments of ATen's operators, for the tests of their conversions."""

from __future__ import annotations

from math import inf, nan

import torch
from torch._inductor import inductor_prims  # noqa: F401 - registers `prims.fma`

bools, f32, f64, i64 = torch.bool, torch.float32, torch.float64, torch.int64


def reals(*sizes, low=-2.0, high=2.0, dtype=f64):
    generator = torch.Generator().manual_seed(sum(sizes) + 7)
    return (torch.rand(sizes, generator=generator, dtype=f64) * (high - low) + low).to(dtype)


def ints(*sizes, low=-5, high=6, dtype=i64):
    generator = torch.Generator().manual_seed(sum(sizes) + 3)
    return torch.randint(low, high, sizes, generator=generator, dtype=dtype)


def flags(*sizes):
    return ints(*sizes) > 0


def tensor(*values, dtype=None):
    return torch.tensor(values, dtype=dtype)


X, Y, POSITIVE = reals(3, 4), reals(4), reals(3, 4, low=0.1)
INSIDE = reals(3, 4, low=-0.9, high=0.9)
IMAGE, KERNEL = reals(2, 4, 7, 8), reals(6, 2, 3, 3)
VOLUME, GRID = reals(2, 3, 4, 3, 2), reals(2, 3, 3, 2, low=-2.3, high=2.3)
GRADIENT = reals(2, 6, 4, 4)
PLACES = tensor(2, 0, -1, 2)
ZEROS = tensor(0)[0], tensor(1.5, dtype=f64)[0]
BYTES = tensor(1, 200, 255, dtype=torch.uint8)
MIDDLE = torch.arange(28).reshape(4, 7) % 6 == 1
NANS = tensor(1.0, nan, inf, nan, dtype=f32)
BESSEL = tensor(0.0, 0.3, -2.0, 7.9, 8.0, 8.1, -30.0, 200.0, nan, dtype=f64)
WINDOW = ([3, 2], [2, 1], [1, 1])

UNARY = {
    **dict.fromkeys(("abs", "ceil", "floor", "neg", "relu", "trunc"), (X, ints(3, 4))),
    **dict.fromkeys(("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "sigmoid"), (X,)),
    **dict.fromkeys(("sin", "sinh", "tan", "tanh", "asinh", "atan"), (X,)),
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), (INSIDE,)),
    **dict.fromkeys(("log", "log10", "log1p", "log2", "rsqrt", "sqrt", "digamma"), (POSITIVE,)),
    **dict.fromkeys(("acosh",), (POSITIVE + 1,)),
    **dict.fromkeys(("i0", "special_i0e", "special_i1", "special_i1e"), (BESSEL, ints(3, 4))),
    **dict.fromkeys(("lgamma", "reciprocal"), (POSITIVE, ints(3, 4, low=1))),
    "bitwise_not": (ints(3, 4), flags(3, 4)),
    "logical_not": (X, ints(3, 4), flags(3, 4)),
    "sign": (X, ints(3, 4), flags(3, 4), NANS),
    "isinf": (tensor(1.0, inf, -inf, nan), ints(3)),
    "isnan": (tensor(1.0, inf, nan),),
    "round": (tensor(0.5, 1.5, -2.5, 0.7), ints(3)),
    **dict.fromkeys(("alias", "clone", "detach", "lift_fresh_copy"), (X,)),
}

PAIRS = (
    (X, Y),
    (X, tensor(1.5, dtype=f32)[0]),
    (ints(3, 4), reals(4, dtype=f32)),
    (ints(3, 4, dtype=torch.int8), ints(4)),
    (flags(3, 4), ints(4)),
)
WHOLE = ((ints(3, 4), ints(4)), (flags(3, 4), flags(4)))
DIVISORS = ((X, POSITIVE), (ints(3, 4), ints(4, low=1)), (ints(3, 4), tensor(-3, 2, -1, 4)))

BINARY = {
    **dict.fromkeys(("add", "mul", "eq", "ge", "gt", "le", "lt", "ne"), PAIRS),
    "sub": PAIRS[:4],
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), WHOLE),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), ((ints(3, 4), ints(4, low=0)),)),
    "div": ((X, POSITIVE), (ints(3, 4), ints(4, low=1))),
    **dict.fromkeys(("fmod", "remainder"), DIVISORS),
}
SCALARS = {
    **dict.fromkeys(("add", "sub", "mul", "eq", "ge", "gt", "le", "lt", "ne"), (X, ints(3, 4))),
    **dict.fromkeys(("div", "fmod", "remainder"), (X, ints(3, 4))),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), (ints(3, 4),)),
}

SCALES = (
    (IMAGE, [5, 9], False, None, 1.2),
    (IMAGE, [3, 8], True),
    (IMAGE, [16, 3], False),
    # Sums of many elements.
    (reals(1, 2, 20, 3), [3, 2], False),
)
SAMPLES = {
    f"aten._upsample_{kind}2d_aa{way}.default": [
        (reals(*x.shape[:2], *sizes), sizes, [*x.shape], *rest) if way else (x, sizes, *rest)
        for x, sizes, *rest in SCALES
    ]
    for kind in ("bilinear", "bicubic")
    for way in ("", "_backward")
}
"""Resizing with filters as wide as a step."""

CASES = {
    **{f"aten.{name}.default": [(x,) for x in given] for name, given in UNARY.items()},
    **{f"aten.{name}.Tensor": list(given) for name, given in BINARY.items()},
    **{f"aten.{name}.Scalar": [(x, 3) for x in given] for name, given in SCALARS.items()},
    **{f"aten.{name}.Tensor_Scalar": [(ints(3), 2)] for name in BINARY if "shift" in name},
    **{f"aten.{name}.Scalar_Tensor": [(2, ints(3, low=0))] for name in BINARY if "bit" in name},
    **{f"aten.{name}.default": [(flags(3, 4), X)] for name in ("logical_and", "logical_or")},
    "aten.logical_xor.default": [(flags(3, 4), X)],
    **{f"aten.{name}.default": list(PAIRS[:4]) for name in ("maximum", "minimum")},
    "aten.add.Tensor": [*PAIRS, (X, Y, {"alpha": 2.5})],
    "aten.add.Scalar": [(X, 3, 2), (ints(3), 3), (BYTES, 300)],
    "aten.gt.Scalar": [(X, 3), (BYTES, -1)],
    "aten.angle.default": [(X,), (NANS,), (ints(3, 4),)],
    "aten.atan2.default": [(X, Y)],
    "aten.copysign.Tensor": [(X, Y), (X, tensor(-0.0, 0.0, 1.0, -1.0)), (ints(3, 4), Y)],
    "aten.copysign.Scalar": [(X, -0.0), (ints(3, 4), -2)],
    **{f"aten.{n}.default": [(X, Y), (NANS, Y), (ints(3, 4), ints(4))] for n in ("fmax", "fmin")},
    **{f"aten.{n}.default": [(ints(3, 4), ints(4)), (BYTES, BYTES - 7)] for n in ("gcd", "lcm")},
    "aten.polygamma.default": [
        *((n, tensor(0.1, 0.5, 1.0, 7.5, 40.0, -0.3, -2.7, dtype=f64)) for n in (0, 1, 2, 3, 5)),
        (1, tensor(inf, nan, 0.0)),
    ],
    "prims.fma.default": [(X, X + 1, X * 2)],
    "aten.hypot.default": [
        (X, Y),
        (tensor(0.0, inf, -inf, 1e300, nan), tensor(0.0, nan, 1.0, 1e300, 1.0)),
    ],
    "aten.signbit.default": [(tensor(-0.0, 0.0, -1.0, inf),), (ints(3, 4),), (flags(3),)],
    **{f"aten.__{n}shift__.Tensor": [(ints(3, 4), ints(4, low=0))] for n in "lr"},
    **{f"aten.__{n}shift__.Scalar": [(ints(3, 4), 2)] for n in "lr"},
    "aten.nextafter.default": [(X, Y)],
    "aten.div.Tensor_mode": [
        (*p, {"rounding_mode": m}) for p in DIVISORS for m in ("floor", "trunc")
    ],
    "aten.div.Scalar_mode": [
        (x, n, {"rounding_mode": m})
        for x, n in ((X, 0.7), (X, -0.7), (X, 0.0), (X, -inf), (ints(3, 4), -2))
        for m in ("floor", "trunc")
    ],
    "aten.remainder.Scalar_Tensor": [(7, tensor(2, -3, 4))],
    "aten.pow.Scalar": [(2, X)],
    "aten.pow.Tensor_Scalar": [(POSITIVE, n) for n in (0, 1, 2, 3, 0.5, -0.5, 1.7)],
    "aten.pow.Tensor_Tensor": [(POSITIVE, X), (ints(3, 4), ints(4, low=0, high=3))],
    "aten.clamp.default": [(X, -0.5, None), (X, -0.5, 0.5), (ints(3), 0)],
    "aten.clamp.Tensor": [(X, Y, None), (X, None, Y)],
    "aten.hardtanh.default": [(X, -0.3, 0.4)],
    "aten.elu.default": [(X, 1.5, 2, 0.5)],
    "aten.gelu.default": [(X,), (X, {"approximate": "tanh"})],
    "aten.leaky_relu.default": [(X, 0.2)],
    "aten.where.self": [(flags(3, 4), X, Y), (flags(3, 4), X, ints(4))],
    "aten._to_copy.default": [(X, {"dtype": i64}), (ints(3), {"dtype": bools}), (X,)],
    "prims.convert_element_type.default": [(X, f32), (ints(3), bools)],
    "aten.view.dtype": [(ints(3, dtype=torch.int32), f32), (reals(3, dtype=f32), torch.int32)],
    # Reductions.
    **{f"aten.{n}.default": [(X,), (flags(3, 4),), (flags(0),)] for n in ("any", "all")},
    **{f"aten.{n}.dim": [(X, 1), (flags(3, 4), -1, True), (X[:0], 0)] for n in ("any", "all")},
    **{f"aten.{n}.dims": [(X, [0, 1]), (flags(3, 4), [1], True), (X, [])] for n in ("any", "all")},
    **{f"aten.{n}.default": [(X, [1]), (X,), (ints(3, 4), [0], True)] for n in ("amax", "amin")},
    **{
        f"aten.{n}.default": [(X, 1), (X,), (ints(3, 4), 0, True), (NANS,)]
        for n in ("argmax", "argmin")
    },
    **{f"aten.{n}.default": [(X, 1), (ints(3, 4), 0)] for n in ("cumsum", "cumprod")},
    **{
        f"aten.{n}.default": [(X, 1), (ints(3, 4), 0), (NANS, 0), (flags(9).long(), 0)]
        for n in ("cummax", "cummin")
    },
    "aten.histc.default": [
        (x, 5, *limits) for x in (X, NANS[:1], X.float()) for limits in ((-1, 1.5), (-2, 2))
    ]
    + [(X, 4), (Y[:1], 3)],
    "aten.logcumsumexp.default": [
        (X, 1),
        (tensor(-inf, -inf, -900.0, 3.0, -inf, 900.0, nan, 1.0, dtype=f64), 0),
        (tensor(inf, 1.0, inf, -inf, dtype=f64), 0),
    ],
    "aten.kthvalue.default": [(X, 2), (ints(3, 4), 3, 0, True)],
    "aten.median.default": [(X,), (NANS,), (torch.empty(0),), (ints(3, 4),)],
    "aten.median.dim": [(X, 1), (X, 0, True), (NANS, 0), (reals(5), 0)],
    **{f"aten.{n}.default": [(X,), (ints(3, 4),)] for n in ("max", "min", "sum", "prod")},
    **{f"aten.{n}.dim": [(X, 1), (ints(3, 4), 0, True), (NANS, 0)] for n in ("max", "min")},
    "aten.mean.default": [(X,)],
    "aten.mean.dim": [(X, [0]), (X, [0, 1], True), (X, None)],
    "aten.prod.dim_int": [(X, 1), (ints(3, 4), 0, True)],
    "aten.sum.dim_IntList": [(X, [0]), (X, [0, 1], True), (flags(3, 4), [1]), (X, [])],
    "aten.var.correction": [(X, [1]), (X, [0, 1], {"correction": 0, "keepdim": True})],
    "aten.var.dim": [(X, [1], False)],
    "aten.var_mean.correction": [(X, [1]), (X, [0, 1], {"correction": 0, "keepdim": True})],
    "aten.sort.default": [(X,), (ints(3, 4), 0, True)],
    "aten.sort.stable": [(ints(3, 4), {"stable": True, "dim": 0})],
    "aten.topk.default": [(X, 2), (X, 2, 0, False)],
    # Views and copies.
    "aten.view.default": [(X, [2, -1]), (X, [12])],
    "aten._unsafe_view.default": [(X, [4, 3])],
    "aten._reshape_alias.default": [(X, [4, 3], [3, 1])],
    "aten.permute.default": [(IMAGE, [0, 2, -1, 1])],
    "aten.t.default": [(X,), (Y,)],
    "aten.transpose.int": [(IMAGE, 1, -1)],
    "aten.expand.default": [(Y, [3, -1]), (reals(3, 1), [2, 3, 4])],
    "aten.unfold.default": [(X, 1, 3, 1), (X.t(), -1, 2, 2), (reals(), 0, 1, 1), (X, 0, 0, 2)],
    "aten.unsqueeze.default": [(X, 1), (X, -1)],
    "aten.squeeze.default": [(reals(1, 3, 1),)],
    "aten.squeeze.dim": [(reals(1, 3, 1), 0), (X, 0)],
    "aten.squeeze.dims": [(reals(1, 3, 1), [0, 2])],
    "aten.select.int": [(X, 1, -1)],
    "aten.slice.Tensor": [(X, 1, 1, 9, 2), (X, 0, -2), (X,)],
    "aten.select_scatter.default": [(X, Y, 0, 1)],
    "aten.slice_scatter.default": [(X, reals(3, 2), 1, 1, 9, 2), (X, reals(2, 4), 0, -2)],
    "aten.split_with_sizes.default": [(X, [1, 3], 1)],
    "aten.cat.default": [([X, ints(2, 4)],), ([X, X], -1), ([torch.empty(0), X],)],
    "aten.repeat.default": [(X, [2, 1, 3])],
    "aten.flip.default": [(X, [0, -1])],
    "aten.diagonal.default": [(X,), (X, -1), (IMAGE, 2, 1, 3), (X, 9)],
    "aten.constant_pad_nd.default": [(X, [1, 2]), (X, [1, -1, 0, 2], 1.5)],
    "aten.reflection_pad1d.default": [(X, [2, 1])],
    "aten.reflection_pad2d.default": [(IMAGE, [2, 1, 0, 3])],
    "aten.reflection_pad3d.default": [(IMAGE, [2, 1, 0, 3, 1, 1])],
    "aten.replication_pad1d_backward.default": [(reals(3, 7), X, [2, 1])],
    "aten.replication_pad1d.default": [(X, [2, 1])],
    "aten.replication_pad2d_backward.default": [(reals(2, 4, 10, 11), IMAGE, [2, 1, 0, 3])],
    "aten.replication_pad2d.default": [(IMAGE, [2, 1, 0, 3])],
    "aten.replication_pad3d_backward.default": [(reals(2, 4, 9, 11), IMAGE, [2, 1, -1, 3, 0, 0])],
    "aten.replication_pad3d.default": [(IMAGE, [2, 1, 0, 3, 1, 1])],
    "aten.tril.default": [(X, 1), (IMAGE,)],
    "aten.triu.default": [(X, -1)],
    "aten.as_strided.default": [(X, [2, 3], [1, 4], 1), (X.t(), [2, 2, 3], [3, 3, 1])],
    "aten.as_strided_scatter.default": [(X, reals(2, 3), [2, 3], [1, 4], 1)],
    # Products and convolutions.
    "aten.mm.default": [(X, reals(4, 2)), (ints(2, 3), ints(3, 2))],
    "aten.bmm.default": [(reals(2, 3, 4), reals(2, 4, 2))],
    "aten._grouped_mm.default": [
        (*(reals(*n, dtype=f32) for n in sizes), ends)
        for sizes, ends in (
            (((6, 4), (3, 4, 8)), tensor(2, 2, 6, dtype=torch.int32)),
            (((40, 4), (3, 4, 8)), tensor(1, 30, 40, dtype=torch.int32)),
            (((3, 8, 4), (4, 8)), tensor(1, 4, 8, dtype=torch.int32)),
            (((8, 4), (4, 8)), tensor(0, 3, 4, dtype=torch.int32)),
            (((2, 3, 4), (2, 4, 8)), None),
        )
    ],
    "aten.mv.default": [(X, Y)],
    "aten.dot.default": [(Y, Y)],
    "aten.addmm.default": [
        (reals(2), X, reals(4, 2)),
        (reals(2), X, reals(4, 2), {"beta": 0.5, "alpha": 2}),
        (reals(2), X, reals(4, 2), {"beta": 0}),
    ],
    "aten.baddbmm.default": [(reals(3, 2), reals(2, 3, 4), reals(2, 4, 2))],
    "aten.convolution.default": [
        (IMAGE, KERNEL, reals(6), [2, 2], [1, 1], [1, 1], False, [0, 0], 2),
        (IMAGE, reals(4, 1, 3, 3), None, [1, 1], [2, 2], [2, 2], False, [0, 0], 4),
        (reals(2, 6, 4, 4), KERNEL, None, [2, 2], [1, 1], [1, 1], True, [0, 1], 2),
        (reals(2, 3, 9), reals(5, 3, 3), None, [2], [1], [1], False, [0], 1),
    ],
    "aten.convolution_backward.default": [
        (GRADIENT, IMAGE, KERNEL, [6], [2, 2], [1, 1], [1, 1], False, [0, 0], 2, [True] * 3),
        (
            *(IMAGE, GRADIENT, KERNEL, [4], [2, 2], [1, 1], [1, 1], True, [0, 1], 2),
            [True, True, False],
        ),
    ],
    "aten._cdist_forward.default": [
        (reals(2, 3, 4), reals(2, 5, 4), p, None) for p in (0.0, 1.0, 2.0, 3.0, inf)
    ],
    "aten._pdist_forward.default": [(reals(4, 3), 2.0)],
    # Normalization and attention.
    "aten._softmax.default": [(X, 1, False), (X, 0, False)],
    "aten._log_softmax.default": [(X, -1, False)],
    "aten._weight_norm_interface_backward.default": [
        (reals(3, 4), X + 0.1, reals(3, 1), X.norm(dim=1, keepdim=True), 0),
        (reals(3, 4), X + 0.1, reals(1, 4), X.norm(dim=0, keepdim=True), 1),
    ],
    "aten.native_layer_norm.default": [(X, [4], Y, Y, 1e-5), (X, [3, 4], None, None, 1e-5)],
    "aten.native_layer_norm_backward.default": [
        (reals(3, 4), X, [4], reals(3, 1), reals(3, 1, low=0.5), Y, Y, [True] * 3)
    ],
    "aten.native_group_norm.default": [(IMAGE, reals(4), reals(4), 2, 4, 56, 2, 1e-5)],
    "aten.native_group_norm_backward.default": [
        (IMAGE + 1, IMAGE, reals(2, 2), reals(2, 2, low=0.5), reals(4), 2, 4, 56, 2, [True] * 3)
    ],
    "aten._native_batch_norm_legit_functional.default": [
        (IMAGE, reals(4), reals(4), reals(4), reals(4, low=0.5), True, 0.1, 1e-5),
        (IMAGE, None, None, reals(4), reals(4, low=0.5), False, 0.1, 1e-5),
    ],
    "aten._native_batch_norm_legit.no_stats": [(IMAGE, reals(4), reals(4), True, 0.1, 1e-5)],
    "aten._native_batch_norm_legit_no_training.default": [
        (IMAGE, reals(4), reals(4), reals(4), reals(4, low=0.5), 0.1, 1e-5)
    ],
    "aten.native_batch_norm_backward.default": [
        (
            *(IMAGE + 1, IMAGE, reals(4), reals(4), reals(4, low=0.5)),
            *(reals(4), reals(4, low=0.5), is_training, 1e-5, [True] * 3),
        )
        for is_training in (True, False)
    ],
    "aten._scaled_dot_product_flash_attention_for_cpu.default": [
        (reals(1, 2, 3, 4), reals(1, 2, 3, 4), reals(1, 2, 3, 4), 0.0, True),
        (
            *(reals(1, 2, 3, 4), reals(1, 2, 5, 4), reals(1, 2, 5, 4), 0.0, False),
            {"attn_mask": reals(1, 1, 3, 5), "scale": 0.3},
        ),
        # Pairs of heads share keys.
        (reals(2, 4, 3, 4), reals(2, 2, 3, 4), reals(2, 2, 3, 4) + 1, 0.0, True),
        (
            *(reals(1, 4, 3, 4), reals(1, 2, 5, 4), reals(1, 2, 5, 4), 0.0, False),
            {"attn_mask": reals(1, 4, 3, 5)},
        ),
    ],
    # Pools.
    "aten.max_pool2d_with_indices.default": [(IMAGE, *WINDOW), (IMAGE, [2, 2], [], 0, 1, True)],
    "aten.max_pool3d_with_indices.default": [(reals(1, 1, 4, 5, 4), [2, 2, 2])],
    "aten.avg_pool2d.default": [
        (IMAGE, *WINDOW),
        (IMAGE, *WINDOW, True, False),
        (IMAGE, [2, 2], [], [0, 0], False, True, 3),
    ],
    "aten.avg_pool2d_backward.default": [
        (reals(2, 4, 4, 9), IMAGE, *WINDOW, False, False, None),
        (reals(2, 4, 3, 4), IMAGE, [2, 2], [], [0, 0], False, True, None),
    ],
    "aten.avg_pool3d.default": [(reals(1, 1, 4, 5, 4), [2, 2, 2])],
    "aten.avg_pool3d_backward.default": [
        (
            *(reals(1, 1, 2, 2, 2), reals(1, 1, 4, 5, 4), [2, 2, 2], [2, 2, 2], [0, 0, 0]),
            *(False, True, None),
        )
    ],
    "aten._adaptive_avg_pool2d.default": [(IMAGE, [7, 4]), (IMAGE, [3, 3]), (IMAGE, [9, 2])],
    "aten._adaptive_avg_pool2d_backward.default": [(reals(2, 4, 3, 3), IMAGE)],
    "aten._adaptive_avg_pool3d.default": [(reals(1, 1, 4, 5, 4), [2, 2, 2])],
    "aten._adaptive_avg_pool3d_backward.default": [(reals(1, 1, 2, 2, 2), reals(1, 1, 4, 5, 4))],
    "aten.col2im.default": [(reals(2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])],
    "aten.grid_sampler_2d.default": [
        (IMAGE, reals(2, 3, 3, 2, low=-1.2, high=1.2), mode, border, True)
        for mode, border in ((0, 0), (1, 1), (0, 2))
    ],
    "aten.grid_sampler_3d.default": [
        (VOLUME, reals(2, 2, 3, 2, 3, low=-1.4, high=1.4), mode, border, mode == 0)
        for mode, border in ((0, 0), (1, 1), (0, 2))
    ],
    "aten.grid_sampler_2d_backward.default": [
        (reals(2, 4, 3, 3), IMAGE, GRID, mode, border, aligned, [True, True])
        for mode in (0, 1, 2)
        for border in (0, 1, 2)
        for aligned in (True, False)
    ],
    "aten.grid_sampler_3d_backward.default": [
        (
            *(reals(2, 3, 2, 3, 2), VOLUME, reals(2, 2, 3, 2, 3, low=-1.4, high=1.4)),
            *(0, border, False, [True, True]),
        )
        for border in (0, 2)
    ],
    **SAMPLES,
    # Computed places.
    "aten.embedding.default": [(X, ints(2, 3, low=0, high=3))],
    "aten.embedding_dense_backward.default": [
        (reals(5, 4), tensor(2, 0, 1, 2, 2), 3, -1, False),
        (reals(5, 4), tensor(2, 0, 1, 2, 2), 3, 1, True),
    ],
    "aten.index_select.default": [(X, 1, tensor(3, 0, 3))],
    "aten.index.Tensor": [
        (X, [PLACES]),
        (X, [None, PLACES]),
        (IMAGE, [None, PLACES, tensor(1, 2, 3, -4)]),
        (IMAGE, [tensor(1, 0), None, reals(3, 1).long()]),
    ],
    "aten._unsafe_index.Tensor": [(X, [PLACES])],
    "aten.index_put.default": [
        (X, [tensor(2, 0)], reals(2, 4)),
        (X, [None, tensor(2, 0)], reals(2)),
        (X, [PLACES], reals(4, 4), True),
        (X, [flags(3, 4)], tensor(1.5, dtype=f64)[0]),
        (X, [flags(3)], tensor(1.5, dtype=f64)[0], True),
        (X, [tensor(True, False, True)], reals(4)),
        (X, [tensor(True, False, True)], reals(2, 4), True),
        (X, [None, tensor(False, True, True, False)], reals(3, 2)),
        (X, [None, tensor(False, True, True, False)], reals(3, 1)),
        (X, [None, flags(4) & False], reals(3, 0)),
        (IMAGE, [None, MIDDLE], reals(2, 5, 8)),
    ],
    "aten._unsafe_index_put.default": [(X, [PLACES], reals(4, 4), True)],
    "aten.gather.default": [(X, 1, ints(2, 3, low=0, high=4)), (X, 0, ints(2, 4, low=0, high=3))],
    "aten.masked_scatter.default": [(X, flags(3, 4), reals(3, 4)), (X, flags(4), reals(12))],
    "aten.scatter.src": [
        (X, 1, tensor(3, 0, 1).reshape(3, 1), reals(3, 2)),
        (X, 0, tensor(1, 0, 1).reshape(1, 3), reals(3, 4)),
        (VOLUME, 1, ints(2, 5, 4, 3, 2, low=0, high=3), reals(2, 5, 4, 3, 2)),
        (X[0, 0], 0, *ZEROS),
        # Many rows, each of which is compared with its own elements.
        (reals(64, 400), 1, ints(64, 300, low=0, high=400), reals(64, 300)),
    ],
    "aten.scatter.value": [(X, 1, ints(3, 2, low=0, high=4), 1.5), (X[0, 0], 0, ZEROS[0], 1.5)],
    "aten.scatter_add.default": [(X, 0, ints(2, 4, low=0, high=3), reals(2, 4))],
    "aten.scatter_reduce.two": [
        (X, 0, ints(2, 4, low=0, high=3), reals(2, 4), kind)
        for kind in ("sum", "prod", "amax", "amin")
    ],
    # Constants.
    "aten.arange.start_step": [(1, 9, 3), (0, 1, 0.3), (5, 0, -2)],
    "aten.full.default": [([2, 3], 1.5), ([2], True), ([], 7)],
    "aten.full_like.default": [(X, 3), (ints(3), 2.0)],
    "aten.scalar_tensor.default": [(1.5, {"dtype": f64})],
    "aten.fill.Scalar": [(X, 2)],
    "aten.fill.Tensor": [(X, tensor(2.5)[0])],
    "aten.copy.default": [(X, ints(4))],
}
"""Arguments of operators; a dict at the end holds those by name."""

EMPTY = {
    "aten._efficientzerotensor.default": ([2, 3],),
    "aten.empty.memory_format": ([2, 3],),
    "aten.empty_permuted.default": ([2, 3], [1, 0]),
    "aten.empty_strided.default": ([2, 3], [1, 2]),
    "aten.new_empty_strided.default": (X, [2, 3], [1, 2]),
}
RANDOM = {
    "aten.bernoulli.p": (X, 0.5),
    "aten.native_dropout.default": (X, 0.5, True),
    "aten.normal.Tensor_Tensor": (X, POSITIVE),
    "aten.normal.Tensor_float": (X, 2.0),
    "aten.normal.float_Tensor": (1.0, POSITIVE),
    "aten.rand.default": ([3, 4],),
    "aten.rand_like.default": (X,),
    "aten.randint.default": (99, [3, 4]),
    "aten.randint.low": (-9, 99, [3, 4]),
    "aten.randn_like.default": (X,),
    "aten.randn.default": ([3, 4],),
    "aten.randperm.default": (12,),
}
BY_FORWARD = {
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
    "aten.max_pool2d_with_indices_backward.default",
    "aten.max_pool3d_with_indices_backward.default",
}
"""Gradients that take results of other operators."""

BY_PACKAGE = {
    "transformers.grouped_mm_fallback.default",
    "transformers.grouped_mm_fallback_backward.default",
    "torchvision._deform_conv2d_backward.default",
    "torchvision._roi_align_backward.default",
    "torchvision.deform_conv2d.default",
    "torchvision.roi_align.default",
}
"""Operators of other packages, which tests of their own run where they are installed."""
