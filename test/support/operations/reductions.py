"""Reductions, functions composed of them, and running totals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.data import integers, positive, reals, values
from tiledialect.dialects.tile.elementwise.numeric import kind_of

Array = npt.NDArray[Any]

AGGREGATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "sum": ("+", np.sum),
    "prod": ("*", np.prod),
    "max": (">", np.max),
    "min": ("<", np.min),
}
AXES = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
SHAPE = (3, 4, 5)


def _contraction(to: str, aggregation: str, axes: tuple[int, ...], of: str = "I") -> str:
    """The statement that reduces a tensor of rank 3."""
    out = [(i, d) for a, (i, d) in enumerate(zip("ijk", "NML", strict=True)) if a not in axes]
    indices, sizes = ", ".join(i for i, _ in out), ", ".join(d for _, d in out)
    head = f"{to}[{indices}: {sizes}]" if out else f"{to}[]"
    return f"{head} = {aggregation}({of}[i, j, k]);"


def _kept(axes: tuple[int, ...]) -> str:
    """The sizes of a reduced tensor of rank 3, 1 where it was reduced."""
    return ", ".join("1" if a in axes else d for a, d in enumerate("NML"))


def _count(axes: tuple[int, ...]) -> str:
    return "*".join("NML"[a] for a in axes) or "1"


def reduction(name: str, axes: tuple[int, ...], dtype: str = "float32") -> Case:
    aggregation, function = AGGREGATIONS[name]
    wide = np.int32 if dtype == "bool" and name in ("sum", "prod") else np.dtype(dtype)

    def expected(a: Array) -> Array:
        return function(a if kind_of(a.dtype) == "f" else a.astype(wide), axis=axes)

    return case(
        f"{name}_over_{''.join(map(str, axes)) or 'nothing'}_{dtype}",
        f"function (I[N, M, L]) -> (O) {{ {_contraction('O', aggregation, axes)} }}",
        [values(*SHAPE, dtype=dtype)],
        expected,
        length=60,
        dtype=wide,
    )


def statistics(axes: tuple[int, ...]) -> list[Case]:
    """Mean, variance, standard deviation, and the norms."""
    mean = f"S = I; {_contraction('T', '+', axes, 'S')} Mean = T / ({_count(axes)});"
    deviations = f"{mean} K = reshape(Mean, {_kept(axes)}); D = I - K; D2 = D * D;"
    variance = f"{deviations} {_contraction('Q', '+', axes, 'D2')} V = Q / ({_count(axes)});"
    programs: dict[str, tuple[str, Callable[[Array], Array]]] = {
        "mean": (f"{mean} O = Mean;", lambda a: a.mean(axis=axes)),
        "variance": (f"{variance} O = V;", lambda a: a.var(axis=axes)),
        "deviation": (f"{variance} O = sqrt(V);", lambda a: a.std(axis=axes)),
        "norm1": (
            f"A = abs(I); {_contraction('O', '+', axes, 'A')}",
            lambda a: np.abs(a).sum(axis=axes),
        ),
        "norm2": (
            f"A = I * I; {_contraction('B', '+', axes, 'A')} O = sqrt(B);",
            lambda a: np.sqrt((a * a).sum(axis=axes)),
        ),
        "logsumexp": (
            f"""{_contraction('M0', '>', axes)} K = reshape(M0, {_kept(axes)}); E = exp(I - K);
                {_contraction('B', '+', axes, 'E')} O = log(B) + M0;""",
            lambda a: np.log(np.exp(a).sum(axis=axes)),
        ),
        "any": (
            f"A = I > 1; {_contraction('B', '>', axes, 'A')} O = as_float(B, 32);",
            lambda a: (a > 1).any(axis=axes),
        ),
        "all": (
            f"A = I < 1; {_contraction('B', '<', axes, 'A')} O = as_float(B, 32);",
            lambda a: (a < 1).all(axis=axes),
        ),
        "normalized": (
            f"{variance} W = reshape(V, {_kept(axes)}); O = D / sqrt(W + 0.001);",
            lambda a: (a - a.mean(axis=axes, keepdims=True))
            / np.sqrt(a.var(axis=axes, keepdims=True) + 0.001),
        ),
    }  # fmt: skip
    return [
        case(
            f"{name}_over_{''.join(map(str, axes))}",
            f"function (I[N, M, L]) -> (O) {{ {body} }}",
            [reals(*SHAPE)],
            expected,
            length=60,
            scale=1,
        )
        for name, (body, expected) in programs.items()
    ]


def argument(name: str, aggregation: str, dtype: str) -> Case:
    """The first place of the largest or smallest element of each row.

    The places of the extreme are found by `==`, and the least of them is taken.
    """
    # Each value once, in each row.
    random = np.random.default_rng(7)
    rows = np.array([random.permutation(9) for _ in range(4)]).astype(dtype)
    return case(
        f"{name}_{dtype}",
        f"""function (I[N, M]) -> (O) {{
              Best[i: N] = {aggregation}(I[i, j]);
              Places = index(I, 1);
              O[i: N] = +(I[i, j] == Best[i] ? Places[i, j]);
            }}""",
        [rows],
        lambda a: getattr(np, name)(a, axis=1),
        dtype=np.int32,
    )


def running(name: str, aggregation: str, function: Callable[..., Array], axis: int) -> Case:
    out, bound = ("n", "N") if axis == 0 else ("m", "M")
    read = ("k, m", "n, k")[axis]
    data = reals(6, 5) if name != "prod" else positive(6, 5)
    return case(
        f"cumulative_{name}_axis_{axis}",
        f"""function (I[N, M]) -> (O) {{
              O[n, m: N, M] = {aggregation}(I[{read}]), {out} - k < {bound};
            }}""",
        [data],
        lambda a: function(a, axis=axis),
        length=6,
    )


def softmax(a: Array, axis: int = -1) -> Array:
    e = np.exp(a - a.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def batch_norm(x: Array, gain: Array, bias: Array) -> Array:
    mean, var = x.mean(axis=(0, 1)), x.var(axis=(0, 1))
    return (x - mean) / np.sqrt(var + 1e-3) * gain + bias


def layer_norm(x: Array, gain: Array, bias: Array) -> Array:
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-3) * gain + bias


def probabilities(*shape: int) -> Array:
    return softmax(reals(*shape).astype(np.float64)).astype(np.float32)


NETWORK = [
    case(
        "softmax",
        "function (I[N, M]) -> (O) { O = builtin_softmax(I, N, M); }",
        [reals(4, 7)],
        softmax,
        length=7,
    ),
    case(
        "softmax_of_large_values",
        "function (I[N, M]) -> (O) { O = builtin_softmax(I, N, M); }",
        [reals(4, 7) * np.float32(1e4)],
        softmax,
    ),
    case(
        "softmax_float16",
        "function (I[N, M]) -> (O) { O = builtin_softmax(I, N, M); }",
        [reals(4, 7, dtype="float16")],
        softmax,
        length=7,
    ),
    case(
        "softmax_by_hand",
        """function (I[N, H, M]) -> (O) {
             Most[n, h: N, H] = >(I[n, h, m]);
             MostK = reshape(Most, N, H, 1);
             E = exp(I - MostK);
             S[n, h: N, H] = +(E[n, h, m]);
             SK = reshape(S, N, H, 1);
             O = E / SK;
           }""",
        [reals(2, 3, 7)],
        softmax,
        length=7,
    ),
    case(
        "softmax_over_the_first_axis",
        """function (I[M, N]) -> (O) {
             Most[0, n: 1, N] = >(I[m, n]);
             E = exp(I - Most);
             S[0, n: 1, N] = +(E[m, n]);
             O = E / S;
           }""",
        [reals(6, 4)],
        lambda a: softmax(a, 0),
        length=6,
    ),
    case(
        "logsoftmax",
        "function (I[N, M]) -> (O) { O = builtin_logsoftmax(I, N, M); }",
        [reals(4, 7)],
        lambda a: np.log(softmax(a)),
        length=7,
    ),
    case(
        "binary_crossentropy",
        "function (P, T) -> (O) { O = builtin_binary_crossentropy(P, T, 4); }",
        [positive(3, 4) / np.float32(2.1), integers(3, 4, low=0, high=1).astype(np.float32)],
        lambda p, t: -t * np.log(p) - (1 - t) * np.log(1 - p),
        scale=1,
    ),
    case(
        "crossentropy",
        """function (P[N, M], T[N, M]) -> (O) {
             L = log(P);
             S[n: N] = +(T[n, m] * L[n, m]);
             O = -S;
           }""",
        [probabilities(4, 6), probabilities(4, 6)],
        lambda p, t: -(t * np.log(p)).sum(axis=1),
        length=6,
    ),
    case(
        "batch_norm",
        """function (X[N, W, C], Gain[C], Bias[C]) -> (O) {
             S[c: C] = +(X[n, w, c]);
             Mean = S / (N * W);
             D = X - Mean;
             D2 = D * D;
             Q[c: C] = +(D2[n, w, c]);
             O = D / sqrt(Q / (N * W) + 0.001) * Gain + Bias;
           }""",
        [reals(3, 4, 5), reals(5), reals(5)],
        batch_norm,
        length=12,
    ),
    case(
        "layer_norm",
        """function (X[N, C], Gain[C], Bias[C]) -> (O) {
             S[n, 0: N, 1] = +(X[n, c]);
             D = X - S / C;
             Q[n, 0: N, 1] = +(D[n, c] * D[n, c]);
             O = D / sqrt(Q / C + 0.001) * Gain + Bias;
           }""",
        [reals(4, 6), reals(6), reals(6)],
        layer_norm,
        length=6,
    ),
    case(
        "group_norm_statistics",
        """function (X[N, C]) -> (Mean, Var) {
             G = C / 3;
             S[n, g: N, 3] = +(X[n, g*G + c]), c < G;
             Mean = S / G;
             Q[n, g: N, 3] = +(X[n, g*G + c] * X[n, g*G + c]), c < G;
             Var = Q / G - Mean * Mean;
           }""",
        [reals(4, 6)],
        lambda x: (x.reshape(4, 3, 2).mean(axis=2), x.reshape(4, 3, 2).var(axis=2)),
        scale=1,
    ),
    case(
        "squared_distances",
        """function (A[N, D], B[M, D]) -> (O) {
             A2[n, 0: N, 1] = +(A[n, d] * A[n, d]);
             B2[0, m: 1, M] = +(B[m, d] * B[m, d]);
             AB[n, m: N, M] = +(A[n, d] * B[m, d]);
             O = A2 + B2 - 2 * AB;
           }""",
        [reals(4, 5), reals(3, 5)],
        lambda a, b: ((a[:, None] - b) ** 2).sum(axis=2),
        length=15,
    ),
    case(
        "local_response",
        """function (X[N, C]) -> (O) {
             X2 = X * X;
             S[n, c: N, C] = +(X2[n, c + k - 1]), k < 3;
             O = X / pow(1.0 + 0.5 * S, 0.75);
           }""",
        [reals(3, 6)],
        lambda x: (
            x
            / (1 + 0.5 * sum(np.pad(x * x, [(0, 0), (1, 1)])[:, k : k + 6] for k in range(3)))
            ** 0.75
        ),
    ),
    case(
        "is_max",
        "function (I[N, M]) -> (O) { B[n, 0: N, 1] = >(I[n, m]); O = I == B; }",
        [integers(4, 5)],
        lambda a: a == a.max(axis=1, keepdims=True),
        dtype=bool,
    ),
    case(
        "several_outputs",
        """function (I[N, M]) -> (Sum, Most, Least) {
             Sum[n: N] = +(I[n, m]); Most[n: N] = >(I[n, m]); Least[n: N] = <(I[n, m]);
           }""",
        [reals(4, 5)],
        lambda a: (a.sum(axis=1), a.max(axis=1), a.min(axis=1)),
        length=5,
    ),
    case(
        "count_of_equal",
        "function (A[N], B[M]) -> (O) { O[i: N] = +(A[i] == B[j]); }",
        [integers(6, low=0, high=3), integers(9, low=0, high=3)],
        lambda a, b: (a[:, None] == b).sum(axis=1),
    ),
    case(
        "long_sum",
        "function (I[N]) -> (O) { O[] = +(I[i]); }",
        [reals(5000)],
        np.sum,
        length=5000,
        scale=70,
    ),
    *(
        case(
            f"nan_in_{name}",
            f"function (I[N, M]) -> (O) {{ O[i: N] = {aggregation}(I[i, j]); }}",
            [np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, np.inf, 1]], np.float32)],
            lambda a, f=function: f(a, axis=1),
        )
        for name, (aggregation, function) in AGGREGATIONS.items()
        if name != "prod"
    ),
]

CASES = [
    *(reduction(name, axes) for name, axes in product(AGGREGATIONS, AXES)),
    *(
        reduction(name, (0, 2), dtype)
        for name in AGGREGATIONS
        for dtype in (
            "bfloat16",
            "float16",
            "float64",
            "int8",
            "uint8",
            "int32",
            "uint32",
            "int64",
            "bool",
        )
    ),
    *(c for axes in ((0,), (2,), (0, 2), (0, 1, 2)) for c in statistics(axes)),
    *(
        argument(name, aggregation, dtype)
        for name, aggregation in (("argmax", ">"), ("argmin", "<"))
        for dtype in ("float32", "int32", "uint8", "float16", "bfloat16")
    ),
    *(running("sum", "+", np.cumsum, a) for a in (0, 1)),
    *(running("prod", "*", np.cumprod, a) for a in (0, 1)),
    *(running("max", ">", np.maximum.accumulate, a) for a in (0, 1)),
    *(running("min", "<", np.minimum.accumulate, a) for a in (0, 1)),
    *NETWORK,
]
