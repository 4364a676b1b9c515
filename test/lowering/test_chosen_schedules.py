"""Schedules that the compiler chose, given back to it: the same kernels, split as before."""

from __future__ import annotations

import numpy as np
import pytest
from building import type_of
from described import spec

from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module

PROGRAMS = {
    "product": (
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ((16, 1 << 16), (1 << 16, 16)),
        "C_parts",
    ),
    "convolution": (
        """function (I[N, H, W, CI], K[3, 3, CI, CO]) -> (O) {
            O[n, y, x, co: N, H, W, CO] = +(I[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);
        }""",
        ((32, 28, 28, 256), (3, 3, 256, 256)),
        "O_products",
    ),
    "three matrices": (
        "function (A[M, K], B[K, L], X[L]) -> (Y) { Y[i: M] = +(A[i, k] * B[k, l] * X[l]); }",
        ((512, 512), (512, 512), (512,)),
        "Y_factor",
    ),
}
"""Programs, the shapes of their inputs, and a kernel that a pass makes of their contraction."""
GPU = spec("GPU", {"compute_units": 132, "max_work_group_size": 1024, "bandwidth": 3000.0})


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_schedules_given_back(name: str):
    source, shapes, piece = PROGRAMS[name]
    types = [type_of(np.broadcast_to(np.float32(0), shape)) for shape in shapes]

    def schedules(given: tuple[str, ...]) -> dict[str, str]:
        module = compile_module(
            load(source), None, types, GPU, after="tile-loop-tiling", schedules=given
        )
        return {n: schedule_text(k) for n, k in named_kernels(module).items()}

    chosen = schedules(())
    assert piece in chosen
    assert schedules(tuple(f"{n}: {text}" for n, text in chosen.items())) == chosen
