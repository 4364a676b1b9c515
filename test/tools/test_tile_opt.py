"""Wrong input ends in a message on the standard error and status 1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiledialect.tools.tile_opt import main

INPUTS = Path(__file__).parent / "Inputs"
POOL = str(INPUTS / "pool.tile")
JUNK = str(INPUTS / "junk.bin")
INVALID = str(INPUTS / "invalid.mlir")

WRONG = {
    "unknown pass": ([POOL, "-p", "tile-frobnicate"], "Unrecognized passes: ['tile-frobnicate']"),
    "unknown option": ([POOL, "-p", "tile-bounds{a=3}"], 'Provided arguments ["a"] not found'),
    "malformed passes": ([POOL, "-p", "tile-bounds{{"], "Expected argument name here"),
    "wrong option": ([POOL, "-p", "tile-loop-tiling{local-size=x}"], "expected <class 'int'>"),
    "unknown target": ([POOL, "-t", "fortran"], "invalid choice: 'fortran'"),
    "unknown target option": ([POOL, "-t", "mlir{a=3}"], 'Provided arguments ["a"] not found'),
    "malformed target": ([POOL, "-t", "mlir{a"], "Expected equals, space or end of arguments here"),
    "unknown flag": ([POOL, "--fast"], "unrecognized arguments: --fast"),
    "missing file": (["nothing.tile"], "nothing.tile: No such file or directory"),
    "directory": ([str(INPUTS)], f"{INPUTS}: Is a directory"),
    "unknown kind": ([JUNK], "say what it is with -f mlir or -f tile"),
    "junk as mlir": ([JUNK, "-f", "mlir"], "is not text in UTF-8"),
    "junk as tile": ([JUNK, "-f", "tile"], "is not text in UTF-8"),
    "no place to write": ([POOL, "-o", "/nowhere/x"], "/nowhere/x: No such file or directory"),
    "tile as mlir": ([POOL, "-f", "mlir"], "pool.tile:1:"),
    "mlir as tile": ([INVALID, "-f", "tile"], "invalid.mlir:1:1:"),
    "invalid op": ([INVALID], "the shapes of a (4) and b (5) do not broadcast together"),
    "error in a pass": (
        [POOL, "-p", "tile-specialize"],
        "give the type of I, which is declared as tensor<?x!tile.any>",
    ),
    "wrong types": (
        [POOL, "-p", "tile-specialize{arguments=bogus}"],
        "bogus",
    ),
    "not lowered": ([POOL, "-t", "opencl"], "gpu"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_error(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["tile-opt", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert re.match(r"tile-opt: |usage: tile-opt|[^\n]*:\d+:\d+: error: ", output.err)
    assert message in output.err


def test_deep_nesting_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "deep.mlir"
    file.write_text('"test.op"() ({\n' * 5000)
    monkeypatch.setattr("sys.argv", ["tile-opt", str(file)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert "is nested too deeply" in capsys.readouterr().err


def test_tile_errors_are_output_with_parsing_diagnostics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.tile"
    file.write_text("function (A[N]) -> (O) { O = B; }")
    monkeypatch.setattr("sys.argv", ["tile-opt", str(file), "--parsing-diagnostics"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert "`B` is not defined" in capsys.readouterr().out
