"""Attention, and the look-up of embeddings with its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
from frame import Workload, times, workload

ATTENTION = """function (Q[G, N, D], K[G, N, D], V[G, N, D]) -> (O) {
  S[g, i, j: G, N, N] = +(Q[g, i, d] * K[g, j, d]);
  P = softmax(S * 0.125, 2);
  O[g, i, d: G, N, D] = +(P[g, i, j] * V[g, j, d]);
}"""
EMBEDDING = "function (T[V, D], I[N]) -> (O) { O = gather(T, I); }"


def _attention(q: Any, k: Any, v: Any) -> Any:
    from torch.nn.functional import scaled_dot_product_attention

    return scaled_dot_product_attention(q, k, v, scale=0.125)


def _embedding(table: Any, places: Any) -> Any:
    from torch.nn.functional import embedding

    return embedding(places, table)


def _flops(shapes: Any) -> float:
    return 2 * times(("Q", 0), ("Q", 1), ("Q", 1), ("Q", 2))(shapes)


WORKLOADS: list[Workload] = [
    workload(
        "attention/one step",
        ATTENTION,
        {"G": 2, "N": 5, "D": 3},
        {"G": 8, "N": 512, "D": 64},
        {"G": 64, "N": 1024, "D": 64},
        torch=_attention,
        flops=_flops,
        gradients=("Q", "K", "V"),
    ),
    workload(
        "embedding/look-up",
        EMBEDDING,
        {"V": 6, "D": 5, "N": 7},
        {"V": 10000, "D": 256, "N": 8192},
        {"V": 50000, "D": 1024, "N": 32768},
        torch=_embedding,
        numpy=lambda table, places: np.take(table, places, 0),
        integers={"I": ("T", 0)},
        gradients=("T",),
    ),
]
