"""Layers that PyTorch computes by one operator in inference."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch._decomp.decompositions import one_layer_lstm

F = nn.functional


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A linear layer with parameters in the type of its input, which autocast may have cast."""
    return F.linear(x, weight.to(x.dtype), bias.to(x.dtype))


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


def multi_head_attention(
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
        return _linear(x, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)

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
    return _linear(mixed.transpose(1, 2).flatten(2), proj_weight, proj_bias), weights


def encoder_layer(
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
        return multi_head_attention(x, x, x, embed_dim, num_heads, *own)[0]

    def fed_forward(x: Tensor) -> Tensor:
        inner = activation(_linear(x, ffn_weight_1, ffn_bias_1))
        return _linear(inner, ffn_weight_2, ffn_bias_2)

    for part, norm in zip((attended, fed_forward), norms, strict=True):
        if norm_first:
            x = x + part(F.layer_norm(x, (embed_dim,), *norm, eps))
        else:
            x = F.layer_norm(x + part(x), (embed_dim,), *norm, eps)
    return x


def lstm_layer(
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
