"""Matrix product and softmax as Triton's tutorials have them, in float32 without tensor cores."""

# pyright: basic
# ruff: noqa: N803 (Triton's constants have names of capitals)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from frame import Array
from timing import Contestant

import tiledialect as td


@triton.autotune(
    [
        triton.Config({"BM": m, "BN": n, "BK": k}, num_warps=w, num_stages=s)
        for m, n, k, w, s in ((128, 128, 16, 8, 3), (128, 64, 16, 4, 3), (64, 64, 32, 4, 3))
    ],
    key=["M", "N", "K"],
)
@triton.jit
def _product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = (rows[:, None] < M) & (k + inner[None, :] < K)
        right = (k + inner[:, None] < K) & (columns[None, :] < N)
        x = tl.load(a + rows[:, None] * K + k + inner[None, :], left, 0.0)
        y = tl.load(b + (k + inner[:, None]) * N + columns[None, :], right, 0.0)
        total += tl.dot(x, y, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total, inside)


@triton.jit
def _softmax(x, y, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * n
    values = tl.load(x + row + places, places < n, -float("inf"))
    e = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + places, e / tl.sum(e, 0), places < n)


def _contestant(run: Any) -> Contestant:
    return Contestant(run, torch.cuda.synchronize, lambda result: [result.cpu().numpy()])


def product(arrays: Sequence[Array], device: td.Device) -> Contestant:
    """A product of matrices."""
    a, b = (torch.from_numpy(array).cuda() for array in arrays)
    (m, k), n = a.shape, b.shape[1]

    def run() -> Any:
        c = torch.empty(m, n, device="cuda")
        _product[lambda meta: (triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"]))](
            a, b, c, m, n, k
        )
        return c

    return _contestant(run)


def softmax(arrays: Sequence[Array], device: td.Device) -> Contestant:
    """The softmax of rows, each in one program."""
    x = torch.from_numpy(arrays[0]).cuda()

    def run() -> Any:
        y = torch.empty_like(x)
        rows, n = x.shape
        _softmax[(rows,)](x, y, n, BLOCK=triton.next_power_of_2(n), num_warps=8)
        return y

    return _contestant(run)
