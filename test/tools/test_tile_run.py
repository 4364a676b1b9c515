"""tile-run: what it reads, writes, shows and refuses."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.tools import tile_run
from tiledialect.tools.array_files import random_array

PROGRAM = "function (A[N, M], B[]) -> (S, D) {\n  S = A + B;\n  D = A - B;\n}"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("p.tile").write_text(PROGRAM)

    def call(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tile-run", *args])
        with pytest.raises(SystemExit) as caught:
            tile_run.main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return call


def test_a_summary(run: Run):
    status, out, err = run("p.tile", "--input", "A=random(2,3)", "--input", "B=2")
    assert (status, err) == (0, "")
    assert "S: float32[2, 3]\n[[" in out and "D: float32[2, 3]" in out


def test_an_explanation(run: Run):
    status, out, err = run("p.tile", "--input", "A=random(2,3)", "--input", "B=2", "--explain")
    assert (status, err) == (0, "")
    assert re.search(r"^(S|D): ", out, re.M) and "chosen: 1, " in out and "float32" not in out


def test_kernels_are_fused_otherwise(run: Run):
    given = ("p.tile", "--input", "A=random(2,3)", "--input", "B=2", "--print-schedules")
    assert run(*given)[1].count("\n") == 1
    status, out, err = run(*given, "--fuse", "beside=false apart=S,D")
    assert (status, err) == (0, "") and re.fullmatch("S: <.*>\nD: <.*>\n", out)
    status, _, err = run(*given, "--fuse", "apart:S")
    assert status == 1 and "write --fuse 'rows=false apart=E'" in err


def test_a_large_summary_is_short(run: Run):
    _, out, _ = run("p.tile", "--input", "A=random(200,3)", "--input", "B=0.5")
    assert out.count("\n") == 2 and "S: float32[200, 3]  least -0.4" in out and "mean 0." in out


def test_files(run: Run):
    a = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.save("a.npy", a)
    np.savez("b.npz", x=np.int16(4), y=np.int16(5))
    arguments = ("p.tile", "--input", "A=a.npy", "--input", "B=b.npz:y")
    outputs = ("--output", "S=o.npz", "--output", "D=o.npz:difference")
    assert run(*arguments, *outputs) == (0, "", "")
    with np.load("o.npz") as archive:
        assert np.array_equal(archive["S"], a + 5)
        assert np.array_equal(archive["difference"], a - 5)
    assert run(*arguments, "--output", "S=s.npy")[0] == 0
    assert np.load("s.npy").dtype == np.int16


def test_an_array_from_the_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch):
    stream = BytesIO()
    np.save(stream, np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)))

    def given(data: bytes, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
        return run("p.tile", *arguments)

    a, b = ("--input", "A=-"), ("--input", "B=4")
    status, out, err = given(stream.getvalue(), *a, *b)
    assert (status, err) == (0, "") and "S: int16[2, 3]\n[[4 5 6]\n [7 8 9]]" in out
    status, _, err = given(b"no array", *a, *b)
    assert status == 1 and "input A: the standard input is not a sound .npy file" in err
    assert given(b"", *a, "--input", "B=-") == (
        1,
        "",
        "tile-run: A and B are both read from the standard input\n",
    )
    status, _, err = run("-", *a, *b)
    assert status == 1 and "the program and A are both read from the standard input" in err


def test_check_and_profile(run: Run):
    inputs = ("--input", "A=random(2,3)", "--input", "B=2")
    status, out, _ = run("p.tile", *inputs, "--check", "--profile", "--output", "S=s.npy")
    assert status == 0
    assert "check S: agrees" in out and "check D: agrees" in out and "peak memory 76 bytes" in out


def test_profiles_of_several_runs(run: Run):
    inputs = ("--input", "A=random(2,3)", "--input", "B=2", "--output", "S=s.npy")
    status, out, _ = run("p.tile", *inputs, "--profile", "--repeat", "3")
    assert status == 0 and ", median of 3\n" in out


def test_a_check_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch):
    from tiledialect.api.function import Function

    def wrong(self: Function, **named: Any) -> Any:
        return named["A"] + 2.01, named["A"] - 2

    monkeypatch.setattr(Function, "reference", wrong)
    inputs = ("--input", "A=random(2,3)", "--input", "B=2")
    status, out, _ = run("p.tile", *inputs, "--check")
    assert status == 1 and "check S: DIFFERS" in out and "check D: agrees" in out


@pytest.mark.parametrize(
    ("actual", "expected", "agrees"),
    [
        (np.float32([1, 2]), np.float32([1, 2]), True),
        (np.float32([1, 2.0001]), np.float32([1, 2]), True),
        (np.float32([1, 2.01]), np.float32([1, 2]), False),
        (np.float32([np.nan, np.inf]), np.float32([np.nan, np.inf]), True),
        (np.float32([np.nan, 1]), np.float32([1, 1]), False),
        (np.float32([np.inf, 1]), np.float32([-np.inf, 1]), False),
        (np.float32([0]), np.float32([0]), True),
        (np.float32([]), np.float32([]), True),
        (np.int32([1]), np.int32([2]), False),
        (np.int32([1]), np.int32([1]), True),
        (np.float32([1]), np.float64([1]), False),
        (np.float32([1]), np.float32([1, 1]), False),
    ],
)
def test_agreement(actual: Any, expected: Any, agrees: bool):
    assert tile_run.check({"A": actual}, {"A": expected}) == agrees


def test_gradients(run: Run):
    Path("g.tile").write_text("function (A[N], B[N]) -> (C) { C = A * B; }")
    inputs = ("g.tile", "--input", "A=random(3)", "--input", "B=random(3)", "--check")
    _, out, _ = run(*inputs, "--gradient")
    assert "DA: float32[3]" in out and "DB: float32[3]" in out and "check DB: agrees" in out
    b = random_array("3", 1)
    assert str(b) in out, "DA is B where the cotangent is one"
    status, out, _ = run(*inputs, "--gradient", "B", "--input", "DC=random(3,seed=9)")
    assert status == 0 and "DA" not in out
    assert str(random_array("3", 0) * random_array("3", 9)) in out


def test_devices(run: Run):
    _, out, _ = run("--list-devices")
    assert f"* {choose().id} " in out
    assert run("--list-devices", "--device", "nowhere")[0] == 1


def test_help(run: Run):
    status, out, _ = run("--help")
    assert status == 0 and "examples:" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a .tile, .mlir or .onnx file"),
        (["q.tile"], "cannot read q.tile: No such file"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["p.tile", "--device", "nowhere"], "no OpenCL device 'nowhere'"),
        (["p.tile"], "p takes 2 inputs (A, B), but 0 were given"),
        (["p.tile", "--input", "A=random(2,3)"], "B is missing"),
        (["p.tile", "--input", "C=1"], "there is no C; there is A, B"),
        (["p.tile", "--input", "A"], "write --input NAME="),
        (["p.tile", "--input", "B=1", "--input", "B=2"], "B is given twice"),
        (["p.tile", "--input", "B=x"], "input B: 'x' is none of x.npy"),
        (["p.tile", "--input", "B=x.npy"], "input B: cannot read x.npy: No such file"),
        (["p.tile", "--input", "B=p.tile"], "input B: 'p.tile' is none of"),
        (["p.tile", "--output", "X=x.npy"], "there is no X; there is S, D"),
        (["p.tile", "--output", "S=x.doc"], "the name of x.doc must end in .npy, .npz or .png"),
        (
            ["p.tile", "--output", "S=s.npy", "--output", "D=./s.npy"],
            "S and D would both be written to ./s.npy",
        ),
        (["p.tile", "--repeat", "3"], "--repeat goes with --profile"),
        (["p.tile", "--profile", "--repeat", "0"], "--repeat goes with --profile"),
        (["p.tile", "--gradient", "Z"], "Z"),
        (["p.tile", "--gradient", ","], "--gradient ,: write --gradient A,B"),
        (["p.tile", "--function", "f", "--input", "A=1"], "A"),
        (
            ["p.tile", "--input", "A=random(2,3)", "--input", "B=1", "--output", "S=no/where.npy"],
            "cannot write no/where.npy: there is no folder",
        ),
    ],
)
def test_errors(run: Run, arguments: list[str], words: str):
    status, _, err = run(*arguments)
    assert status == 1 and words in err and "Traceback" not in err


def test_a_gradient_leaves_integers_out(run: Run):
    Path("look.tile").write_text(
        "function (A[N], I[M]) -> (S) { G = gather(A, I); S[] = +(G[m]); }"
    )
    np.save("a.npy", np.float32([1, 2, 3]))
    np.save("i.npy", np.int32([0, 2, 2]))
    status, out, err = run("look.tile", "--input", "A=a.npy", "--input", "I=i.npy", "--gradient")
    assert (status, err) == (0, "") and "DA: float32[3]" in out and "DI" not in out
