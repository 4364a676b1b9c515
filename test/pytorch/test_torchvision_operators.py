"""Operators of torchvision, against eager PyTorch, by the reference semantics and on devices."""

from __future__ import annotations

import pytest

import tiledialect as td

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)
pytest.importorskip("torchvision", reason="torchvision is not installed")

from aten_cases import f64, reals  # noqa: E402
from test_aten_operators import agree, converted, eager, op_of  # noqa: E402
from torchvision.ops import deform_conv2d, roi_align  # noqa: E402

BOXES = torch.tensor(
    [
        *([0, 1.0, 2, 20, 25], [1, 4, 4, 30, 30], [0, 0, 0, 9, 5]),
        # Around the image, less than an element, turned, and outside.
        *([1, -20, -30, 50, 60], [1, 5, 5, 5.2, 5.1], [0, 9, 9, 3, 2], [0, 40, 40, 50, 50]),
    ],
    dtype=f64,
)
IMAGES = reals(2, 3, 9, 8)


@pytest.mark.parametrize("is_aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, -1])
@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_roi_align(ratio, scale, is_aligned):
    op, backward = op_of("torchvision.roi_align.default"), "torchvision._roi_align_backward.default"
    arguments = (IMAGES, BOXES, scale, 2, 3, ratio, is_aligned)
    expected = eager(op, arguments)
    agree(converted(op, arguments, expected), expected)
    arguments = (reals(7, 3, 2, 3), BOXES, scale, 2, 3, *IMAGES.shape, ratio, is_aligned)
    expected = eager(op_of(backward), arguments)
    agree(converted(op_of(backward), arguments, expected), expected)


DEFORMED = {
    "plain": (1, 1, True, (1, 1), (1, 1), (1, 1)),
    "groups, no mask": (2, 2, False, (2, 1), (0, 2), (1, 2)),
    "groups of offsets": (1, 4, True, (2, 2), (1, 0), (2, 1)),
}


@pytest.mark.parametrize("name", DEFORMED)
def test_deformable_convolution(name):
    groups, offset_groups, has_mask, strides, pads, dilations = DEFORMED[name]
    counts = [
        (n + 2 * p - d * (tap - 1) - 1) // s + 1
        for n, tap, s, p, d in zip((9, 8), (3, 2), strides, pads, dilations, strict=True)
    ]
    mask = reals(2, offset_groups * 6, *counts) if has_mask else torch.zeros(2, 0, dtype=f64)
    arguments = (
        *(reals(2, 4, 9, 8), reals(6, 4 // groups, 3, 2), reals(2, offset_groups * 12, *counts)),
        *(mask, reals(6), *strides, *pads, *dilations, groups, offset_groups, has_mask),
    )
    op = op_of("torchvision.deform_conv2d.default")
    expected = eager(op, arguments)
    agree(converted(op, arguments, expected), expected)
    backward = op_of("torchvision._deform_conv2d_backward.default")
    arguments = (reals(*expected.shape), *arguments)
    expected = eager(backward, arguments)
    agree(converted(backward, arguments, expected), expected)


def _aligned(ratio):
    return lambda x: roi_align(x, BOXES.to(x.dtype), (2, 3), 0.5, ratio, True)


def _deformed(x):
    offsets, mask = reals(2, 18, 9, 8, dtype=x.dtype), reals(2, 9, 9, 8, dtype=x.dtype)
    return deform_conv2d(x, offsets, reals(4, 3, 3, 3, dtype=x.dtype), padding=1, mask=mask)


FUNCTIONS = {
    "aligned": _aligned(2),
    "aligned by rows": _aligned(0),
    "deformed": _deformed,
}


@pytest.mark.parametrize("dtype", [torch.float32, f64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_device(device: td.Device, reset, name, dtype):
    """Results and gradients; eager PyTorch computes them in f64."""
    x = IMAGES.to(dtype).requires_grad_()
    options = {"device": device.id, "strict": True}
    compiled = torch.compile(FUNCTIONS[name], backend="tiledialect", options=options)
    results, exact = compiled(x), IMAGES.clone().requires_grad_()
    expected = FUNCTIONS[name](exact)
    weights = reals(*expected.shape)
    (own,) = torch.autograd.grad((results * weights.to(dtype)).sum(), x)
    (other,) = torch.autograd.grad((expected * weights).sum(), exact)
    # Sums of some hundred products of numbers below 4, in f32.
    limit = 1e-9 if dtype == f64 else 1e-4
    torch.testing.assert_close(results.double(), expected, rtol=limit, atol=limit)
    torch.testing.assert_close(own.double(), other, rtol=limit, atol=limit)
