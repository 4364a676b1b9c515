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
from tiledialect.mlir_text import parse_mlir
from tiledialect.passes.lift import Derivation, everywhere
from tiledialect.passes.lift.families import RULES
from tiledialect.passes.lift_lower import LiftLowerPass
from tiledialect.passes.tile_bounds import TileBoundsPass
from tiledialect.passes.tile_defract import TileDefractPass
from tiledialect.passes.tile_reduce import TileReducePass
from tiledialect.passes.tile_to_lift import TileToLiftPass

CONV = (Path(__file__).parents[2] / "examples" / "conv.tile").read_text()
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


@settings(max_examples=80, deadline=None)
@given(st.booleans().flatmap(contractions))
def test_random_contractions(made: Contraction):
    """What is not refused is the same."""
    module, arrays = contraction_module([made])
    try:
        patterns = as_patterns(module)
    except td.TileError:
        return
    (found,), (expected,) = reference(patterns, arrays), reference(module, arrays)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("source", "shapes", "why"),
    [
        ("function (A[N]) -> (C) { C[i: N] = >(A[i - j]), j < N; }", [(5,)], "max has no neutral element"),
        ("function (A[N, N]) -> (C) { C[i: N] = +(A[i, i]); }", [(3, 3)], "i is an index of two axes of one tensor"),
        ("function (A[N], B[N]) -> (C) { C[i: N] = +(A[i + j] + B[i]), j < 2; }", [(3,), (3,)], "i + j goes beyond the edges of A"),
        ("function (A[N], B[N]) -> (C) { C[i: N] = +(A[i] == B[i]); }", [(3,), (3,)], "it compares elements"),
        ("function (I[N]) -> (C) { C[2*x + k: 2*N] = =(I[x]), k < 2; }", [(3,)], "it assigns what it finds at some v1_0"),
        ("function (A[N]) -> (C) { C[3*i: 3*N] = +(A[i]); }", [(3,)], "3*"),
    ],
)  # fmt: skip
def test_refused(source: str, shapes: Sequence[tuple[int, ...]], why: str):
    f = td.compile(source)
    text = f.ir("tile-specialize", *(whole(*shape) for shape in shapes))
    with pytest.raises(td.TileError) as raised:
        as_patterns(parse_mlir(text, "test"))
    assert raised.value.message.startswith("C cannot be expressed as patterns: ")
    assert why in raised.value.message


def test_names():
    source = "function (A[N]) -> (C) { C[i: N] = +(A[i - j]), j < N; }"
    text = td.compile(source).ir("tile-bounds", np.zeros(3, np.float32))
    module: Any = parse_mlir(text, "test")
    with pytest.raises(td.TileError, match="there is no contraction D; there is C"):
        TileToLiftPass(("D",)).apply(Context(), module)
