"""Rows of contractions, and groups of aggregates of the same rows."""

from __future__ import annotations

import pytest

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.split.rewrites.split_row_reductions import group_of, rows_of

X = "tensor<4x6xf32>"


def _contractions(*ops: str) -> list[ContractionOp]:
    text = f"func.func @f(%X: {X}) {{ {' '.join(ops)} func.return }}"
    return ops_of(parse_mlir(text, "f.mlir"), ContractionOp)


@pytest.mark.parametrize(
    ("access", "output", "domain", "shape", "summed"),
    (
        ("r, c", "r, 0", "r = 0 to 4, c = 0 to 6", "4x1", (1,)),
        ("r, c", "c", "r = 0 to 4, c = 0 to 6", "6", (0,)),
        ("r, c", "0", "r = 0 to 4, c = 0 to 6", "1", (0, 1)),
        ("r, c", "r, c", "r = 0 to 4, c = 0 to 6", "4x6", None),
        ("r, c", "r", "r = 0 to 4, c = 0 to 5", "4", None),
        ("r, r", "0", "r = 0 to 4", "1", None),
    ),
)
def test_rows(access: str, output: str, domain: str, shape: str, summed: tuple[int, ...] | None):
    (op,) = _contractions(
        f"%S = tile.contraction add(%X[{access}]) -> [{output}] domain <{domain}> : "
        f"({X}) -> tensor<{shape}xf32>"
    )
    rows = rows_of(op)
    assert (rows and rows.summed) == summed
    assert rows is None or rows.count * rows.length == rows.size == 24


def test_a_group_has_the_independent_aggregates():
    """The maximum and its count are merged; the product of the row takes part, another row not."""
    rows, t = "domain <r = 0 to 4, c = 0 to 6>", "tensor<4x1xf32>"
    largest, ties, product, columns = _contractions(
        f"%A = tile.contraction max(%X[r, c]) -> [r, 0] {rows} : ({X}) -> {t}",
        f"%B = tile.contraction add(%X[r, c] eq %A[r, 0]) -> [r] {rows} : ({X}, {t}) -> "
        "tensor<4xi32>",
        f"%C = tile.contraction mul(%X[r, c]) -> [r] {rows} : ({X}) -> tensor<4xf32>",
        f"%D = tile.contraction mul(%X[r, c]) -> [c] {rows} : ({X}) -> tensor<6xf32>",
    )
    group = group_of(largest)
    assert group is not None and group_of(columns) is None
    assert group.first == (largest,) and [*group.found] == [ties]
    assert group.independent == (product,)
