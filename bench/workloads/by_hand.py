"""Tasks of the schedules in `bench/schedules/`, by the beginnings of the files' names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from frame import Problem, Scale, Task, Workload, problem, renamed

from workloads.table import WORKLOADS

BY_NAME = {w.name: w for w in WORKLOADS}
WEIGHTS = """function weights(I[N, H, W, CI], D[N, H, W, CO]) -> (DK) {
  P[n, q, j, i, ci, co: N, 4, 3, 3, CI, CO] =
      +(I[n, 14*q + r + j - 1, x + i - 1, ci] * D[n, 14*q + r, x, co]), r < 14;
  DK[j, i, ci, co: 3, 3, CI, CO] = +(P[n, q, j, i, ci, co]);
}"""
STRIDED_WEIGHTS = """function weights(I[N, H, W, CI], D[N, OH, OW, CO]) -> (DK) {
  P[n, q, j, i, ci, co: N, 2, 3, 3, CI, CO] =
      +(I[n, 27*q + 3*r + 2*j, 3*x + 2*i, ci] * D[n, 9*q + r, x, co]), r < 9;
  DK[j, i, ci, co: 3, 3, CI, CO] = +(P[n, q, j, i, ci, co]);
}"""
COLUMN_SUMS = (
    "function (X[R, C]) -> (S) {"
    " P[q, c: 16, C] = +(X[1024*q + r, c]), r < 1024; S[c: C] = +(P[q, c]); }"
)
SUM = "function (X[R, C]) -> (S) { P[r: R] = +(X[r, c]); S[] = +(P[r]); }"


def _task(name: str, scale: Scale, *wrt: str, **changes: Any) -> Task:
    return Task(renamed(BY_NAME[name], name, **changes), scale, wrt)


def _with_text(name: str, source: str) -> Task:
    """A workload in another text, whose intermediate tensors have schedules too."""
    shapes = BY_NAME[name].problems["gpu"].shapes
    return _task(name, "gpu", problems={"gpu": Problem(source, shapes)})


def _weights(source: str, n: int, last: int, scale: Scale, **options: int) -> Task:
    """The gradient by the weights as a program, in which the sum is split."""
    sizes = {"N": n, "H": 56, "W": 56, "CI": 64, "CO": 64, "OH": last, "OW": last}
    return Task(
        Workload(
            f"convolution weights {n}",
            {scale: problem(source, sizes)},
            torch=_torch_weights(**options),
            flops=lambda shapes: 2.0 * n * last**2 * 64 * 64 * 9,
        ),
        scale,
    )


def _torch_weights(**options: int) -> Callable[..., Any]:
    def weights(i: Any, d: Any) -> Any:
        from torch.nn.grad import conv2d_weight

        a, c = (t.permute(0, 3, 1, 2) for t in (i, d))
        return conv2d_weight(a, (64, 64, 3, 3), c, **options).permute(2, 3, 1, 0)

    return weights


def _convolutions(n: int, scale: Scale) -> dict[str, Task]:
    plain, strided = "convolution/3x3", "convolution/stride 3 dilation 2"
    return {
        f"conv_{n}": _task(plain, scale),
        f"conv_{n}_input": _task(plain, scale, "I"),
        f"conv_{n}_weight": _weights(WEIGHTS, n, 56, scale, padding=1),
        f"strided_conv_{n}": _task(strided, scale),
        f"strided_conv_{n}_input": _task(strided, scale, "I"),
        f"strided_conv_{n}_weight": _weights(STRIDED_WEIGHTS, n, 18, scale, stride=3, dilation=2),
    }


TASKS: dict[str, Task] = {
    "product_960": _task("product/square", "cpu"),
    "product_4096": _task("product/square", "gpu"),
    "product_4096_tf32": _task("product/square", "gpu", tf32=True, others={}),
    "product_4096_f16": _task("product/square", "gpu", dtype=np.float16, others={}),
    **_convolutions(32, "gpu"),
    **_convolutions(8, "cpu"),
    "chain": _task("elementwise/chain", "gpu"),
    "transposition": _task("move/transposition", "gpu"),
    "softmax": _task("rows/softmax", "gpu"),
    "layer_norm": _task("rows/layer norm", "gpu"),
    "row_sums": _task("reduction/row sums", "gpu"),
    "column_sums": _with_text("reduction/column sums", COLUMN_SUMS),
    "sum": _with_text("reduction/sum", SUM),
}
