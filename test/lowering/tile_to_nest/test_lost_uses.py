"""No pass leaves ops outside of a module that still use its values."""

from __future__ import annotations

from typing import Any

import pytest
from described import Entries, entries, spec
from hypothesis import given, note
from test_random_programs import searching
from whole_programs import Program, programs
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.lowering.compilation import compile_module


def assert_no_lost_uses(module: ModuleOp, after: str) -> None:
    """Fail if a value is used by an op that is not in the module."""
    ops = set(module.walk())
    values = [r for op in ops for r in op.results]
    values += [arg for op in ops for region in op.regions for b in region.blocks for arg in b.args]
    for value in values:
        lost = [use.operation.name for use in value.uses if use.operation not in ops]
        assert not lost, f"after {after}, {value.name_hint} is used by a lost {lost[0]}"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks after each pass of any pipeline."""

    def apply(self: PassPipeline, ctx: Context, op: ModuleOp) -> None:
        for step in self.passes:
            step.apply(ctx, op)
            assert_no_lost_uses(op, step.name)

    monkeypatch.setattr(PassPipeline, "apply", apply)


def compiled(program: Any, described: tuple[str, Entries]) -> None:
    """Compile a program, as for the described device."""
    inner = td.compile(program.source)._program  # pyright: ignore[reportPrivateUsage]
    compile_module(inner.module, inner.name, types_of(program.arrays()), spec(*described))


@pytest.mark.usefixtures("watched")
def test_any_programs(device: td.Device, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 50)
    @given(programs(3), entries(device))
    def check(program: Program, described: tuple[str, Entries]) -> None:
        note(f"{program.source}{program.inputs}\nas for {described}")
        compiled(program, described)

    check()
