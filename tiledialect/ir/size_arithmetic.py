"""Arithmetic of the ops on sizes, wherever the sizes are known."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.ir import Operation

from tiledialect.rounding import ceil_div


def _truncate(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIZE_ARITHMETIC: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: _truncate,
    arith.RemSIOp: lambda a, b: a - b * _truncate(a, b),
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: ceil_div,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
    # Sizes are not negative.
    arith.DivUIOp: lambda a, b: a // b,
    arith.RemUIOp: lambda a, b: a % b,
    arith.CeilDivUIOp: ceil_div,
    arith.MaxUIOp: max,
    arith.MinUIOp: min,
    arith.ShRSIOp: lambda a, b: a >> b,
    arith.AndIOp: lambda a, b: a & b,
}
"""Whether a result fits is asked elsewhere. Division by 0 is Python's error."""
