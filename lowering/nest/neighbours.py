"""How accesses of a nest go through memory, loop by loop."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.ir import Operation

from tiledialect.ancestors import ancestors
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.lowering.nest.scope import NestScope

LINE = 64
"""The bytes that go between memory and caches together."""


def loops_around(op: Operation) -> Iterator[ForOp]:
    """The loops around an op, innermost first."""
    return (x for x in ancestors(op) if isinstance(x, ForOp))


def times(op: Operation) -> int:
    """How often an op is run, as far as that is known."""
    return prod(loop.extent or 1 for loop in loops_around(op))


def moved_by(loop: ForOp, op: LoadOp | StoreOp, scope: NestScope) -> int | None:
    """How many elements a step of a loop moves an access; None if that is no number."""
    name, place = scope.name(loop.index), scope.address(op)
    return (place.substitute({str(name): name + loop.bounds.data[2]}) - place).value
