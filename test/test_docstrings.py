"""Docstrings begin with a verb or a noun."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = re.compile(r"Read `([\w/]+)`")
CLAUSE = re.compile(r'"""(What|How|Those|Which|From how|Where|Who|Why|It|Its|They|This)\b.*')


def test_no_docstring_begins_with_a_clause_or_a_pronoun():
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for folder in ("tiledialect", "passes", "lowering", "tools")
        for file in (ROOT / folder).rglob("*.py")
        for match in CLAUSE.finditer(file.read_text())
    ]
    assert not found


def test_packages_name_the_file_to_read_first():
    """The front doors show a program instead."""
    lost: list[str] = []
    for folder in ("tiledialect", "passes", "lowering"):
        for file in (ROOT / folder).rglob("__init__.py"):
            name = str(file.parent.relative_to(ROOT))
            if name not in ("tiledialect", "tiledialect/lift"):
                first = FIRST.search(file.read_text())
                named = file.parent / (first[1] if first else "nothing")
                if not (named.is_dir() or named.with_suffix(".py").is_file()):
                    lost.append(name)
    assert not lost
