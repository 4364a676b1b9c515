"""Errors about the syntax of other languages name Tile's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiledialect.errors import TileError
from tiledialect.language.functions import FUNCTIONS
from tiledialect.language.syntax_hints import REPLACEMENTS
from tiledialect.language.to_ir import load

PAGE = (Path(__file__).parents[2] / "docs" / "from-numpy.md").read_text()
FROM_NUMPY = frozenset(
    name
    for row in re.findall(r"^\| `(.+?)` \|", PAGE, re.M)
    for name in re.findall(r"(?:np(?:\.[a-z_]+)*|[A-Z)])\.(\w+)\(", row)
)
"""Functions and methods of NumPy in the tables of docs/from-numpy.md."""
VECTORS = frozenset(
    """
    concat concatenate cat cumsum cumprod flip pad stack roll sort argsort topk median outer kron repeat tile diff
    convolve correlate ptp bincount one_hot eye linspace broadcast_to sliding_window_view
    """.split()
)
"""Hints about these are about vectors."""


@pytest.mark.parametrize("name", REPLACEMENTS)
def test_what_is_said_instead_is_tile(name: str):
    text = REPLACEMENTS[name]
    names = "A[N], B[M]" if name in VECTORS else "A[N, M], B[M, M]"
    output = "S" if "O" not in text and "S[" in text else "C" if "C[" in text else "O"
    load(f"function ({names}, State) -> ({output}) {{ {text}; }}")
    if name not in FUNCTIONS:
        with pytest.raises(TileError) as caught:
            load(f"function (A, B) -> (O) {{ O = {name}(A); }}")
        assert text in caught.value.message


def test_what_the_page_from_numpy_has_is_said_instead():
    assert len(FROM_NUMPY) > 50
    assert not FROM_NUMPY - {*REPLACEMENTS, *FUNCTIONS}


def test_a_function_is_not_meant_inside_of_itself():
    with pytest.raises(TileError) as caught:
        load("function embedding(A) -> (O) { O = embeddings(A); }")
    assert caught.value.message == "there is no function `embeddings`"
