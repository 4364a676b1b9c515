"""The text of roles in IR, such as ``local.x``."""

from __future__ import annotations

from xdsl.parser import AttrParser

from tiledialect.schedule.loops import PARALLEL, Role


def parse_role(parser: AttrParser) -> tuple[Role, str]:
    """Parse ``serial`` or ``local.x``: the role, and its axis or an empty text."""
    role, _, axis = parser.parse_identifier(" of a role").partition(".")
    if role not in set(Role):
        parser.raise_error(f"expected a role ({', '.join(Role)}), got {role}")
    axes = ("x", "y", "z") if role in PARALLEL else ("",)
    if axis not in axes:
        wanted = ", ".join(f"{role}.{a}" if a else role for a in axes)
        parser.raise_error(f"expected {wanted}, got {role}{'.' if axis else ''}{axis}")
    return Role(role), axis
