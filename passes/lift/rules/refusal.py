"""Why a rule or a strategy does not apply."""

from __future__ import annotations

from tiledialect.errors import TileError


class NotApplicable(TileError):  # noqa: N818
    """A rule or strategy does not apply: the message says what is not as it must be."""


class Mismatch(NotApplicable):
    """There is something else than what a rule looks for."""


def require(condition: bool, otherwise: str) -> None:
    """State a condition of a rule; ``otherwise`` says what is wrong where it does not hold."""
    if not condition:
        raise NotApplicable(otherwise)
