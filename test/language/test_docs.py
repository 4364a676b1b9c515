"""The examples and the table of docs/language.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_roundtrip import reads_back

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.ops import ELEMENTWISE_OPS
from tiledialect.errors import TileError
from tiledialect.language.functions import FUNCTIONS
from tiledialect.language.to_ir import load

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
HEADER = "function (A[N, M], B[N, M], V[N], W[M], C[], I)"
EXAMPLES = re.findall(r"^```tile\n(.*?)^```$", PAGE, re.M | re.S)
ERRORS = re.findall(r"^```tile error\n(.*?)^```\n```text\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(example: str):
    if not example.startswith("function"):
        names = re.findall(r"^(?:\[\[.*?\]\] )*([A-Z]\w*)", example, re.M)
        kept = [name for name in names if name not in ("Pad", "Pair", "Checked")]
        example = f"{HEADER} -> ({', '.join(kept)}) {{ {example} }}"
    reads_back(example)


@pytest.mark.parametrize(("source", "said"), ERRORS)
def test_errors_are_as_shown(source: str, said: str):
    with pytest.raises(TileError) as caught:
        load(source, "x.tile")
    assert str(caught.value) == said.rstrip()


def test_there_are_examples():
    assert len(EXAMPLES) >= 12 and len(ERRORS) >= 4


def element_type(name: str):
    special = {"bool": et.CONCRETE["i1"], "`2`": et.index, "`0.5`": et.real}
    return special.get(name) or et.CONCRETE[name.replace("u", "ui")]


def test_promotion_table():
    header, _, *rows = re.findall(r"^\| .*? \|$", PAGE[PAGE.index("| | bool") :], re.M)[
        : len(et.CONCRETE) + 4
    ]
    columns = [cell.strip() for cell in header.strip("|").split("|")][1:]
    assert len(columns) == len(et.CONCRETE) + 2 == len(rows)
    for row in rows:
        first, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for column, cell in zip(columns, cells, strict=True):
            promoted = et.promote(element_type(first), element_type(column))
            assert promoted == element_type(cell), (first, column)


def test_every_function_is_described():
    for name in FUNCTIONS:
        assert re.search(rf"`(?:[^`]*\W)?{name}\b", PAGE), name


def test_every_elementwise_op_has_a_function():
    ops = {op.name.removeprefix("tile.") for op in ELEMENTWISE_OPS}
    assert ops - {"constant", "size", "cast"} <= set(FUNCTIONS)
