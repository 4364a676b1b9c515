"""Estimates in processes of their own."""

from pathlib import Path

import pytest
from small_programs import program

import tiledialect as td
from tiledialect.exploration.lift import estimators
from tiledialect.exploration.lift.estimators import LocalEstimators, estimators_for
from tiledialect.exploration.lift.settings import AlgorithmicSettings, MappingSettings, Settings
from tiledialect.exploration.lift.space import LiftSpace
from tiledialect.exploration.subject import cost_device
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.passes.lift import Derivation

SMALL = Settings(
    algorithmic=AlgorithmicSettings(exploration_depth=0),
    mapping=MappingSettings(vectorize=False, local_memory=False),
)


@pytest.fixture
def space(fast: td.Device) -> LiftSpace:
    device = cost_device(fast)
    assert device is not None
    start = Derivation.of(program("dot").initial.module).bind(N=1024)
    return LiftSpace(start, "dot", device, target_system_spec(fast), SMALL)


def test_other_processes_find_the_same(space: LiftSpace):
    word = next(space.programs.all())
    here = LocalEstimators(space).best_of(word, "").result()
    with estimators_for(space, 2) as others:
        assert others.count == 2
        found = others.best_of(word, "").result()
        assert [ranked.text for ranked in found] == [ranked.text for ranked in here] != []
        (changed,) = others.refined(found[0]).result()
    assert changed == LocalEstimators(space).refined(here[0]).result()[0]


def test_a_process_that_ends_loses_only_its_candidate(
    space: LiftSpace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mark = tmp_path / "ended"
    ends = "import os, sys, pathlib; mark = pathlib.Path({!r})\nif not mark.exists():\n"
    ends += "    mark.touch(); [next(sys.stdin) for _ in range(2)]; os._exit(9)\n"
    monkeypatch.setattr(estimators, "COMMAND", ends.format(str(mark)) + estimators.COMMAND)
    word = next(space.programs.all())
    with estimators_for(space, 2) as others:
        assert others.best_of(word, "").result() == []
        found = [others.best_of(word, "").result() for _ in range(2)]
    assert all(found)
