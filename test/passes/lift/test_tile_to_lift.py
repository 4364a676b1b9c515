"""Contractions as patterns mean what the contractions mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from generators import Contraction, contraction_module, contractions
from hypothesis import given, settings
from hypothesis import strategies as st
from running import reference
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.passes.lift import Derivation, everywhere
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.tile_to_lift import TileToLiftPass
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.normalize.tile_defract import TileDefractPass
from tiledialect.passes.normalize.tile_reduce import TileReducePass

CONV = (Path(__file__).parents[3] / "examples" / "conv.tile").read_text()
rng = np.random.default_rng(1)


def as_patterns(module: ModuleOp) -> ModuleOp:
    """The normal form of a module, with patterns for contractions."""
    module = module.clone()
    for step in (TileBoundsPass(), TileReducePass(), TileDefractPass(), TileToLiftPass()):
        step.apply(Context(), module)
    module.verify()
    assert not any(isinstance(op, ContractionOp) for op in module.walk())
    return module


def check(function: td.Function, *arrays: np.ndarray) -> ModuleOp:
    """Compare with the reference semantics of the function itself."""
    module = as_patterns(parse_mlir(function.ir("tile-specialize", *arrays), "test"))
    expected = function.reference(*arrays)
    np.testing.assert_array_equal(td.compile(module).reference(*arrays), expected)
    return module


def whole(*shape: int) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(np.float32)


def test_input_gradient_of_a_convolution():
    """Strided and dilated; and Lift's rules apply to it."""
    gradient = td.compile(CONV).gradient(wrt=("I",))
    arrays = whole(1, 6, 6, 2), whole(2, 2, 2, 3), whole(1, 2, 2, 3)
    module = check(gradient, *arrays)
    derivation = Derivation.of(module).apply(everywhere(RULES["reduce_map_fusion"]))
    derivation = derivation.apply(RULES["map_glb"])
    assert len(derivation.steps) > 1
    found = td.compile(derivation.module).reference(*arrays)
    np.testing.assert_array_equal(found, gradient.reference(*arrays))


def test_input_gradient_on_devices(device: td.Device):
    gradient = td.compile(CONV).gradient(wrt=("I",))
    arrays = whole(1, 6, 6, 2), whole(2, 2, 2, 3), whole(1, 2, 2, 3)
    module = as_patterns(parse_mlir(gradient.ir("tile-specialize", *arrays), "test"))
    found = td.compile(module, device=device)(*arrays)
    np.testing.assert_array_equal(found, gradient.reference(*arrays))


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        ("function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }", [(5, 3), (3, 7)]),
        (CONV, [(1, 7, 7, 2), (3, 3, 2, 3)]),
        ("function (A[N]) -> (C) { C[i: N / 2] = +(A[2*i + j]), j < 2; }", [(10,)]),
        ("function (A[N, M]) -> (C) { C[j, i: M - 1, N] = =(A[i, j + 1]); }", [(4, 6)]),
    ],
    ids=["product", "convolution", "sums of two", "transposed slice"],
)  # fmt: skip
def test_lowered_on_devices(source: str, shapes: Sequence[tuple[int, ...]], device: td.Device):
    function = td.compile(source)
    arrays = [whole(*shape) for shape in shapes]
    module = as_patterns(parse_mlir(function.ir("tile-specialize", *arrays), "test"))
    LiftLowerPass().apply(Context(), module)
    found = td.compile(module, device=device)(*arrays)
    np.testing.assert_array_equal(found, function.reference(*arrays))


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        ("function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }", [(2, 3), (3, 4)]),
        ("function (A[N]) -> (C) { C[i: N] = +(A[i - j]), j < N; }", [(5,)]),
        ("function (A[N]) -> (C) { C[] = +(A[i]); }", [(5,)]),
        ("function (A[N, M]) -> (C) { C[j, i: M, N] = =(A[i, j]); }", [(2, 3)]),
        ("function (A[N], B[M]) -> (C) { C[i, j: N, M] = *(A[i] + B[j]); }", [(2,), (3,)]),
        ("function (A[N]) -> (C) { C[2*i + j: 2*N] = +(A[i]), j < 2; }", [(3,)]),
    ],
)  # fmt: skip
def test_contractions(source: str, shapes: Sequence[tuple[int, ...]]):
    check(td.compile(source), *(whole(*shape) for shape in shapes))


@settings(max_examples=12, deadline=None)
@given(st.booleans().flatmap(contractions))
def test_random_contractions(made: Contraction):
    """Contractions that are not refused give the same."""
    module, arrays = contraction_module([made])
    try:
        patterns = as_patterns(module)
    except td.TileError:
        return
    (found,), (expected,) = reference(patterns, arrays), reference(module, arrays)
    np.testing.assert_array_equal(found, expected)


