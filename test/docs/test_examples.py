"""Runs the examples of README.md and docs/.

By the language of a code block:

- ``mlir``: verifies, and comes back the same through the printer and the parser;
- ``tile``: is a Tile function, which the printer and the parser bring back as the same IR;
- ``python``: is executed; the blocks of a page see one another's names;
- ``sh``: lines that begin with ``$`` are run one after the other in a directory that holds
  ``examples/``; the lines after each are its output, in which a line ``...`` stands for any lines.
  Those of generated pages are run as the pages are made anew;
- ``tile error`` and ``mlir error``: is refused, with the text of the ``text`` block after it;
- anything else (``console``, ``text``): is not run.

``docs/language.md`` shows statements of Tile alone; `test/language/test_docs.py` runs its examples.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import tool_server
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.utils.exceptions import ParseError, VerifyException

from tiledialect import lift
from tiledialect.dialects.lift import Lift
from tiledialect.dialects.nest import Nest
from tiledialect.dialects.tile import Tile
from tiledialect.errors import TileError
from tiledialect.language.printer import print_tile
from tiledialect.language.to_ir import load
from tiledialect.passes import lift as rewriting
from tiledialect.tools.tile_opt import TileOptMain

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NOTES = [*(ROOT / "bench" / "notes").glob("*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
LINKED = sorted([*PAGES, *NOTES])
TESTED_ELSEWHERE = ("language.md",)
GENERATED = "<!-- Made by docs/generate.py"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Example:
    """A code block of a page; ``next_text`` is the text of the block after it."""

    page: str
    is_generated: bool
    line: int
    language: str
    text: str
    next_text: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def name_of(page: Path) -> str:
    """Path of a page within docs/."""
    return page.relative_to(page.parent if page.parent == ROOT else ROOT / "docs").as_posix()


def examples() -> Iterator[Example]:
    for page in PAGES:
        if page.name in TESTED_ELSEWHERE:
            continue
        text = page.read_text()
        found = list(BLOCK.finditer(text))
        for k, match in enumerate(found):
            line = text.count("\n", 0, match.start()) + 1
            following = found[k + 1][2] if k + 1 < len(found) else ""
            is_generated = text.startswith(GENERATED)
            yield Example(name_of(page), is_generated, line, match[1], match[2], following)


@cache
def of(language: str) -> tuple[Example, ...]:
    return tuple(e for e in examples() if e.language == language)


def ids(example: Example) -> str:
    return str(example)


def parse_mlir(text: str) -> ModuleOp:
    module = TileOptMain([]).parse_chunk(io.BytesIO(text.encode()), "mlir")
    assert module is not None
    module.verify()
    return module


@pytest.mark.parametrize("example", of("mlir"), ids=ids)
def test_mlir(example: Example) -> None:
    module = parse_mlir(example.text)
    again = parse_mlir(str(module))
    assert module.is_structurally_equivalent(again)
    assert str(again) == str(module)


@pytest.mark.parametrize("example", of("tile"), ids=ids)
def test_tile(example: Example) -> None:
    module = load(example.text)
    module.verify()
    assert module.is_structurally_equivalent(load(print_tile(module)))


@pytest.mark.parametrize("example", of("tile error"), ids=ids)
def test_tile_error(example: Example) -> None:
    with pytest.raises(TileError) as caught:
        load(example.text, filename="program.tile")
    assert str(caught.value).strip() == example.next_text.strip()


@pytest.mark.parametrize("example", of("mlir error"), ids=ids)
def test_mlir_error(example: Example) -> None:
    with pytest.raises((VerifyException, ParseError)) as caught:
        parse_mlir(example.text)
    assert example.next_text.strip() in str(caught.value)


@pytest.mark.usefixtures("ready_python")
@pytest.mark.parametrize("page", sorted({e.page for e in of("python")}))
def test_python(page: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory)
    names: dict[str, object] = {}
    for example in of("python"):
        if example.page == page:
            exec(compile("\n" * example.line + example.text, page, "exec"), names)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """An empty directory with the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize("example", [e for e in of("sh") if not e.is_generated], ids=ids)
def test_sh(example: Example, directory: Path) -> None:
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join([str(tool_server.commands()), own, os.environ["PATH"]])
    for command, expected in commands(example.text):
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=directory,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        pattern = "".join(
            "(?:.*\n)*" if line == "..." else re.escape(line + "\n")
            for line in expected.splitlines()
        )
        output = result.stdout.strip()
        assert re.fullmatch(pattern, output + "\n" * bool(output)), f"$ {command}\n{output}"


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a block with the output that each is to have."""
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert parts[0] == "", "a block of commands begins with `$ `"
    split = (part.partition("\n") for part in parts[1:])
    return [(command, output.strip()) for command, _, output in split]


def test_generated_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    with redirect_stdout(io.StringIO()) as output:
        old = importlib.import_module("generate").outdated()
    assert not old, f"run `make docs`: {old} {output.getvalue()}"


@pytest.mark.parametrize("dialect", [Tile, Nest], ids=lambda dialect: dialect.name)
def test_every_op_is_documented_and_has_a_lit_test(dialect: Dialect) -> None:
    page = (ROOT / "docs" / f"dialect-{dialect.name}.md").read_text()
    folder = ROOT / "test" / "dialects" / dialect.name
    tests = "\n".join(p.read_text() for p in folder.glob("*.mlir"))
    for op in dialect.operations:
        assert f"### `{op.name}`\n" in page
        assert re.search(rf"// CHECK.*\b{re.escape(op.name)}\b", tests), op.name
        assert f'"{op.name}"(' in tests, op.name


def test_every_pattern_is_documented_and_has_lit_tests() -> None:
    page = (ROOT / "docs" / "dialect-lift.md").read_text()
    folder = ROOT / "test" / "dialects" / "lift"
    invalid = (folder / "invalid.mlir").read_text()
    valid = "\n".join(p.read_text() for p in folder.glob("*.mlir") if p.name != "invalid.mlir")
    for op in Lift.operations:
        name = re.escape(op.name)
        assert f"### `{op.name}`\n" in page
        assert re.search(rf"// CHECK.*\b{name}\b", valid), op.name
        assert re.search(rf"\b{name}\b", invalid), op.name


def test_every_name_of_lift_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "lift-reference.md").read_text()
    names = {*(f"lift.{name}" for name in lift.__all__), *rewriting.__all__} - {"patterns"}
    missing = [name for name in sorted(names) if not re.search(rf"`{re.escape(name)}[`(]", page)]
    assert not missing


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    slugs = [re.sub(r"[^\w -]", "", link_text(title).lower()).replace(" ", "-") for title in titles]
    numbered = (f"{slug}-{slugs[:k].count(slug)}" for k, slug in enumerate(slugs))
    return {*slugs, *numbered}


def link_text(title: str) -> str:
    """Text of a heading without the targets of its links."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)


def test_every_page_is_in_the_index() -> None:
    index = "".join((ROOT / "docs" / name).read_text() for name in ("README.md", "passes.md"))
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.name == "README.md" or f"({name_of(page)})" in index, page.name


def test_examples_are_found() -> None:
    assert len(of("mlir")) > 40
    assert of("tile") and of("tile error") and of("python") and of("sh")
