"""Stencils: sums of neighbours, 0 beyond the edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from frame import Workload, workload

FIVE = """function (X[H, W]) -> (Y) {
  V[y, x: H, W] = +(X[y + j - 1, x]), j < 3; U[y, x: H, W] = +(X[y, x + i - 1]), i < 3;
  Y = V + U - 6 * X;
}"""
NINE = (
    "function (X[H, W], K[3, 3]) -> (Y) { Y[y, x: H, W] = +(X[y + j - 1, x + i - 1] * K[j, i]); }"
)
TWENTY_SEVEN = """function (X[D, H, W], K[3, 3, 3]) -> (Y) {
  Y[z, y, x: D, H, W] = +(X[z + k - 1, y + j - 1, x + i - 1] * K[k, j, i]);
}"""


def _five(x: Any) -> Any:
    from torch.nn.functional import pad

    p = pad(x, (1, 1, 1, 1))
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x


def _five_numpy(x: Any) -> Any:
    p = np.pad(x, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x


def _convolve(name: str) -> Callable[[Any, Any], Any]:
    def stencil(x: Any, k: Any) -> Any:
        import torch

        convolve = getattr(torch.nn.functional, name)
        return convolve(x[None, None], k[None, None], padding=1)[0, 0]

    return stencil


PLANE = {"H": 5, "W": 6}, {"H": 2048, "W": 2048}, {"H": 8192, "W": 8192}
SPACE = (
    {"D": 3, "H": 4, "W": 5},
    {"D": 128, "H": 128, "W": 128},
    {"D": 384, "H": 384, "W": 384},
)

WORKLOADS: list[Workload] = [
    workload("stencil/5 points", FIVE, *PLANE, torch=_five, numpy=_five_numpy),
    workload("stencil/9 points", NINE, *PLANE, torch=_convolve("conv2d")),
    workload("stencil/27 points", TWENTY_SEVEN, *SPACE, torch=_convolve("conv3d")),
]
