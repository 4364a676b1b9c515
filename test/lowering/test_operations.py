"""The operations of a deep-learning library, against NumPy: by the reference and on every device."""

from __future__ import annotations

from typing import Any

import pytest
from covering import of_all_words
from operations import convolutions, elementwise, moves, pools, products, reductions, special
from running import Case, reference, run_together

MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (convolutions, elementwise, moves, pools, products, reductions, special)
}
CASES: list[Case] = [case for module in MODULES.values() for case in module.CASES]

BATCH = 16
"""Number of operations that are built as one program."""


def _batches(module: str) -> list[list[Case]]:
    """Cases of a module with every operation, type and option; `make fuzz` has all."""
    cases = of_all_words(MODULES[module].CASES)
    return [cases[k : k + BATCH] for k in range(0, len(cases), BATCH)]


BATCHES = [(module, k) for module in MODULES for k in range(len(_batches(module)))]


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("operation", CASES, ids=str)
def test_reference(operation: Case):
    operation.check(reference(operation.source, operation.inputs))


@pytest.mark.parametrize("module, number", BATCHES)
def test_on_device(module: str, number: int, device: Any):
    run_together(_batches(module)[number], device)
