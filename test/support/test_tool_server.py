"""The commands of lit's tests end and print as those that they stand for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import tool_server


@pytest.fixture(scope="module")
def commands() -> Path:
    return tool_server.start(os.environ)


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
