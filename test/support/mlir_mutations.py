"""Damaged MLIR text: pieces of the lit tests with tokens left out, doubled, moved or cut off."""

from __future__ import annotations

import random
import re
import traceback
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import tiledialect
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import all_dialects, parse_mlir, print_module
from tiledialect.ir.verification import verified

TOKEN = re.compile(r'\s+|//[^\n]*|"[^"\n]*"|[%@#!^]?[\w$.-]+|->|.', re.S)

CONTEXT = all_dialects()


def pieces() -> list[str]:
    """The programs in the lit tests."""
    files = sorted(Path(__file__).parents[1].rglob("*.mlir"))
    texts = [text for file in files for text in file.read_text().split("// -----")]
    # Comments are half of the text and none of what can go wrong.
    texts = [re.sub(r"//[^\n]*\n", "", text) for text in texts]
    return [text for text in texts if text.strip()]


def damaged() -> SearchStrategy[str]:
    """Pieces with tokens changed."""
    return st.builds(mutated, st.sampled_from(pieces()), st.randoms(use_true_random=False))


def mutated(text: str, rng: random.Random) -> str:
    """The text with one or a few of its tokens changed."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tokens = _changed(tokens, rng) or ["x"]
    return "".join(tokens)


def _changed(tokens: list[str], rng: random.Random) -> list[str]:
    a, b = (rng.randrange(len(tokens)) for _ in range(2))
    few = rng.randint(1, 4)
    match rng.randrange(12):
        case 0:
            return tokens[: a + 1]
        case 1:
            return tokens[:a] + tokens[a + few :]
        case 2:
            return tokens[:b] + tokens[a : a + few] + tokens[b:]
        case 3:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        case 4:
            tokens[a] = rng.choice(ODD)
        case _:
            # One of the same kind: that is still read, and is wrong later.
            alike = [k for k, token in enumerate(tokens) if _kind(token) == _kind(tokens[a])]
            tokens[a] = tokens[rng.choice(alike)]
    return tokens


def _kind(token: str) -> str:
    first = token[0]
    return "a" if first.isalpha() else "1" if first.isdigit() else first


ODD = (
    *'"{}()<>[]=:,?*+-/|²é\0',
    "^0",
    "%0#1",
    "-1",
    "0x",
    "1e999",
    "18446744073709551616",
    "9" * 5000,
    "dense<",
    "loc(",
    "tensor<?x",
    "!tile.any",
    '"\\00\\FF"',
)


def survives(text: str) -> None:
    """The text is a module that prints, or is refused with a place, by no accident of ours."""
    try:
        print_module(verified(parse_mlir(text, "damaged.mlir", CONTEXT)))
    except TileError as error:
        assert error.span is not None, error
        assert_not_ours(error)


def assert_not_ours(error: TileError) -> None:
    """The fault was not found by an accident in a dialect of this package."""
    cause = error.__cause__
    if not error.message.startswith("cannot ") or cause is None:
        return
    frame = traceback.extract_tb(cause.__traceback__)[-1]
    assert Path(tiledialect.__file__).parent not in Path(frame.filename).parents, "".join(
        traceback.format_exception(cause)
    )
