"""`load` gives IR that verifies, or a TileError, for any text."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import Program, programs

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load

PIECES = [
    "function",
    "default",
    "no_defract",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "->",
    "=",
    "+",
    "-",
    "*",
    "/",
    "<",
    ">",
    "<=",
    ">=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "~",
    "<<",
    ">>",
    "?",
    ":",
    ";",
    ",",
    ".",
    "'",
    "#",
    "//",
    "/*",
    "*/",
    "!",
    "%",
    "@",
    "_",
    "A",
    "B",
    "C",
    "N",
    "M",
    "O",
    "T",
    "i",
    "j",
    "k",
    "x",
    "0",
    "1",
    "2",
    "7",
    "3.5",
    "1e9",
    "9999999999999999999",
    "é",
    "\x00",
    "\n",
    "exp",
    "max",
    "min",
    "index",
    "reshape",
    "gather",
    "scatter",
    "shape",
    "cond",
    "element",
    "tuple",
    "as_int",
    "as_float",
    "as_bool",
    "builtin_softmax",
    "builtin_logsoftmax",
    "builtin_binary_crossentropy",
    "assert_x",
    "abs",
    "ident",
    "prng_step",
    "prng_value",
    "prng_state",
    "A[i]",
    "B[i,j]",
    "O[i:N]",
    "O[]=",
    "O=A;",
    "(A[N],B[N,M],C)",
    "->(O){",
]


def survives(text: str) -> None:
    """Load the text; what loads must also print, and read back as the same."""
    try:
        module = load(text)
    except TileError as error:
        assert str(error)
        assert error.span is not None
        return
    module.verify()
    printed = print_tile(module)
    assert str(load(printed)) == str(module)


def compiles(program: Program) -> None:
    """Compile the program for the default device and run it; any other error than ours fails."""
    with contextlib.suppress(TileError):
        td.compile(program.source)(*program.arrays())


@st.composite
def mutated(draw: st.DrawFn) -> Program:
    """A program with a few pieces of its text deleted, repeated, exchanged or put in."""
    program = draw(programs(max_statements=3))
    text = program.source
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 8)))
        new = draw(
            st.one_of(st.sampled_from(PIECES), st.just(text[start:end] * 2), st.text(max_size=3))
        )
        text = text[:start] + new + text[end:]
    return replace(program, source=text)


bodies = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
framed = bodies.map(lambda body: f"function (A[N], B[N, M], C) -> (O) {{ {body} }}")
texts = st.one_of(st.text(max_size=60), bodies, framed)


def called(program: Program) -> str:
    """The program as a function `inner`, and a function `outer` that calls it."""
    inner = re.sub(r"^function\s*\w*", "function inner", program.source)
    header = re.match(r"function inner\s*(.*) \{$", inner, re.M)
    assert header is not None
    call = f"inner({', '.join(program.inputs)})"
    if len(program.outputs) == 1:
        body = f"{next(iter(program.outputs))} = {call};"
    else:
        parts = (f"{name} = element(All, {k});" for k, name in enumerate(program.outputs))
        body = f"All = {call}; {' '.join(parts)}"
    return f"{inner}function outer {header[1]} {{ {body} }}\n"


@settings(max_examples=30, deadline=None)
@given(programs())
def test_calls_do_what_the_function_does(program: Program):
    arrays = program.arrays()
    with np.errstate(all="ignore"):
        expected = td.compile(program.source).reference(*arrays)
        found = td.compile(called(program), name="outer").reference(*arrays)
    if len(program.outputs) == 1:
        expected, found = [expected], [found]
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_random_text(text: str):
    survives(text)


@settings(max_examples=60, deadline=None)
@given(mutated())
def test_mutated_programs(program: Program):
    survives(program.source)
