"""The text of roles in IR, such as ``local.x``."""

from __future__ import annotations

from xdsl.parser import AttrParser

from tiledialect.schedule.leaves import PARALLEL, Role


def parse_role(parser: AttrParser) -> tuple[Role, str]:
    """Parse ``serial`` or ``local.x``: the role, and its axis or an empty text."""
    role, _, axis = parser.parse_identifier(" of a role").partition(".")
    if role not in set(Role):
        parser.raise_error(f"expected a role ({', '.join(Role)}), got {role}")
    if axis not in (("x", "y", "z") if role in PARALLEL else ("",)):
        parser.raise_error(f"'{axis}' is not an axis of role {role}")
    return Role(role), axis
