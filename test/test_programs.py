"""Random contractions and programs: every device against the reference semantics.

`pytest test/test_programs.py --examples 3000` tries 3000 contractions, and a tenth as many
programs, on each device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from compare import assert_close
from generators import Contraction, contraction_module, contractions
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running import reference, run

BATCH = 20
"""How many contractions are built as one program."""


def batches(size: int = BATCH) -> st.SearchStrategy[list[Contraction]]:
    """Contractions whose outputs' indices are single ones."""
    return st.lists(contractions(), min_size=size, max_size=size)


def agree(batch: Sequence[Contraction], device: Any) -> None:
    """Fail unless the device gives what the reference gives; name the contraction that differs."""
    module, arrays = contraction_module(batch)
    expected = reference(module, arrays)
    try:
        for actual, wanted in zip(run(module, arrays, device), expected, strict=True):
            assert_close(actual, wanted)
    except Exception:
        if len(batch) == 1:
            note(f"{module}\n{batch[0]}")
            raise
        for made in batch:
            agree([made], device)
        raise


def searching(examples: int) -> settings:
    """Settings for so many examples; batches are not shrunk, as `agree` takes them apart."""
    return settings(
        max_examples=max(1, examples),
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def test_contractions(device: Any, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // BATCH)
    @given(batches())
    def check(batch: list[Contraction]) -> None:
        agree(batch, device)

    check()
