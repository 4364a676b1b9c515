"""What is said of kernels that take very long."""

import pytest

from tiledialect.passes.endless import duration


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        (62.0, "1 minute"),
        (100.0, "2 minutes"),
        (7100.0, "118 minutes"),
        (7200.0, "2 hours"),
        (3e5, "3 days"),
        (float("1e15"), "11574074074 days"),
    ],
)
def test_durations(taken: float, text: str):
    assert duration(taken) == text
