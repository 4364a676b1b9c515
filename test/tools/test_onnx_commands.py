"""tile-run and tile-explore of models of ONNX."""

# pyright: basic

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tiledialect.tools import tile_explore, tile_run

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command on a model with names that are none of Tile, at its path."""
    nodes = [
        helper.make_node("Gemm", ["x", "fc.1/w"], ["/fc.1/out:0"]),
        helper.make_node("Softmax", ["/fc.1/out:0"], ["y:0"]),
    ]
    w = numpy_helper.from_array(np.ones((3, 2), np.float32), "fc.1/w")
    ends = [("x", ["batch", 3]), ("y:0", ["batch", 2])]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ends)
    graph = helper.make_graph(nodes, "classes", [x], [y], [w])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)

    def call(command: str, *args: str) -> tuple[int, str, str]:
        main = {"tile-run": tile_run.main, "tile-explore": tile_explore.main}[command]
        monkeypatch.setattr(sys, "argv", [command, str(path), *args])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return call


def test_a_model_runs(run: Run):
    status, out, err = run("tile-run", "--input", "x=random(4,3)", "--check", "--profile")
    assert (status, err) == (0, "")
    # Kernels are called after the results of nodes.
    assert all(name in out for name in ("y_0: float32[4, 2]", "_fc_1_out_0 ", "check y_0: agrees"))


def test_gradients_of_a_model(run: Run):
    status, out, _ = run("tile-run", "--input", "x=random(4,3)", "--gradient", "fc.1/w")
    assert status == 0
    assert out.startswith("Dfc_1_w: float32[3, 2]")
    status, out, _ = run("tile-run", "--input", "x=random(4,3)", "--gradient")
    assert status == 0
    assert [line.split(":")[0] for line in out.splitlines() if "float32" in line] == [
        "Dx",
        "Dfc_1_w",
    ]


def test_cotangents_of_a_model(run: Run):
    given = ("--input", "x=random(4,3)", "--gradient", "x", "--check")
    status, out, err = run("tile-run", *given, "--input", "Dy_0=random(4,2)")
    assert (status, err) == (0, "") and "check Dx: agrees" in out
    status, _, err = run("tile-run", *given, "--input", "Dz=random(4,2)")
    assert status == 1 and "there is no Dz" in err


@pytest.mark.usefixtures("ready_python")
def test_a_model_is_explored(run: Run):
    given = ("--shapes", "x=40x3xf32", "--trials", "2", "--gradient")
    status, out, err = run("tile-explore", *given)
    assert status == 0, err
    assert "classes" in out
    assert "_fc_1_out_0: <" in out


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("tile-run", (), "classes needs the input x"),
        ("tile-run", ("--input", "y=3"), "there is no y; there is x"),
        ("tile-run", ("--input", "x=random(4,5)"), "input x has the shape (batch, 3)"),
        ("tile-run", ("--input", "x=random(4,3)", "--gradient", "q"), "no input or initializer q"),
        ("tile-run", ("--constant", "N=3"), "--constant is not for models of ONNX"),
        ("tile-run", ("--function", "f"), "--function is not for models of ONNX"),
        ("tile-explore", (), "classes needs the input x"),
    ],
)
def test_refusals(run: Run, command: str, arguments: tuple[str, ...], words: str):
    status, _, err = run(command, *arguments)
    assert status == 1
    assert words in err


def test_a_file_that_is_no_model(run: Run, tmp_path: Path):
    (tmp_path / "m.onnx").write_text("no model")
    status, _, err = run("tile-run")
    assert status == 1
    assert "m.onnx cannot be read" in err
