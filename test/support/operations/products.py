"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.data import integers, reals, values

Array = npt.NDArray[Any]

EINSUMS = {
    # name: (Tile's dimensions and statement, NumPy's subscripts, shapes)
    "dot": ("A[I], B[I]", "C[] = +(A[i] * B[i]);", "i,i->", (17,), (17,)),
    "outer": ("A[I], B[J]", "C[i, j: I, J] = =(A[i] * B[j]);", "i,j->ij", (3,), (4,)),
    "matrix_vector": ("A[I, J], B[J]", "C[i: I] = +(A[i, j] * B[j]);", "ij,j->i", (5, 7), (7,)),
    "vector_matrix": ("A[I], B[I, J]", "C[j: J] = +(A[i] * B[i, j]);", "i,ij->j", (5,), (5, 7)),
    "gemm_tn": (
        "A[K, I], B[K, J]",
        "C[i, j: I, J] = +(A[k, i] * B[k, j]);",
        "ki,kj->ij",
        (6, 4),
        (6, 5),
    ),
    "gemm_nt": (
        "A[I, K], B[J, K]",
        "C[i, j: I, J] = +(A[i, k] * B[j, k]);",
        "ik,jk->ij",
        (4, 6),
        (5, 6),
    ),
    "gemm_tt": (
        "A[K, I], B[J, K]",
        "C[j, i: J, I] = +(A[k, i] * B[j, k]);",
        "ki,jk->ji",
        (6, 4),
        (5, 6),
    ),
    "batched": (
        "A[B0, I, K], B[B0, K, J]",
        "C[b, i, j: B0, I, J] = +(A[b, i, k] * B[b, k, j]);",
        "bik,bkj->bij",
        (3, 4, 6),
        (3, 6, 5),
    ),
    "batched_over_two_axes": (
        "A[B0, B1, I, K], B[B0, B1, K, J]",
        "C[b, c, i, j: B0, B1, I, J] = +(A[b, c, i, k] * B[b, c, k, j]);",
        "bcik,bckj->bcij",
        (2, 3, 4, 5),
        (2, 3, 5, 4),
    ),
    "batched_with_one_matrix": (
        "A[B0, I, K], B[K, J]",
        "C[b, i, j: B0, I, J] = +(A[b, i, k] * B[k, j]);",
        "bik,kj->bij",
        (3, 4, 6),
        (6, 5),
    ),
    "dot_over_two_axes": (
        "A[I, K, L], B[L, K, J]",
        "C[i, j: I, J] = +(A[i, k, l] * B[l, k, j]);",
        "ikl,lkj->ij",
        (3, 4, 5),
        (5, 4, 6),
    ),
    "keras_dot": (
        "A[I, J, K], B[L, K, M]",
        "C[i, j, l, m: I, J, L, M] = +(A[i, j, k] * B[l, k, m]);",
        "ijk,lkm->ijlm",
        (2, 3, 4),
        (3, 4, 2),
    ),
    "trace_of_product": ("A[I, J], B[J, I]", "C[] = +(A[i, j] * B[j, i]);", "ij,ji->", (4, 5), (5, 4)),
    "row_products": ("A[I, J], B[I, J]", "C[i: I] = +(A[i, j] * B[i, j]);", "ij,ij->i", (4, 5), (4, 5)),
    "kronecker_blocks": (
        "A[I, J], B[K, L]",
        "C[i, k, j, l: I, K, J, L] = =(A[i, j] * B[k, l]);",
        "ij,kl->ikjl",
        (2, 3),
        (3, 2),
    ),
}  # fmt: skip

ONE_TENSOR = {
    "trace": ("A[N, N]", "C[] = +(A[i, i]);", "ii->", (6, 6)),
    "diagonal": ("A[M, N]", "C[i: M] = =(A[i, i]);", "ii->i", (5, 5)),
    "permutation": ("A[I, J, K]", "C[k, i, j: K, I, J] = =(A[i, j, k]);", "ijk->kij", (2, 3, 4)),
}

