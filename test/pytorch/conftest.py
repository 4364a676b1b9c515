"""Fixtures of tests with PyTorch, which is imported where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiledialect as td


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of the test for what is kept on disk."""
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def reset():
    """Forget what was warned of, and compiled functions: PyTorch limits the number for a piece of
    code."""
    import torch

    from tiledialect.torch import backend

    torch.compiler.reset()
    backend._warned.clear()


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> td.Device:
    """A device that keeps buffers, and takes copies."""
    monkeypatch.setattr(td.Device, "uses_host_memory", False)
    return td.devices()[0]
