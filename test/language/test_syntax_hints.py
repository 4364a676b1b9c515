"""Errors about the syntax of other languages name Tile's."""

from __future__ import annotations

import pytest

from tiledialect.errors import TileError
from tiledialect.language.functions import FUNCTIONS
from tiledialect.language.syntax_hints import REPLACEMENTS
from tiledialect.language.to_ir import load

VECTORS = frozenset(
    "concat concatenate cat cumsum flip pad stack roll sort argsort topk median outer repeat tile diff".split()
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
