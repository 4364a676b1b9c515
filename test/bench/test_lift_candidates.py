"""Candidates of a file: derivations and decisions."""

import json
import sys
from pathlib import Path

import pytest

import tiledialect as td

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from lift_candidates import given, part_of
from lift_exploration import PAIRS


def test_given_candidates(tmp_path: Path):
    device = next((d for d in td.devices() if d.type != "simulator"), None)
    if device is None:
        pytest.skip("there is no device with a speed")
    decisions = {"program": "partial_reduce", "mapping": "default", "size n": 64}
    file = tmp_path / "candidates.txt"
    file.write_text(f"partial_reduce(n=64) at reduce\n\n{json.dumps(decisions)}\n")
    steps, decided = given(part_of(PAIRS["sum"], device), file)
    assert steps.label == "partial_reduce(n=64) at reduce"
    assert decided.label.startswith("partial_reduce(n=n) at reduce {")
    assert steps.seconds > 0 and decided.seconds > 0
    assert "partial_reduce" in decided.derivation.text
