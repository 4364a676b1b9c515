"""Operators of ATen that make tensors: constants, ranges, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.indexing import top_along
from tiledialect.operators.layout import cast, shape
from tiledialect.operators.random import dropout, normal, uniform
from tiledialect.passes.convert.aten.base import Call, Conversion, Number, Operand, Values, in_type

Sizes = Sequence[int]


def _full(b: TensorBuilder, call: Call, sizes: Sizes, value: Number, *_: object) -> SSAValue:
    return layout.broadcast(b, in_type(b, value, call.type), tuple(sizes), ())


def _full_like(b: TensorBuilder, call: Call, x: SSAValue, value: Number, *_: object) -> SSAValue:
    return _full(b, call, shape(x), value)


def _zeros(b: TensorBuilder, call: Call, sizes: Sizes, *_: object) -> SSAValue:
    """Zeros, also where the elements may be anything."""
    return _full(b, call, sizes, 0)


def _new_empty(b: TensorBuilder, call: Call, x: SSAValue, sizes: Sizes, *_: object) -> SSAValue:
    return _zeros(b, call, sizes)


def _scalar(b: TensorBuilder, call: Call, value: Number, *_: object) -> SSAValue:
    return in_type(b, value, call.type)


def _fill(b: TensorBuilder, call: Call, x: SSAValue, value: Number | SSAValue) -> SSAValue:
    return layout.broadcast(b, in_type(b, value, call.type), shape(x), ())


def _copy(b: TensorBuilder, call: Call, x: SSAValue, source: SSAValue, *_: object) -> SSAValue:
    return layout.spread(b, in_type(b, source, call.type), shape(x))


def _arange(
    b: TensorBuilder, call: Call, start: Number, stop: Number, step: Number = 1, *_: object
) -> SSAValue:
    count = max(0, ceil((stop - start) / step))
    places = layout.iota(b, (count,), 0, call.type)
    if step != 1:
        places = b.mul(places, in_type(b, step, call.type))
    if start != 0:
        places = b.add(places, in_type(b, start, call.type))
    return cast(b, places, call.type)


def _rand(b: TensorBuilder, call: Call, sizes: Sizes, *_: object) -> SSAValue:
    return uniform(b, call.random_state(), sizes, call.type)


def _randn(b: TensorBuilder, call: Call, sizes: Sizes, *_: object) -> SSAValue:
    states = call.random_state(), call.random_state()
    return cast(b, normal(b, *states, sizes), call.type)


def _rand_like(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> SSAValue:
    return _rand(b, call, shape(x))


def _randn_like(b: TensorBuilder, call: Call, x: SSAValue, *_: object) -> SSAValue:
    return _randn(b, call, shape(x))


def _randint(
    b: TensorBuilder, call: Call, low: int, high: int, sizes: Sizes, *_: object
) -> SSAValue:
    """Integers from a range of less than 2**24, of which each is as likely."""
    if high - low > 2**24:
        raise call.refusal(f"a range of {high - low} integers is too long")
    drawn = b.mul(uniform(b, call.random_state(), sizes), float(high - low))
    # A product may be rounded to the end of the range.
    place = fn.clamped_index(b, cast(b, drawn, i32), high - low - 1)
    return b.add(cast(b, place, call.type), in_type(b, low, call.type))


def _randint_from_zero(
    b: TensorBuilder, call: Call, high: int, sizes: Sizes, *_: object
) -> SSAValue:
    return _randint(b, call, 0, high, sizes)


def _normal(
    b: TensorBuilder, call: Call, mean: Operand, deviation: Operand, *_: object
) -> SSAValue:
    sizes = np.broadcast_shapes(*(shape(x) for x in (mean, deviation) if isinstance(x, SSAValue)))
    scaled = b.mul(_randn(b, call, sizes), in_type(b, deviation, call.type))
    return b.add(scaled, in_type(b, mean, call.type))


def _bernoulli(b: TensorBuilder, call: Call, x: SSAValue, share: float, *_: object) -> SSAValue:
    is_one = fn.is_less(b, uniform(b, call.random_state(), shape(x)), float(share))
    return cast(b, is_one, call.type)


def _dropout(
    b: TensorBuilder, call: Call, x: SSAValue, share: float, is_training: bool | None
) -> Values:
    if is_training is False or share == 0:
        return x, layout.full(b, 1, shape(x), i1)
    return dropout(b, call.random_state(), x, share)


def _permutation(b: TensorBuilder, call: Call, count: int, *_: object) -> SSAValue:
    """Places in the order of random numbers."""
    keys = uniform(b, call.random_state(), (count,))
    return cast(b, top_along(b, keys, 0, count)[1], call.type)


CREATION: dict[str, Conversion] = {
    "aten._efficientzerotensor.default": _zeros,
    "aten.arange.start_step": _arange,
    "aten.bernoulli.p": _bernoulli,
    "aten.copy.default": _copy,
    "aten.empty.memory_format": _zeros,
    "aten.empty_permuted.default": _zeros,
    "aten.empty_strided.default": _zeros,
    "aten.fill.Scalar": _fill,
    "aten.fill.Tensor": _fill,
    "aten.full.default": _full,
    "aten.full_like.default": _full_like,
    "aten.native_dropout.default": _dropout,
    "aten.new_empty_strided.default": _new_empty,
    "aten.normal.Tensor_Tensor": _normal,
    "aten.normal.Tensor_float": _normal,
    "aten.normal.float_Tensor": _normal,
    "aten.rand.default": _rand,
    "aten.rand_like.default": _rand_like,
    "aten.randint.default": _randint_from_zero,
    "aten.randint.low": _randint,
    "aten.randn.default": _randn,
    "aten.randn_like.default": _randn_like,
    "aten.randperm.default": _permutation,
    "aten.scalar_tensor.default": _scalar,
}
