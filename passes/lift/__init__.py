"""Rewriting of Lift programs: rules, strategies, derivations.

>>> from tiledialect.passes.lift import Derivation, applicable, rule, rules
"""

from tiledialect.passes.lift import patterns
from tiledialect.passes.lift.derivation import Derivation, applicable, apply, replay
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
    "macro",
    "patterns",
    "repeat",
    "replay",
    "require",
    "rule",
    "sequence",
    "top_down",
]
