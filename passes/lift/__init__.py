"""Rewriting of Lift programs: a program in, an equal program of other patterns out.

Read `rules/rule` first, then `strategies/combinators`.

>>> from tiledialect.passes.lift import RULES, Derivation, applicable, rule
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiledialect.passes.lift.render.drawing import to_svg
    from tiledialect.passes.lift.rules import patterns
    from tiledialect.passes.lift.rules.collections import FAMILIES, RULES, load_rules
    from tiledialect.passes.lift.rules.refusal import NotApplicable, require
    from tiledialect.passes.lift.rules.rule import Macro, Rule, Step, Strategy, macro, rule
    from tiledialect.passes.lift.strategies.combinators import (
        at,
        at_input,
        attempt,
        bottom_up,
        choice,
        everywhere,
        in_function,
        repeat,
        sequence,
        top_down,
    )
    from tiledialect.passes.lift.strategies.derivation import Derivation, applicable, apply, replay

__all__ = [
    "FAMILIES",
    "RULES",
    "Derivation",
    "Macro",
    "NotApplicable",
    "Rule",
    "Step",
    "Strategy",
    "applicable",
    "apply",
    "at",
    "at_input",
    "attempt",
    "bottom_up",
    "choice",
    "everywhere",
    "in_function",
    "load_rules",
    "macro",
    "patterns",
    "repeat",
    "replay",
    "require",
    "rule",
    "sequence",
    "to_svg",
    "top_down",
]

_HOMES = {
    "render.drawing": "to_svg",
    "rules.collections": "FAMILIES RULES load_rules",
    "rules.refusal": "NotApplicable require",
    "rules.rule": "Macro Rule Step Strategy macro rule",
    "strategies.combinators": (
        "at at_input attempt bottom_up choice everywhere in_function repeat sequence top_down"
    ),
    "strategies.derivation": "Derivation applicable apply replay",
}
"""Modules of the public names; loaded when first asked for, as most programs have no patterns."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "patterns":
        return import_module(f"{__name__}.rules.patterns")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
