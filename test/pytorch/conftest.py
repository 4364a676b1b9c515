"""Fixtures of tests with PyTorch, which is imported where it is installed."""

from __future__ import annotations

import pytest


@pytest.fixture
def reset():
    """Forget what was warned of, and compiled functions: PyTorch limits the number for a piece of
    code."""
    import torch

    from tiledialect.torch import backend

    torch.compiler.reset()
    backend._warned.clear()
