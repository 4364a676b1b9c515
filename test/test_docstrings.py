"""Docstrings begin with a verb or a noun."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLAUSE = re.compile(r'"""(What|How|Those|Which|From how|Where|Who|Why|It|Its|They|This)\b.*')


def test_no_docstring_begins_with_a_clause_or_a_pronoun():
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for folder in ("tiledialect", "passes", "lowering", "tools")
        for file in (ROOT / folder).rglob("*.py")
        for match in CLAUSE.finditer(file.read_text())
    ]
    assert not found
