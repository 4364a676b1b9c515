"""Random numbers of a batch of states, in ops on integers; see `tile.prng_value`."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.interpreters.philox import KEY_STEPS, MULTIPLIERS, ROUNDS
from tiledialect.operators import layout
from tiledialect.passes.transform.rules.batch import Batch
from tiledialect.rounding import ceil_div

WORD, WIDTH = 2**32 - 1, 32
LONG, SHORT = CONCRETE["ui64"], CONCRETE["ui32"]


def uniform(batch: Batch, states: SSAValue, count: int) -> SSAValue:
    """The next numbers of each state, a row of a matrix of words."""
    b = batch.b
    number = layout.iota(b, (1, count), 1, LONG)
    counter = b.add(_counter(batch, states), b.op(ew.BitRightOp, number, 2))
    zero = layout.constant(b, 0, LONG)
    x = [*_words(batch, counter), zero, zero]
    key = [_word(batch, states, k) for k in (0, 1)]
    for _ in range(ROUNDS):
        products = [b.mul(x[2 * k], m) for k, m in enumerate(MULTIPLIERS)]
        (low0, high0), (low1, high1) = (_words(batch, p) for p in products)
        x = [_xor(batch, high1, x[1], key[0]), low1, _xor(batch, high0, x[3], key[1]), low0]
        key = [_low(batch, b.add(k, step)) for k, step in zip(key, KEY_STEPS, strict=True)]
    lane = b.op(ew.BitAndOp, number, 3)
    drawn = x[3]
    for k in (2, 1, 0):
        drawn = b.select(b.op(ew.CmpEqOp, lane, k), x[k], drawn)
    top = layout.cast(b, b.op(ew.BitRightOp, drawn, 8), CONCRETE["f32"])
    return b.mul(top, 2.0**-24)


def state_after(batch: Batch, states: SSAValue, count: int) -> SSAValue:
    """Each state after so many numbers have been drawn."""
    b = batch.b
    place = layout.iota(b, (1, layout.shape(states)[1]), 1, CONCRETE["i32"])
    after = states
    words = _words(batch, b.add(_counter(batch, states), ceil_div(count, 4)))
    for k, word in enumerate(words, 2):
        after = b.select(b.op(ew.CmpEqOp, place, k), layout.cast(b, word, SHORT), after)
    return after


def _counter(batch: Batch, states: SSAValue) -> SSAValue:
    low, high = (_word(batch, states, k) for k in (2, 3))
    return batch.b.op(ew.BitOrOp, low, batch.b.op(ew.BitLeftOp, high, WIDTH))


def _word(batch: Batch, states: SSAValue, number: int) -> SSAValue:
    return layout.cast(batch.b, batch.word(states, number), LONG)


def _low(batch: Batch, value: SSAValue) -> SSAValue:
    return batch.b.op(ew.BitAndOp, value, WORD)


def _words(batch: Batch, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    return _low(batch, value), batch.b.op(ew.BitRightOp, value, WIDTH)


def _xor(batch: Batch, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    return batch.b.op(ew.BitXorOp, batch.b.op(ew.BitXorOp, a, b), c)
