"""Numbers for names of a program, given when it is compiled."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect.errors import SourceSpan

POOL = "function (I[N]) -> (O) { M[x: N / S] = >(I[S*x + k]), k < S; O = F * M; }"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_number_is_a_program_of_its_own(dtype: type[np.floating]):
    image = np.array([1, 5, 4, 2, 0, 3], dtype)
    results = {
        s: td.compile(POOL, constants={"S": s, "F": -0.1})(image) for s in (1, np.int64(2), 3)
    }
    for s, result in results.items():
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, dtype(-0.1) * image.reshape(-1, s).max(axis=1))


def test_they_are_written_in_the_text_and_kept():
    f = td.compile(POOL, constants={"S": 2, "F": np.float32(0.5)})
    assert "k < 2" in f.tile and "0.5 * M" in f.tile
    again = pickle.loads(pickle.dumps(f.gradient()))
    # A maximum in each pair, of which half flows back.
    image, cotangent = np.float32([1, 5, 4, 2]), np.float32([1, 2])
    np.testing.assert_array_equal(again(image, cotangent), [0, 0.5, 1, 0])


def test_functions_that_are_called_have_them_too():
    source = """
    function scaled(A) -> (B) { B = F * A; }
    function main(A[N, C]) -> (O) { O = scaled(A) + C; }
    """
    f = td.compile(source, name="main", constants={"F": 3, "C": 2})
    np.testing.assert_array_equal(f(np.float32([[1, 2]])), [[5, 8]])
    with pytest.raises(td.TileError, match="A is N x 2, but 1x3 was given"):
        f(np.ones((1, 3), np.float32))


@pytest.mark.parametrize(
    "constants, words",
    [
        ({"S": 2, "F": 1, "Q": 1}, "the constant Q is used nowhere in the program"),
        ({"S": True}, "the constant S is a number of at most 64 bits, not True"),
        ({"S": "2"}, "the constant S is a number of at most 64 bits, not '2'"),
        ({"S": 1 << 63}, "the constant S is a number of at most 64 bits"),
        ({"S": np.ones(2)}, "the constant S is a number"),
        ({"k": 2}, "the name of a constant must be a capital letter and .* after it, got 'k'"),
        ({"S T": 2}, "digits and _ after it, got 'S T'"),
        ({1: 2}, "got 1"),
        ({"I": 2}, "`I` is defined here, and is no constant"),
        ({"M": 2}, "`M` is defined here, and is no constant"),
        (["S"], r"constants are numbers by name, as \{'STRIDE': 2\}"),
        ({"S": 0.5, "F": 1}, "<tile>:1:"),
        ({"N": -1}, "the dimension `N` cannot be -1"),
    ],
)
def test_refused(constants: object, words: str):
    with pytest.raises(td.TileError, match=words):
        td.compile(POOL, constants=constants)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "statement, value, words",
    [
        ("O[i: N] = >(I[S*i]);", 0.5, "half of i; the constant `S` is 0.5\n"),
        ("O[i: N / S] = >(I[i]);", 0.5, "numbers, not 0.5; the constant `S` is 0.5\n"),
        ("O[i: N] = >(I[i + k]), k < S;", 0.5, "numbers, not 0.5; the constant `S` is 0.5"),
        ("O[i: N] = >(I[i/S]);", 0, "divided by 0 here; the constant `S` is 0\n"),
        ("O[i: S] = >(I[i]);", -1, "axis 0 of O gets the size -1; the constant `S` is -1\n"),
        ("O[i: N*S] = >(I[i]);", -1, "gets the size -4, which is N . -1; the constant `S` is -1\n"),
        ("O = I * S;", 300, r"300 does not fit i8, .*; write as_int\(I, 32\); the constant `S` is 300"),
        ("O = I * -S;", 300, "^<tile>:1:30: -300 does not fit i8.*; the constant `S` is 300\n"),
    ],
)  # fmt: skip
def test_errors_name_them(statement: str, value: float, words: str):
    with pytest.raises(td.TileError, match=words):
        td.compile(f"function (I[N]) -> (O) {{ {statement} }}", constants={"S": value})(
            np.ones(4, np.int8)
        )


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("1e+20 is large", "; the constant `S` is 1e+20"),
        ("1e20 and 1e+200 are large", ""),
        ("3 of 1e+20", "; the constants `S` is 1e+20, `T` is -3"),
        ("`S` is 1e+20", ""),
    ],
)
def test_errors_name_those_whose_numbers_they_hold(message: str, told: str):
    error = td.TileError(message, SourceSpan("O = A + S + T;", 1, 1))
    assert error.with_constants({"S": 1e20, "T": -3}).message == message + told


def test_only_tile_text_has_names(tmp_path: Path):
    from tiledialect.api.loading import load

    module = load("function (A) -> (B) { B = A; }").module
    path = tmp_path / "copy.mlir"
    path.write_text(str(module))
    for source in (module, path):
        with pytest.raises(td.TileError, match="`constants` are numbers for names in Tile text"):
            td.compile(source, constants={"S": 1})
