"""Strides of a nest's accesses through memory, loop by loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from math import prod

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.ancestors import ancestors
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.nest.utils.scope import NestScope


def loops_around(op: Operation) -> Iterator[ForOp]:
    """Loops around an op, innermost first."""
    return (x for x in ancestors(op) if isinstance(x, ForOp))


def executions(op: Operation) -> int:
    """Number of executions of an op, as far as known."""
    return prod(loop.extent or 1 for loop in loops_around(op))


def value_of(op: LoadOp | StoreOp) -> SSAValue:
    """Value of a load or store."""
    return op.result if isinstance(op, LoadOp) else op.value


def is_vector_access(op: LoadOp | StoreOp) -> bool:
    """Whether an access is to neighbours in global memory, whatever the indices."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    is_plain = op.condition is None and t.memory_space == GLOBAL
    return is_plain and isinstance(value_of(op).type, VectorType)


def stride_over(loop: ForOp, op: LoadOp | StoreOp, scope: NestScope) -> int | None:
    """Stride of an access over a loop, in elements; None if it is no constant.

    A loop inside that begins at a place which the loop gives, as one in strides, moves with it.
    """
    return stride_of(scope.address(op), loop, scope, loops_inside(loop, op))


def loops_inside(loop: ForOp, op: Operation) -> Iterator[ForOp]:
    """Loops inside a loop that are around an op, innermost first."""
    return takewhile(lambda x: x is not loop, loops_around(op))


def stride_of(place: Expr, loop: ForOp, scope: NestScope, inside: Iterable[ForOp]) -> int | None:
    """Stride of a place over a loop with loops inside, in elements; None if it is no constant."""
    name = scope.name(loop.index)
    moved = {str(name): name + loop.bounds.data[2]}
    for inner in inside:
        if loop.index in inner.indices:
            own = scope.name(inner.index)
            lower, *_ = inner.exprs_of(scope.operands(inner), inner.bounds)
            moved[str(own)] = own + lower.substitute(moved) - lower
    return (place.substitute(moved) - place).value
