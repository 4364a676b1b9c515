"""Random programs of small statements and their gradients, against the reference semantics."""

from __future__ import annotations

import piece_programs
import pytest
from compare import LARGEST, assert_close
from hypothesis import given, note
from hypothesis import strategies as st
from running import run
from test_random_programs import sharing
from test_whole_programs import ULPS, differentiated

import tiledialect as td


def agrees(program: piece_programs.Program, order: int, device: td.Device) -> None:
    """Fail unless the device gives what the reference gives."""
    f, arrays, expected = differentiated(program, order)
    for k, (a, e) in enumerate(zip(run(f.tile, arrays, device), expected, strict=True)):
        # Terms cancel anywhere in a random program.
        assert_close(a, e, ulps=ULPS, scale=LARGEST, what=f"output {k}")


def test_piece_programs(device: td.Device, request: pytest.FixtureRequest):
    @sharing(request.config.getoption("--examples") // 50, device)
    @given(piece_programs.programs(5), st.integers(0, 1))
    def check(program: piece_programs.Program, order: int) -> None:
        note(f"{program.source}{program.inputs}")
        agrees(program, order, device)

    check()
