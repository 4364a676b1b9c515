"""Contractions of every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradients.differences import Case
from gradients.elementwise import integers, reals

Array = npt.NDArray[Any]

AGGREGATIONS = {"sum": "+", "product": "*", "max": ">", "min": "<"}
COMBINED = {
    "one": ("(A[N, M]) -> (O)", "A[i, k]", "M", [(3, 4)]),
    "mul": ("(A[N, K], B[K, M]) -> (O)", "A[i, k] * B[k, j]", "M", [(3, 4), (4, 2)]),
    "add": ("(A[N, K], B[K, M]) -> (O)", "A[i, k] + B[k, j]", "M", [(3, 4), (4, 2)]),
    "mul3": (
        "(A[N, K], B[K, M], C[K]) -> (O)",
        "A[i, k] * B[k, j] * C[k]",
        "M",
        [(3, 4), (4, 2), (4,)],
    ),
    "add3": (
        "(A[N, K], B[K, M], C[K]) -> (O)",
        "A[i, k] + B[k, j] + C[k]",
        "M",
        [(3, 4), (4, 2), (4,)],
    ),
    "outer": ("(A[N], B[M]) -> (O)", "A[i] * B[j]", "M", [(3,), (2,)]),
    "self": ("(A[N, M]) -> (O)", "A[i, j] * A[k, j]", "M", [(3, 2)]),
    "conditional": (
        "(I[N, K], J[K, M], C[K, M]) -> (O)",
        "I[i, k] == J[k, j] ? C[k, j]",
        "M",
        [(3, 4), (4, 2), (4, 2)],
    ),
}


def _formula(name: str, aggregation: str, form: str) -> Case:
    header, text, m, shapes = COMBINED[form]
    arrays: list[Array] = [reals(*s, low=-1.3, high=1.5) for s in shapes]
    wrt: tuple[str, ...] = ()
    if form == "conditional":
        arrays[:2] = [integers(*s, high=2) for s in shapes[:2]]
        wrt = ("C",)
    output = "O[i: N]" if form == "one" else f"O[i, j: N, {m}]"
    source = f"function {header} {{ {output} = {aggregation}({text}); }}"
    return Case(f"{name}_{form}", source, tuple(arrays), wrt)


FORMS = [_formula(n, a, form) for n, a in AGGREGATIONS.items() for form in COMBINED]


def _case(name: str, header: str, body: str, *inputs: Array, **options: Any) -> Case:
    return Case(name, f"function {header} {{ {body} }}", inputs, **options)


def _conv(name: str, spatial: int, stride: int, dilation: int, pad: int, body: str = "+") -> Case:
    x = [f"x{a}" for a in range(spatial)]
    k = [f"k{a}" for a in range(spatial)]
    sizes = [
        f"(L{a} + {2 * pad} - {dilation} * (K{a} - 1) - 1) / {stride} + 1" for a in range(spatial)
    ]
    place = [f"{stride}*{i} + {dilation}*{j} - {pad}" for i, j in zip(x, k, strict=True)]
    ls = ", ".join(f"L{a}" for a in range(spatial))
    ks = ", ".join(f"K{a}" for a in range(spatial))
    source = (
        f"function (I[N, {ls}, CI], K[{ks}, CI, CO]) -> (O) {{ "
        f"O[n, {', '.join(x)}, co: N, {', '.join(sizes)}, CO] = "
        f"+(I[n, {', '.join(place)}, ci] * K[{', '.join(k)}, ci, co]); }}"
    )
    length = {1: (9,), 2: (6, 5), 3: (4, 3, 4)}[spatial]
    kernel = {1: (3,), 2: (2, 3), 3: (2, 2, 1)}[spatial]
    return Case(name, source, (reals(2, *length, 2), reals(*kernel, 2, 3)))


CONVOLUTIONS = [
    *(
        _conv(f"conv{rank}d_{stride}_{dilation}_{pad}", rank, stride, dilation, pad)
        for rank in (1, 2, 3)
        for stride, dilation, pad in ((1, 1, 0), (2, 1, 1), (1, 2, 2), (3, 2, 1))
        if rank < 3 or dilation == 1
    ),
    _case(
        "conv_of_the_seeds",
        "(I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O)",
        "O[n, y, x, co: N, H/3, W/3, CO] = +(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]);",
        reals(1, 9, 9, 2),
        reals(2, 2, 2, 3),
    ),
    _case(
        "conv_grouped",
        "(I[N, L, G, CI], K[LK, G, CI, CO]) -> (O)",
        "O[n, x, g, co: N, L, G, CO] = +(I[n, x + k - 1, g, ci] * K[k, g, ci, co]);",
        reals(2, 5, 2, 2),
        reals(3, 2, 2, 2),
    ),
    _case(
        "conv_depthwise",
        "(I[N, L, C], K[LK, C, M]) -> (O)",
        "O[n, x, M*c + m: N, L, C * M] = +(I[n, x + k - 1, c] * K[k, c, m]), m < M;",
        reals(2, 5, 3),
        reals(3, 3, 2),
    ),
    _case(
        "conv_transposed",
        "(I[N, L, CI], K[LK, CI, CO]) -> (O)",
        "O[n, 2*x + k - 1, co: N, 2*L, CO] = +(I[n, x, ci] * K[k, ci, co]);",
        reals(2, 4, 2),
        reals(3, 2, 2),
    ),
]


def _pool(name: str, aggregation: str) -> list[Case]:
    image = reals(2, 7, 6, 2)
    head = "(I[N, H, W, C]) -> (O)"
    out = "O[n, y, x, c: N, {}, C] ="
    return [
        _case(
            f"{name}_pool",
            head,
            f"{out.format('H/2, W/2')} {aggregation}(I[n, 2*y + j, 2*x + i, c]), j < 2, i < 2;",
            image,
        ),
        _case(
            f"{name}_pool_overlapping",
            head,
            f"{out.format('H, W')} {aggregation}(I[n, y + j - 1, x + i - 1, c]), j < 3, i < 3;",
            image,
        ),
        _case(
            f"{name}_pool_strided",
            head,
            f"{out.format('(H+1)/2, (W+1)/2')} {aggregation}(I[n, 2*y + 2*j - 1, 2*x + i - 1, c]), j < 2, i < 3;",
            image,
        ),
        _case(
            f"{name}_global",
            "(I[N, H, W, C]) -> (O)",
            f"O[n, c: N, C] = {aggregation}(I[n, y, x, c]);",
            reals(2, 3, 2, 2),
        ),
        _case(f"{name}_all", "(I[N, M]) -> (O)", f"O[] = {aggregation}(I[i, j]);", reals(3, 4)),
    ]


POOLS = [case for name, a in AGGREGATIONS.items() for case in _pool(name, a)]
POOLS.append(
    _case(
        "mean_pool",
        "(I[N, L]) -> (O)",
        "One = 1.0; Ones[i: L] = =(One[]); Count[x: L] = +(Ones[x + k - 1]), k < 3;"
        "S[n, x: N, L] = +(I[n, x + k - 1]), k < 3; O = S / Count;",
        reals(2, 6),
    )
)


def _zeros(*shape: int, where: tuple[int, ...]) -> Array:
    values = reals(*shape).reshape(-1)
    values[list(where)] = 0
    return values.reshape(shape)


ZEROS = [
    _case(
        "product_with_zeros",
        "(A[N, M]) -> (O)",
        "O[i: N] = *(A[i, k]);",
        _zeros(4, 3, where=(1, 3, 5, 6, 7, 8)),
    ),
    _case(
        "product_of_products_with_zeros",
        "(A[N, M], B[M]) -> (O)",
        "O[i: N] = *(A[i, k] * B[k]);",
        _zeros(3, 3, where=(1, 3, 5)),
        _zeros(3, where=(1,)),
    ),
    _case(
        "product_of_sums_with_zeros",
        "(A[N, M], B[M]) -> (O)",
        "O[i: N] = *(A[i, k] + B[k]);",
        np.array([[1.0, -2, 3], [-1, 2.5, -3]]),
        np.array([1.0, 2, 3]),
    ),
    _case(
        "running_product", "(A[N]) -> (O)", "O[i: N] = *(A[i - j]), j < N;", _zeros(5, where=(2,))
    ),
    _case(
        "product_pool_with_zeros",
        "(A[N]) -> (O)",
        "O[i: N] = *(A[i + j - 1]), j < 3;",
        _zeros(7, where=(2, 3, 6)),
    ),
    _case(
        "product_of_repeated",
        "(A[N], B[M]) -> (O)",
        "O[] = *(A[i]), i + j < N, j < M;",
        _zeros(4, where=(0,)),
        reals(2),
    ),
]

MAPS = [
    _case("transpose", "(A[N, M]) -> (O)", "O[j, i: M, N] = =(A[i, j]);", reals(3, 4)),
    _case("diagonal", "(A[N, N]) -> (O)", "O[i: N] = =(A[i, i]);", reals(4, 4)),
    _case("to_diagonal", "(A[N]) -> (O)", "O[i, i: N, N] = =(A[i]);", reals(4)),
    _case("spread", "(A[N]) -> (O)", "O[2*i + 1: 2*N + 1] = =(A[i]);", reals(4)),
    _case("reverse", "(A[N]) -> (O)", "O[N - 1 - i: N] = =(A[i] * A[i]);", reals(4)),
    _case("split", "(A[N]) -> (O)", "O[2*i + j: N] = +(A[i]), j < 2;", reals(6)),
    _case("broadcast", "(A[N]) -> (O)", "O[i, j: N, 3] = =(A[i]);", reals(4)),
    _case(
        "assign_product",
        "(A[N], B[M]) -> (O)",
        "O[i, j: N, M] = =(A[i] * B[j]);",
        reals(3),
        reals(4),
    ),
    _case(
        "assign_sum", "(A[N], B[M]) -> (O)", "O[i, j: N, M] = =(A[i] + B[j]);", reals(3), reals(4)
    ),
    _case(
        "assign_conditional",
        "(I[N], J[N], C[N]) -> (O)",
        "O[i: N] = =(I[i] == J[i] ? C[i]);",
        integers(5, high=2),
        integers(5, high=2),
        reals(5),
        wrt=("C",),
    ),
    _case("rational", "(A[N]) -> (O)", "O[i: 2*N] = =(A[i/2]);", reals(4)),
    _case("rational_offset", "(A[N]) -> (O)", "O[i: N] = +(A[(i + 1)/2 + j]), j < 3;", reals(6)),
    _case("rational_max", "(A[N]) -> (O)", "O[i/2: N] = >(A[i] * A[i]), i < 5;", reals(6)),
    _case("running_sum", "(A[N]) -> (O)", "O[i: N] = +(A[i - j]), j < N;", reals(5)),
    _case("constrained", "(A[N, N]) -> (O)", "O[i: N] = +(A[i, j]), i + j - 1 < 3;", reals(5, 5)),
    _case(
        "constrained_pair",
        "(A[N], B[N]) -> (O)",
        "O[i: N] = +(A[i] + B[j]), i - j < 2;",
        reals(5),
        reals(5),
    ),
    _case(
        "constrained_max",
        "(A[N], B[N]) -> (O)",
        "O[i: N] = >(A[j] * B[i + j]), j < 2;",
        reals(5),
        reals(5),
    ),
    _case(
        "longer_output",
        "(A[N], B[N]) -> (O)",
        "O[i: 2*N] = +(A[i] + B[i + j]);",
        reals(3),
        reals(3),
    ),
    _case("nothing_lands", "(A[N]) -> (O)", "O[i: N] = +(A[i + j + 9]), j < 2;", reals(3)),
    _case(
        "counts",
        "(A[N], B[N]) -> (O)",
        "O[i: N] = +(A[i] == B[j]); ",
        reals(3),
        reals(3),
        second=False,
    ),
    _case("no_index", "(A[], B[]) -> (O)", "O[] = +(A[] * B[]);", reals(), reals()),
    _case("fixed_index", "(A[N, M]) -> (O)", "O[i: N] = +(A[i, 1] * A[0, 2]);", reals(3, 4)),
]

DEFAULTS = [
    _case(
        f"default_{name}",
        "(A[N], D[M]) -> (O)",
        f"O[2*i: M] = {a}(A[i + j]), j < 2 default D;",
        reals(4),
        reals(9),
    )
    for name, a in AGGREGATIONS.items()
]
DEFAULTS += [
    _case(
        "default_assign",
        "(A[N], D[M]) -> (O)",
        "O[2*i: M] = =(A[i]) default D;",
        reals(4),
        reals(9),
    ),
    _case(
        "default_of_pair",
        "(A[N], B[N], D[M]) -> (O)",
        "O[2*i: M] = +(A[i] * B[i]) default D;",
        reals(4),
        reals(4),
        reals(9),
    ),
    _case(
        "default_only",
        "(A[N], D[M]) -> (O)",
        "O[2*i: M] = +(A[i]) default D;",
        reals(4),
        reals(9),
        wrt=("D",),
    ),
    _case("default_itself", "(A[N]) -> (O)", "O[2*i + 1: N] = +(A[i]) default A;", reals(6)),
]

CHAINS = [
    _case(
        "layer",
        "(I[N, L, C], K[LK, C, D], B[D]) -> (O)",
        "T[n, x, d: N, L, D] = +(I[n, x + k - 1, c] * K[k, c, d]); R = tanh(T + B);"
        "O[n, x, d: N, L/2, D] = >(R[n, 2*x + j, d]), j < 2;",
        reals(2, 4, 2),
        reals(3, 2, 2),
        reals(2),
    ),
    _case(
        "attention",
        "(Q[N, D], K[M, D], V[M, E]) -> (O)",
        "S[i, j: N, M] = +(Q[i, d] * K[j, d]); P = builtin_softmax(S, N, M);"
        "O[i, e: N, E] = +(P[i, j] * V[j, e]);",
        reals(3, 2, low=-1, high=1),
        reals(4, 2, low=-1, high=1),
        reals(4, 2),
    ),
    _case(
        "norm",
        "(X[N, M], G[M], B[M]) -> (O)",
        "S[i, 0: N, 1] = +(X[i, j]); C = X - S / M; Q = C * C; V[i, 0: N, 1] = +(Q[i, j]);"
        "O = C / sqrt(V / M + 0.001) * G + B;",
        reals(3, 4),
        reals(4),
        reals(4),
    ),
    _case(
        "loss",
        "(X[N, C], W[C, M], T[N, M]) -> (L)",
        "Y[n, m: N, M] = +(X[n, c] * W[c, m]); P = builtin_logsoftmax(Y, N, M);"
        "Q = T * P; S[] = +(Q[n, m]); L = -S / N;",
        reals(3, 2),
        reals(2, 4),
        reals(3, 4),
    ),
    _case(
        "product_of_chain",
        "(A[N, M]) -> (O)",
        "B = A * A - 1; P[i: N] = *(B[i, j]); O[] = >(P[i]);",
        reals(3, 3),
    ),
    _case(
        "shared",
        "(A[N]) -> (O, P)",
        "S[] = +(A[i] * A[i]); O = A / sqrt(S); P[] = +(O[i] * A[i]);",
        reals(4),
    ),
]

CASES = [*FORMS, *CONVOLUTIONS, *POOLS, *ZEROS, *MAPS, *DEFAULTS, *CHAINS]
