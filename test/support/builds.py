"""The texts that a device's compiler is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tiledialect.lowering.runtime.program import specialization


def noted_builds(monkeypatch: pytest.MonkeyPatch, note: Callable[[str], Any] = str) -> list[Any]:
    """List of the texts that functions build from now on, or of a note of each."""
    built: list[Any] = []
    build = specialization.build_program

    def noted(source: str, *rest: Any) -> Any:
        built.append(note(source))
        return build(source, *rest)

    monkeypatch.setattr(specialization, "build_program", noted)
    return built
