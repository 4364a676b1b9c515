"""Random legal schedules of contractions with long loops, in tails and past the index too.

Compilers make other code of these than of the short ones that `generators` makes.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from building import type_of
from hypothesis import strategies as st
from running import reference, run
from test_schedules import agree, scheduled, tiles_that_fit
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.tools.tile_opt import TileOptMain

Array = npt.NDArray[np.generic]

STATEMENTS = {
    "(A[N, K]) -> (S) { S[i: N] = {}(A[i, k]); }": ("nk",),
    "(A[K, N]) -> (S) { S[i: N] = {}(A[k, i]); }": ("kn",),
    "(A[N, K], X[K]) -> (S) { S[i: N] = {}(A[i, k] * X[k]); }": ("nk", "k"),
    "(A[N, K], B[K, M]) -> (C) { C[i, j: N, M] = {}(A[i, k] * B[k, j]); }": ("nk", "km"),
    "(A[N, K], W[T]) -> (C) { C[i, x: N, K] = {}(A[i, x + t] * W[t]); }": ("nk", "t"),
    "(A[N, K]) -> (C) { C[i, x: N, (K + 1) / 2] = {}(A[i, 2*x + t]), t < 3; }": ("nk",),
    "(A[N, K]) -> (T) { T[k, i: K, N] = =(A[i, k]); }": ("nk",),
    "(A[N, K]) -> (S) { S[i: N] = {}(A[i, k]), k - i < 5; }": ("nk",),
}
"""Functions with a place for the aggregation, and the sizes of their inputs, a letter each."""
AGGREGATIONS = "++><"
DTYPES = (np.float32, np.float32, np.float64, np.int32)
SIZES = st.sampled_from([3, 7, 8, 13, 16, 31, 37, 61, 64])


@dataclass(frozen=True)
class Given:
    """A program, the same with schedules, and inputs for it."""

    module: str
    scheduled: str
    arrays: tuple[Array, ...]


@st.composite
def given_schedules(draw: st.DrawFn) -> Given:
    """A contraction with long loops, and a schedule of it."""
    statement = draw(st.sampled_from(sorted(STATEMENTS)))
    sizes = {letter: draw(SIZES) for letter in "nkm"} | {"t": 3}
    random, dtype = np.random.default_rng(0), draw(st.sampled_from(DTYPES))
    shapes = [[sizes[letter] for letter in letters] for letters in STATEMENTS[statement]]
    # Sums of their products are exact.
    arrays = tuple(random.integers(1, 9, shape).astype(dtype) for shape in shapes)
    aggregation = draw(st.sampled_from(AGGREGATIONS))
    module = load("function " + statement.replace("{}", aggregation))
    specialize(find_function(module), [type_of(array) for array in arrays])
    return Given(str(module), str(draw(scheduled(module))), arrays)


def parsed(text: str) -> ModuleOp:
    module = TileOptMain([]).parse_chunk(io.BytesIO(text.encode()), "mlir")
    assert module is not None
    return module


def schedules_agree(given: Given) -> None:
    """Fail unless every device gives what the reference gives."""
    for device in td.devices():
        agrees(given, device)


def agrees(given: Given, device: td.Device) -> None:
    """Fail unless a device gives what the reference gives."""
    expected = reference(parsed(given.module), given.arrays)
    with warnings.catch_warnings(), tiles_that_fit():
        warnings.simplefilter("ignore")
        actual = run(parsed(given.scheduled), given.arrays, device)
        agree(actual, expected, [0] * len(expected))
