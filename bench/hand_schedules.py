"""Kernels by the schedules in `bench/schedules/`, beside PyTorch in the same run.

A file `NAME.DEVICE.schedules` belongs to the workload NAME and to devices whose id begins with
DEVICE; `NAME.DEVICE.mlir` is the workload's kernels with their schedules. Ours are the kernels'
times on the device; a peer's time is taken with events on a GPU, by the clock on a CPU. Every round
runs all of them in turn; the ratio is the median of the rounds'.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import tiledialect as td

SCHEDULES = Path(__file__).parent / "schedules"
ROUNDS = 7
CONV = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);
}"""
STRIDED = """function conv(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
  O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);
}"""
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
Peer = Callable[..., Any]


@dataclass(frozen=True)
class Workload:
    """What is computed, how much work that is, and how others do it."""

    source: str
    shapes: tuple[tuple[int, ...], ...]
    work: float
    """Floating-point operations, or bytes that must be moved."""
    unit: str
    peer: Peer
    """From PyTorch tensors of the inputs to a function that computes it."""
    gradient: str = ""
    """The input to differentiate by, if it is a gradient."""
    dtype: type[np.floating[Any]] = np.float32
    tf32: bool = False
    """Whether products of float32 may be rounded to tf32."""

    def function(self, device: td.Device, path: Path) -> td.Function:
        """Our function, by the schedules in a file."""
        if path.suffix == ".mlir":
            return td.compile(path, device=device)
        function = td.compile(self.source, device=device)
        if self.gradient:
            function = function.gradient(self.gradient)
        return function.with_schedules(path)


def conv_shapes(n: int, last: int) -> tuple[tuple[int, ...], ...]:
    """Pictures, weights, and the cotangent of the result."""
    return (n, 56, 56, 64), (3, 3, 64, 64), (n, last, last, 64)


def _nchw(t: Any) -> Any:
    return t.permute(0, 3, 1, 2)


def _weights(k: Any) -> Any:
    import torch

    return k.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)


def _conv(**options: int) -> Peer:
    def peer(i: Any, k: Any) -> Callable[[], Any]:
        from torch.nn.functional import conv2d

        a, b = _nchw(i), _weights(k)
        return lambda: conv2d(a, b, **options).permute(0, 2, 3, 1)

    return peer


def _conv_input(**options: int) -> Peer:
    def peer(i: Any, k: Any, d: Any) -> Callable[[], Any]:
        from torch.nn.grad import conv2d_input

        a, b, c = _nchw(i), _weights(k), _nchw(d)
        return lambda: conv2d_input(a.shape, b, c, **options).permute(0, 2, 3, 1)

    return peer


def _conv_weight(**options: int) -> Peer:
    def peer(i: Any, d: Any) -> Callable[[], Any]:
        from torch.nn.grad import conv2d_weight

        a, c = _nchw(i), _nchw(d)
        return lambda: conv2d_weight(a, (64, 64, 3, 3), c, **options).permute(2, 3, 1, 0)

    return peer


def _layer_norm(x: Any) -> Callable[[], Any]:
    from torch.nn.functional import layer_norm

    return lambda: layer_norm(x, x.shape[1:])


def product(n: int) -> Workload:
    """A square matrix product."""
    source = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
    return Workload(source, ((n, n), (n, n)), 2.0 * n**3, "FLOP", lambda a, b: lambda: a @ b)


def convolutions(n: int, name: str) -> dict[str, Workload]:
    """A convolution and its gradients, and the seeds' strided dilated one."""
    image, kernel, same = conv_shapes(n, 56)
    _, _, small = conv_shapes(n, 18)
    flops, few = (2.0 * n * last**2 * 64 * 64 * 9 for last in (56, 18))
    strided = {"stride": 3, "dilation": 2}
    return {
        f"{name}": Workload(CONV, (image, kernel), flops, "FLOP", _conv(padding=1)),
        f"{name}_input": Workload(
            CONV, (image, kernel, same), flops, "FLOP", _conv_input(padding=1), "I"
        ),
        f"{name}_weight": Workload(WEIGHTS, (image, same), flops, "FLOP", _conv_weight(padding=1)),
        f"strided_{name}": Workload(STRIDED, (image, kernel), few, "FLOP", _conv(**strided)),
        f"strided_{name}_input": Workload(
            STRIDED, (image, kernel, small), few, "FLOP", _conv_input(**strided), "I"
        ),
        f"strided_{name}_weight": Workload(
            STRIDED_WEIGHTS, (image, small), few, "FLOP", _conv_weight(**strided)
        ),
    }


