"""Lift's equivalents of NumPy's functions, for operators and hints in errors."""

from __future__ import annotations

REPLACEMENTS = {
    "absolute": "lift.abs(a)",
    "bitwise_xor": "a != b for truth values, a ** b for powers",
    "clip": "lift.min(lift.max(a, low), high)",
    "concatenate": "lift.concat(x, y)",
    "divmod": "a // b and a % b",
    "dot": "lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)",
    "max": "x >> lift.reduce(lift.max, -np.inf)",
    "maximum": "lift.max(a, b)",
    "mean": "(x >> lift.reduce(lift.add, 0.0)) / lift.cast(lift.size(x.size), lift.f32)",
    "min": "x >> lift.reduce(lift.min, np.inf)",
    "minimum": "lift.min(a, b)",
    "negative": "-a",
    "prod": "x >> lift.reduce(lift.mul, 1.0)",
    "remainder": "a % b",
    "right_shift": "a // 2**n",
    "rint": "lift.floor(a + 0.5)",
    "round": "lift.floor(a + 0.5)",
    "reshape": "lift.split(n) and lift.join",
    "square": "a * a",
    "sum": "x >> lift.reduce(lift.add, 0.0)",
    "transpose": "lift.transpose(x)",
    "T": "lift.transpose(x)",
    "astype": "lift.cast(a, lift.i32)",
    "left_shift": "a * 2**n",
    "matmul": "lift.map of lift.map over the rows and columns",
    "shape": "x.size, the size of the outer axis",
    "where": "lift.where(condition, a, b)",
}
"""Lift's forms of NumPy functions that have another name there."""

UFUNCS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "floor_divide": "floordiv",
    "power": "pow",
    "less": "cmp_lt",
    "less_equal": "cmp_le",
    "greater": "cmp_gt",
    "greater_equal": "cmp_ge",
    "equal": "cmp_eq",
    "not_equal": "cmp_ne",
}
"""Operators by the names of their NumPy functions."""

PUBLIC: set[str] = set()
"""Public names of the package `lift`, which enters them: most are NumPy's, too."""


def unsupported(written: str, name: str) -> str:
    """Message that a function does not take values, with a replacement."""
    use = REPLACEMENTS.get(name) or (name in PUBLIC and f"lift.{name}")
    known = f"use {use}" if use else "Lift has no such function"
    return f"{written} does not take values of a Lift program: {known}"
