"""Elementwise functions and the functions that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradients.differences import Case

Array = npt.NDArray[Any]

_random = np.random.default_rng(11)


def reals(*shape: int, low: float = -2.0, high: float = 2.0) -> Array:
    """Numbers at least 0.05 away from 0 and from one another, where functions have corners."""
    count = int(np.prod(shape))
    steps = _random.permutation(count) + _random.uniform(0.25, 0.75, count)
    values = low + (high - low) * steps / max(count, 1)
    return np.asarray(np.where(np.abs(values) < 0.02, 0.02, values)).reshape(shape)


def integers(*shape: int, low: int = 0, high: int = 4) -> Array:
    return np.asarray(_random.integers(low, high, shape)).astype("int32")


RANGES: dict[str, tuple[float, float]] = {
    "acos": (-0.9, 0.9),
    "asin": (-0.9, 0.9),
    "log": (0.1, 3),
    "log1p": (-0.9, 3),
    "sqrt": (0.1, 3),
    "tan": (-1.2, 1.2),
    "recip": (0.3, 3),
}
SMOOTH = (
    "abs acos asin atan cos cosh erf exp expm1 ident log log1p neg recip relu sigmoid sin sinh sqrt tan tanh"
).split()
FLAT = "ceil floor round".split()

UNARY = [
    Case(
        name,
        f"function (A) -> (O) {{ O = {name}(A); }}",
        (reals(3, 4, low=RANGES.get(name, (-2, 2))[0], high=RANGES.get(name, (-2, 2))[1]),),
    )
    for name in (*SMOOTH, *FLAT)
]

BROADCASTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((4,), (3, 4)),
    ((3, 4), (3, 1)),
    ((3, 1), (1, 4)),
    ((), (3, 4)),
    ((3, 4), ()),
    ((), ()),
    ((1,), (5,)),
    ((2, 1, 3), (4, 1)),
    ((1, 1), (2, 3)),
    ((2, 0), (1, 1)),
]
OPERATORS = {
    "add": "A + B",
    "sub": "A - B",
    "mul": "A * B",
    "div": "A / B",
    "pow": "pow(A, B)",
    "max": "max(A, B)",
    "min": "min(A, B)",
    "choice": "A < B ? A * A : B",
}


def _binary(name: str, text: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Case:
    low = 0.3 if name in ("div", "pow") else -2.0
    a, b = (reals(*shape, low=low, high=2.1 + k / 7) for k, shape in enumerate(shapes))
    label = "_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
    return Case(f"{name}_{label}", f"function (A, B) -> (O) {{ O = {text}; }}", (a, b))


BINARY = [_binary(name, text, s) for name, text in OPERATORS.items() for s in BROADCASTS]


def _case(name: str, header: str, body: str, *inputs: Array, second: bool = True) -> Case:
    return Case(name, f"function {header} {{ {body} }}", inputs, second=second)


CHOICES = [
    _case(
        "select_tensors",
        "(C, A, B) -> (O)",
        "O = C ? A : B;",
        integers(3, 4, high=2),
        reals(3, 4),
        reals(4),
    ),
    _case(
        "select_condition", "(C, A) -> (O)", "O = C > 0.3 ? A * C : C;", reals(3, 1), reals(1, 4)
    ),
    _case("select_number", "(A) -> (O)", "O = A > 0 ? A : 0.1 * A;", reals(7)),
    _case("select_whole", "(A) -> (O)", "O = A > 0 ? 1 : A;", reals(7)),
    _case(
        "comparisons",
        "(A, B) -> (O)",
        "O = (A < B) + (A == B) * A + (A != B) * B + (A >= B) + (A <= B) + (A > B);",
        reals(5),
        reals(5),
    ),
    _case(
        "numbers",
        "(A) -> (O)",
        "O = 2 * A + 0.5 - A / 3 + pow(A, 2) + pow(2, A) + 1 / A;",
        reals(5),
    ),
    _case(
        "integers",
        "(A, I) -> (O)",
        "O = A * I + A / (I + 1) + pow(A, I) + (I & 1);",
        reals(5),
        integers(5),
    ),
    _case("dimension", "(A[N, M]) -> (O)", "O = A * N + M;", reals(2, 3)),
    _case("twice", "(A) -> (O)", "B = A * A; O = B * A + exp(B);", reals(3, low=-1, high=1)),
    _case(
        "same_operands",
        "(A) -> (O)",
        "O = max(A, A) + min(A, A) + A / A + A * A + A - A;",
        reals(3),
    ),
    _case("two_outputs", "(A, B) -> (O, P)", "O = A * B; P = O + sin(A);", reals(2, 3), reals(3)),
    _case("output_is_input", "(A, B) -> (A2, O)", "A2 = A; O = A * B;", reals(2, 3), reals(3)),
    _case("output_twice", "(A) -> (O, P)", "O = A * A; P = O;", reals(4)),
    _case("unused_input", "(A, B) -> (O)", "O = A * A;", reals(4), reals(2, 2)),
    _case("constant", "(A) -> (O)", "O = A < 0 ? 1.0 : 2.0;", reals(4), second=False),
    _case("integer_output", "(A) -> (O, I)", "O = A * A; I = as_int(A, 32);", reals(4)),
]

CASTS = [
    _case("through_integers", "(A) -> (O)", "O = as_float(as_int(A, 32), 64) * A;", reals(4)),
    _case("to_double", "(A) -> (O)", "O = as_float(A, 64) * A;", reals(4)),
    _case("as_bool", "(A) -> (O)", "O = as_bool(A) * A;", reals(4)),
    _case("index", "(A) -> (O)", "O = index(A, 1) * A + index(A, 0);", reals(3, 4)),
    _case(
        "shape",
        "(A[N, M]) -> (O)",
        "S = shape(A); T = as_float(S, 64); U[: ] = +(T[i]); O = A * U;",
        reals(3, 4),
    ),
]

MOVES = [
    _case("reshape", "(A[N, M]) -> (O)", "B = reshape(A, M, N); O = B * B;", reals(3, 4)),
    _case("flatten", "(A[N, M]) -> (O)", "O = sin(reshape(A, N * M));", reals(3, 4)),
    _case("reshape_scalar", "(A[N]) -> (O)", "O = sin(reshape(A));", reals(1)),
    _case("gather", "(A[N, M], I[K]) -> (O)", "O = gather(A * A, I);", reals(4, 3), integers(6)),
    _case(
        "gather_2d",
        "(A[N, M], I[K, L]) -> (O)",
        "O = sin(gather(A, I));",
        reals(4, 3),
        integers(2, 5),
    ),
    _case("gather_vector", "(A[N], I) -> (O)", "O = sin(gather(A, I));", reals(4), integers(2, 5)),
    _case(
        "gather_scalar", "(A[N, M], I[]) -> (O)", "O = sin(gather(A, I));", reals(4, 3), integers()
    ),
    _case(
        "gather_outside",
        "(A[N, M], I[K]) -> (O)",
        "O = sin(gather(A, I));",
        reals(4, 3),
        integers(9, low=-3, high=8),
    ),
    _case(
        "scatter",
        "(U[K, M], I[K], V[N, M]) -> (O)",
        "S = scatter(U * U, I, V); O = S * V;",
        reals(6, 3),
        integers(6),
        reals(4, 3),
    ),
    _case(
        "scatter_2d",
        "(U[K, L, M], I[K, L], V[N, M]) -> (O)",
        "O = sin(scatter(U, I, V));",
        reals(2, 3, 2),
        integers(2, 3),
        reals(4, 2),
    ),
    _case(
        "scatter_outside",
        "(U[K], I[K], V[N]) -> (O)",
        "O = sin(scatter(U, I, V));",
        reals(9),
        integers(9, low=-3, high=8),
        reals(4),
    ),
]

BUILTINS = [
    _case("softmax", "(A[N, M]) -> (O)", "O = builtin_softmax(A, N, M);", reals(3, 4)),
    _case("logsoftmax", "(A[N, M]) -> (O)", "O = builtin_logsoftmax(A * A, N, M);", reals(3, 4)),
    _case(
        "crossentropy",
        "(P, T) -> (O)",
        "O = builtin_binary_crossentropy(P, T, 3);",
        reals(3, 4, low=0.1, high=0.9),
        reals(3, 4, low=0.1, high=0.9),
    ),
    _case(
        "prng",
        "(A[N, M], S) -> (O, T)",
        "Step = prng_step(S, N, M); R = prng_value(Step); O = R < 0.5 ? 2 * A * R : 0; T = prng_state(Step);",
        reals(3, 4),
        np.arange(4, dtype="uint32"),
    ),
]

CASES = [*UNARY, *BINARY, *CHOICES, *CASTS, *MOVES, *BUILTINS]
