"""Rewriting of Lift programs: rules, strategies, derivations.

>>> from tiledialect.passes.lift import RULES, Derivation, applicable, rule
"""

from tiledialect.passes.lift import patterns
from tiledialect.passes.lift.derivation import Derivation, applicable, apply, replay
from tiledialect.passes.lift.drawing import to_svg
from tiledialect.passes.lift.families import FAMILIES, RULES, load_rules
from tiledialect.passes.lift.refusal import NotApplicable, require
from tiledialect.passes.lift.rules import Macro, Rule, Step, Strategy, macro, rule
from tiledialect.passes.lift.strategies import (
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
