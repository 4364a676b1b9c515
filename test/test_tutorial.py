"""Every function of the Tile tutorial, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from running import Case, case, reference, run

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(20)


def reals(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def dilated(image: Array, kernel: Array) -> Array:
    """The tutorial's convolution, valid, dilated by 2 in x and 3 in y."""
    n, lx, ly, _ = image.shape
    kx, ky, _, co = kernel.shape
    out = np.zeros((n, lx - 2 * (kx - 1), ly - 3 * (ky - 1), co))
    for i in range(kx):
        for j in range(ky):
            window = image[:, 2 * i : 2 * i + out.shape[1], 3 * j : 3 * j + out.shape[2]]
            out += window @ kernel[i, j]
    return out


def convolution_1d(image: Array, kernel: Array) -> Array:
    length = image.shape[1] - len(kernel) + 1
    return sum(image[:, k : k + length] @ kernel[k] for k in range(len(kernel)))


def strided(image: Array, kernel: Array) -> Array:
    """The blog post's convolution: stride 3, dilation 2."""
    n, h, w, _ = image.shape
    out = np.zeros((n, h // 3, w // 3, kernel.shape[3]))
    for y in range(h // 3):
        for x in range(w // 3):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    if 3 * y + 2 * j < h and 3 * x + 2 * i < w:
                        out[:, y, x] += image[:, 3 * y + 2 * j, 3 * x + 2 * i] @ kernel[j, i]
    return out


def pairs(values: Array, count: int) -> Array:
    return np.array([values[2 * i : 2 * i + 2].max() for i in range(count)])


def even_rows(values: Array) -> Array:
    out = np.zeros(len(values))
    out[::2] = values[::2].sum(axis=1)
    return out


CASES = [
    case(
        "sum_over_axis",
        "function (I[M, N]) -> (O) { O[n: N] = +(I[m, n]); }",
        [reals(5, 7)],
        lambda i: i.sum(axis=0),
        length=5,
    ),
    case(
        "sum_padded",
        "function (I[M, N]) -> (O) { O[n: N+1] = +(I[m, n]); }",
        [reals(5, 7)],
        lambda i: np.append(i.sum(axis=0), 0),
        length=5,
    ),
    case(
        "sum_truncated",
        "function (I[M, N]) -> (O) { O[n: N-2] = +(I[m, n]); }",
        [reals(5, 7)],
        lambda i: i.sum(axis=0)[:5],
        length=5,
    ),
    case(
        "matrix_multiplication",
        "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [reals(4, 5), reals(5, 6)],
        lambda a, b: a @ b,
        length=5,
    ),
    case(
        "square",
        "function (A[N, N]) -> (C) { C[i, j: N, N] = +(A[i, k] * A[k, j]); }",
        [reals(6, 6)],
        lambda a: a @ a,
        length=6,
    ),
    case(
        "max_over_axis",
        "function (I[M, N]) -> (O) { O[n: N] = >(I[m, n]); }",
        [reals(5, 7)],
        lambda i: i.max(axis=0),
    ),
    case(
        "global_min",
        "function (I) -> (O) { Neg = -I; O_Neg[] = >(Neg[i, j, k]); O = -O_Neg; }",
        [reals(3, 4, 5)],
        lambda i: i.min(),
    ),
    case(
        "average_over_axis",
        "function (I[X, Y]) -> (O) { Sum[y: Y] = +(I[x, y]); O = Sum / X; }",
        [reals(5, 7)],
        lambda i: i.mean(axis=0),
        length=5,
    ),
    case(
        "average_in_stages",
        """function (I[X, Y]) -> (O) {
             Sum[] = +(I[x, y]);
             PartialMean = Sum / X;
             O = PartialMean / Y;
           }""",
        [reals(5, 7)],
        lambda i: i.mean(),
        length=35,
        scale=1,
    ),
    case(
        "average",
        "function (I[X, Y]) -> (O) { Sum[] = +(I[x, y]); O = Sum / (X * Y); }",
        [reals(5, 7)],
        lambda i: i.mean(),
        length=35,
        scale=1,
    ),
    case(
        "max_pool_without_constraint",
        "function (I[N]) -> (O) { O[i: N / 2] = >(I[2 * i + j]); }",
        [reals(9)],
        lambda i: np.full(4, i.max()),
    ),
    *(
        case(
            f"max_pool_{n}",
            "function (I[N]) -> (O) { O[i: N / 2] = >(I[2 * i + j]), j < 2; }",
            [reals(n)],
            lambda i: pairs(i, len(i) // 2),
        )
        for n in (8, 9)
    ),
    *(
        case(
            f"max_pool_rounding_up_{n}",
            "function (I[N]) -> (O) { O[i: (N + 1) / 2] = >(I[2 * i + j]), j < 2; }",
            [reals(n)],
            lambda i: pairs(i, (len(i) + 1) // 2),
        )
        for n in (8, 5)
    ),
    case(
        "skipping",
        "function (I[N, M]) -> (O) { O[2 * i: N] = +(I[2 * i, j]); }",
        [reals(7, 4)],
        even_rows,
        length=4,
    ),
    case(
        "cumulative_sum",
        "function (I[N]) -> (O) { O[i: N] = +(I[k]), i - k < N; }",
        [reals(11)],
        np.cumsum,
        length=11,
    ),
    case(
        "cumulative_sum_by_distance",
        "function (I[N]) -> (O) { O[i: N] = +(I[i - j]), j < N; }",
        [reals(11)],
        np.cumsum,
        length=11,
    ),
    case(
        "convolution_1d",
        """function (I[N, L, CI], K[LK, CI, CO]) -> (O) {
             O[n, x, co: N, L - LK + 1, CO] = +(I[n, x + k, ci] * K[k, ci, co]);
           }""",
        [reals(2, 9, 3), reals(4, 3, 5)],
        convolution_1d,
        length=12,
    ),
    case(
        "dilated_convolution_2d",
        """function (I[N, Lx, Ly, CI], K[LKx, LKy, CI, CO]) -> (O) {
             O[n, x, y, co: N, Lx - 2 * (LKx - 1), Ly - 3 * (LKy - 1), CO] =
                 +(I[n, x + 2 * kx, y + 3 * ky, ci] * K[kx, ky, ci, co]);
           }""",
        [reals(2, 8, 10, 3), reals(3, 2, 3, 4)],
        dilated,
        length=18,
    ),
    case(
        "strided_dilated_convolution",
        """function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) {
             O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);
           }""",
        [reals(2, 9, 9, 5), reals(2, 2, 5, 7)],
        strided,
        length=20,
    ),
]


def sigmoid(a: Array) -> Array:
    return 1 / (1 + np.exp(-a))


def positive(*shape: int) -> Array:
    return np.abs(reals(*shape)) + np.float32(0.1)


ELEMENTWISE = [
    case("addition", "function (A, B) -> (O) { O = A + B; }", [reals(3, 4), reals(4)], np.add),
    case("subtraction", "function (A, B) -> (O) { O = A - B; }", [reals(3, 1), reals(4)], np.subtract),
    case("multiplication", "function (A, B) -> (O) { O = A * B; }", [reals(2, 3), reals(2, 3)], np.multiply),
    case("division", "function (A, B) -> (O) { O = A / B; }", [reals(2, 3), positive(3)], np.divide),
    case("equality", "function (A, B) -> (O) { O = A == B; }", [reals(5), reals(2, 1)], np.equal, dtype=bool),
    case("inequality", "function (A, B) -> (O) { O = A != B; }", [np.eye(3), np.ones(3)], np.not_equal, dtype=bool),
    case("less", "function (A, B) -> (O) { O = A < B; }", [reals(7), reals(7)], np.less, dtype=bool),
    case("square_root", "function (A) -> (O) { O = sqrt(A); }", [positive(3, 4)], np.sqrt),
    case("exponential", "function (A) -> (O) { O = exp(A); }", [reals(3, 4)], np.exp),
    case("power", "function (A, B) -> (O) { O = pow(A, B); }", [positive(3, 4), reals(4)], np.power),
    case("sine", "function (A) -> (O) { O = sin(A); }", [reals(3, 4)], np.sin),
    case("hyperbolic_tangent", "function (A) -> (O) { O = tanh(A); }", [reals(3, 4)], np.tanh),
    case("natural_log", "function (A) -> (O) { O = log(A); }", [positive(3, 4)], np.log),
    case("sigmoid", "function (A) -> (O) { O = sigmoid(A); }", [reals(3, 4)], sigmoid),
    case(
        "conditional",
        "function (C, T, E) -> (O) { O = C ? T : E; }",
        [RANDOM.integers(0, 2, (3, 4)).astype(np.int32), reals(3, 4), reals(3, 4)],
        np.where,
        dtype=np.float32,
    ),
    case(
        "conditional_on_one_value",
        "function (C, T, E) -> (O) { O = C ? T : E; }",
        [np.array(True), reals(3, 4), reals(3, 4)],
        np.where,
        dtype=np.float32,
    ),
]  # fmt: skip


@pytest.mark.parametrize("program", CASES + ELEMENTWISE, ids=str)
def test_reference(program: Case):
    program.check(reference(program.source, program.inputs))


@pytest.mark.parametrize("program", CASES + ELEMENTWISE, ids=str)
def test_on_device(program: Case, device: Any):
    program.check(run(program.source, program.inputs, device))
