"""Ends of both commands: closed and full outputs, internal errors, interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiledialect.errors import SourceSpan, TileError
from tiledialect.tools.command import Located, describe, named, run_command

INPUTS = Path(__file__).parent / "Inputs"
POOL = INPUTS / "pool.tile"
OPT = f"tile-opt {POOL} --shapes I=8xf32"
RUN = f"tile-run {POOL} --input 'I=random(8)'"


def shell(command: str, cwd: Path) -> tuple[int, str, str]:
    """Run in a shell that finds the tools; gives status, output and errors."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{OPT} >/dev/full", "tile-opt: the standard output: No space left on device"),
        (f"{OPT} >&-", "tile-opt: the standard output is closed"),
        (f"{OPT} -o /dev/full", "tile-opt: cannot write /dev/full: No space left on device"),
        ("tile-opt <&-", "tile-opt: the standard input is closed"),
        (f"{RUN} >/dev/full", "tile-run: the standard output: No space left on device"),
        (f"{RUN} >&-", "tile-run: the standard output is closed"),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has /dev/full")
def test_outputs_that_take_nothing(command: str, message: str, tmp_path: Path) -> None:
    assert shell(command, tmp_path) == (1, "", message + "\n")


@pytest.mark.parametrize("tool", ["tile-opt", "tile-run"])
def test_a_reader_that_stops(tool: str, tmp_path: Path) -> None:
    command = f"{tool} --help | true; echo ${{PIPESTATUS[0]}}"
    status, out, err = shell(command, tmp_path)
    assert status == 0 and out in ("0\n", "1\n") and err == ""


def test_nobody_hears(tmp_path: Path) -> None:
    assert shell("tile-opt nothing.tile 2>&-", tmp_path) == (1, "", "")
    # A file that is opened must not become the standard error.
    assert shell(f"{OPT} -o o.mlir 2>&- <&-", tmp_path) == (0, "", "")
    assert (tmp_path / "o.mlir").read_text().startswith("builtin.module")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"x\xff.tile")).write_bytes(POOL.read_bytes())
    status, out, err = shell("tile-opt x*.tile --print-debuginfo | grep -c loc", tmp_path)
    assert (status, err) == (0, "") and int(out) > 0
    status, out, err = shell("PYTHONIOENCODING=ascii tile-run größe.tile", tmp_path)
    assert status == 1 and "cannot read gr" in err and "Traceback" not in err


def ending(command: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    def raising() -> int:
        if isinstance(command, BaseException):
            raise command
        return 0

    with pytest.raises(SystemExit) as caught:
        run_command("tool", raising)
    assert isinstance(caught.value.code, int)
    return caught.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (None, 0, ""),
        (TileError("it is wrong"), 1, "tool: it is wrong\n"),
        (Located(TileError("it is wrong")), 1, "tool: it is wrong\n"),
        (SystemExit(2), 1, ""),
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 1, "tool: not enough memory\n"),
        (RecursionError(), 1, "tool: the program is nested too deeply\n"),
        (FileNotFoundError(2, "No such file", "x"), 1, "tool: x: No such file\n"),
        (
            AssertionError("one\ntwo"),
            1,
            "tool: internal error: AssertionError: one; TILE_TRACEBACK=1 shows where\n",
        ),
    ],
)
def test_endings(
    error: BaseException | None, status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(error, capsys) == (status, text)


def test_internal_errors_can_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILE_TRACEBACK", "1")

    def wrong() -> int:
        raise AssertionError

    with pytest.raises(AssertionError):
        run_command("tool", wrong)


def test_warnings_take_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    import warnings

    def warn() -> int:
        warnings.warn("it is odd", stacklevel=1)
        return 0

    with pytest.raises(SystemExit):
        run_command("tool", warn)
    assert capsys.readouterr().err == "tool: warning: it is odd\n"


def test_places_are_in_the_form_that_editors_know() -> None:
    error = TileError("it is wrong", SourceSpan("ab\ncd", 2, 2, "x.tile"))
    assert describe(error) == "x.tile:2:2: error: it is wrong\ncd\n ^"


def test_named_arguments() -> None:
    assert named(["A=1", "B = x=y"], "--input", ("A", "B")) == {"A": "1", "B": "x=y"}
