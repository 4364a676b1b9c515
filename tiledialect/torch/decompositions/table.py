"""Table of the decompositions: PyTorch's, and some more."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._decomp import core_aten_decompositions, get_decompositions

from tiledialect.passes.convert.aten.table import CONVERSIONS
from tiledialect.torch.decompositions import (
    bags,
    distances,
    draws,
    layers,
    lists,
    pools,
    ranks,
    scatters,
)

aten = torch.ops.aten


DECOMPOSED = (
    *("addmv", "bucketize", "cauchy", "dist", "exponential", "geometric"),
    *("ldexp", "linalg_vector_norm", "log_normal", "normal_functional"),
    *("rrelu_with_noise_backward", "tril_indices"),
    "triu_indices",
)
"""Operators that PyTorch decomposes, beside those of its core decompositions."""


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions into core operators, of operators without a conversion."""
    more = get_decompositions([getattr(aten, name) for name in DECOMPOSED])
    found = dict(core_aten_decompositions().items()) | more
    return (
        {op: f for op, f in found.items() if str(op) not in CONVERSIONS}
        | lists.decompositions()
        | OWN
    )


def _product_of_batches(
    x: Tensor, first: Tensor, second: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``addbmm``: the products of all pairs of matrices are added."""
    batch, rows, inner = first.shape
    left = first.transpose(0, 1).reshape(rows, batch * inner)
    return aten.addmm(
        x, left, second.reshape(batch * inner, second.shape[-1]), beta=beta, alpha=alpha
    )


def _rounded(x: Tensor, *, decimals: int) -> Tensor:
    """``round.decimals``."""
    if decimals < 0:
        return aten.round(x / 10**-decimals) * 10**-decimals
    return aten.round(x * 10**decimals) / 10**decimals


def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors side by side along a new axis, which PyTorch's decomposition splits from another."""
    return torch.cat([x.unsqueeze(dim) for x in tensors], dim)


def _trilinear(
    x: Tensor,
    y: Tensor,
    z: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """Sums of products of three tensors, each with axes of one element more."""
    for axes, tensor in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for axis in axes:
            x, y, z = (v.unsqueeze(axis) if k == tensor else v for k, v in enumerate((x, y, z)))
    product = x * y * z
    return product.sum(list(sumdim)) if sumdim else product


OWN: Mapping[Any, Callable[..., Any]] = {
    aten._cdist_backward.default: distances.cdist_backward,
    aten._embedding_bag.default: bags.embedding_bag,
    aten._embedding_bag_backward.default: bags.embedding_bag_backward,
    aten._embedding_bag_forward_only.default: bags.embedding_bag,
    aten._embedding_bag_per_sample_weights_backward.default: bags.embedding_bag_backward_by_weights,
    aten._native_multi_head_attention.default: layers.multi_head_attention,
    aten._pdist_backward.default: distances.pdist_backward,
    aten._transformer_encoder_layer_fwd.default: layers.encoder_layer,
    aten._trilinear.default: _trilinear,
    aten.adaptive_max_pool2d.default: pools.adaptive_max_pool,
    aten.adaptive_max_pool2d_backward.default: partial(pools.adaptive_max_pool_backward, 2),
    aten.adaptive_max_pool3d.default: pools.adaptive_max_pool,
    aten.adaptive_max_pool3d_backward.default: partial(pools.adaptive_max_pool_backward, 3),
    aten.addbmm.default: _product_of_batches,
    aten.bernoulli.Tensor: draws.bernoulli,
    aten.diagonal_scatter.default: scatters.diagonal_scatter,
    aten.index_reduce.default: scatters.index_reduced,
    aten.masked_scatter_backward.default: scatters.masked_scatter_backward,
    aten.mkldnn_rnn_layer.default: layers.lstm_layer,
    aten.mode.default: ranks.mode,
    aten.multinomial.default: draws.multinomial,
    aten.nanmedian.default: ranks.nan_median_of_all,
    aten.nanmedian.dim: ranks.nan_median,
    aten.nonzero_static.default: scatters.nonzero_static,
    aten.put.default: scatters.put,
    aten.randint_like.default: draws.randint_like,
    aten.randint_like.low_dtype: draws.randint_like_from,
    aten.round.decimals: _rounded,
    aten.rrelu_with_noise_functional.default: draws.rrelu,
    aten.scatter.reduce: scatters.scatter_combined,
    aten.scatter.value_reduce: scatters.scatter_value_combined,
    aten.scatter_reduce.two: scatters.scatter_reduced,
    aten.searchsorted.Scalar: scatters.searched_number,
    aten.searchsorted.Tensor: scatters.searched,
    aten.stack.default: _stack,
    aten.uniform.default: draws.uniform,
}
"""Decompositions that PyTorch has not."""
