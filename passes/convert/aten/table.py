"""Conversions of ATen's operators."""

from __future__ import annotations

from collections.abc import Mapping

from tiledialect.passes.convert.aten.base import Conversion
from tiledialect.passes.convert.aten.creation import CREATION
from tiledialect.passes.convert.aten.elementwise import ELEMENTWISE
from tiledialect.passes.convert.aten.indexing import INDEXING
from tiledialect.passes.convert.aten.layout import LAYOUT
from tiledialect.passes.convert.aten.linear import LINEAR
from tiledialect.passes.convert.aten.normalization import NORMALIZATION
from tiledialect.passes.convert.aten.pooling import POOLING
from tiledialect.passes.convert.aten.reductions import REDUCTIONS
from tiledialect.passes.convert.aten.sampling import SAMPLING

FAMILIES: Mapping[str, Mapping[str, Conversion]] = {
    "elementwise": ELEMENTWISE,
    "layout": LAYOUT,
    "products, convolutions": LINEAR,
    "normalization, attention": NORMALIZATION,
    "pools": POOLING,
    "reductions, sorting": REDUCTIONS,
    "computed places": INDEXING,
    "places between elements, resizing": SAMPLING,
    "constants, random numbers": CREATION,
}
"""Conversions by family."""

CONVERSIONS: Mapping[str, Conversion] = {
    name: conversion for family in FAMILIES.values() for name, conversion in family.items()
}
"""Conversions by operator and overload."""

COUNTED = "the size of its result depends on numbers that a call computes"
MEMORY = "it tells the memory of a tensor"
REASONS: Mapping[str, str] = {
    "aten._fft_c2r.default": "there are no complex tensors",
    "aten._fft_r2c.default": "there are no complex tensors",
    "aten._local_scalar_dense.default": "the number of a tensor is not known beforehand",
    "aten._native_batch_norm_legit.default": "AOTAutograd gives the functional one",
    "aten.atan2.out": "AOTAutograd gives the functional one",
    "aten.nonzero.default": COUNTED,
    "aten.resize_.default": "AOTAutograd gives graphs that change no tensor",
    "aten.sym_is_contiguous.default": MEMORY,
    "aten.sym_storage_offset.default": MEMORY,
    "aten.sym_stride.int": MEMORY,
}
"""Reasons why operators have no conversion."""
