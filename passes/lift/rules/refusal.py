"""Errors of rules and strategies that do not apply."""

from __future__ import annotations

from types import UnionType

from tiledialect.errors import TileError


class NotApplicable(TileError):  # noqa: N818
    """Error of a rule or strategy that does not apply: the message names the failed condition."""


class Mismatch(NotApplicable):
    """Error of an op that does not match a rule's pattern."""


def require(condition: bool, otherwise: str) -> None:
    """State a condition of a rule; ``otherwise`` is the message where it does not hold."""
    if not condition:
        raise NotApplicable(otherwise)


def require_kind(given: object, kind: type | UnionType, otherwise: str) -> None:
    """State the kind of an argument that a user gives."""
    if not isinstance(given, kind):
        raise TileError(f"{otherwise}, not {given!r}")
