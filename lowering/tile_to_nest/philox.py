"""Philox4x32-10 in the ops of arith.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: "Parallel random numbers: as easy as 1, 2, 3",
SC 2011.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.lowering.nest.utils.scalars import Scalars

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10


def philox(
    s: Scalars, key: tuple[SSAValue, SSAValue], counter: Sequence[SSAValue]
) -> list[SSAValue]:
    """Random words of a block; the counter's upper words are 0 where left out."""
    words = [*counter, *(s.constant(0, i32) for _ in range(4 - len(counter)))]
    keys = list(key)
    for round_ in range(ROUNDS):
        if round_:
            keys = [
                s.emit(arith.AddiOp(k, s.constant(step, i32)))
                for k, step in zip(keys, KEY_STEPS, strict=True)
            ]
        low0, high0 = _multiply(s, words[0], MULTIPLIERS[0])
        low1, high1 = _multiply(s, words[2], MULTIPLIERS[1])
        words = [
            _xor(s, high1, words[1], keys[0]),
            low1,
            _xor(s, high0, words[3], keys[1]),
            low0,
        ]
    return words


def _multiply(s: Scalars, a: SSAValue, b: int) -> tuple[SSAValue, SSAValue]:
    """Low and high word of a product."""
    op = s.builder.insert(arith.MulUIExtendedOp(a, s.constant(b, i32)))
    return op.results[0], op.results[1]


def _xor(s: Scalars, *values: SSAValue) -> SSAValue:
    result = values[0]
    for value in values[1:]:
        result = s.emit(arith.XOrIOp(result, value))
    return result
