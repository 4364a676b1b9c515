"""Conversions of ATen's operators."""

from __future__ import annotations

from collections.abc import Mapping

from tiledialect.passes.convert.aten.base import Conversion
from tiledialect.passes.convert.aten.elementwise import ELEMENTWISE
from tiledialect.passes.convert.aten.layout import LAYOUT
from tiledialect.passes.convert.aten.linear import LINEAR
from tiledialect.passes.convert.aten.reductions import REDUCTIONS

CONVERSIONS: Mapping[str, Conversion] = {
    **ELEMENTWISE,
    **LAYOUT,
    **LINEAR,
    **REDUCTIONS,
}
"""Conversions by operator and overload."""
