"""Tensors without elements: programs of every family with each size 0 in turn, on every device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from compare import assert_close

import tiledialect as td
from tiledialect import lift

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Program:
    """A program, and the shape of each of its inputs, in named sizes."""

    source: str
    shapes: Sequence[str]
    sizes: Mapping[str, int]
    indices: Sequence[int] = ()
    """Inputs that hold numbers of rows."""
    never_empty: str = ""
    """A size that cannot be 0."""

    @property
    def empty(self) -> list[str]:
        """The sizes that can be 0."""
        return [name for name in self.sizes if name != self.never_empty]

    def inputs(self, empty: str) -> list[Array]:
        """Inputs, with one of the sizes 0."""
        random = np.random.default_rng(0)
        sizes = {**self.sizes, empty: 0}
        shapes = [tuple(sizes[name] for name in shape) for shape in self.shapes]
        return [
            random.integers(0, 3, shape).astype(np.int32 if k in self.indices else np.float32)
            for k, shape in enumerate(shapes)
        ]


PROGRAMS = {
    "product": Program(
        "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        ("MK", "KN"),
        {"M": 3, "K": 4, "N": 5},
    ),
    "convolution": Program(
        """function (I[N, H, C], W[K, C, D]) -> (O) {
          O[n, x, d: N, H, D] = +(I[n, x + k - 1, c] * W[k, c, d]);
        }""",
        ("NHC", "KCD"),
        {"N": 2, "H": 6, "C": 3, "K": 3, "D": 4},
    ),
    "rows": Program(
        """function (X[R, C]) -> (Y, S, M) {
          Y = softmax(X, 1);
          S[i: R] = +(X[i, j]);
          M[j: C] = >(X[i, j]);
        }""",
        ("RC",),
        {"R": 3, "C": 5},
    ),
    "scan": Program(
        "function (X[R, C]) -> (Y) { Y[i, j: R, C] = +(X[i, j - k]), k < C; }",
        ("RC",),
        {"R": 3, "C": 5},
    ),
    "pooling": Program(
        """function (I[N, H, C]) -> (O) {
          O[n, x, c: N, (H + 1) / 2, C] = >(I[n, 2*x + k, c]), k < 2;
        }""",
        ("NHC",),
        {"N": 2, "H": 6, "C": 3},
    ),
    "gather": Program(
        "function (X[V, R], I[P]) -> (O) { O = gather(X, I); }",
        ("VR", "P"),
        {"V": 4, "R": 3, "P": 5},
        indices=(1,),
        never_empty="V",
    ),
}


def check(f: td.Function, inputs: Sequence[Array]) -> None:
    """Fail unless a function does on its device what the reference does."""
    pair = (r if isinstance(r, tuple) else (r,) for r in (f(*inputs), f.reference(*inputs)))
    for actual, expected in zip(*pair, strict=True):
        assert_close(actual, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_and_gradients(name: str, device: td.Device):
    program = PROGRAMS[name]
    f = td.compile(program.source, device=device)
    both = f.value_and_gradient()
    for empty in program.empty:
        inputs = program.inputs(empty)
        results = f.reference(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        check(both, [*inputs, *map(np.ones_like, results)])


@pytest.mark.parametrize("options", [{"tune": 2}, {"precision": "tf32"}], ids=str)
def test_sums_of_nothing(options: dict[str, Any], device: td.Device):
    program = PROGRAMS["product"]
    check(td.compile(program.source, device=device, **options), program.inputs("K"))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)], ids=str)
def test_patterns(shape: tuple[int, ...], device: td.Device):
    total = lift.reduce_seq(lift.add, 0.0)
    f = td.compile(
        lift.fun(lift.array("N", "M"), lambda a: a >> lift.map_glb(total)), device=device
    )
    check(f, [np.ones(shape, np.float32)])


@pytest.mark.parametrize(
    "text",
    [
        "function (A) -> (B) { B = A + A; }",
        "function (A[N, M, K]) -> (B) { B[k, i, j: K, N, M] = =(A[i, j, k]); }",
        "function (A[N, M, K]) -> (B) { B[i, 0, k: N, 1, 0*K] = >(A[i, j, k]); }",
    ],
)
def test_many_rows_of_nothing(text: str, device: td.Device):
    """No work-item is started for what has no elements, however long its other axes are."""
    a = np.broadcast_to(np.int8(1), (2**20, 0, 2**20))
    f = td.compile(text, device=device)
    assert f(a).size == 0
    assert f.gradient()(a.astype(np.float32), f(a.astype(np.float32))).shape == a.shape


def test_the_shape_of_a_scalar(device: td.Device):
    f = td.compile("function (A[]) -> (S) { S = shape(A); }", device=device)
    check(f, [np.float32(1)])


def test_nothing_to_gather_from(device: td.Device):
    f = td.compile("function (X[V, R], I[P]) -> (O) { O = gather(X, I); }", device=device)
    for call in (f, f.reference):
        with pytest.raises(td.TileError, match="gather has nothing to take from X"):
            call(np.ones((0, 3), np.float32), np.zeros(5, np.int32))
