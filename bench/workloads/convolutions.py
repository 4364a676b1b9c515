"""Convolutions of images, channels last, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frame import Shapes, Workload, workload

HEAD = "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {"
SAME = f"""{HEAD}
  O[n, y, x, co: N, H, W, CO] =
      +(I[n, y + j - (KH - 1)/2, x + i - (KW - 1)/2, ci] * K[j, i, ci, co]);
}}"""
STRIDED = f"""{HEAD}
  O[n, y, x, co: N, H/2, W/2, CO] = +(I[n, 2*y + j - 3, 2*x + i - 3, ci] * K[j, i, ci, co]);
}}"""
DILATED = f"""{HEAD}
  O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);
}}"""
DEPTHWISE = """function (I[N, H, W, C], K[KH, KW, C]) -> (O) {
  O[n, y, x, c: N, H, W, C] = +(I[n, y + j - 1, x + i - 1, c] * K[j, i, c]);
}"""


def _torch(groups: bool = False, **options: Any) -> Callable[..., Any]:
    def convolve(i: Any, k: Any) -> Any:
        import torch
        from torch.nn.functional import conv2d

        weights = k.permute(2, 0, 1).unsqueeze(1) if groups else k.permute(3, 2, 0, 1)
        weights = weights.contiguous(memory_format=torch.channels_last)
        count = i.shape[3] if groups else 1
        result = conv2d(i.permute(0, 3, 1, 2), weights, groups=count, **options)
        return result.permute(0, 2, 3, 1)

    return convolve


def _flops(stride: int) -> Callable[[Shapes], float]:
    def count(shapes: Shapes) -> float:
        n, h, w, _ = shapes["I"]
        rows, columns, *channels = shapes["K"]
        total = 2.0 * n * (h // stride) * (w // stride) * rows * columns
        for c in channels:
            total *= c
        return total

    return count


def sizes(n: int, side: int, mask: int, ci: int, co: int) -> dict[str, int]:
    """Pictures, their points a side, the mask's, and channels in and out."""
    return {"N": n, "H": side, "W": side, "KH": mask, "KW": mask, "CI": ci, "CO": co}


def convolution(
    name: str,
    source: str,
    test: Mapping[str, int],
    cpu: Mapping[str, int],
    gpu: Mapping[str, int],
    stride: int = 1,
    **options: Any,
) -> Workload:
    """A convolution, with PyTorch's options for it."""
    return workload(
        f"convolution/{name}",
        source,
        test,
        cpu,
        gpu,
        torch=_torch(stride=stride, **options),
        flops=_flops(stride),
        gradients=("I", "K"),
    )


def _depthwise(n: int, side: int, channels: int) -> dict[str, int]:
    return {"N": n, "H": side, "W": side, "KH": 3, "KW": 3, "C": channels}


WORKLOADS: list[Workload] = [
    convolution(
        "3x3", SAME, sizes(2, 5, 3, 2, 3), sizes(8, 56, 3, 64, 64), sizes(32, 56, 3, 64, 64),
        padding=1,
    ),
    convolution(
        "3x3 small pictures", SAME, sizes(2, 4, 3, 2, 3), sizes(8, 14, 3, 256, 256),
        sizes(32, 14, 3, 256, 256), padding=1,
    ),
    convolution(
        "1x1", SAME, sizes(2, 3, 1, 4, 3), sizes(8, 28, 1, 256, 128), sizes(32, 28, 1, 256, 128)
    ),
    convolution(
        "7x7 stride 2", STRIDED, sizes(1, 8, 7, 3, 2), sizes(4, 224, 7, 3, 64),
        sizes(32, 224, 7, 3, 64), stride=2, padding=3,
    ),
    convolution(
        "stride 3 dilation 2", DILATED, sizes(2, 11, 3, 2, 3), sizes(8, 56, 3, 64, 64),
        sizes(32, 56, 3, 64, 64), stride=3, dilation=2,
    ),
    convolution(
        "depthwise", DEPTHWISE, _depthwise(2, 5, 3), _depthwise(8, 56, 96), _depthwise(32, 56, 96),
        groups=True, padding=1,
    ),
]  # fmt: skip
