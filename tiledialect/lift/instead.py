"""Lift's words for NumPy's: hints in errors."""

from __future__ import annotations

INSTEAD = {
    "absolute": "lift.abs(a)",
    "clip": "lift.min(lift.max(a, low), high)",
    "concatenate": "lift.concat(x, y)",
    "dot": "lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)",
    "max": "x >> lift.reduce(lift.max, -np.inf)",
    "maximum": "lift.max(a, b)",
    "mean": "(x >> lift.reduce(lift.add, 0.0)) / lift.cast(lift.size(x.size), lift.f32)",
    "min": "x >> lift.reduce(lift.min, np.inf)",
    "minimum": "lift.min(a, b)",
    "negative": "-a",
    "prod": "x >> lift.reduce(lift.mul, 1.0)",
    "remainder": "a % b",
    "reshape": "lift.split(n) and lift.join",
    "square": "a * a",
    "sum": "x >> lift.reduce(lift.add, 0.0)",
    "transpose": "lift.transpose(x)",
    "T": "lift.transpose(x)",
    "astype": "lift.cast(a, lift.i32)",
    "matmul": "lift.map of lift.map over the rows and columns",
    "shape": "x.size, the size of the outer axis",
    "where": "lift.where(condition, a, b)",
}
"""What is written in Lift for functions of NumPy whose names Lift has for nothing like them."""


def instead(written: str, name: str) -> str:
    """That a function does not take values, and what to use."""
    import tiledialect.lift as lift

    own = name if name in lift.__all__ else None
    use = INSTEAD.get(name) or (own and f"lift.{own}")
    known = f"use {use}" if use else "Lift has no such function"
    return f"{written} does not take values of a Lift program: {known}"
