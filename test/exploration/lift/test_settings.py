"""Settings of explorations: defaults, and files in TOML."""

import re
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.exploration.lift.settings import Settings


def test_defaults_are_lifts():
    settings = Settings.parse("")
    algorithmic, parameters = settings.algorithmic, settings.parameters
    assert algorithmic.exploration_depth == 5
    assert algorithmic.depth_filter == 6
    assert algorithmic.distance_filter == 1
    assert algorithmic.rule_repetition == 2
    assert parameters.min_local_size == 128
    assert parameters.max_local_size == 1024
    assert parameters.max_workgroups == 10000


def test_reads_a_file(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text('[algorithmic]\nrule_collection = "default"\n[mapping]\nglobal0 = false\n')
    settings = Settings.read(file)
    assert settings.algorithmic.rule_collection == "default"
    assert not settings.mapping.global0
    assert settings.mapping.global01


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[memory]", "there is no table [memory]; there is algorithmic, mapping, parameters"),
        ("[algorithmic]\ndepth = 3", "[algorithmic] has no depth; it has exploration_depth"),
        ("[mapping]\nglobal0 = 1", "[mapping]: global0 is true or false, not 1"),
        ("[algorithmic]\nrule_repetition = -1", "rule_repetition is a number, 0 or more, not -1"),
        ("[algorithmic]\nrule_repetition = true", "rule_repetition is a number, 0 or more"),
        ("mapping = 3", "mapping is a table [mapping], not 3"),
        ("[", "<settings>: "),
    ],
)
def test_refuses_what_it_does_not_know(text: str, message: str):
    with pytest.raises(TileError) as error:
        Settings.parse(text)
    assert message in error.value.message


def test_settings_are_defaults_of_explore(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text("[search]\ntrials = 0\n")
    function = td.compile("function f(A[N]) -> (B) { B[i: N] = +(A[i]); }")
    with pytest.raises(TileError, match="`trials` must be"):
        td.explore(function, [1.0, 2.0], settings=file)


@pytest.mark.parametrize("file", ["nowhere.toml", "no\0file", 5])
def test_a_file_that_is_not_there(file: Any):
    with pytest.raises(TileError, match="cannot be read"):
        Settings.read(file)


def test_defaults_are_documented():
    page = (Path(__file__).parents[3] / "docs" / "explore.md").read_text()
    for table in fields(Settings):
        (row,) = re.findall(rf"^\| `\[{table.name}\]` \| (.*) \|$", page, re.M)
        own = getattr(Settings(), table.name)
        assert tomllib.loads("\n".join(re.findall(r"`(.*?)`", row))) == asdict(own)
