"""The commands of lit's tests end and print as those that they stand for."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
import tool_server

import tiledialect as td


@pytest.fixture(scope="module")
def commands() -> Path:
    return tool_server.commands()


def run(
    commands: Path, *command: str, given: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    name, *arguments = command
    return subprocess.run(
        [commands / name, *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=commands,
        env={**os.environ, **variables},
        check=False,
    )


def test_standard_files_and_status(commands: Path):
    made = run(commands, "tile-opt", "-f", "tile", given="function (A) -> (B) { B = exp(A); }")
    assert (made.returncode, made.stderr) == (0, "")
    assert "tile.exp" in made.stdout
    refused = run(commands, "tile-opt", "none.mlir")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "tile-opt: none.mlir: No such file or directory\n"


@pytest.mark.parametrize(("given", "status"), [("one two", 0), ("two one", 1), ("", 1)])
def test_a_failing_check_fails(commands: Path, given: str, status: int):
    checks = commands / "checks"
    checks.write_text("CHECK: one\nCHECK-SAME: two\n")
    assert run(commands, "filecheck", str(checks), given=given).returncode == status


def test_commands_have_the_environment_of_their_own(commands: Path, tmp_path: Path):
    asked = ["tile-run", "--list-devices"]
    own = {"TILE_CACHE_DIR": str(tmp_path), "OCL_ICD_VENDORS": str(tmp_path)}
    assert "OCL_ICD_VENDORS is set" in run(commands, *asked, **own).stderr


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
)
def test_python_ends_as_its_program(code: str, status: int):
    ran = subprocess.run([tool_server.python(), "-c", code], check=False)
    assert ran.returncode == status


@pytest.mark.parametrize("given", [("-P", "-W", "ignore", "-c", "PROGRAM"), ("own.py",)])
def test_python_runs_what_it_is_given(given: tuple[str, ...], tmp_path: Path):
    program = "import os, sys; print(__name__, sys.argv, os.environ['OWN'])"
    (tmp_path / "own.py").write_text(program)
    command = [program if word == "PROGRAM" else word for word in given]
    ran = subprocess.run(
        [tool_server.python(), *command, "x"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OWN": "y"},
        check=True,
    )
    assert ran.stdout == f"__main__ {['own.py' if 'own.py' in given else '-c', 'x']} y\n"


def test_python_finds_devices_whatever_its_environment_is():
    """The loader of OpenCL reads a variable that pyopencl sets when it is imported."""
    kept = {name: os.environ[name] for name in ("HOME", "TILE_CACHE_DIR") if name in os.environ}
    code = "import tiledialect as td; print(*td.devices(), sep='\\n')"
    ran = subprocess.run(
        [tool_server.python(), "-c", code], capture_output=True, text=True, env=kept, check=True
    )
    assert ran.stdout.splitlines() == [*map(str, td.devices())]


def test_python_ends_with_what_was_started(tmp_path: Path):
    kept = tmp_path / "kept"
    code = f"import atexit; atexit.register(open, {str(kept)!r}, 'w')"
    subprocess.run([tool_server.python(), "-c", code], check=True)
    assert kept.exists()


def test_a_process_that_is_killed_runs_no_longer():
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(1000)"
    with subprocess.Popen([tool_server.python(), "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.kill()
        # Its end of the pipe is closed when it ends.
        assert process.stdout.read() == b""
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(number, 0)
