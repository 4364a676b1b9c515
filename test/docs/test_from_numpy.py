"""Compares every row of the tables in docs/from-numpy.md with NumPy, on the preferred device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import assert_close
from running import reference, run

import tiledialect as td

PAGE = (Path(__file__).parents[2] / "docs" / "from-numpy.md").read_text()
HEADER = re.search(r"^    (function .*) \{ … \}$", PAGE, re.M)
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE, re.M)

SIZES = {"N": 9, "M": 4, "L": 5, "P": 3, "J": 6}
RANDOM = np.random.default_rng(3)


def inputs() -> dict[str, np.ndarray[Any, Any]]:
    """Tensors of the page's header; I holds integers."""
    assert HEADER is not None
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, dims in re.findall(r"(\w+)\[([^]]*)\]", HEADER[1]):
        shape = [SIZES[d.strip()] for d in dims.split(",")]
        found[name] = RANDOM.normal(size=shape).astype(np.float32)
    found["I"] = RANDOM.integers(0, SIZES["N"], SIZES["J"]).astype(np.int32)
    return found


INPUTS = inputs()


def wanted(line: str) -> np.ndarray[Any, Any]:
    """NumPy's result, computed in float64."""
    exact = {k: a.astype(np.float64) if a.dtype.kind == "f" else a for k, a in INPUTS.items()}
    return np.asarray(eval(line, {"np": np, **SIZES, **exact}))


@pytest.mark.parametrize(("numpy", "tile"), ROWS, ids=[numpy for numpy, _ in ROWS])
def test_row(numpy: str, tile: str):
    assert HEADER is not None
    source = f"{HEADER[1]} {{ {tile} }}"
    expected = wanted(numpy)
    arrays = list(INPUTS.values())
    results = reference(source, arrays), run(source, arrays, td.devices()[0])
    for (result,) in results:
        assert result.shape == expected.shape
        assert (result.dtype.kind == "f") == (expected.dtype.kind == "f")
        if result.dtype.kind == "f":
            assert_close(result, expected.astype(result.dtype), length=36, scale=10)
        else:
            np.testing.assert_array_equal(result, expected)


def test_rows_are_found():
    table_rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(ROWS) == len(table_rows) > 80
