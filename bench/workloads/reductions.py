"""Sums, maxima and arg-max of rows, columns and everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from frame import Workload, workload

HEAD = "function (X[R, C]) -> (S) {"
ARGMAX = (
    f"{HEAD} H[r, 0: R, 1] = >(X[r, c]); P = X == H ? index(X, 1) : C; S[r: R] = <(P[r, c]); }}"
)
SIZES = {"R": 4, "C": 7}, {"R": 4096, "C": 2048}, {"R": 16384, "C": 4096}


def _loopy(arrays: Any, device: Any) -> Any:
    import loopy_kernels

    return loopy_kernels.row_sums(arrays, device)


def _reduction(
    name: str, body: str, torch: Callable[[Any], Any], numpy: Callable[[Any], Any], **options: Any
) -> Workload:
    source = body if body.startswith("function") else f"{HEAD} {body} }}"
    return workload(f"reduction/{name}", source, *SIZES, torch=torch, numpy=numpy, **options)


WORKLOADS: list[Workload] = [
    _reduction(
        "row sums", "S[r: R] = +(X[r, c]);", lambda x: x.sum(1), lambda x: x.sum(1),
        others={"loopy": _loopy}, gradients=("X",),
    ),
    _reduction("column sums", "S[c: C] = +(X[r, c]);", lambda x: x.sum(0), lambda x: x.sum(0)),
    _reduction("sum", "S[] = +(X[r, c]);", lambda x: x.sum(), lambda x: x.sum()),
    _reduction("row maxima", "S[r: R] = >(X[r, c]);", lambda x: x.amax(1), lambda x: x.max(1)),
    _reduction("column maxima", "S[c: C] = >(X[r, c]);", lambda x: x.amax(0), lambda x: x.max(0)),
    _reduction("maximum", "S[] = >(X[r, c]);", lambda x: x.amax(), lambda x: x.max()),
    _reduction("arg-max", ARGMAX, lambda x: x.argmax(1), lambda x: np.argmax(x, 1)),
]  # fmt: skip
