"""`lift-lower` of every program that a rewrite rule is tested with."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES
from random_functions import Make
from test_rewrite_rules import inputs, result
from xdsl.context import Context

import tiledialect as td
from tiledialect.passes.lift import Derivation
from tiledialect.passes.lift.lift_lower import LiftLowerPass


def lowered(name: str) -> tuple[Derivation, list[np.ndarray], np.ndarray]:
    """A program that says who does what, inputs, and what it gives before it is lowered."""
    program = Derivation.of(EXAMPLES[name].program(Make(Random(1))))
    arrays = inputs(program.module, SIZES[1], 1)
    expected = result(program, arrays)
    LiftLowerPass().apply(Context(), program.module)
    program.module.verify()
    return program, arrays, expected


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", EXAMPLES)
def test_it_keeps_the_result(name: str):
    program, arrays, expected = lowered(name)
    np.testing.assert_array_equal(result(program, arrays), expected)


def test_on_devices(device: td.Device):
    """One program in ten, on each device others."""
    first = [d.id for d in td.devices()].index(device.id)
    for name in [*EXAMPLES][first::10]:
        program, arrays, expected = lowered(name)
        found = td.compile(program.module, device=device)(*arrays)
        np.testing.assert_array_equal(found, expected, err_msg=name)
