"""The random numbers against the published test vectors of Random123 (its `kat_vectors`)."""

from __future__ import annotations

import numpy as np
import pytest

from tiledialect.interpreters.philox import advance, philox, uniform

KNOWN_ANSWERS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize("counter, key, words", KNOWN_ANSWERS)
def test_known_answers(counter: list[int], key: list[int], words: list[int]):
    made = philox(np.array([counter], np.uint32), np.array(key, np.uint32))
    assert made.tolist() == [words]


def test_numbers_are_the_upper_bits_of_the_words_in_order():
    state = np.array([7, 8, 5, 0], np.uint32)
    counters = np.array([[5, 0, 0, 0], [6, 0, 0, 0]], np.uint32)
    words = philox(counters, state[:2]).ravel()
    expected = [(int(word) >> 8) / 2**24 for word in words[:7]]
    assert uniform(state, 7).tolist() == expected


def test_numbers_drawn_one_after_another_are_those_drawn_at_once():
    state = np.array([1, 2, 0xFFFFFFFE, 3, 99], np.uint32)
    at_once = uniform(state, 28)
    assert np.array_equal(uniform(advance(state, 12), 16), at_once[12:])
    # A draw that ends inside a block leaves the rest of the block out.
    assert np.array_equal(uniform(advance(state, 11), 16), at_once[12:])


def test_the_counter_carries_into_its_high_word():
    state = np.array([1, 2, 0xFFFFFFFF, 3, 99], np.uint32)
    assert advance(state, 5).tolist() == [1, 2, 1, 4, 99]
    assert advance(state, 0).tolist() == state.tolist()


def test_numbers_are_uniform():
    numbers = uniform(np.array([3, 1, 4, 1], np.uint32), 100_000)
    assert numbers.dtype == np.float32
    assert 0 <= numbers.min() < 0.001 and 0.999 < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.005 and abs(numbers.var() - 1 / 12) < 0.002
