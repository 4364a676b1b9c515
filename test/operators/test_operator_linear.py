"""Products and convolutions against NumPy and JAX."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import Array, call, compare_on, same

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.operators.linear import ConvolutionAxes, Window, convolution, dot_general, einsum

FEW = settings(max_examples=15, deadline=None)
TYPES = [
    ("f4", "f4"),
    ("f2", "f4"),
    (ml_dtypes.bfloat16, "f4"),
    ("f8", "f8"),
    ("i1", "i4"),
    ("u1", "u4"),
    ("i4", "i4"),
    ("?", "i4"),
]
"""Element types of operands and results."""


def small(draw: st.DrawFn, shape: tuple[int, ...], dtype: Any) -> Array:
    """Small whole numbers, whose sums are exact."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    low = 0 if np.dtype(dtype).kind in "u?b" else -3
    return rng.integers(low, 2 if np.dtype(dtype).kind == "b" else 4, shape).astype(dtype)


@FEW
@given(data=st.data(), types=st.sampled_from(TYPES))
def test_dot_general(data: st.DataObject, types: tuple[Any, str]):
    letters = "bcklmn"
    sizes = {name: data.draw(st.integers(0, 3)) for name in letters}
    batch = [n for n in "bc" if data.draw(st.booleans())]
    inner = [n for n in "kl" if data.draw(st.booleans())]
    left = data.draw(st.permutations([*batch, *inner, "m"]))
    right = data.draw(st.permutations([*batch, *inner, "n"]))
    dtype, wide = np.dtype(types[0]), np.dtype(types[1])
    x, y = (small(data.draw, tuple(sizes[n] for n in names), dtype) for names in (left, right))
    pairs = [([left.index(n) for n in ns], [right.index(n) for n in ns]) for ns in (batch, inner)]
    (got,) = call(
        lambda b, v, w: dot_general(b, v, w, pairs[0], pairs[1], ELEMENT_TYPES[wide]), x, y
    )
    rule = f"{''.join(left)},{''.join(right)}->{''.join(batch)}mn"
    wanted = np.einsum(rule, x.astype(wide), y.astype(wide))
    assert got.dtype == wide and np.array_equal(got, wanted)


def test_products_of_axes_that_do_not_fit():
    x, y = np.zeros((4, 3), "f"), np.zeros((2, 3), "f")
    t = ELEMENT_TYPES[np.dtype("f")]
    with pytest.raises(td.TileError, match="axes of one name, i, have 4 and 2 elements"):
        call(lambda b, v, w: einsum(b, [v, w], ["ij", "ij"], "j", t), x, y)


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, Any]:
    """Sizes, windows, layouts and groups of a convolution."""
    rank = draw(st.integers(0, 2))
    groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)]))
    inner, outer = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    windows: list[tuple[int, int, int, int, int, int]] = []
    sizes: list[int] = []
    for _ in range(rank):
        windows.append(
            (
                draw(st.integers(1, 3)),
                draw(st.integers(1, 2)),
                draw(st.integers(-1, 2)),
                draw(st.integers(0, 2)),
                draw(st.integers(1, 2)),
                draw(st.integers(1, 2)),
            )
        )
        sizes.append(draw(st.integers(3, 5)))
    return {
        "batch": groups[1] * draw(st.integers(1, 2)),
        "in": inner * groups[0],
        "kernel": (outer * groups[0] * groups[1], inner),
        "groups": groups,
        "windows": windows,
        "sizes": sizes,
        "reverse": [draw(st.booleans()) for _ in range(rank)],
        "orders": [draw(st.permutations(range(rank + 2))) for _ in range(3)],
    }


@FEW
@given(data=st.data(), case=convolutions(), types=st.sampled_from(TYPES[:1] + TYPES[3:4]))
def test_convolution(data: st.DataObject, case: dict[str, Any], types: tuple[str, str]):
    lax = pytest.importorskip("jax").lax
    dtype = np.dtype("f4")
    x = small(data.draw, (case["batch"], case["in"], *case["sizes"]), dtype)
    kernel = small(data.draw, (*case["kernel"], *(w[0] for w in case["windows"])), dtype)
    turned = np.flip(kernel, [2 + k for k, r in enumerate(case["reverse"]) if r])
    wanted = np.asarray(
        lax.conv_general_dilated(
            *(x, turned),
            window_strides=[w[1] for w in case["windows"]],
            padding=[w[2:4] for w in case["windows"]],
            lhs_dilation=[w[4] for w in case["windows"]],
            rhs_dilation=[w[5] for w in case["windows"]],
            feature_group_count=case["groups"][0],
            batch_group_count=case["groups"][1],
        )
    )
    moved = [order.index for order in case["orders"]]
    axes = [
        ConvolutionAxes(at(0), at(1), tuple(at(2 + k) for k in range(len(case["sizes"]))))
        for at in moved
    ]
    windows = [
        Window(size, stride, low, base, dilation, is_reversed)
        for (size, stride, low, _, base, dilation), is_reversed in zip(
            case["windows"], case["reverse"], strict=True
        )
    ]
    orders = case["orders"]
    wanted = wanted.transpose(orders[2])
    (got,) = call(
        lambda b, v, w: convolution(
            *(b, v, w, windows, tuple(axes), wanted.shape, ELEMENT_TYPES[dtype]),
            *case["groups"],
        ),
        np.ascontiguousarray(x.transpose(orders[0])),
        np.ascontiguousarray(kernel.transpose(orders[1])),
    )
    same(got, wanted)


def test_linear_on_devices(device: td.Device):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=shape).astype("f") for shape in ((2, 3, 5), (2, 5, 4)))
    image, kernel = (rng.normal(size=s).astype("f") for s in ((2, 6, 6, 4), (3, 3, 2, 4)))
    nhwc, hwio = ConvolutionAxes(0, 3, (1, 2)), ConvolutionAxes(3, 2, (0, 1))
    windows = [Window(3, 2, 1, 1, 1, True), Window(3, 1, 2, 2, 2)]
    t = ELEMENT_TYPES[np.dtype("f")]
    compare_on(
        device,
        [
            (lambda b, v, w: dot_general(b, v, w, ([0], [0]), ([2], [1]), t), [x, y]),
            (
                lambda b, v, w: convolution(
                    b, v, w, windows, (nhwc, hwio, nhwc), (2, 3, 9, 4), t, feature_groups=2
                ),
                [image, kernel],
            ),
        ],
    )
