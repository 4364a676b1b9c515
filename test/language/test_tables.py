"""The parser's tables on disk: as good as new ones, and made again where they are damaged."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest

from tiledialect import TileError, disk
from tiledialect.language import parser

SOURCE = "function (A[M, N]) -> (O) { O[i: M] = +(A[i, j] * A[j, i]), j < 3; }"
WRONG = "function (A[N]) -> (O) { O = A +; }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without anything in it."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    return tmp_path


def parsed() -> tuple[object, str]:
    """Output of a process without a parser for a program, and for one that is wrong."""
    parser._lark.cache_clear()  # pyright: ignore[reportPrivateUsage]
    tree = parser.parse(SOURCE)
    with pytest.raises(TileError) as error:
        parser.parse(WRONG)
    return tree, str(error.value)


def test_tables_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    made = parsed()
    (file,) = folder.glob("grammar-*")
    kept = file.read_bytes()
    monkeypatch.setattr(parser, "Lark", OnlyLoaded)
    assert parsed() == made
    assert file.read_bytes() == kept


class OnlyLoaded:
    """A parser that cannot be made anew."""

    load = parser.Lark.load


@pytest.mark.parametrize("damaged", [b"", b"tiledialect", b"\0" * 100])
def test_damaged_tables_are_made_again(folder: Path, damaged: bytes):
    made = parsed()
    (file,) = folder.glob("grammar-*")
    kept = file.read_bytes()
    file.write_bytes(damaged or kept[:-1])
    assert parsed() == made
    assert len(file.read_bytes()) == len(kept)


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing", *(marshal.dumps(c) for c in (None, 3, {}, {"data": {}, "memo": {}}))],
)
def test_sealed_tables_of_another_content_are_made_again(folder: Path, content: bytes):
    made = parsed()
    (file,) = folder.glob("grammar-*")
    kept = file.read_bytes()
    disk.write_sealed(file, content)
    assert parsed() == made
    assert len(file.read_bytes()) == len(kept)


def test_where_nothing_can_be_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    made = parsed()
    blocked = folder / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("TILE_CACHE_DIR", str(blocked))
    assert parsed() == made
