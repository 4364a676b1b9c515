"""All rules, and the rules of users' files."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tiledialect import caches
from tiledialect.errors import TileError, TileWarning
from tiledialect.passes.lift.rules import (
    cancellation,
    fusion,
    interchange,
    macros,
    opencl,
    reordering,
    split_join,
    stencil,
)
from tiledialect.passes.lift.rules.refusal import require_kind
from tiledialect.passes.lift.rules.rule import Named


def _rules_in(names: Mapping[str, Any]) -> dict[str, Named]:
    return {rule.name: rule for rule in names.values() if isinstance(rule, Named)}


_MODULES = (fusion, split_join, interchange, cancellation, reordering, stencil, opencl, macros)

RULES: Mapping[str, Named] = MappingProxyType(
    {name: rule for module in _MODULES for name, rule in _rules_in(vars(module)).items()}
)
"""Rules of this package by their names."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    module.__name__.rpartition(".")[2]: tuple(
        name
        for name, rule in _rules_in(vars(module)).items()
        if rule.function.__module__ == module.__name__
    )
    for module in _MODULES
}
"""Names of the rules of each family."""


GROUP = "tiledialect.rules"
"""Group of entry points by which a package registers modules that define rules."""


def rules_with(path: str | None = None) -> Mapping[str, Named]:
    """Rules of installed packages, of this one, and of a user's file."""
    loaded = {} if path is None else load_rules(path)
    return {**installed_rules(), **RULES, **loaded}


@caches.PACKAGE
def installed_rules() -> Mapping[str, Named]:
    """Rules of the modules that installed packages register."""
    found: dict[str, Named] = {}
    for entry in entry_points(group=GROUP):
        try:
            found |= _rules_in(vars(entry.load()))
        except Exception as error:
            text = f"the rules of {entry.value} cannot be loaded: {type(error).__name__}: {error}"
            warnings.warn(text, TileWarning, stacklevel=2)
    return found


def load_rules(path: str | Path) -> dict[str, Named]:
    """Load the rules that a Python file defines, by their names.

    Example:
    ```python
    rules = load_rules("examples/lift_rules.py")
    assert {"pad_pad", "tile_for_groups"} <= set(rules)
    ```
    """
    require_kind(path, str | Path, "rules are loaded from a file")
    try:
        names = runpy.run_path(str(path))
    except TileError:
        raise
    except FileNotFoundError:
        raise TileError(f"there is no file {path}") from None
    except (Exception, SystemExit) as error:
        raise TileError(f"{Path(path).name}: {type(error).__name__}: {error}") from error
    found = _rules_in(names)
    if not found:
        raise TileError(f"{path} defines no rules")
    return found
