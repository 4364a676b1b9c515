"""Conversions of ONNX's operators."""

from __future__ import annotations

from collections.abc import Mapping

from tiledialect.passes.convert.onnx.base import Conversion
from tiledialect.passes.convert.onnx.control import CONTROL
from tiledialect.passes.convert.onnx.elementwise import ELEMENTWISE
from tiledialect.passes.convert.onnx.fourier import FOURIER
from tiledialect.passes.convert.onnx.indexing import INDEXING
from tiledialect.passes.convert.onnx.layout import LAYOUT
from tiledialect.passes.convert.onnx.linear import LINEAR
from tiledialect.passes.convert.onnx.normalization import NORMALIZATION
from tiledialect.passes.convert.onnx.pooling import POOLING
from tiledialect.passes.convert.onnx.random import RANDOM
from tiledialect.passes.convert.onnx.recurrent import RECURRENT
from tiledialect.passes.convert.onnx.reductions import REDUCTIONS
from tiledialect.passes.convert.onnx.resizing import RESIZING
from tiledialect.passes.convert.onnx.training import TRAINING

CONVERSIONS: Mapping[str, Conversion] = {
    **ELEMENTWISE,
    **LAYOUT,
    **LINEAR,
    **POOLING,
    **REDUCTIONS,
    **NORMALIZATION,
    **INDEXING,
    **RECURRENT,
    **RESIZING,
    **FOURIER,
    **RANDOM,
    **TRAINING,
    **CONTROL,
}
"""Conversions by operator, after its domain if that is another; those that ONNX defines by others
need none."""

STRINGS = "there are no tensors of strings"
COUNTED = "the size of its result depends on numbers that a call computes"
REASONS: Mapping[str, str] = {
    **dict.fromkeys(
        ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"),
        STRINGS,
    ),
    **dict.fromkeys(("NonMaxSuppression", "NonZero", "Unique"), COUNTED),
    "ImageDecoder": "it reads a file of an image",
    "Multinomial": "its numbers are those of another generator",
}
"""Reasons why operators have no conversion."""
