"""The package as others get it: a wheel, and a checkout that nothing was installed from."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tiledialect as td

ROOT = Path(__file__).parents[1]
FOLDERS = {"tiledialect": "tiledialect"} | {
    name: f"tiledialect/{name}" for name in ("passes", "lowering", "tools")
}
"""Folders of the checkout, and their places in the package."""

RUN = (
    "import sys, tiledialect as td, tiledialect.tools.tile_run\n"
    "print(td.__version__, *td.compile('function (A) -> (B) { B = A + 1; }')([1, 2]))\n"
    "files = [m.__file__ for name, m in sys.modules.items() if name.startswith('tiledialect')]\n"
    "print(*{str(file) for file in files}, sep='\\n')\n"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel that `make dist` builds."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    # Without what earlier builds left.
    names = [*FOLDERS, "pyproject.toml", "README.md", "LICENSE"]
    for name in names:
        (source / name).symlink_to(ROOT / name)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True)
    (file,) = target.glob("*.whl")
    return file


def run(code: str, folder: Path, **environment: str) -> list[str]:
    """The lines that the code prints when it is run in a folder."""
    env = {**os.environ, **environment}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_the_wheel_holds_every_file(wheel: Path):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        f"{place}/{path.relative_to(ROOT / folder)}"
        for folder, place in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".lark", ".toml") or path.name == "py.typed"
    }
    assert held == wanted
    assert wheel.name == f"tiledialect-{td.__version__}-py3-none-any.whl"


def test_the_wheel_runs(wheel: Path, tmp_path: Path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    first, *files = run(RUN, tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert first == f"{td.__version__} 2 3"
    assert all(file.startswith(str(tmp_path / "site")) for file in files)


def test_a_checkout_runs_from_its_root():
    # Without the finder of an editable installation.
    code = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in repr(f)]\n" + RUN
    )
    first, *files = run(code, ROOT)
    assert first == f"{td.__version__} 2 3"
    assert all(file.startswith(str(ROOT)) for file in files)


@pytest.mark.parametrize("tool", ["tile-run", "tile-opt", "tile-explore"])
def test_version(tool: str):
    command = [str(Path(sys.executable).with_name(tool)), "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.startswith(f"{tool} {td.__version__}")


def test_the_readme_names_the_wheel():
    assert f"dist/tiledialect-{td.__version__}-py3-none-any.whl" in (ROOT / "README.md").read_text()
