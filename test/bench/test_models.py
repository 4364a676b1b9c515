"""`bench/models.py` on a small model, by the reference semantics."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from tiledialect.api.function import Function

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install tiledialect[torch]"
)

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import models  # noqa: E402


@pytest.mark.parametrize("is_training", (False, True))
def test_line(monkeypatch, is_training):
    monkeypatch.setattr(Function, "__call__", Function.reference)
    monkeypatch.setitem(
        models.MODELS,
        "tiny",
        lambda batch, is_small: (torch.nn.Linear(4, 3), (torch.ones(batch, 4),)),
    )
    options = argparse.Namespace(device=None, peers=["eager"], rounds=1, small=True)
    text = models.line("tiny", 2, options, is_training)
    assert text.startswith("tiny")
    assert "first call" in text
    assert "eager" in text
