"""Matrix products and matrix-vector products."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from frame import Workload, times, workload

PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
AT = "function (A[L, M], B[L, N]) -> (C) { C[i, j: M, N] = +(A[k, i] * B[k, j]); }"
BT = "function (A[M, L], B[N, L]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[j, k]); }"
BATCHED = (
    "function (A[G, M, L], B[G, L, N]) -> (C) { C[g, i, j: G, M, N] = +(A[g, i, k] * B[g, k, j]); }"
)
VECTOR = "function (A[M, L], X[L]) -> (Y) { Y[i: M] = +(A[i, k] * X[k]); }"
FLOPS = times(("A", 0), ("A", 1), ("B", 1))


def _loopy(arrays: Any, device: Any) -> Any:
    import loopy_kernels

    return loopy_kernels.product(arrays, device)


def _triton(arrays: Any, device: Any) -> Any:
    import triton_kernels

    return triton_kernels.product(arrays, device)


def _clblast(transposed: str = "") -> Any:
    def enter(arrays: Any, device: Any) -> Any:
        import clblast

        return clblast.product(arrays, device, transposed)

    return enter


def _sizes(m: int, inner: int, n: int) -> dict[str, int]:
    return {"M": m, "L": inner, "N": n}


def plain(
    name: str, cpu: tuple[int, int, int], gpu: tuple[int, int, int], **options: Any
) -> Workload:
    """A product of matrices of these sizes, M x L and L x N."""
    f32 = {"loopy": _loopy, "CLBlast": _clblast(), "Triton": _triton}
    return workload(
        f"product/{name}",
        PRODUCT,
        _sizes(5, 7, 6),
        _sizes(*cpu),
        _sizes(*gpu),
        torch=lambda a, b: a @ b,
        numpy=lambda a, b: a @ b,
        flops=FLOPS,
        gradients=("A", "B"),
        **{"others": f32, **options},
    )


def rounded(name: str, **options: Any) -> Workload:
    """A square product of narrower numbers, which tensor cores multiply where available."""
    return plain(name, (512, 512, 512), (4096, 4096, 4096), others={}, **options)


WORKLOADS: list[Workload] = [
    plain("square", (960, 960, 960), (4096, 4096, 4096)),
    plain("large", (2048, 2048, 2048), (8192, 8192, 8192)),
    plain("small", (128, 128, 128), (512, 512, 512)),
    plain("skinny", (1024, 64, 1024), (4096, 64, 4096)),
    plain("long and thin", (64, 4096, 64), (64, 8192, 64)),
    plain("odd", (500, 1500, 350), (1000, 3000, 700)),
    rounded("f16", dtype=np.float16),
    rounded("bf16", dtype=ml_dtypes.bfloat16),
    rounded("tf32", tf32=True),
    workload(
        "product/A transposed",
        AT,
        _sizes(5, 7, 6),
        _sizes(960, 960, 960),
        _sizes(4096, 4096, 4096),
        torch=lambda a, b: a.T @ b,
        numpy=lambda a, b: a.T @ b,
        others={"CLBlast": _clblast("A")},
        flops=times(("A", 0), ("A", 1), ("B", 1)),
    ),
    workload(
        "product/B transposed",
        BT,
        _sizes(5, 7, 6),
        _sizes(960, 960, 960),
        _sizes(4096, 4096, 4096),
        torch=lambda a, b: a @ b.T,
        numpy=lambda a, b: a @ b.T,
        others={"CLBlast": _clblast("B")},
        flops=times(("A", 0), ("A", 1), ("B", 0)),
    ),
    workload(
        "product/batched",
        BATCHED,
        {"G": 3, **_sizes(4, 5, 6)},
        {"G": 32, **_sizes(128, 128, 128)},
        {"G": 128, **_sizes(512, 512, 512)},
        torch=lambda a, b: a @ b,
        numpy=lambda a, b: np.matmul(a, b),
        flops=times(("A", 0), ("A", 1), ("A", 2), ("B", 2)),
        gradients=("A", "B"),
    ),
    workload(
        "product/matrix-vector",
        VECTOR,
        {"M": 6, "L": 7},
        {"M": 4096, "L": 4096},
        {"M": 16384, "L": 16384},
        torch=lambda a, x: a @ x,
        numpy=lambda a, x: a @ x,
        gradients=("A", "X"),
    ),
]
