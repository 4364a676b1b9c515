"""Remainders of loops over parts of an index."""

from hypothesis import given
from hypothesis import strategies as st

from tiledialect.schedule.loops import is_last_group_short


@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 16))
def test_rows_of_a_group_of_few(extent: int, steps: int, together: int):
    group = steps * together
    _, *others = (min(group, extent - k) for k in range(0, extent, group))
    assert is_last_group_short(extent, group, together) == any(n < together for n in others)
