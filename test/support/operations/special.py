"""Gather, scatter, positions, shapes, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.data import integers, reals, values

Array = npt.NDArray[Any]


def scattered(updates: Array, indices: Array, like: Array) -> Array:
    out = np.zeros((len(like), *updates.shape[indices.ndim :]), updates.dtype)
    for place in np.ndindex(indices.shape):
        if 0 <= indices[place] < len(like):
            out[indices[place]] += updates[place] if updates.ndim else updates
    return out


def gather(name: str, table: Array, indices: Array) -> Case:
    return case(
        f"gather_{name}",
        "function (V, I) -> (O) { O = gather(V, I); }",
        [table, indices],
        lambda v, i: v[[min(max(int(k), 0), len(v) - 1) for k in i.ravel()]].reshape(
            *i.shape, *v.shape[1:]
        ),
    )


def scatter(name: str, updates: Array, indices: Array, like: Array) -> Case:
    return case(
        f"scatter_{name}",
        "function (U, I, V) -> (O) { O = scatter(U, I, V); }",
        [updates, indices, like],
        scattered,
        length=8,
    )


def places(*shape: int, dtype: str = "int32", size: int = 6) -> Array:
    return integers(*shape, dtype=dtype, low=0, high=size - 1)


CASES = [
    gather("rows", reals(6, 4), places(5)),
    gather("elements", reals(6), places(5)),
    gather("blocks", reals(6, 2, 3), places(2, 4)),
    gather("by_a_scalar", reals(6, 4), places()),
    gather("nothing", reals(6, 4), places(0)),
    gather("far_below_and_above", reals(6, 4), np.array([-(2**40), 2**40, 3 - 2**32, 2**32 + 3])),
    gather("above_all_signed", reals(6, 4), np.array([2, 2**63 + 1, 2**32 + 3], np.uint64)),
    gather("out_of_range", reals(6, 4), integers(20, low=-3, high=9)),
    *(
        gather(f"by_{d}", reals(6, 4), places(5, dtype=d))
        for d in ("int8", "uint8", "int64", "uint64")
    ),
    *(
        gather(f"of_{d}", values(6, 4, dtype=d), places(5))
        for d in ("bfloat16", "float16", "float64", "int8", "uint32", "int64", "bool")
    ),
    scatter("rows", reals(5, 4), places(5), reals(6, 1)),
    scatter("elements", reals(9), places(9), reals(6)),
    scatter("one_number", reals(), places(9), reals(6)),
    scatter("one_number_to_blocks", integers(low=2, high=3), places(2, 4), reals(6)),
    scatter("blocks", reals(2, 4, 3), places(2, 4), reals(6, 3)),
    scatter("to_one_place", reals(8, 2), np.zeros(8, np.int32), reals(3, 2)),
    scatter("out_of_range", reals(20, 2), integers(20, low=-3, high=9), reals(6, 2)),
    *(
        scatter(f"of_{d}", values(9, 2, dtype=d), places(9), values(6, 2, dtype=d))
        for d in ("bfloat16", "float16", "float64", "int8", "uint32", "int64")
    ),
    case(
        "embedding_sum",
        """function (V[W, D], I[N, T]) -> (O) {
             E = gather(V, I);
             O[n, d: N, D] = +(E[n, t, d]);
           }""",
        [reals(6, 4), places(3, 5)],
        lambda v, i: v[i].sum(axis=1),
        length=5,
    ),
    case(
        "gather_of_computed",
        "function (V, I) -> (O) { W = exp(V); J = I + 1; G = gather(W, J); O = -G; }",
        [reals(6, 4), places(5, size=5)],
        lambda v, i: -np.exp(v)[i + 1],
    ),
    case(
        "one_hot",
        """function (I[N], Labels[M]) -> (O) {
             C[i, m: N, M] = +(I[i] == Labels[m]);
             O = as_float(C, 32);
           }""",
        [places(5), np.arange(6, dtype=np.int32)],
        lambda i, labels: i[:, None] == labels,
        dtype=np.float32,
    ),
    case(
        "one_hot_by_index",
        """function (I[N]) -> (O) {
             Zero[i, m: N, 6] = =(I[i]);
             O = index(Zero, 1) == Zero ? 1.0 : 0.0;
           }""",
        [places(5)],
        lambda i: i[:, None] == np.arange(6),
        dtype=np.float32,
    ),
    *(
        case(
            f"index_axis_{axis}",
            f"function (I) -> (O) {{ O = index(I, {axis}); }}",
            [reals(3, 4, 5)],
            lambda a, axis=axis: np.broadcast_to(
                np.arange(a.shape[axis]).reshape([-1 if b == axis else 1 for b in range(3)]),
                a.shape,
            ),
            dtype=np.int32,
        )
        for axis in range(3)
    ),
    case(
        "index_of_one_element",
        "function (A[N, 1], B[N, M]) -> (O) { O = B + index(A, 1); }",
        [reals(4, 1), reals(4, 5)],
        lambda a, b: b,
    ),
    case(
        "lower_triangle",
        "function (A) -> (O) { O = index(A, 1) <= index(A, 0) ? A : 0; }",
        [reals(4, 5)],
        np.tril,
    ),
    case(
        "upper_triangle_by_constraint",
        "function (A[N, M]) -> (O) { O[i, j: N, M] = =(A[i, j]), j - i - 1 < M; }",
        [reals(4, 5)],
        lambda a: np.triu(a, 1),
    ),
    case(
        "band",
        "function (A[N, M]) -> (O) { O[i, j: N, M] = =(A[i, j]), j - i + 1 < 3; }",
        [reals(5, 6)],
        lambda a: np.triu(np.tril(a, 1), -1),
    ),
    case(
        "identity_matrix",
        "function (A[N]) -> (O) { One = 1.0; O[i, i: N, N] = =(One[]); }",
        [reals(5)],
        lambda a: np.eye(5),
    ),
    case(
        "range",
        "function (A[N]) -> (O) { One = 1.0; Ones[i: N] = =(One[]); O = index(Ones, 0) * 3 + 2; }",
        [reals(7)],
        lambda a: 3 * np.arange(7) + 2,
        dtype=np.int32,
    ),
    case(
        "shape",
        "function (A) -> (O) { O = shape(A); }",
        [reals(3, 1, 5)],
        lambda a: np.array(a.shape),
        dtype=np.int32,
    ),
    case(
        "dimensions_as_values",
        "function (A[N, M]) -> (O) { O = A * N + M - (N - M) / 2; }",
        [reals(3, 8)],
        lambda a: a * 3 + 8 - int((3 - 8) / 2),
    ),
    case(
        "tuple_elements",
        "function (A, B) -> (O) { T = tuple(A, B); O = element(T, 1) - element(T, 0); }",
        [reals(3), reals(3)],
        lambda a, b: b - a,
    ),
    case(
        "full",
        "function (A[N, M]) -> (O) { V = 2.5; O[i, j: N, M] = =(V[]); }",
        [reals(3, 4)],
        lambda a: np.full((3, 4), 2.5),
    ),
]


def philox(key: Array, counter: int) -> list[int]:
    """A block of Philox4x32-10, in Python's integers."""
    mask = 2**32 - 1
    k0, k1 = int(key[0]), int(key[1])
    x = [counter & mask, counter >> 32 & mask, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(q >> 32) ^ x[1] ^ k0, q & mask, (p >> 32) ^ x[3] ^ k1, p & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return x


def drawn(state: Array, count: int, skip: int = 0) -> Array:
    counter = int(state.ravel()[2]) + (int(state.ravel()[3]) << 32) + skip
    blocks = range(counter, counter + -(-count // 4))
    words = [w for b in blocks for w in philox(state.ravel()[:2], b % 2**64)]
    return np.array([(w >> 8) * 2.0**-24 for w in words[:count]])


STATE = np.array([[11, 12, 2**32 - 2], [5, 6, 7]], np.uint32)

CASES += [
    case(
        "random_numbers",
        "function (S) -> (O) { P = prng_step(S, 3, 5); O = prng_value(P); }",
        [STATE],
        lambda s: drawn(s, 15).reshape(3, 5),
        dtype=np.float32,
    ),
    case(
        "random_numbers_twice",
        """function (S, A[N]) -> (O) {
             P = prng_step(S, 6); S2 = prng_state(P); Q = prng_step(S2, N);
             O = prng_value(Q);
           }""",
        [STATE, reals(5)],
        lambda s, a: drawn(s, 5, skip=2),
        dtype=np.float32,
    ),
    case(
        "random_state",
        "function (S) -> (T) { P = prng_step(S, 9); V = prng_value(P); T = prng_state(P); }",
        [STATE],
        lambda s: np.array([[11, 12, 1], [6, 6, 7]]),
    ),
    case(
        "dropout",
        """function (A[N, M], S) -> (O) {
             P = prng_step(S, N, M); R = prng_value(P);
             O = R < 0.5 ? 0 : A * 2;
           }""",
        [reals(3, 4), STATE],
        lambda a, s: np.where(drawn(s, 12).reshape(3, 4) < 0.5, 0, a * 2),
    ),
]
