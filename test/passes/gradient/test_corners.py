"""The derivatives at corners and poles that docs/gradients.md promises, and PyTorch's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td

PAGE = (Path(__file__).parents[3] / "docs" / "gradients.md").read_text()
ROWS = re.findall(r"^\| `(.+?)` \| (A = .+?) \| (.+?) \| (?:`(.+?)` )?\|$", PAGE, re.M)


def values(text: str) -> dict[str, float]:
    """The values in `A = 0, B = 2`."""
    return {name: float(value) for name, value in re.findall(r"(\w) = (\S+?)(?:,|$)", text)}


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("function", "at", "derivative", "_"), ROWS, ids=[" at ".join(r[:2]) for r in ROWS]
)
def test_row(function: str, at: str, derivative: str, _: str, dtype: type[np.floating]):
    point = {name: np.array([value], dtype) for name, value in values(at).items()}
    f = td.compile(f"function ({', '.join(point)}) -> (O) {{ O = {function}; }}").gradient()
    expected = [[float(d)] for d in derivative.split(", ")]
    for results in (f(**point, DO=[1.0]), f.reference(**point, DO=[1.0])):
        found = results if isinstance(results, tuple) else (results,)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("_", "at", "derivative", "like"), [r for r in ROWS if r[3]])
def test_pytorch_s(_: str, at: str, derivative: str, like: str):
    torch = pytest.importorskip("torch")
    names = {n: torch.tensor(v, requires_grad=True) for n, v in values(at).items()}
    eval(
        like, {**vars(torch), "abs": torch.abs, "pow": torch.pow, "round": torch.round}, names
    ).backward()
    assert [t.grad.item() for t in names.values()] == [float(d) for d in derivative.split(", ")]


def test_rows_are_found():
    assert len(ROWS) == PAGE.count("\n| `")
