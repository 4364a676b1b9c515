"""Numbers of iterations of loops of StableHLO that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl_jax.dialects.stablehlo.attributes import ComparisonDirection

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.element_types import is_float, limits
from tiledialect.ir.dense_constants import splat
from tiledialect.operators.layout import element_type

MIRRORED = {
    ComparisonDirection.LT: ComparisonDirection.GT,
    ComparisonDirection.LE: ComparisonDirection.GE,
    ComparisonDirection.GT: ComparisonDirection.LT,
    ComparisonDirection.GE: ComparisonDirection.LE,
}
"""Comparisons of the operands the other way round."""


def trip_count(op: hlo.WhileOp, values: Sequence[SSAValue]) -> int | None:
    """Number of iterations of a loop that counts an argument up or down to a constant.

    ``values`` are those that it begins with.
    """
    condition, body = op.cond.blocks[0], op.body.blocks[0]
    assert condition.last_op is not None
    compare = condition.last_op.operands[0].owner
    if not isinstance(compare, added.CompareOp) or is_float(element_type(compare.lhs)):
        return None
    loop = _Loop(condition, body, values)
    counter, bound, direction = compare.lhs, compare.rhs, compare.comparison_direction.data
    if loop.number(counter) is not None:
        counter, bound, direction = bound, counter, MIRRORED.get(direction)
    if not isinstance(counter, BlockArgument) or counter.owner is not condition:
        return None
    start, end, step = loop.start(counter.index), loop.number(bound), loop.step(counter.index)
    if start is None or end is None or not step:
        return None
    match direction, step > 0:
        case (ComparisonDirection.LT, True) | (ComparisonDirection.GT, False):
            steps = range(start, end, step)
        case (ComparisonDirection.LE, True):
            steps = range(start, end + 1, step)
        case (ComparisonDirection.GE, False):
            steps = range(start, end - 1, step)
        case _:
            return None
    least, greatest = limits(element_type(counter))
    # A counter that wraps goes on.
    return len(steps) if least <= start + len(steps) * step <= greatest else None


@dataclass
class _Loop:
    """A loop's condition and body, and the values that it begins with."""

    condition: Block
    body: Block
    values: Sequence[SSAValue]

    def number(self, value: SSAValue) -> int | None:
        """The integer that a value of the condition or body is in every iteration."""
        if isinstance(value, BlockArgument) and value.owner in (self.condition, self.body):
            return self.start(value.index) if self.step(value.index) == 0 else None
        return _integer(value)

    def start(self, place: int) -> int | None:
        """The integer that an argument is at first."""
        return _integer(self.values[place])

    def step(self, place: int) -> int | None:
        """The integer that is added to an argument in each iteration."""
        assert self.body.last_op is not None
        argument, new = self.body.args[place], self.body.last_op.operands[place]
        if new is argument:
            return 0
        match new.owner:
            case hlo.AddOp(lhs=a, rhs=b) if a is argument:
                return self.number(b)
            case hlo.AddOp(lhs=a, rhs=b) if b is argument:
                return self.number(a)
            case hlo.SubtractOp(lhs=a, rhs=b) if a is argument:
                number = self.number(b)
                return None if number is None else -number
            case _:
                return None


def _integer(value: SSAValue) -> int | None:
    """The integer that a constant of either dialect is."""
    if (constant := constant_of(value)) is not None:
        return int(constant.number)
    op = value.owner
    if isinstance(op, hlo.ConstantOp):
        number = splat(op.value)
        return None if number is None else int(number)
    return None
