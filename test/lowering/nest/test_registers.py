"""Registers that values of several lengths are written to and read from, against a list of lanes."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects import test, vector
from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import Operation, SSAValue

from tiledialect.lowering.nest.utils.registers import Registers, lanes_of

LENGTHS = (1, 2, 4, 8)
PLACES = 8

Lane = tuple[SSAValue, int] | None
"""A lane of a value that is written; None: 0."""


class Lanes:
    """Lanes of the values that are read."""

    def __init__(self, values: list[SSAValue]):
        self.known: dict[SSAValue, list[Lane]] = {
            value: [(value, lane) for lane in range(lanes_of(value))] for value in values
        }

    def emit(self, op: Operation) -> SSAValue:
        """Note what an op makes of others."""
        (result,) = op.results
        given = [self.known[v] for v in op.operands]
        if isinstance(op, vector.ShuffleOp):
            both = [*given[0], *given[1]]
            self.known[result] = [both[lane] for lane in op.mask.get_values()]
        elif isinstance(op, vector.ExtractOp):
            self.known[result] = [given[0][lane] for lane in op.static_position.get_values()]
        elif isinstance(op, vector.InsertOp):
            (lane,) = op.static_position.get_values()
            self.known[result] = [*given[1][:lane], *given[0], *given[1][lane + 1 :]]
        else:
            self.known[result] = (given[0] if given else [None]) * lanes_of(result)
        return result


def value(lanes: int) -> SSAValue:
    return test.TestOp(result_types=[f32 if lanes == 1 else VectorType(f32, [lanes])]).results[0]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_was_written_last(seed: int):
    choose = random.Random(seed)
    for _ in range(50):
        # Few of them, so that one is at several places, and in part below another.
        values = [value(choose.choice(LENGTHS)) for _ in range(4)]
        lanes, registers, written = Lanes(values), Registers(f32), dict[int, Lane]()
        for _ in range(12):
            place = choose.randrange(PLACES)
            if choose.random() < 0.5:
                new = choose.choice(values)
                registers = registers.copy()
                registers.write(place, new)
                written |= {place + k: lane for k, lane in enumerate(lanes.known[new])}
            else:
                count = choose.choice(LENGTHS)
                found = registers.read(place, count, lanes.emit)
                assert lanes.known[found] == [written.get(place + k) for k in range(count)]
