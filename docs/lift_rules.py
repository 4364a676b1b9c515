"""Page of the rewrite rules of Lift, generated from their docstrings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tiledialect.passes.lift import FAMILIES, RULES

RULES_INTRODUCTION = """
The rules by which Lift programs are [rewritten](rewriting.md), by families. In the equations,
`x >> f >> g` applies `f` first, `a ⇒ …` is a function, and `map2` is `map` of `map`. A parameter is
a size that may stay open, or, with a number as its default, a number.
"""


def rules_page() -> Iterator[str]:
    """The page of the rewrite rules."""
    yield "# Rewrite rules"
    yield RULES_INTRODUCTION
    for family, names in FAMILIES.items():
        yield f"## {family.replace('_', '-').capitalize()}"
        yield import_module(f"tiledialect.passes.lift.rules.{family}").__doc__ or ""
        rows = (f"| `{name}` | {rule_parameters(name)} | {rule_text(name)} |" for name in names)
        yield "\n".join(["| rule | parameters | |", "| --- | --- | --- |", *rows])


def rule_parameters(name: str) -> str:
    """Parameters of a rule with their defaults."""
    return ", ".join(
        f"`{p.name}`" if p.default in (p.empty, None) else f"`{p.name}={p.default}`"
        for p in RULES[name].parameters.values()
    )


def rule_text(name: str) -> str:
    """Equation of a rule, for a table."""
    return " ".join(RULES[name].equation.split()).replace("|", "\\|")
