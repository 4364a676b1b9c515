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
    said, mean = warned(f, PICTURE)
    assert said.startswith("<tile>:2:3: the sum S is of type u8, and wraps beyond 255;")
    assert "sum as_int(I, 32)" in said and "\n" not in said
    assert "O is a mean of integers" in mean
    assert warned(f, PICTURE) == warned(f, PICTURE[:1]) == []
    # From the disk, too.
    assert warned(td.compile(MEAN), PICTURE) == [said, mean]


def test_what_the_warning_says_helps():
    wide = MEAN.replace("  S[]", "  Wide = as_int(I, 32);\n  S[]").replace("+(I", "+(Wide")
    wide = wide.replace("S /", "as_float(S, 32) /")
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


A, B, V = np.ones((3, 4), np.float32), np.ones((5, 2), np.float32), np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("O[i, j: N, M] = +(A[i, k] * B[k, j]);", "`k` runs over 4 of B's 5 rows (J), as A has 4 columns (K)"),
        ("X = 2 * A; O[i, j: N, M] = +(X[i, k] * B[k, j]);", "of B's 5 rows (J), as X has 4 columns (K)"),
        ("X[k, i: K, N] = =(A[i, k]); O[i, j: N, M] = +(X[k, i] * B[k, j]);", "as X has 4 rows (K)"),
        ("O[i, j: N, M] = +(A[i, k] * B[k, j] * V[k]);", "of B's 5 rows (J)"),
        ("O[i, j: N, M] = +(A[i, k] * B[k, j]), k < K;", None),
        ("O[i, j: N, M] = +(A[i, k] * B[k, j]), i - k < N;", None),
        ("O[i, j: N, M] = +(A[i, k] * B[k + 1, j]);", None),
        ("X[j, k: M, 5] = =(B[k, j]); O[i, j: N, M] = +(A[i, k] * X[j, k]);", None),
        ("O[i: N] = +(A[i, k] * V[k]);", None),
        ("O[i: min(N, K)] = =(A[i, i]);", None),
        ("O[i: K + 2] = =(V[i]);", None),
    ],
)  # fmt: skip
def test_an_index_along_dimensions_of_different_sizes(statement: str, said: str | None):
    f = td.compile(f"function (A[N, K], B[J, M], V[L]) -> (O) {{ {statement} }}")
    found = warned(f, A, B, V)
    assert len(found) == (said is not None) and (said is None or said in found[0])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("O[i: N] = =(A[i, -1]);", "-1 is outside of A, which has 4 columns, and the last is 3; O has nothing of A"),
        ("O[i: N] = =(A[i, 7]);", "7 is outside of A, which has 4 columns; O has nothing of A"),
        ("O[i, -1: N, 2] = =(A[i, 0]);", "-1 is outside of O, which has 2 columns, and the last is 1; O has nothing of A"),
        ("O[i: N] = +(A[i, j]), j < -3;", "`j < -3` means `0 <= j < -3`, which holds nowhere; O has nothing of A"),
        ("O[i: N] = +(A[i, j]), j < 0;", "`j < 0` means `0 <= j < 0`, which holds nowhere"),
        ("O[i: N] = +(A[i, j]), j < N - 4;", "`j < -1` means `0 <= j < -1`, which holds nowhere"),
        ("O[i: N] = =(V[i + 10]);", "no indices lie inside of all tensors and constraints; O has nothing of V"),
        ("O[i: N] = +(A[i, j] * V[j + 9]);", "O has nothing of A and V"),
        ("O[i: N] = +(A[i, j]), j < N - 3;", None),
        ("O[i: N] = =(V[i + 2]);", None),
        ("E[i: N - 3] = =(V[i]); O[i: N] = =(E[i]);", None),
        ("O[i: N] = =(A[i, K - 1]);", None),
    ],
)  # fmt: skip
def test_what_is_read_nowhere(statement: str, said: str | None):
    f = td.compile(f"function (A[N, K], V[L]) -> (O) {{ {statement} }}")
    found = warned(f, A, V)
    assert len(found) == (said is not None) and (said is None or said in found[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("gather(V, -1)", "place -1 is outside of V, whose places are 0 to 3, and `gather` takes the nearest inside"),
        ("gather(A, N)", "place 3 is outside of A, whose places are 0 to 2"),
        ("scatter(1.0, -1, V)", "and `scatter` leaves it out"),
        ("gather(V, V > 0)", "`gather` takes places, and an operand holds bools, which name places 0 and 1"),
        ("scatter(V, V > 0, V)", "`scatter` takes places"),
        ("gather(V, 0)", None),
        ("gather(V, as_int(V > 0, 32))", None),
    ],
)  # fmt: skip
def test_places_that_are_none(value: str, said: str | None):
    f = td.compile(f"function (A[N, K], V[L]) -> (O) {{ O = {value}; }}")
    found = warned(f, A, V)
    assert len(found) == (said is not None) and (said is None or said in found[0])


@pytest.mark.parametrize(
    ("body", "dtype", "said"),
    [
        ("S[] = +(I[i]); O = S / N;", "int32", "O is a mean of integers, cut off to an integer; with as_float(S, 32)"),
        ("S[] = +(I[i]); O = 2 * (S / N);", "int64", "this is a mean of integers"),
        ("S = sum_to(I, 1); O = S / N;", "int32", "O is a mean of integers"),
        ("S[i: N - 2] = +(I[i + k]), k < 3; O = S / 3;", "int32", "O is a mean of integers"),
        ("S[] = +(I[i] == I[i]); O = S / N;", "int32", "O is a mean of integers"),
        ("S[] = +(I[i]); O = S / N;", "float32", None),
        ("S[] = +(I[i]); O = as_float(S, 32) / N;", "int32", None),
        ("S[] = +(I[i]); O = as_int(S / N, 64);", "int32", None),
        ("S[] = +(I[i]); O = S / 7;", "int32", None),
        ("S[] = +(I[i] * I[i]); O = S / N;", "int32", None),
        ("S[] = >(I[i]); O = S / N;", "int32", None),
    ],
)  # fmt: skip
def test_means_of_integers(body: str, dtype: str, said: str | None):
    f = td.compile(f"function (I[N]) -> (O) {{ {body} }}")
    found = warned(f, np.arange(6).astype(dtype))
    assert len(found) == (said is not None) and (said is None or said in found[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reals_to_write_are_those_of_the_program(dtype: str):
    f = td.compile("function (X[N]) -> (O) { P = X > 0; S[] = +(P[i]); O = S / N; }")
    (found,) = warned(f, np.arange(6).astype(dtype))
    assert f"with as_float(S, {dtype.removeprefix('float')})" in found


def test_warnings_can_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.TileWarning)
        with pytest.raises(td.TileWarning, match="wraps beyond 255"):
            td.compile(MEAN)(PICTURE)
