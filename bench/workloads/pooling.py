"""Pooling of images, channels last, and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frame import Workload, workload

HEAD = "function (I[N, H, W, C]) -> (O) {"
MAX = f"{HEAD} O[n, y, x, c: N, H/2, W/2, C] = >(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2; }}"
MEAN = (
    f"{HEAD} S[n, y, x, c: N, H/2, W/2, C] = +(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;"
    " O = S / 4; }"
)


def _torch(name: str) -> Callable[[Any], Any]:
    def pool(i: Any) -> Any:
        import torch

        function = getattr(torch.nn.functional, name)
        return function(i.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)

    return pool


def _sizes(n: int, side: int, channels: int) -> dict[str, int]:
    return {"N": n, "H": side, "W": side, "C": channels}


WORKLOADS: list[Workload] = [
    workload(
        f"pooling/{name}",
        source,
        _sizes(2, 6, 3),
        _sizes(8, 112, 64),
        _sizes(32, 112, 64),
        torch=_torch(function),
        gradients=("I",),
    )
    for name, source, function in (("max", MAX, "max_pool2d"), ("average", MEAN, "avg_pool2d"))
]
