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

CONVERSIONS: Mapping[str, Conversion] = {
    **ELEMENTWISE,
    **LAYOUT,
    **LINEAR,
    **CREATION,
    **INDEXING,
    **NORMALIZATION,
    **POOLING,
    **REDUCTIONS,
}
"""Conversions by operator and overload."""