MASKED: list[tuple[str, list[tuple[int, ...]]]] = [
    ("C[i: N] = >(A[i - j]), j < N;", [(5,)]),
    ("C[i: N] = <(A[i + 2]);", [(5,)]),
    ("C[i: N] = *(A[i + j]), j < 2;", [(4,)]),
    ("C[i: N] = +(A[i + j] + B[i]), j < 2;", [(3,), (3,)]),
    ("C[i: N] = +(A[i, i]);", [(3, 3)]),
    ("C[] = +(A[i, i]);", [(3, 3)]),
    ("C[j: M] = >(A[i, j, i]);", [(3, 2, 3)]),
    ("C[i: N] = +(A[i, i, i]);", [(3, 3, 3)]),
    ("C[i, i: N, N] = =(A[i]);", [(3,)]),
    ("C[i: N] = +(A[k]), i - k < N;", [(5,)]),
    ("C[i: N] = <(A[i, k]), i - k - 1 < N;", [(4, 4)]),
    ("C[i: N] = +(A[i] == B[i]);", [(3,), (3,)]),
    ("C[i: N] = +(A[i] == B[j] ? D[j]);", [(3,), (3,), (3,)]),
    ("C[i: N] = >(A[i] == B[j] ? D[i + j]);", [(3,), (3,), (3,)]),
    ("C[2*x + k: 2*N] = =(A[x]), k < 2;", [(3,)]),
    ("C[3*i: 3*N] = +(A[i]);", [(3,)]),
    ("C[3*i + 1: 3*N] = >(A[i]);", [(3,)]),
    ("C[2*i: N] = +(A[i]) default B;", [(6,), (6,)]),
    ("C[i + 1: N] = =(A[i]) default B;", [(6,), (6,)]),
    ("C[i: N] = +(A[i] * B[]);", [(6,), ()]),
]
"""Statements of points that the ranges do not tell, and of elements that have none."""


def masked(statement: str, shapes: Sequence[tuple[int, ...]]) -> tuple[td.Function, list[Any]]:
    dims = [["N", "M", "N"] if len({*s}) == 2 else ["N"] * len(s) for s in shapes]
    inputs = ", ".join(f"{n}[{', '.join(d)}]" for n, d in zip("ABD", dims, strict=False))
    function = td.compile(f"function ({inputs}) -> (C) {{ {statement} }}")
    return function, [whole(*shape) for shape in shapes]


@pytest.mark.parametrize(("statement", "shapes"), MASKED)
def test_masked(statement: str, shapes: Sequence[tuple[int, ...]]):
    function, arrays = masked(statement, shapes)
    check(function, *arrays)


@pytest.mark.parametrize("k", [1, 6, 9, 12, 16, 17])
def test_masked_on_devices(k: int, device: td.Device):
    function, arrays = masked(*MASKED[k])
    module = as_patterns(parse_mlir(function.ir("tile-specialize", *arrays), "test"))
    found = td.compile(module, device=device)(*arrays)
    np.testing.assert_array_equal(found, function.reference(*arrays))


def test_gradient_of_a_product():
    function = td.compile("function (A[M, N]) -> (P) { P[i: M] = *(A[i, j]); }")
    check(function.gradient(), whole(3, 4), whole(3))


def test_the_rest_stays():
    """Without names, what patterns do not express stays; with them, it is refused."""
    source = """function (A[N], B[M]) -> (C, D) {
        C[i + 5*j: N] = +(A[i] * B[j]), i < 7, j < 2; D[i: N] = +(A[i + j]), j < 2; }"""
    arrays = [whole(13), whole(2)]
    text = td.compile(source).ir("tile-bounds", *arrays)
    module = parse_mlir(text, "test")
    TileToLiftPass().apply(Context(), module)
    assert len([op for op in module.walk() if isinstance(op, ContractionOp)]) == 1
    found, expected = (f.reference(*arrays) for f in (td.compile(module), td.compile(source)))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    why = r"C cannot be expressed as patterns: the output's index i \+ 5\*j reaches elements twice"
    with pytest.raises(td.TileError, match=why):
        TileToLiftPass(("C",)).apply(Context(), parse_mlir(text, "test"))


def test_in_a_kernel():
    text = td.compile(CONV).ir("tile-fuse", whole(1, 6, 6, 2), whole(2, 2, 2, 3))
    with pytest.raises(td.TileError, match="it is in a kernel; run tile-to-lift before tile-fuse"):
        TileToLiftPass().apply(Context(), parse_mlir(text, "test"))


def test_names():
    source = "function (A[N]) -> (C) { C[i: N] = +(A[i - j]), j < N; }"
    text = td.compile(source).ir("tile-bounds", np.zeros(3, np.float32))
    module: Any = parse_mlir(text, "test")
    with pytest.raises(td.TileError, match="there is no contraction D; there is C"):
        TileToLiftPass(("D",)).apply(Context(), module)
