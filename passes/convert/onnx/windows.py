"""Windows of convolutions and pools of ONNX: strides, dilations and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiledialect.operators.linear import Window
from tiledialect.operators.pooling import window_count
from tiledialect.passes.convert.onnx.base import Node


@dataclass(frozen=True)
class Windows:
    """Windows along the spatial axes, and the number of their places."""

    each: tuple[Window, ...]
    sizes: tuple[int, ...]
    high: tuple[int, ...]
    """Padding after the last elements, as it is declared."""


def windows_of(node: Node, sizes: Sequence[int], taps: Sequence[int]) -> Windows:
    """Windows of a node over spatial axes of given sizes."""
    rank = len(sizes)
    if len(taps) != rank:
        raise node.refusal(f"a window of {len(taps)} axes does not fit {rank} spatial ones")
    strides = node.numbers("strides") or [1] * rank
    dilations = node.numbers("dilations") or [1] * rank
    reach = [(n - 1) * d + 1 for n, d in zip(taps, dilations, strict=True)]
    pads = _pads(node, sizes, strides, reach)
    each = tuple(Window(taps[k], strides[k], pads[k], dilation=dilations[k]) for k in range(rank))
    rounds_up = bool(node.attribute("ceil_mode", 0))
    counts = [
        window_count(n, window, pads[k + rank], rounds_up=rounds_up)
        for k, (n, window) in enumerate(zip(sizes, each, strict=True))
    ]
    return Windows(each, tuple(counts), tuple(pads[rank:]))


def _pads(
    node: Node, sizes: Sequence[int], strides: Sequence[int], reach: Sequence[int]
) -> list[int]:
    rank, mode = len(sizes), node.attribute("auto_pad", "NOTSET")
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        return node.numbers("pads") or [0] * (2 * rank)
    low: list[int] = []
    high: list[int] = []
    for n, stride, far in zip(sizes, strides, reach, strict=True):
        total = max(0, (-(-n // stride) - 1) * stride + far - n)
        low.append(total // 2 if mode == "SAME_UPPER" else -(-total // 2))
        high.append(total - low[-1])
    return [*low, *high]


def transposed_windows(
    node: Node, sizes: Sequence[int], taps: Sequence[int]
) -> tuple[list[Window], Sequence[int]]:
    """Windows of a transposed convolution over spatial axes of given sizes, and its result's
    sizes."""
    rank = len(sizes)
    strides = node.numbers("strides") or [1] * rank
    dilations = node.numbers("dilations") or [1] * rank
    more = node.numbers("output_padding") or [0] * rank
    reach = [(tap - 1) * dilation for tap, dilation in zip(taps, dilations, strict=True)]
    whole = [strides[k] * (sizes[k] - 1) + more[k] + reach[k] + 1 for k in range(rank)]
    pads = node.numbers("pads") or [0] * (2 * rank)
    wanted, mode = node.numbers("output_shape"), node.attribute("auto_pad", "NOTSET")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * stride for n, stride in zip(sizes, strides, strict=True)]
    if wanted is not None:
        wanted = wanted[-rank:]
        totals = [max(0, n - own) for n, own in zip(whole, wanted, strict=True)]
        low = [-(-n // 2) if mode == "SAME_LOWER" else n // 2 for n in totals]
        pads = [*low, *(n - before for n, before in zip(totals, low, strict=True))]
    windows = [
        Window(
            taps[k],
            low=reach[k] - pads[k],
            base_dilation=strides[k],
            dilation=dilations[k],
            is_reversed=True,
        )
        for k in range(rank)
    ]
    return windows, wanted or [whole[k] - pads[k] - pads[k + rank] for k in range(rank)]
