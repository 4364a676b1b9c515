"""Philox4x32-10, the counter-based generator behind Tile's random numbers.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A block of
four words is a pure function of a counter of four words and a key of two, so every element of a
random tensor can be made by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.rounding import ceil_div

Array = npt.NDArray[Any]

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_WORD = np.uint64(0xFFFFFFFF)
_WIDTH = np.uint64(32)


def philox(counters: Array, key: Array) -> Array:
    """The blocks of random words for ``counters``: one block of four 32-bit words per row."""
    x = [counters[:, i].astype(np.uint64) for i in range(4)]
    k = [np.uint64(word) for word in key]
    for _ in range(ROUNDS):
        products = [np.uint64(m) * x[2 * i] for i, m in enumerate(MULTIPLIERS)]
        (high0, low0), (high1, low1) = ((p >> _WIDTH, p & _WORD) for p in products)
        x = [high1 ^ x[1] ^ k[0], low1, high0 ^ x[3] ^ k[1], low0]
        k = [(word + np.uint64(step)) & _WORD for word, step in zip(k, KEY_STEPS, strict=True)]
    return np.stack(x, axis=1).astype(np.uint32)


def uniform(state: Array, count: int) -> Array:
    """The next ``count`` numbers from [0, 1), as float32; the state is `tile.prng_value`'s."""
    words = state.ravel()
    blocks = _counter(words) + np.arange(ceil_div(count, 4), dtype=np.uint64)
    counters = np.zeros((len(blocks), 4), np.uint64)
    counters[:, 0], counters[:, 1] = blocks & _WORD, blocks >> _WIDTH
    drawn = philox(counters, words[:2]).ravel()[:count]
    return (drawn >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def advance(state: Array, count: int) -> Array:
    """The state after ``count`` numbers have been drawn."""
    words = state.ravel().copy()
    counter = _counter(words) + np.uint64(ceil_div(count, 4))
    words[2], words[3] = counter & _WORD, counter >> _WIDTH
    return words.reshape(state.shape)


def _counter(words: Array) -> np.uint64:
    return np.uint64(words[2]) | np.uint64(words[3]) << _WIDTH
