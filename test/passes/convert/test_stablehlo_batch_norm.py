"""Batch normalization of StableHLO against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.ir.mlir_text import parse_mlir

pytest.importorskip("xdsl_jax", reason="xdsl-jax is not installed")

Array = npt.NDArray[Any]

SIZES = (3, 4, 5)
TOLERANCES = {"f64": 1e-10, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
"""Some roundings of each type, absolute and relative, as all results are about 1."""

OPS = {"inference": ("TFFFF", "T"), "training": ("TFF", "TFF"), "grad": ("TFFFT", "TFF")}
"""Operands and results of each op: the tensor's type, or that of a vector of the features."""


def program(op: str, axis: int, t: str) -> str:
    types = {"T": f"tensor<{'x'.join(map(str, SIZES))}x{t}>", "F": f"tensor<{SIZES[axis]}x{t}>"}
    operands, results = ([types[letter] for letter in letters] for letters in OPS[op])
    names = [f"%a{k}" for k in range(len(operands))]
    made = [f"%r{k}" for k in range(len(results))]
    header = ", ".join(f"{n}: {s}" for n, s in zip(names, operands, strict=True))
    attributes = f"<{{epsilon = 1.0e-3 : f32, feature_index = {axis} : i64}}>"
    signature = f"({', '.join(operands)}) -> ({', '.join(results)})"
    return f"""func.func @f({header}) -> ({", ".join(results)}) {{
  {", ".join(made)} = "stablehlo.batch_norm_{op}"({", ".join(names)}) {attributes} : {signature}
  func.return {", ".join(made)} : {", ".join(results)}
}}"""


def expected(op: str, axis: int, given: list[Array]) -> list[Array]:
    """The formulas of StableHLO's specification in f64."""
    x, *others = (v.astype(np.float64) for v in given)
    x, axes, epsilon = np.moveaxis(x, axis, -1), (0, 1), float(np.float32(1e-3))
    if op == "grad":
        scale, mean, variance, g = others
        g, count = np.moveaxis(g, axis, -1), x.size // x.shape[-1]
        centred, deviation = x - mean, np.sqrt(variance + epsilon)
        inner = g * count - g.sum(axes)
        inner -= (g * centred).sum(axes) * centred / (variance + epsilon)
        by_x = np.moveaxis(scale / deviation / count * inner, -1, axis)
        return [by_x, (g * centred / deviation).sum(axes), g.sum(axes)]
    scale, offset, *rest = others
    mean, variance = rest or (x.mean(axes), x.var(axes))
    result = scale * ((x - mean) / np.sqrt(variance + epsilon)) + offset
    return [np.moveaxis(result, -1, axis), *([] if rest else (mean, variance))]


def run(op: str, axis: int, t: str, device: td.Device) -> None:
    rng = np.random.default_rng(0)
    sizes = [SIZES if letter == "T" else (SIZES[axis],) for letter in OPS[op][0]]
    dtype = NUMPY_TYPES[et.CONCRETE[t]]
    given = [rng.uniform(0.5, 1.5, size).astype(dtype) for size in sizes]
    f = td.compile(parse_mlir(program(op, axis, t), "f.mlir"), device=device)
    wanted = expected(op, axis, given)
    for found in (f(*given), f.reference(*given)):
        results = found if isinstance(found, tuple | list) else [found]
        for result, own in zip(results, wanted, strict=True):
            assert result.dtype == dtype
            bound = TOLERANCES[t]
            np.testing.assert_allclose(result.astype(np.float64), own, rtol=bound, atol=bound)


@pytest.mark.covering(1)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("op", OPS)
def test_any_feature_axis(op: str, axis: int, device: td.Device) -> None:
    run(op, axis, "f32", device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("t", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("op", OPS)
def test_element_types(op: str, t: str, device: td.Device) -> None:
    run(op, 1, t, device)


def test_sums_of_short_floats_may_exceed_their_range() -> None:
    text = program("training", 1, "f16").replace("3x4x5", "3x4x5000")
    x = np.full((3, 4, 5000), 100, np.float16)
    ones = np.ones(4, np.float16)
    result, mean, variance = td.compile(parse_mlir(text, "f.mlir")).reference(x, ones, ones)
    assert (result == 1).all() and (mean == 100).all() and (variance == 0).all()
