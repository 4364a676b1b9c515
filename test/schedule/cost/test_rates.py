"""Rates: files of numbers that are read strictly, and the device's choice among them."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from tiledialect.errors import TileError
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.rates import FOLDER, load, rates
from tiledialect.schedule.cost.traits import Kind

FILES = sorted(FOLDER.glob("*.toml"))
WHOLE = (FOLDER / "cpu.toml").read_text()


def written(folder: Path, text: str, name: str = "own") -> Path:
    """A file of rates beside those of the package."""
    for path in FILES:
        (folder / path.name).write_text(path.read_text())
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file(path: Path) -> None:
    found = load(path)
    assert found.source.date
    assert found.source.data
    assert (found.cpu is None) is not (found.gpu is None)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_number_has_a_comment(path: Path) -> None:
    lines = path.read_text().splitlines()
    for before, line in pairwise(lines):
        if re.match(r"\w+ = [-\d.]", line):
            assert re.match(r"# [A-Z0-9].*\.$", before), line


def test_a_file_that_extends_another_has_only_other_numbers() -> None:
    own = tomllib.loads((FOLDER / "avx512.toml").read_text())["cpu"]["core"]
    base, found = rates("cpu").of_cpu.core, rates("avx512").of_cpu.core
    for name, value in own.items():
        assert getattr(found, name) == value != getattr(base, name)
    assert found.group == base.group
    assert rates("avx512").items == rates("cpu").items


def test_unknown_rate(tmp_path: Path) -> None:
    path = written(tmp_path, 'extends = "cpu"\n[items]\nwarp = 1.0\n')
    with pytest.raises(TileError, match=r"there is no rate items\.warp"):
        load(path)


def test_unknown_table(tmp_path: Path) -> None:
    path = written(tmp_path, 'extends = "cpu"\n[cpu.cores]\nchain = 1.0\n')
    with pytest.raises(TileError, match=r"there is no rate cpu\.cores"):
        load(path)


def test_missing_rate(tmp_path: Path) -> None:
    text = re.sub(r"^chain = .*$", "", WHOLE, flags=re.M)
    with pytest.raises(TileError, match=r"the rate cpu\.core\.chain is missing"):
        load(written(tmp_path, text))


def test_missing_table(tmp_path: Path) -> None:
    text = WHOLE[: WHOLE.index("[cpu.core]")]
    with pytest.raises(TileError, match="either the table cpu or the table gpu"):
        load(written(tmp_path, text))


@pytest.mark.parametrize("value", ['"fast"', "true", "[1.0]"])
def test_no_number(tmp_path: Path, value: str) -> None:
    path = written(tmp_path, f'extends = "cpu"\n[items]\nwait = {value}\n')
    with pytest.raises(TileError, match=r"the rate items\.wait is .*, which is no float"):
        load(path)


def test_no_table(tmp_path: Path) -> None:
    path = written(tmp_path, 'extends = "cpu"\nnests = 1.0\n')
    with pytest.raises(TileError, match="nests must be a table of rates"):
        load(path)


def test_device_has_the_rates_of_its_vectors_or_its_kind() -> None:
    assert described(Kind.CPU, {"native_vector_width": 8}).rates is rates("cpu")
    assert described(Kind.CPU, {"native_vector_width": 16}).rates is rates("avx512")
    assert described(Kind.GPU, {}).rates is rates("gpu")
