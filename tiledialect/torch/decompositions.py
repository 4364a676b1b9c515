"""Decompositions of ATen operators without a conversion into others: PyTorch's, and some more."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._decomp.decompositions import one_layer_lstm

from tiledialect.passes.convert.aten.table import CONVERSIONS

aten = torch.ops.aten
F = nn.functional


DECOMPOSED = (
    *("addmv", "bucketize", "cauchy", "dist", "exponential", "geometric"),
    *("ldexp", "linalg_vector_norm", "log_normal", "tril_indices", "triu_indices", "unfold"),
)
"""Operators that PyTorch decomposes, beside those of its core decompositions."""


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions into core operators, of operators without a conversion."""
    more = get_decompositions([getattr(aten, name) for name in DECOMPOSED])
    found = dict(core_aten_decompositions().items()) | more
    return {op: f for op, f in found.items() if str(op) not in CONVERSIONS} | OWN


def _product_of_batches(
    x: Tensor, first: Tensor, second: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``addbmm``: the products of all pairs of matrices are added."""
    batch, rows, inner = first.shape
    left = first.transpose(0, 1).reshape(rows, batch * inner)
    return aten.addmm(
        x, left, second.reshape(batch * inner, second.shape[-1]), beta=beta, alpha=alpha
    )


def _scatter_reduced(
    x: Tensor,
    axis: int,
    places: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """``scatter_reduce`` of means, or without the tensor's own elements."""
    if include_self and reduce != "mean":
        return NotImplemented
    count = torch.zeros_like(x).scatter_add(axis, places, torch.ones_like(source))
    if not include_self:
        x = torch.where(count > 0, _identity(reduce, x), x)
    if reduce != "mean":
        return aten.scatter_reduce.two(x, axis, places, source, reduce)
    total = x.scatter_add(axis, places, source)
    count = count + 1 if include_self else count.clamp(min=1)
    if x.is_floating_point():
        return total / count
    return torch.div(total, count, rounding_mode="floor")


def _identity(reduce: str, x: Tensor) -> float:
    """The number with which a reduction changes nothing."""
    if reduce in ("amax", "amin"):
        is_real = x.is_floating_point()
        limits = torch.finfo(x.dtype) if is_real else torch.iinfo(x.dtype)
        low, high = (-torch.inf, torch.inf) if is_real else (limits.min, limits.max)
        return low if reduce == "amax" else high
    return 1 if reduce == "prod" else 0


def _scatter_combined(
    x: Tensor, axis: int, places: Tensor, source: Tensor, *, reduce: str
) -> Tensor:
    """``scatter`` by additions or products."""
    name = {"add": "sum", "multiply": "prod"}[reduce]
    return aten.scatter_reduce.two(x, axis, places, source, name)


def _searched(
    borders: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """``searchsorted``: the number of elements of a sorted row that lie below each value.

    All of them lie below NaN.
    """
    if sorter is not None:
        borders = borders.gather(-1, sorter)
    low, values = borders if borders.dim() == 1 else borders[..., None, :], values[..., None]
    is_behind = low > values if right or side == "right" else low >= values
    return (~is_behind).sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def _rounded(x: Tensor, *, decimals: int) -> Tensor:
    """``round.decimals``."""
    if decimals < 0:
        return aten.round(x / 10**-decimals) * 10**-decimals
    return aten.round(x * 10**decimals) / 10**decimals


def _window_places(size: int, count: int, device: torch.device) -> Tensor:
    """Places in each of the windows that an axis is divided into; the last one may be repeated."""
    longest = max(-(-(k + 1) * size // count) - k * size // count for k in range(count))
    window = torch.arange(count, device=device)[:, None]
    first, last = window * size // count, ((window + 1) * size - 1) // count
    return torch.minimum(first + torch.arange(longest, device=device), last)


def _adaptive_max_pool(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool2d`` and ``3d``: maxima of windows, and their places in the picture."""
    rank = len(sizes)
    own = x.shape[-rank:]
    if 0 in sizes:
        none = x.new_zeros(*x.shape[:-rank], *sizes)
        return none, none.to(torch.int64)
    if all(n % count == 0 for n, count in zip(own, sizes, strict=True)):
        window = [n // count for n, count in zip(own, sizes, strict=True)]
        pool = aten.max_pool2d_with_indices if rank == 2 else aten.max_pool3d_with_indices
        return pool(x, window, window)
    places, in_picture = [], torch.zeros((), dtype=torch.int64, device=x.device)
    for axis, (n, count) in enumerate(zip(own, sizes, strict=True)):
        axes = [1] * (2 * rank)
        place = _window_places(n, count, x.device)
        axes[axis], axes[rank + axis] = place.shape
        places.append(place.view(axes))
        in_picture = in_picture * n + places[-1]
    found, chosen = aten.index(x, [None] * (x.dim() - rank) + places).flatten(-rank).max(-1)
    in_picture = in_picture.flatten(-rank).expand(*chosen.shape, -1)
    return found, in_picture.gather(-1, chosen[..., None]).squeeze(-1)


def _adaptive_max_pool_backward(rank: int, cotangent: Tensor, x: Tensor, places: Tensor) -> Tensor:
    """Gradient of ``adaptive_max_pool2d`` and ``3d``, whose windows may overlap."""
    none = torch.zeros_like(x).flatten(-rank)
    return none.scatter_add(-1, places.flatten(-rank), cotangent.flatten(-rank)).view(x.shape)


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


def _mask_of_attention(mask: Tensor | None, kind: int | None, dtype: torch.dtype) -> Tensor | None:
    """A mask that is true where nothing is attended to, as numbers to add to scores.

    Kind 0 is of queries and keys, kind 1 of batches and keys, kind 2 has all four axes.
    """
    if mask is None:
        return None
    if kind == 1:
        mask = mask[:, None, None, :]
    numbers = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return numbers.masked_fill(mask.bool(), -torch.inf)


def _multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention as `nn.MultiheadAttention` computes it in inference, and its weights."""

    def heads(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.linear(x, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)

    projections = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
    q, k, v = (heads(*own) for own in projections)
    added = _mask_of_attention(mask, mask_type, query.dtype)
    weights = query.new_empty(0)
    if need_weights:
        scores = (q * (embed_dim // num_head) ** -0.5) @ k.transpose(-1, -2)
        weights = torch.softmax(scores if added is None else scores + added, -1)
        mixed = weights @ v
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        mixed = F.scaled_dot_product_attention(q, k, v, added)
    return F.linear(mixed.transpose(1, 2).flatten(2), proj_weight, proj_bias), weights


def _encoder_layer(
    x: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """A layer as `nn.TransformerEncoderLayer` computes it in inference."""
    activation = F.gelu if use_gelu else F.relu
    norms = ((norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2))
    qkv, projection = (qkv_weight, qkv_bias), (proj_weight, proj_bias)

    def attended(x: Tensor) -> Tensor:
        own = (*qkv, *projection, mask, False, True, mask_type)
        return _multi_head_attention(x, x, x, embed_dim, num_heads, *own)[0]

    def fed_forward(x: Tensor) -> Tensor:
        inner = activation(F.linear(x, ffn_weight_1, ffn_bias_1))
        return F.linear(inner, ffn_weight_2, ffn_bias_2)

    for part, norm in zip((attended, fed_forward), norms, strict=True):
        if norm_first:
            x = x + part(F.layer_norm(x, (embed_dim,), *norm, eps))
        else:
            x = F.layer_norm(x + part(x), (embed_dim,), *norm, eps)
    return x


def _lstm_layer(
    x: Tensor,
    input_weight: Tensor,
    hidden_weight: Tensor,
    input_bias: Tensor,
    hidden_bias: Tensor,
    hidden: Tensor,
    cell: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    *_: bool,
) -> tuple[Tensor, ...]:
    """A layer of an LSTM as PyTorch traces it in inference."""
    weights = [input_weight, hidden_weight, input_bias, hidden_bias][: 4 if has_biases else 2]
    state = (hidden.squeeze(0), cell.squeeze(0))
    result, (hidden, cell) = one_layer_lstm(x, state, weights, has_biases, reverse)
    workspace = x.new_empty(0, dtype=torch.uint8)
    return result, hidden.reshape(1, *state[0].shape), cell.reshape(1, *state[1].shape), workspace


OWN: Mapping[Any, Callable[..., Any]] = {
    aten._native_multi_head_attention.default: _multi_head_attention,
    aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    aten._trilinear.default: _trilinear,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool,
    aten.adaptive_max_pool2d_backward.default: partial(_adaptive_max_pool_backward, 2),
    aten.adaptive_max_pool3d.default: _adaptive_max_pool,
    aten.adaptive_max_pool3d_backward.default: partial(_adaptive_max_pool_backward, 3),
    aten.addbmm.default: _product_of_batches,
    aten.mkldnn_rnn_layer.default: _lstm_layer,
    aten.round.decimals: _rounded,
    aten.scatter.reduce: _scatter_combined,
    aten.scatter_reduce.two: _scatter_reduced,
    aten.searchsorted.Tensor: _searched,
}
"""Decompositions that PyTorch has not."""
