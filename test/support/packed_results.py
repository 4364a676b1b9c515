"""Results of the first parts of a packing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiledialect.api.packing.packing import Packing


def kept_results(packing: Packing, values: Mapping[str, Any]) -> list[Any]:
    """Results of all first parts, in their order; the constants are given by name."""
    return [array for first in packing.firsts for array in first.results(values.__getitem__)]
