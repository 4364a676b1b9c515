"""Gradients: against finite differences, on every device, and no more than is needed."""

from __future__ import annotations

import pytest
from gradients import contractions, elementwise
from gradients.differences import Case, check_module, cotangents, differentiated, run

CASES: list[Case] = [*elementwise.CASES, *contractions.CASES]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_order(case: Case):
    check_module(case.module(), case.inputs, case.wrt)


@pytest.mark.parametrize("case", [c for c in CASES if c.second], ids=str)
def test_second_order(case: Case):
    module = case.module()
    inputs = (*case.inputs, *cotangents(run(module, case.inputs)))
    check_module(differentiated(module, case.wrt), inputs)
