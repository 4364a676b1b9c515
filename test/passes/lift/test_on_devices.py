"""Rewritten programs on every device give what the reference gives for the program they come from."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES, Make
from test_rewrite_rules import inputs, one_step, result

import tiledialect as td
from tiledialect.passes.lift import Derivation


@pytest.mark.parametrize("seed", range(8))
def test_random_sequences(seed: int, device: td.Device):
    random = Random(seed)
    example = EXAMPLES[random.choice(list(EXAMPLES))]
    derivation = Derivation.of(example.program(Make(random)))
    arrays = inputs(derivation.module, SIZES[1], seed)
    expected = result(derivation, arrays)
    derivation = derivation.bind(**SIZES[1])
    for _ in range(5):
        derivation = one_step(derivation, random)
    found = td.compile(derivation.module, device=device)(*arrays)
    assert np.array_equal(found, expected), derivation.text
