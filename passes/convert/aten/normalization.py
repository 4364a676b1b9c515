"""Normalizations, softmax and attention of ATen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.attention import Attention
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.normalization import (
    BatchNorm,
    log_softmax,
    mean_along,
    over_deviation,
    softmax,
    standardized_by_x,
)
from tiledialect.operators.reductions import reduced
from tiledialect.passes.convert.aten.base import Call, Conversion, Values

Optional = SSAValue | None
Given = TypeVar("Given", SSAValue, SSAValue | None)


def _wide(b: TensorBuilder, x: Given) -> Given | SSAValue:
    """Reals of 16 bits in f32, in which statistics are computed."""
    if x is None or element_type(x) not in et.SHORT_FLOATS:
        return x
    return cast(b, x, f32)


def _in_types(b: TensorBuilder, call: Call, values: Sequence[Optional]) -> Values:
    """Results in the types that they have in the graph."""
    return [
        v if v is None or t is None else cast(b, v, t)
        for v, t in zip(values, call.types, strict=True)
    ]


def _softmax(function: Callable[[TensorBuilder, SSAValue, int], SSAValue]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue, axis: int, *_: object) -> SSAValue:
        sizes = shape(x)
        wide = _wide(b, layout.reshape(b, x, sizes or (1,)))
        found = function(b, wide, call.axis(axis, len(sizes)))
        return cast(b, layout.reshape(b, found, sizes), call.type)

    return convert


def _last_axes(x: SSAValue, sizes: Sequence[int]) -> list[int]:
    rank = len(shape(x))
    return [*range(rank - len(sizes), rank)]


def _layer_norm(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    sizes: Sequence[int],
    scale: Optional,
    offset: Optional,
    epsilon: float,
) -> Values:
    x, scale, offset = _wide(b, x), _wide(b, scale), _wide(b, offset)
    axes = _last_axes(x, sizes)
    mean = mean_along(b, x, axes)
    factor, result = over_deviation(b, b.sub(x, mean), axes, epsilon)
    if scale is not None:
        result = b.mul(result, scale)
    if offset is not None:
        result = b.add(result, offset)
    return _in_types(b, call, (result, mean, factor))


def _layer_norm_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    sizes: Sequence[int],
    mean: SSAValue,
    factor: SSAValue,
    scale: Optional,
    offset: Optional,
    wanted: Sequence[bool],
) -> Values:
    cotangent, x, scale = _wide(b, cotangent), _wide(b, x), _wide(b, scale)
    axes = _last_axes(x, sizes)
    others = [k for k in range(len(shape(x))) if k not in axes]
    own = b.mul(b.sub(x, mean), factor)
    by_x, by_scale, by_offset = None, None, None
    if wanted[0]:
        inner = cotangent if scale is None else b.mul(cotangent, scale)
        by_x = standardized_by_x(b, own, factor, axes, inner)
    if wanted[1]:
        by_scale = reduced(b, b.mul(cotangent, own), Aggregation.add, others, keeps=False)
    if wanted[2]:
        by_offset = reduced(b, cotangent, Aggregation.add, others, keeps=False)
    return _in_types(b, call, (by_x, by_scale, by_offset))


def _in_groups(b: TensorBuilder, x: SSAValue, groups: int) -> SSAValue:
    """Batch, groups, features of a group, and all other elements of a feature."""
    n, c, *rest = shape(x)
    return layout.reshape(b, x, (n, groups, c // groups, prod(rest)))


def _of_features(b: TensorBuilder, vector: SSAValue, groups: int) -> SSAValue:
    """A vector of features beside tensors in groups."""
    return layout.reshape(b, vector, (1, groups, shape(vector)[0] // groups, 1))


def _group_norm(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    scale: Optional,
    offset: Optional,
    batch: int,
    features: int,
    places: int,
    groups: int,
    epsilon: float,
) -> Values:
    own, scale, offset = _wide(b, x), _wide(b, scale), _wide(b, offset)
    own = _in_groups(b, own, groups)
    mean = mean_along(b, own, [2, 3])
    factor, result = over_deviation(b, b.sub(own, mean), [2, 3], epsilon)
    if scale is not None:
        result = b.mul(result, _of_features(b, scale, groups))
    if offset is not None:
        result = b.add(result, _of_features(b, offset, groups))
    flat = [layout.reshape(b, v, (batch, groups)) for v in (mean, factor)]
    return _in_types(b, call, (layout.reshape(b, result, shape(x)), *flat))


def _group_norm_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    mean: SSAValue,
    factor: SSAValue,
    scale: Optional,
    batch: int,
    features: int,
    places: int,
    groups: int,
    wanted: Sequence[bool],
) -> Values:
    own, slope, scale = _wide(b, x), _wide(b, cotangent), _wide(b, scale)
    own, slope = _in_groups(b, own, groups), _in_groups(b, slope, groups)
    mean, factor = (layout.reshape(b, v, (batch, groups, 1, 1)) for v in (mean, factor))
    own = b.mul(b.sub(own, mean), factor)
    by_x, by_scale, by_offset = None, None, None
    if wanted[0]:
        inner = slope if scale is None else b.mul(slope, _of_features(b, scale, groups))
        by_x = standardized_by_x(b, own, factor, [2, 3], inner)
        by_x = layout.reshape(b, by_x, shape(x))
    if wanted[1]:
        total = reduced(b, b.mul(slope, own), Aggregation.add, [0, 3], keeps=False)
        by_scale = layout.reshape(b, total, (features,))
    if wanted[2]:
        total = reduced(b, slope, Aggregation.add, [0, 3], keeps=False)
        by_offset = layout.reshape(b, total, (features,))
    return _in_types(b, call, (by_x, by_scale, by_offset))


def _batch_norm(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    scale: Optional,
    offset: Optional,
    mean: Optional,
    variance: Optional,
    is_training: bool,
    momentum: float,
    epsilon: float,
) -> Values:
    """Result, mean, 1 over the deviation; then the running statistics where there are any."""
    own, scale, offset = _wide(b, x), _wide(b, scale), _wide(b, offset)
    norm = BatchNorm(b, own, 1, epsilon)
    if not is_training:
        assert mean is not None and variance is not None
        result = norm.inference(scale, offset, mean, variance)
        none = layout.full(b, 0, (0,), element_type(own))
        kept = (mean, variance) if len(call.types) == 5 else ()
        return _in_types(b, call, (result, none, none, *kept))
    result, own_mean, own_variance = norm.training(scale, offset)
    statistics = [own_mean, norm.factor(own_variance)]
    if mean is not None and variance is not None:
        count = prod(shape(x)) // max(1, shape(x)[1])
        unbiased = b.mul(own_variance, count / max(1, count - 1))
        for old, new in ((mean, own_mean), (variance, unbiased)):
            kept = b.mul(norm.along(old), 1 - momentum)
            statistics.append(b.add(kept, b.mul(cast(b, new, element_type(old)), momentum)))
    return _in_types(b, call, [result, *map(norm.vector, statistics)])


def _batch_norm_inference(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    scale: Optional,
    offset: Optional,
    mean: SSAValue,
    variance: SSAValue,
    momentum: float,
    epsilon: float,
) -> Values:
    return _batch_norm(b, call, x, scale, offset, mean, variance, False, momentum, epsilon)


def _batch_norm_alone(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    scale: Optional,
    offset: Optional,
    is_training: bool,
    momentum: float,
    epsilon: float,
) -> Values:
    """Batch normalization without running statistics."""
    return _batch_norm(b, call, x, scale, offset, None, None, True, momentum, epsilon)


def _batch_norm_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    x: SSAValue,
    scale: Optional,
    running_mean: Optional,
    running_variance: Optional,
    mean: Optional,
    factor: Optional,
    is_training: bool,
    epsilon: float,
    wanted: Sequence[bool],
) -> Values:
    own, slope, scale = _wide(b, x), _wide(b, cotangent), _wide(b, scale)
    norm = BatchNorm(b, own, 1, epsilon)
    if not is_training:
        assert running_mean is not None and running_variance is not None
        mean, factor = running_mean, norm.factor(running_variance)
    assert mean is not None and factor is not None
    found = norm.gradients_by_factor(scale, mean, factor, slope, is_inference=not is_training)
    return _in_types(b, call, [v if w else None for v, w in zip(found, wanted, strict=True)])


def _weight_norm_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    direction: SSAValue,
    length: SSAValue,
    norms: SSAValue,
    axis: int,
) -> Values:
    """Gradients of ``direction * length / norms``, where norms are along all axes but one."""
    rank = len(shape(direction))
    axes = [k for k in range(rank) if k != call.axis(axis, rank)]
    product = reduced(b, b.mul(cotangent, direction), Aggregation.add, axes, keeps=True)
    along = b.div(b.mul(direction, product), fn.square(b, norms))
    by_direction = b.mul(b.sub(cotangent, along), b.div(length, norms))
    return _in_types(b, call, (by_direction, b.div(product, norms)))


def _attention_of(
    b: TensorBuilder,
    call: Call,
    query: SSAValue,
    key: SSAValue,
    mask: Optional,
    dropout: float,
    is_causal: bool,
    scale: float | None,
) -> Attention:
    if dropout:
        raise call.refusal("dropout of attention is not supported")
    if mask is not None and len(shape(mask)) > 2:
        mask = _grouped(b, mask, query, key)
    own = _grouped(b, query, query, key)
    return Attention(b, own, key, mask, is_causal=is_causal, scale=scale)


def _grouped(b: TensorBuilder, x: SSAValue, query: SSAValue, key: SSAValue) -> SSAValue:
    """A tensor whose heads, if they share those of keys, are groups and the heads of a group."""
    heads, groups = shape(query)[1], shape(key)[1]
    if heads == groups:
        return x
    batch, own, *inner = shape(x)
    outer = (groups, heads // groups) if own > 1 else (1, 1)
    return layout.reshape(b, x, (batch, *outer, *inner))


def _attention(
    b: TensorBuilder,
    call: Call,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    dropout: float,
    is_causal: bool,
    mask: Optional = None,
    scale: float | None = None,
) -> Values:
    attention = _attention_of(b, call, query, key, mask, dropout, is_causal, scale)
    result, sums = attention.applied(value)
    places = shape(query)[:-1]
    result = layout.reshape(b, result, (*places, shape(value)[-1]))
    return _in_types(b, call, (result, layout.reshape(b, sums, places)))


def _attention_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    result: SSAValue,
    sums: SSAValue,
    dropout: float,
    is_causal: bool,
    mask: Optional = None,
    scale: float | None = None,
) -> Values:
    attention = _attention_of(b, call, query, key, mask, dropout, is_causal, scale)
    result, sums, cotangent = (_grouped(b, x, query, key) for x in (result, sums, cotangent))
    by_query, *others = attention.gradients(value, result, sums, cotangent)
    return _in_types(b, call, (layout.reshape(b, by_query, shape(query)), *others))


NORMALIZATION: dict[str, Conversion] = {
    "aten._log_softmax.default": _softmax(log_softmax),
    "aten._native_batch_norm_legit.no_stats": _batch_norm_alone,
    "aten._native_batch_norm_legit_functional.default": _batch_norm,
    "aten._native_batch_norm_legit_no_training.default": _batch_norm_inference,
    "aten._scaled_dot_product_flash_attention_for_cpu.default": _attention,
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default": _attention_backward,
    "aten._softmax.default": _softmax(softmax),
    "aten._weight_norm_interface_backward.default": _weight_norm_backward,
    "aten.native_batch_norm_backward.default": _batch_norm_backward,
    "aten.native_group_norm.default": _group_norm,
    "aten.native_group_norm_backward.default": _group_norm_backward,
    "aten.native_layer_norm.default": _layer_norm,
    "aten.native_layer_norm_backward.default": _layer_norm_backward,
}
