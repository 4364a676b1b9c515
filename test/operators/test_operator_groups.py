"""Products of groups of rows against NumPy, and the matrices that they read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_calls import call
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.special import GatherOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.groups import grouped_product
from tiledialect.operators.layout import shape


@settings(max_examples=15, deadline=None)
@given(counts=st.lists(st.integers(0, 30), max_size=5), rest=st.integers(0, 3))
def test_grouped_product(counts: list[int], rest: int):
    """Groups of any sizes, empty ones, none, and rows behind all groups."""
    rows = sum(counts) + rest
    rng = np.random.default_rng(len(counts))
    x = rng.integers(-3, 4, (max(rows, 1), 3)).astype("f4")
    y = rng.integers(-3, 4, (len(counts), 3, 2)).astype("f4")
    ends = np.cumsum(counts).astype("i4")
    (got,) = call(lambda b, v, w, e: grouped_product(b, v, w, e, f32), x, y, ends)
    wanted = np.zeros((len(x), 2), "f4")
    for start, end, matrix in zip((0, *ends), ends, y, strict=False):
        wanted[start:end] = x[start:end] @ matrix
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize(
    ("rows", "groups", "gathered"),
    [(8, 8, 8), (20, 8, 14), (64, 2, 9), (1024, 2, 17), (4096, 4, 67)],
)
def test_matrices_are_read_for_blocks_of_rows(rows: int, groups: int, gathered: int):
    """Blocks have up to 8 rows, or a quarter of a group's up to 64."""
    found: list[int] = []

    def run(b: TensorBuilder, x: SSAValue, y: SSAValue, ends: SSAValue) -> SSAValue:
        result = grouped_product(b, x, y, ends, f32)
        gathers = [use.operation for use in y.uses if isinstance(use.operation, GatherOp)]
        found.extend(shape(op.results[0])[0] for op in gathers)
        return result

    ends = (np.arange(1, groups + 1) * (rows // groups)).astype("i4")
    call(run, np.ones((rows, 2), "f4"), np.ones((groups, 2, 1), "f4"), ends)
    assert found == [gathered]