THREE_TENSORS = {
    "bilinear": (
        "A[I], B[I, J], D[J]",
        "C[] = +(A[i] * B[i, j] * D[j]);",
        "i,ij,j->",
        (5,),
        (5, 7),
        (7,),
    ),
    "weighted_gemm": (
        "A[I, K], B[K, J], D[K]",
        "C[i, j: I, J] = +(A[i, k] * B[k, j] * D[k]);",
        "ik,kj,k->ij",
        (4, 6),
        (6, 5),
        (6,),
    ),
}


def einsum(name: str, dtype: str = "float32") -> Case:
    header, body, subscripts, *shapes = {**EINSUMS, **ONE_TENSOR, **THREE_TENSORS}[name]
    return case(
        name if dtype == "float32" else f"{name}_{dtype}",
        f"function ({header}) -> (C) {{ {body} }}",
        [values(*shape, dtype=dtype) for shape in shapes],
        lambda *arrays: np.einsum(subscripts, *arrays),
        length=30,
    )


def gemm(m: int, n: int, k: int) -> Case:
    """Sizes around the work-groups' and the tiles'."""
    return case(
        f"gemm_{m}x{n}x{k}",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [reals(m, k), reals(k, n)],
        np.matmul,
        length=k,
    )


CASES = [
    *map(einsum, (*EINSUMS, *ONE_TENSOR, *THREE_TENSORS)),
    *(
        einsum(name, dtype)
        for name in ("dot", "gemm_nt", "batched", "bilinear")
        for dtype in ("bfloat16", "float16", "float64", "int32", "int64", "uint8", "int8")
    ),
    *(gemm(*sizes) for sizes in ((1, 1, 1), (1, 33, 5), (32, 1, 17), (65, 63, 1), (31, 70, 40))),
    case(
        "gemm_with_scalars",
        """function (A[M, K], B[K, N], C[M, N], Alpha[], Beta[]) -> (O) {
             P[i, j: M, N] = +(A[i, k] * B[k, j]);
             O = Alpha * P + Beta * C;
           }""",
        [reals(4, 6), reals(6, 5), reals(4, 5), reals(), reals()],
        lambda a, b, c, alpha, beta: alpha * (a @ b) + beta * c,
        length=6,
    ),
    case(
        "dense_layer",
        """function (X[N, I], W[I, O0], B[O0]) -> (O) {
             P[n, o: N, O0] = +(X[n, i] * W[i, o]);
             O = relu(P + B);
           }""",
        [reals(4, 6), reals(6, 5), reals(5)],
        lambda x, w, b: np.maximum(x @ w + b, 0),
        length=6,
    ),
    case(
        "attention",
        """function (Q[S, D], K[T, D], V[T, E]) -> (O) {
             Z[s, t: S, T] = +(Q[s, d] * K[t, d]);
             P = builtin_softmax(Z, S, T);
             O[s, e: S, E] = +(P[s, t] * V[t, e]);
           }""",
        [reals(5, 4), reals(6, 4), reals(6, 3)],
        lambda q, k, v: (e := np.exp(q @ k.T)) / e.sum(axis=1, keepdims=True) @ v,
        length=40,
    ),
    case(
        "mixed_types",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [integers(4, 6), reals(6, 5)],
        np.matmul,
        length=60,
        dtype=np.float32,
    ),
    case(
        "mixed_widths",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [integers(4, 6, dtype="int8"), integers(6, 5, dtype="uint8", high=40)],
        lambda a, b: a.astype(np.int16) @ b.astype(np.int16),
        dtype=np.int16,
    ),
    case(
        "bytes_wrap",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }",
        [
            integers(4, 6, dtype="uint8", high=255),
            integers(6, 5, dtype="uint8", high=255),
        ],
        np.matmul,
    ),
]
