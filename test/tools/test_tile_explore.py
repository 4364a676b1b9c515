"""tile-explore: what it refuses, and its inputs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiledialect as td
from tiledialect.exploration.lift.algorithmic import stream
from tiledialect.language.to_ir import load
from tiledialect.passes.lift import Derivation
from tiledialect.tools import explore_phases, tile_explore
from tiledialect.tools.command import each_named

PROGRAM = "function f(A[N, M], I[N]) -> (S, J) { S = A * A; J = I + 1; }"
TYPES = ("--shapes", "A=2x3xf32,I=2xi32")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.tile").write_text(PROGRAM)
    Path("p.mlir").write_text(str(load(PROGRAM)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a .tile, .mlir or .onnx file"),
        (("none.tile",), "cannot read none.tile"),
        (("p.tile",), "give the type of A: --shapes A=64x64xf32"),
        (("p.tile", "--shapes", "A=2x3xf32"), "give the type of I"),
        (("p.tile", "--shapes", "A=2x"), "--shapes A=2x: '2x' is not a type such as 2x9xf32"),
        (("p.tile", "--shapes", "Z=2xf32"), "there is no Z; there is A, I"),
        (("p.tile", *TYPES, "--input", "A=3"), "A is given by --input and by --shapes"),
        (("p.tile", *TYPES, "--resume"), "--resume goes on with the trials of a --storage"),
        (("p.tile", *TYPES, "--plot", "none/x.svg"), "cannot be written: there is no folder none"),
        (("p.tile", *TYPES, "--save", "."), "--save . cannot be written: it is a folder"),
        (("p.tile", *TYPES, "--trials", "0"), "`trials` must be a whole number, at least 1"),
        (("p.tile", *TYPES, "--trials", "x"), "invalid int value: 'x'"),
        (("p.tile", *TYPES, "--time", "soon"), "`time` must be a number of seconds"),
        (("p.tile", *TYPES, "--workers", "0"), "`workers` must be a whole number"),
        (("p.tile", *TYPES, "--sampler", "best"), "there is no sampler 'best'"),
        (("p.tile", *TYPES, "--storage", "x://y"), "the storage x://y cannot be opened"),
        (("p.tile", *TYPES, "--device", "none"), "there is no OpenCL device 'none'"),
        (("p.tile", *TYPES, "--gradient", "I"), "I"),
        (("p.tile", *TYPES, "--programs", "3"), "--programs goes with --phase"),
        (("p.tile", *TYPES, "--settings", "none"), "the settings none cannot be read"),
        (("p.tile", "--phase", "mapping"), "f is a Tile program, which has the phase algorithmic"),
        (("--phase", "mapping"), "give a .tile or .mlir file"),
        (("m.onnx", "--phase", "mapping"), "give a .tile or .mlir file"),
        (("none.mlir", "--phase", "mapping"), "cannot read none.mlir"),
        (("p.mlir", "--phase", "mapping"), "f is not of Lift's patterns alone"),
        (("p.mlir", "--phase", "mapping", "--programs", "0"), "--programs must be at least 1"),
        (("p.mlir", "--phase", "mapping", "--plot", "x.svg"), "--plot is for searches"),
        (("p.mlir", "--phase", "mapping", "--workers", "2"), "--workers is for searches"),
    ],
)
def test_errors(
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(sys, "argv", ["tile-explore", *arguments])
    with pytest.raises(SystemExit) as caught:
        tile_explore.main()
    output = capsys.readouterr()
    assert caught.value.code == 1 and not output.out
    assert message in output.err and "Traceback" not in output.err


def prepared(*arguments: str) -> tuple[td.Function, dict[str, str]]:
    """Function and types of the inputs of a command line."""
    args = tile_explore.parser().parse_args(each_named(["p.tile", *arguments]))
    function, inputs = tile_explore.prepared(args)
    return function, {name: f"{a.shape} {a.dtype}" for name, a in inputs.items()}


def test_inputs_are_random():
    expected = {"A": "(2, 3) float32", "I": "(2,) int32"}
    assert prepared(*TYPES)[1] == expected
    assert prepared("--shapes", "A=2x3xf32", "I=2xi32")[1] == expected
    assert prepared("--input", "A=random(2,3)", "--shapes", "I=2xi32")[1] == expected


def test_cotangents_of_reals_are_random():
    function, inputs = prepared(*TYPES, "--gradient")
    assert function.inputs == ("A", "I", "DS", "DJ") and function.name == "f_gradient"
    assert inputs["DS"] == "(2, 3) float32" and "DJ" not in inputs


def test_options_are_documented():
    page = (Path(__file__).parents[2] / "docs" / "tile-explore.md").read_text()
    given = set(re.findall(r"^  (--[a-z-]+)", tile_explore.parser().format_help(), re.M))
    assert "--storage" in given
    assert {name for name in given if name not in page} == set()


def test_programs_that_are_not_printed_are_not_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A phase makes as many as are asked for: others take minutes."""
    made = list[object]()

    def counted(*given: Any, **named: Any) -> Iterator[Derivation]:
        for derivation in stream(*given, **named):
            made.append(derivation)
            yield derivation

    monkeypatch.setattr(explore_phases, "stream", counted)
    file = str(Path(__file__).parents[2] / "examples" / "stencil.mlir")
    arguments = [file, "--phase", "algorithmic", "--programs", "2"]
    monkeypatch.setattr(sys, "argv", ["tile-explore", *arguments])
    with pytest.raises(SystemExit):
        tile_explore.main()
    assert capsys.readouterr().out.count("builtin.module") == len(made) == 2
