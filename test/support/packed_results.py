"""Results of the packers of a packing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiledialect.api.function import Function
from tiledialect.api.packing.packing import Packing


def packed_results(packing: Packing, values: Mapping[str, Any]) -> list[Any]:
    """Results of all packers, in their order; the constants are given by name."""
    return [array for packer in packing.packers for array in packer.results(values.__getitem__)]


def compiled_forms(function: Function) -> list[Any]:
    """The compiled forms that a function has for some shapes."""
    return [*function._specializations.values()]  # pyright: ignore[reportPrivateUsage]