def streams(rows: int, columns: int) -> dict[str, Workload]:
    """What moves memory and hardly computes."""
    shape, size = ((rows, columns),), 4.0 * rows * columns
    return {
        "chain": Workload(
            "function (X) -> (Y) { Y = tanh(X * X) * X; }",
            shape,
            2 * size,
            "B",
            lambda x: lambda: (x * x).tanh() * x,
        ),
        "transposition": Workload(
            "function (X[R, C]) -> (Y) { Y[c, r: C, R] = =(X[r, c]); }",
            shape,
            2 * size,
            "B",
            lambda x: lambda: x.t().contiguous(),
        ),
        "softmax": Workload("", shape, 2 * size, "B", lambda x: lambda: x.softmax(1)),
        "layer_norm": Workload("", shape, 2 * size, "B", _layer_norm),
        "row_sums": Workload(
            "function (X[R, C]) -> (S) { S[r: R] = +(X[r, c]); }",
            shape,
            size,
            "B",
            lambda x: lambda: x.sum(1),
        ),
        "column_sums": Workload(
            "function (X[R, C]) -> (S) {"
            "  P[q, c: 16, C] = +(X[1024*q + r, c]), r < 1024; S[c: C] = +(P[q, c]); }",
            shape,
            size,
            "B",
            lambda x: lambda: x.sum(0),
        ),
        "sum": Workload(
            "function (X[R, C]) -> (S) { P[r: R] = +(X[r, c]); S[] = +(P[r]); }",
            shape,
            size,
            "B",
            lambda x: lambda: x.sum(),
        ),
    }


WORKLOADS: dict[str, Workload] = {
    "product_960": product(960),
    "product_4096": product(4096),
    "product_4096_tf32": replace(product(4096), tf32=True),
    "product_4096_f16": replace(product(4096), dtype=np.float16),
    **convolutions(32, "conv_32"),
    **convolutions(8, "conv_8"),
    **streams(16384, 4096),
}


def measure(name: str, workload: Workload, device: td.Device, path: Path) -> str:
    """A line of the table: our rate, the peer's, the median ratio, the difference."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(workload.dtype) for s in workload.shapes]
    function = workload.function(device, path)
    start = time.perf_counter()
    function.mlir(*arrays)
    compiling = time.perf_counter() - start
    peer, peer_time = _peer(workload, arrays, device)
    ours: list[float] = []
    theirs: list[float] = []
    result: Any = None
    for _ in range(ROUNDS):
        result, profile = function.profile(*arrays)
        ours.append(profile.seconds)
        theirs.append(peer_time(peer))
    expected = peer().detach().cpu().numpy()
    off = float(np.abs(np.asarray(result) - expected).max() / np.abs(expected).max())
    rates = [workload.work / median(times) / 1e9 for times in (ours, theirs)]
    ratio = median(b / a for a, b in zip(ours, theirs, strict=True))
    return (
        f"{name:22} {device.id:10} {rates[0]:9.0f} {rates[1]:9.0f} G{workload.unit}/s "
        f"ratio {ratio:5.2f}  off by {off:.0e}  compiled in {compiling:.2f} s"
    )


def _peer(
    workload: Workload, arrays: Sequence[Any], device: td.Device
) -> tuple[Callable[[], Any], Callable[[Callable[[], Any]], float]]:
    """What PyTorch runs on the same kind of device, and how to time it."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = workload.tf32
    torch.backends.cudnn.benchmark = True
    on_gpu = device.type == "gpu" and torch.cuda.is_available()
    tensors = [torch.from_numpy(a).to("cuda" if on_gpu else "cpu") for a in arrays]
    peer = workload.peer(*tensors)
    for _ in range(3):
        peer()
    return peer, _gpu_time if on_gpu else _cpu_time


def _gpu_time(run: Callable[[], Any]) -> float:
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3


def _cpu_time(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """Measure every file of schedules whose device is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="workloads, by the beginnings of their names")
    names = tuple(parser.parse_args().names)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("PyTorch is not installed: there is nobody to compare with")
        return
    for device in td.devices():
        for path in sorted(SCHEDULES.iterdir()):
            name, kind, _ = path.name.split(".")
            if device.id.startswith(kind) and (not names or name.startswith(names)):
                print(measure(name, WORKLOADS[name], device, path), flush=True)


if __name__ == "__main__":
    main()
