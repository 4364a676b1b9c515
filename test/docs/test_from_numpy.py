"""Compares every row of the tables in docs/from-numpy.md with NumPy, on the preferred device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import assert_close
from covering import of_all_words
from running import Case, merged, reference, run

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


def row(numpy: str, tile: str) -> Case:
    """A row of the tables with NumPy's result."""
    assert HEADER is not None
    return Case(numpy, f"{HEADER[1]} {{ {tile} }}", (*INPUTS.values(),), (wanted(numpy),))


def check(case: Case, result: np.ndarray[Any, Any]) -> None:
    """Compare with NumPy's result, whose width is another."""
    (expected,) = case.expected
    assert result.shape == expected.shape, case.name
    assert (result.dtype.kind == "f") == (expected.dtype.kind == "f"), case.name
    if result.dtype.kind == "f":
        expected = expected.astype(result.dtype)
        assert_close(result, expected, length=36, scale=10, what=case.name)
    else:
        np.testing.assert_array_equal(result, expected, case.name)


CASES = [row(*texts) for texts in ROWS]
ON_DEVICE = of_all_words(CASES)
BATCH = 14
"""Rows that are built as one program."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reference(case: Case):
    (result,) = reference(case.source, case.inputs)
    check(case, result)


@pytest.mark.parametrize("start", range(0, len(ON_DEVICE), BATCH))
def test_on_device(start: int):
    batch = ON_DEVICE[start : start + BATCH]
    inputs = [array for case in batch for array in case.inputs]
    for case, result in zip(batch, run(merged(batch), inputs, None), strict=True):
        check(case, result)


def test_rows_are_found():
    table_rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(ROWS) == len(table_rows) > 80
