"""Copies of boxes by one work-item: rows of any length, and operands that are transposed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import reference

import tiledialect as td
from tiledialect.lowering.tile_to_nest.serial_copies import Chunks, chunks

BATCHED = "function (A[G, M, L], B[G, N, L]) -> (C) {{ C[g, i, j: G, M, N] = {0}(A[g, i, k] * B[g, j, k]); }}"
PRODUCT = "function (A[M, L], B[L, N]) -> (C) {{ C[i, j: M, N] = {0}(A[i, k] * B[k, j]); }}"


def test_runs_make_up_any_extent():
    """As many wide pieces as there can be, then narrower ones."""
    assert chunks(47, 16) == [
        Chunks(0, 2, 16),
        Chunks(32, 1, 8),
        Chunks(40, 1, 4),
        Chunks(44, 1, 2),
        Chunks(46, 1, 1),
    ]
    assert chunks(6, 3) == [Chunks(0, 2, 3)]
    for extent in range(20):
        for width in (1, 2, 3, 4, 8):
            pieces = chunks(extent, width)
            places = [r.start + k for r in pieces for k in range(r.count * r.width)]
            assert places == list(range(extent))


@pytest.mark.parametrize(
    ("rows", "sums", "stage", "aggregation"),
    [
        # Squares alone; what is left of both sides; a last block past the end.
        (16, 16, "stage <B local vector 8 order (0, 2, 1)>", "+"),
        (13, 21, "stage <B local vector 8 order (0, 2, 1)>", ">"),
        (13, 21, "stage <B local at 8*k vector 4 order (0, 2, 1)>", "+"),
        (13, 3, "stage <B local vector 4 order (0, 2, 1)>", "+"),
        (13, 21, "stage <B local vector 16, A local vector 8>", "+"),
    ],
)
def test_batched(device: td.Device, rows: int, sums: int, stage: str, aggregation: str) -> None:
    """An operand is staged along the other axis than it lies."""
    source = BATCHED.format(aggregation)
    levels = (
        f"group.x g : 2, serial 8*k : {-(-sums // 8)}, serial 8*j : {-(-rows // 8)}, serial k : 8, "
        "serial i : 3, vector j : 8"
    )
    _agrees(source, f"<{levels}> {stage}", (2, 3, sums), (2, rows, sums), device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("columns", [23, 5])
@pytest.mark.parametrize(
    "stage", ["", "stage <B local vector 8>", "stage <B local at 16*j vector 8>"]
)
def test_rows(device: td.Device, columns: int, stage: str) -> None:
    """Rows that vectors do not divide, whole and in blocks."""
    levels = f"serial 16*j : {-(-columns // 16)}, serial k : 6, unroll i : 3, unroll 8*j : 2, vector j : 8"
    _agrees(PRODUCT.format("+"), f"<{levels}> {stage}", (3, 6), (6, columns), device)


def _agrees(source: str, schedule: str, a: Any, b: Any, device: td.Device) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape in (a, b)]
    (expected,) = reference(source, arrays)
    result = td.compile(source, device=device).with_schedules({"C": schedule})(*arrays)
    np.testing.assert_array_equal(result, expected)


def test_padded_rows(device: td.Device) -> None:
    """Of rows that begin and end outside, what is inside is transposed in squares."""
    source = "function (A[N, L, W], B[M, L]) -> (C) { C[n, m, x: N, M, W] = +(A[n, k, x - 3 + i] * B[m, k]), i < 7; }"
    levels = "serial n : 2, serial x : 11, serial i : 7, serial k : 9, unroll m : 3"
    stage = "stage <A local at n vector 4 order (0, 2, 1)>"
    _agrees(source, f"<{levels}> {stage}", (2, 9, 11), (3, 9), device)
