"""Row kernels: softmax and layer normalization, and their gradients."""

from __future__ import annotations

from typing import Any

from frame import Workload, workload

SOFTMAX = "function (X[R, C]) -> (Y) { Y = softmax(X, 1); }"
LAYER_NORM = """function (X[R, C]) -> (Y) {
  T[r, 0: R, 1] = +(X[r, c]); D = X - T / C;
  Q = D * D; V[r, 0: R, 1] = +(Q[r, c]);
  Y = D / sqrt(V / C + 0.00001);
}"""


def _triton(arrays: Any, device: Any) -> Any:
    import triton_kernels

    return triton_kernels.softmax(arrays, device)


def _layer_norm(x: Any) -> Any:
    from torch.nn.functional import layer_norm

    return layer_norm(x, x.shape[1:])


def _sizes(rows: int, columns: int) -> dict[str, int]:
    return {"R": rows, "C": columns}


WIDTHS = {
    "": (_sizes(4096, 1024), _sizes(16384, 4096)),
    " narrow": (_sizes(65536, 64), _sizes(1 << 20, 64)),
    " wide": (_sizes(64, 65536), _sizes(512, 131072)),
}
WORKLOADS: list[Workload] = [
    workload(
        f"rows/{name}{width}",
        source,
        _sizes(4, 9),
        cpu,
        gpu,
        torch=torch,
        others=others if not width else {},
        gradients=("X",),
    )
    for name, source, torch, others in (
        ("softmax", SOFTMAX, lambda x: x.softmax(1), {"Triton": _triton}),
        ("layer norm", LAYER_NORM, _layer_norm, {}),
    )
    for width, (cpu, gpu) in WIDTHS.items()
]
