"""Warnings of what a program does that its author may not expect."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiledialect as td

PICTURE = np.full((2, 3), 130, np.uint8)
MEAN = "function (I[H, W]) -> (O) {\n  S[] = +(I[y, x]);\n  O = S / (H * W);\n}"


def warned(call: Callable[..., Any], *args: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*args)
    assert all(w.category is td.TileWarning and w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))


def test_a_sum_that_wraps_is_warned_of_once():
    f = td.compile(MEAN)
    (said,) = warned(f, PICTURE)
    assert said.startswith("<tile>:2:3: the sum S is of type u8, and wraps beyond 255;")
    assert "sum as_int(I, 32)" in said and "\n" not in said
    assert warned(f, PICTURE) == warned(f, PICTURE[:1]) == []
    # From the disk, too.
    assert warned(td.compile(MEAN), PICTURE) == [said]


def test_what_the_warning_says_helps():
    wide = MEAN.replace("  S[]", "  Wide = as_int(I, 32);\n  S[]").replace("+(I", "+(Wide")
    f = td.compile(wide)
    assert warned(f, PICTURE) == []
    assert f(PICTURE) == 130


@pytest.mark.parametrize(
    ("body", "dtype", "names"),
    [
        ("O[] = +(A[i]);", "int8", ["O"]),
        ("O[] = +(A[i]);", "uint16", ["O"]),
        ("O[] = +(A[i]);", "int32", []),
        ("O[] = +(A[i]);", "bool", []),
        ("O[] = +(A[i]);", "float16", []),
        ("O[] = >(A[i]);", "uint8", []),
        ("O[i: N] = +(A[N - 1 - i]);", "uint8", []),
        ("O[i + j: N] = +(A[i] * A[j]);", "uint8", ["O"]),
        ("S = sum_to(A, 1); O = S;", "uint8", ["S"]),
        ("O = scatter(A, as_int(A, 32), A);", "uint8", ["O"]),
        ("T[] = +(A[i]); O = A;", "uint8", []),
    ],
)
def test_which_sums_wrap(body: str, dtype: str, names: list[str]):
    f = td.compile(f"function (A[N]) -> (O) {{ {body} }}")
    said = warned(f, np.ones(3, dtype))
    assert [s.split("the sum ")[1].split()[0] for s in said] == names


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("A * (1/N)", "1 / N is a quotient of integers, and 0, and so is its product with A; 1.0 / N"),
        ("(1/2) * A", "1 / 2 is a quotient of integers, and 0, and so is its product with A; 1.0 / 2"),
        ("A * (M / N)", "M / N is a quotient of integers, and 0, and so is its product with A; as_float(M, 32) / N"),
        ("A * (1.0 / N)", None),
        ("A / N", None),
        ("A * (N / 2)", None),
        ("A * (0 / N)", None),
        ("A + 1 / N", None),
    ],
)  # fmt: skip
def test_quotients_that_are_0(value: str, said: str | None):
    f = td.compile(f"function (A[N], B[M]) -> (O) {{ O = {value}; }}")
    found = warned(f, np.ones(4, np.float32), np.ones(2, np.float32))
    assert len(found) == (said is not None) and (said is None or said in found[0])


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ("i + k - M/2", "i + k - 3/2 is a whole number for no indices, and O has nothing of A; "),
        ("2*i + 4*k + 1/3", "and O has nothing of A; a quotient that is cut off"),
        ("(i + k)/2 + 1/4", "and O has nothing of A; "),
        ("i + k - N/2", None),
        ("(i + k - 1)/2", None),
        ("i/3 + k/2 + 1/6", None),
    ],
)  # fmt: skip
def test_accesses_that_are_never_whole(access: str, said: str | None):
    f = td.compile(f"function (A[N], B[M]) -> (O) {{ O[i: N] = +(A[{access}] * B[k]); }}")
    found = warned(f, np.ones(4, np.float32), np.ones(3, np.float32))
    assert len(found) == (said is not None) and (said is None or said in found[0])


def test_what_is_written_nowhere():
    f = td.compile("function (A[N], B[M]) -> (O) { O[i + M/2: 9] = +(A[i] * B[j]); }")
    (found,) = warned(f, np.ones(4, np.float32), np.ones(3, np.float32))
    assert "i + 3/2 is a whole number for no indices, and nothing of O is written" in found


def test_warnings_can_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.TileWarning)
        with pytest.raises(td.TileWarning, match="wraps beyond 255"):
            td.compile(MEAN)(PICTURE)
