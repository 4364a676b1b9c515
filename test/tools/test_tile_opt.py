"""Wrong input ends in a message on the standard error and status 1."""

from __future__ import annotations

import re
from importlib import metadata
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import tiledialect as td
from tiledialect.ir.mlir_text import all_dialects
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.tools.tile_opt import main

INPUTS = Path(__file__).parent / "Inputs"
POOL = str(INPUTS / "pool.tile")
JUNK = str(INPUTS / "junk.bin")
BODILESS = str(INPUTS / "declared.mlir")
INVALID = str(INPUTS / "invalid.mlir")

WRONG = {
    "unknown pass": ([POOL, "-p", "tile-frobnicate"], "there is no pass tile-frobnicate"),
    "misspelt pass": ([POOL, "-p", "tile-fus"], "no pass tile-fus; do you mean `tile-fuse`?"),
    "passes without a comma": ([POOL, "-p", "tile-bounds tile-fuse"], "separated by commas"),
    "a pass as a file": ([POOL, "tile-bounds"], "passes are given as -p tile-bounds"),
    "unknown option": ([POOL, "-p", "tile-bounds{a=3}"], "has no option a: it has none"),
    "misspelt option": ([POOL, "-p", "tile-fuse{row=1}"], "no option row: it has loads, rows, a"),
    "unknown device": ([POOL, "--device", "cray"], "there is no OpenCL device 'cray'; there is"),
    "no device's file": ([POOL, "--device", "no.mlir"], "cannot read no.mlir: No such file"),
    "a file of no device": ([POOL, "--device", BODILESS], "describes no device: its module has no"),
    "malformed passes": ([POOL, "-p", "tile-bounds{{"], "Expected argument name here"),
    "wrong option": ([POOL, "-p", "tile-loop-tiling{local-size=x}"], "expected <class 'int'>"),
    "unknown target": ([POOL, "-t", "fortran"], "OpenCL C is -t opencl"),
    "unknown target option": ([POOL, "-t", "mlir{a=3}"], 'Provided arguments ["a"] not found'),
    "malformed target": ([POOL, "-t", "mlir{a"], "Expected equals, space or end of arguments here"),
    "unknown flag": ([POOL, "--fast"], "unrecognized arguments: --fast"),
    "missing file": (["nothing.tile"], "nothing.tile: No such file or directory"),
    "directory": ([str(INPUTS)], f"{INPUTS}: Is a directory"),
    "unknown kind": ([JUNK], "give its language with -f mlir or -f tile"),
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
    "shapes without a name": ([POOL, "--shapes", "8xf32"], "write --shapes NAME="),
    "shapes of none": ([POOL, "--shapes", "J=8xf32"], "there is no J; there is I"),
    "shapes of no type": ([POOL, "--shapes", "I=8"], "'8' is not a type such as 2x9xf32"),
    "shapes left out": ([POOL, "--shapes", ""], "give the type of I"),
    "shapes of no function": ([POOL, "--shapes", "I=8xf32", "--function", "g"], "no function g"),
    "no body": ([BODILESS, "-t", "tile"], "declared.mlir:2:1: error: g is only declared here"),
    "not lowered": ([POOL, "-t", "opencl"], "to print: run tile-compile first"),
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
    assert re.match(r"tile-opt: |[^\n]*:\d+:\d+: error: ", output.err)
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


def output(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr("sys.argv", ["tile-opt", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    return capsys.readouterr().out


def test_a_device_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device = td.devices()[0]
    text = output([POOL, "--device", device.id], monkeypatch, capsys)
    assert str(target_system_spec(device)) in text
    file = tmp_path / "device.mlir"
    file.write_text(text)
    assert output([POOL, "--device", str(file)], monkeypatch, capsys) == text


@pytest.mark.parametrize("spec", ["5 : i32", "#dlti.target_system_spec<>"])
def test_a_file_describes_a_device(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "device.mlir"
    file.write_text(f"module attributes {{dlti.target_system_spec = {spec}}} {{}}")
    test_error([POOL, "--device", str(file)], "device.mlir describes no", monkeypatch, capsys)


def test_shapes_are_short_for_tile_specialize(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = output([POOL, "-p", 'tile-specialize{arguments="8xui8"}'], monkeypatch, capsys)
    assert output([POOL, "--shapes", "I=8xu8"], monkeypatch, capsys) == long
    file = tmp_path / "pool.mlir"
    assert output([POOL, "-o", str(file)], monkeypatch, capsys) == ""
    assert output([str(file), "--shapes", "I=8xui8"], monkeypatch, capsys) == long
    # They may be words of their own, before the file, too.
    Path(tmp_path / "add.tile").write_text("function (A[N], B[N]) -> (C) { C = A + B; }")
    add, types = str(tmp_path / "add.tile"), ("A=8xf32", "B=8xf32")
    once = output([add, "--shapes", ",".join(types)], monkeypatch, capsys)
    for words in (types, (types[0], "--shapes", types[1])):
        assert output([add, "--shapes", *words], monkeypatch, capsys) == once
        assert output(["--shapes", *words, add], monkeypatch, capsys) == once
    # Types that the header gives need not be given.
    file.write_text(long)
    assert output([str(file), "--shapes", ""], monkeypatch, capsys) == long


def test_the_old_output_stays_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "o.mlir"
    file.write_text("old")
    monkeypatch.setattr("sys.argv", ["tile-opt", INVALID, "-o", str(file)])
    with pytest.raises(SystemExit):
        main()
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]
    assert output([POOL, "-o", "-"], monkeypatch, capsys).startswith("builtin.module")


def test_lists(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    passes = output(["--list-passes"], monkeypatch, capsys).splitlines()
    assert any(re.fullmatch(r"tile-fuse +Groups .*", line) for line in passes)
    assert "tile" in output(["--show-dialects"], monkeypatch, capsys).split()


def test_without_installing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Dialects, passes and targets are found by themselves, where no entry point names them."""
    xdsl = [e for e in entry_points(group="xdsl.universe") if not e.value.startswith("tiledialect")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: xdsl)
    passes = 'tile-specialize{arguments="8xf32"},tile-compile'
    monkeypatch.setattr("sys.argv", ["tile-opt", POOL, "-p", passes, "-t", "opencl"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "__kernel" in capsys.readouterr().out
    assert "tile" in all_dialects().registered_dialect_names
