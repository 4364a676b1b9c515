"""The operations of a deep-learning library, against NumPy: by the reference and on every device."""

from __future__ import annotations

from typing import Any

import pytest
from operations import convolutions, elementwise, moves, pools, products, reductions, special
from running import Case, reference, run

MODULES = (convolutions, elementwise, moves, pools, products, reductions, special)
CASES: list[Case] = [case for module in MODULES for case in module.CASES]


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("operation", CASES, ids=str)
def test_reference(operation: Case):
    operation.check(reference(operation.source, operation.inputs))


@pytest.mark.parametrize("operation", CASES, ids=str)
def test_on_device(operation: Case, device: Any):
    operation.check(run(operation.source, operation.inputs, device))
