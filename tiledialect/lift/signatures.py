"""Signatures of the user's functions: name, number of parameters, their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tiledialect.errors import TileError
from tiledialect.lift.tracing import place


@dataclass(frozen=True)
class Signature:
    """Parameters of a function of values."""

    name: str
    arity: int | None = 1
    """Number of values; None if that is open."""
    parameters: Sequence[str] = ()
    """The user's names of the values, where known."""


def signature_of(function: Callable[..., Any]) -> Signature:
    """Signature of a callable of the user's; a TileError if it is none."""
    if not callable(function):
        raise TileError(f"{function!r} is no function", place())
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = None
    needed = [
        p
        for p in parameters or ()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    variable = parameters is None or any(p.kind == p.VAR_POSITIONAL for p in parameters)
    name = getattr(function, "__name__", "the function")
    return Signature(name, None if variable else len(needed), [p.name for p in needed])
