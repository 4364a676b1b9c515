"""Quotients of gradients: products with a reciprocal, but where their last bit could be seen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from building import type_of
from running import Case, run_together

import tiledialect as td
from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient import tile_gradient
from tiledialect.passes.specialize.tile_specialize import specialize

ROWS = "M[n, 0: N, 1] = >(X[n, c]); E = exp(X - M); S[n, 0: N, 1] = +(E[n, c]);"
LENGTHS = "S[n, 0: N, 1] = +(X[n, c] * X[n, c]); R = sqrt(S);"
SOFT = {
    "softmax, weighted": f"""(X[N, C], W[C, K]) -> (O) {{ {ROWS} Y = E / S;
        O[n, k: N, K] = +(Y[n, c] * W[c, k]); }}""",
    "gain": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = Y * G; }}",
    "smooth": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = tanh(Y * G) * G; }}",
    "turned": f"""(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R;
        O[c, n: C, N] = +(Y[n, c] * G[c]); }}""",
}
SHARP = {
    "rounded": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = floor(Y * 3) * G; }}",
    "compared": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = Y * 2 >= 1 ? Y * G : G; }}",
    "at an end": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = acos(Y) * G; }}",
    "divided by": f"(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; O = G / (1 - Y); }}",
    "greatest": f"""(X[N, C], G[C]) -> (O) {{ {LENGTHS} Y = X / R; Z = Y * G;
        O[n: N] = >(Z[n, c]); }}""",
    "large": "(X[N, C], G[C]) -> (O) { R[n, 0: N, 1] = +(X[n, c]); Y = X / R; O = Y * G; }",
    "not repeated": "(X[N, C], G[C]) -> (O) { R = sqrt(X * X + 1); Y = X / R; O = Y * G; }",
}
SHAPES = {"X": (5, 37), "G": (37,), "W": (37, 3)}


def gradient(text: str) -> tuple[td.Function, list[np.ndarray[Any, Any]]]:
    """The gradient function, and what it takes."""
    rng = np.random.default_rng(3)
    header = text.split("->", maxsplit=1)[0]
    inputs = [
        rng.normal(size=shape).astype(np.float32)
        for name, shape in SHAPES.items()
        if f"{name}[" in header
    ]
    function = td.compile(f"function {text}")
    given = rng.normal(size=function.reference(*inputs).shape).astype(np.float32)
    return function.gradient(), [*inputs, given]


@pytest.mark.parametrize("name", SOFT)
def test_soft(name: str):
    function, inputs = gradient(SOFT[name])
    assert re.findall(r"%Y = tile\.(\w+)", function.ir("cse", *inputs)) == ["mul"]


@pytest.mark.parametrize("name", SHARP)
def test_sharp(name: str):
    function, inputs = gradient(SHARP[name])
    assert re.findall(r"%Y = tile\.(\w+)", function.ir("cse", *inputs)) == ["div"]


def test_outputs_are_divided():
    """The function's own results are the same as alone."""
    function = find_function(load(f"function (X[N, C]) -> (Y) {{ {LENGTHS} Y = X / R; }}"))
    specialize(function, [type_of(np.zeros((5, 37), np.float32))])
    assert "%Y = tile.div" in str(tile_gradient.gradient(function, with_outputs=True))
    assert "tile.div %X, %R" not in str(tile_gradient.gradient(function))


def test_on_devices(device: Any):
    cases = list[Case]()
    for name, text in SOFT.items():
        function, inputs = gradient(text)
        wanted = function.reference(*inputs)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        cases.append(Case(name, function.tile, tuple(inputs), tuple(wanted), 37, scale=10.0))
    run_together(cases, device)
