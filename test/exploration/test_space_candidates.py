"""A few random candidates of random programs; `make fuzz` tries them without an end."""

from __future__ import annotations

import pytest
import space_candidates
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy


@pytest.mark.parametrize(
    "made",
    [space_candidates.of_contractions(), space_candidates.of_patterns()],
    ids=["tile", "lift"],
)
def test_candidates_agree(
    made: SearchStrategy[space_candidates.Drawn], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(space_candidates, "CANDIDATES", 2)

    @settings(
        max_examples=2,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(made)
    def check(drawn: space_candidates.Drawn) -> None:
        space_candidates.candidates_agree(drawn)

    check()
