"""Operations that move elements about: slices, concatenation, padding, transposition, repetition."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.data import reals, values

Array = npt.NDArray[Any]

DTYPES = ("float32", "bfloat16", "float16", "float64", "int8", "uint16", "int64", "bool")


def sliced(size: int, start: int, stop: int, step: int) -> Case:
    """Slice of an axis, as Python slices it; the bounds are inside it."""
    count = len(range(start, stop, step))
    return case(
        f"slice_{start}_{stop}_{step}_of_{size}",
        f"function (I[N]) -> (O) {{ O[i: {count}] = =(I[{step}*i + {start}]); }}",
        [reals(size)],
        lambda a: a[start : (None if stop < 0 else stop) : step],
    )


SLICES = [
    *((10, 0, 10, s) for s in (1, 2, 3, 7)),
    *((10, 9, -1, -s) for s in (1, 2, 4)),
    (10, 3, 8, 1), (10, 3, 8, 2), (10, 8, 2, -2), (10, 4, 4, 1), (1, 0, 1, 1),
]  # fmt: skip


def concatenated(shapes: list[tuple[int, ...]], axis: int, dtype: str = "float32") -> Case:
    """As a sum of shifted copies in zeros."""
    rank, letters = len(shapes[0]), "abcd"
    headers = [f"I{k}[{', '.join(f'D{k}{r}' for r in range(rank))}]" for k in range(len(shapes))]
    total = " + ".join(f"D{k}{axis}" for k in range(len(shapes)))
    sizes = ", ".join(total if r == axis else f"D0{r}" for r in range(rank))
    lines, offset = [], "0"
    for k in range(len(shapes)):
        out = ", ".join(
            f"{letters[r]} + {offset}" if r == axis else letters[r] for r in range(rank)
        )
        lines.append(f"P{k}[{out}: {sizes}] = =(I{k}[{', '.join(letters[:rank])}]);")
        offset = f"{offset} + D{k}{axis}"
    joined = " + ".join(f"P{k}" for k in range(len(shapes)))
    return case(
        f"concatenate_{len(shapes)}_of_rank_{rank}_axis_{axis}_{dtype}",
        f"function ({', '.join(headers)}) -> (O) {{ {' '.join(lines)} O = {joined}; }}",
        [values(*shape, dtype=dtype) for shape in shapes],
        lambda *arrays: np.concatenate(arrays, axis),
    )


def concatenated_by_default(dtype: str) -> Case:
    """As copies over one another."""
    return case(
        f"concatenate_by_default_{dtype}",
        """function (A[N, M], B[K, M]) -> (O) {
             P[i, j: N + K, M] = =(A[i, j]);
             O[i + N, j: N + K, M] = =(B[i, j]) default P;
           }""",
        [values(3, 4, dtype=dtype), values(2, 4, dtype=dtype)],
        lambda a, b: np.concatenate([a, b]),
    )


def with_another_row() -> Case:
    """A row in the place of the first, which is computed of another."""

    def expected(a: Any) -> Any:
        return np.concatenate([np.exp(a[-1:]), a[1:]])

    return case(
        "with_another_row",
        "function (A[N, M]) -> (O) { T = exp(A); O[0, j: N, M] = =(T[N - 1, j]) default A; }",
        [reals(3, 4)],
        expected,
    )


def padded(mode: str) -> Case:
    """Axis padded by 2 before and 3 after."""
    bodies = {
        "constant": "O[i + 2: N + 5] = =(I[i]);",
        "edge": """
            M[i + 2: N + 5] = =(I[i]);
            L[i: N + 5] = =(I[0 * i]), i < 2 default M;
            O[i + N + 2: N + 5] = =(I[0 * i + N - 1]), i < 3 default L;""",
        "reflect": """
            M[i + 2: N + 5] = =(I[i]);
            L[i: N + 5] = =(I[2 - i]), i < 2 default M;
            O[i + N + 2: N + 5] = =(I[N - 2 - i]), i < 3 default L;""",
        "symmetric": """
            M[i + 2: N + 5] = =(I[i]);
            L[i: N + 5] = =(I[1 - i]), i < 2 default M;
            O[i + N + 2: N + 5] = =(I[N - 1 - i]), i < 3 default L;""",
        "wrap": """
            M[i + 2: N + 5] = =(I[i]);
            L[i: N + 5] = =(I[N - 2 + i]), i < 2 default M;
            O[i + N + 2: N + 5] = =(I[i]), i < 3 default L;""",
    }
    return case(
        f"pad_{mode}",
        f"function (I[N]) -> (O) {{ {bodies[mode]} }}",
        [reals(6)],
        lambda a: np.pad(a, (2, 3), mode),  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownLambdaType]
    )


def transposed(order: tuple[int, ...], dtype: str = "float32") -> Case:
    letters, dims = "ijkl", "DEFG"
    rank = len(order)
    out = ", ".join(letters[a] for a in order)
    sizes = ", ".join(dims[a] for a in order)
    header, read = ", ".join(dims[:rank]), ", ".join(letters[:rank])
    return case(
        f"transpose_{''.join(map(str, order))}_{dtype}",
        f"function (I[{header}]) -> (O) {{ O[{out}: {sizes}] = =(I[{read}]); }}",
        [values(*(2, 3, 4, 5)[:rank], dtype=dtype)],
        lambda a: a.transpose(order),
    )


def flipped(axes: tuple[int, ...]) -> Case:
    read = ", ".join(
        f"{d} - 1 - {i}" if a in axes else i
        for a, (d, i) in enumerate(zip("NM", "ij", strict=True))
    )
    return case(
        f"flip_{''.join(map(str, axes))}",
        f"function (I[N, M]) -> (O) {{ O[i, j: N, M] = =(I[{read}]); }}",
        [reals(4, 5)],
        lambda a: np.flip(a, axes),
    )


def simple(name: str, header: str, body: str, expected: Any, *inputs: Array) -> Case:
    return case(name, f"function ({header}) -> (O) {{ {body} }}", inputs, expected)


SIMPLE = [
    simple(
        "repeat",
        "I[N, M]",
        "O[i, j: N, 3*M] = +(I[i, k]), j - 3*k < 3;",
        lambda a: np.repeat(a, 3, axis=1),
        reals(4, 5),
    ),
    simple(
        "upsample",
        "I[N, H, W, C]",
        "O[n, y, x, c: N, 2*H, 2*W, C] = +(I[n, j, i, c]), y - 2*j < 2, x - 2*i < 2;",
        lambda a: a.repeat(2, axis=1).repeat(2, axis=2),
        reals(2, 3, 4, 2),
    ),
    simple(
        "tile",
        "I[N]",
        "T[r, i: 3, N] = =(I[i]); O = reshape(T, 3 * N);",
        lambda a: np.tile(a, 3),
        reals(5),
    ),
    simple(
        "stack",
        "A[N], B[N]",
        "P[r, i: 2, N] = =(A[i]), r < 1; O[1, i: 2, N] = =(B[i]) default P;",
        lambda a, b: np.stack([a, b]),
        reals(5),
        reals(5),
    ),
    simple(
        "stack_last",
        "A[N], B[N]",
        "P[i, 0: N, 2] = =(A[i]); Q[i, 1: N, 2] = =(B[i]); O = P + Q;",
        lambda a, b: np.stack([a, b], axis=-1),
        reals(5),
        reals(5),
    ),
    simple("expand", "I[N, M]", "O[i, 0, j: N, 1, M] = =(I[i, j]);", lambda a: a[:, None], reals(3, 4)),
    simple("squeeze", "I[N, P, M]", "O[i, j: N, M] = =(I[i, 0, j]);", lambda a: a[:, 0], reals(3, 1, 4)),
    simple("broadcast", "I[N]", "O[i, j: 4, N] = =(I[j]);", lambda a: np.tile(a, (4, 1)), reals(5)),
    simple("pick_row", "I[N, M]", "O[j: M] = =(I[2, j]);", lambda a: a[2], reals(4, 5)),
    simple("pick_last", "I[N, M]", "O[i: N] = =(I[i, M - 1]);", lambda a: a[:, -1], reals(4, 5)),
    simple(
        "diagonal_matrix", "I[N]", "O[i, i: N, N] = =(I[i]);", np.diag, reals(5)
    ),
    simple(
        "shift_with_zeros", "I[N]", "O[i: N] = =(I[i - 2]);", lambda a: np.append([0, 0], a[:-2]), reals(7)
    ),
    simple(
        "roll",
        "I[N]",
        "P[i: N] = =(I[i - 3]); O[i: N] = =(I[i + N - 3]), i < 3 default P;",
        lambda a: np.roll(a, 3),
        reals(8),
    ),
    simple(
        "interleave_zeros",
        "I[N]",
        "O[3*i + 1: 3*N] = =(I[i]);",
        lambda a: np.stack([0 * a, a, 0 * a], axis=1).ravel(),
        reals(5),
    ),
    simple(
        "every_other",
        "I[N]",
        "O[i: N] = =(I[i/2]);",
        lambda a: np.stack([a, 0 * a], axis=1).ravel()[: len(a)],
        reals(7),
    ),
    simple(
        "patches",
        "I[H, W]",
        "O[y, x, j, i: H - 2, W - 1, 3, 2] = =(I[y + j, x + i]);",
        lambda a: np.lib.stride_tricks.sliding_window_view(a, (3, 2)),
        reals(5, 6),
    ),
    simple(
        "space_to_depth",
        "I[H, W, C]",
        "T[y, x, j, i, c: H/2, W/2, 2, 2, C] = =(I[2*y + j, 2*x + i, c]);"
        "O = reshape(T, H/2, W/2, 4 * C);",
        lambda a: a.reshape(2, 2, 3, 2, 3).swapaxes(1, 2).reshape(2, 3, 12),
        reals(4, 6, 3),
    ),
    simple(
        "reshape", "I[A, B, C]", "O = reshape(I, C, A * B);", lambda a: a.reshape(4, 6), reals(2, 3, 4)
    ),
    simple("flatten", "I[A, B, C]", "O = reshape(I, A * B * C);", np.ravel, reals(2, 3, 4)),
    simple("to_scalar", "I[A, B]", "O = reshape(I);", lambda a: a.reshape(()), reals(1, 1)),
    simple(
        "reshape_between",
        "I[A, B]",
        "T = exp(I); R = reshape(T, B, A); O = -R;",
        lambda a: -np.exp(a).reshape(5, 3),
        reals(3, 5),
    ),
    simple("input_is_output", "I[N]", "O = I;", lambda a: a, reals(5)),
]  # fmt: skip

CASES = [
    *(sliced(*s) for s in SLICES),
    *(concatenated([(2, 3), (4, 3)], 0, d) for d in DTYPES if d != "bool"),
    concatenated([(2, 3), (2, 1), (2, 4)], 1),
    concatenated([(2, 3, 4), (2, 2, 4)], 1),
    concatenated([(3,), (1,), (2,), (5,)], 0),
    with_another_row(),
    *map(concatenated_by_default, DTYPES),
    *map(padded, ("constant", "edge", "reflect", "symmetric", "wrap")),
    *map(transposed, permutations(range(3))),
    *(transposed(order) for order in ((3, 2, 1, 0), (0, 3, 1, 2), (0, 2, 3, 1))),
    *(transposed((1, 0), d) for d in DTYPES),
    *map(flipped, ((), (0,), (1,), (0, 1))),
    *SIMPLE,
]
