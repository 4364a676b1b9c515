"""Derivations of Tile programs among the candidates of their explorations."""

import subprocess
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
import tool_server

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.exploration import explore
from tiledialect.exploration.explore import Progress
from tiledialect.exploration.implementation import PATTERNS, Implementation
from tiledialect.exploration.lift.contractions import as_patterns
from tiledialect.exploration.lift.settings import AlgorithmicSettings, Settings
from tiledialect.lowering.runtime.program.specialization import Specialization

PRODUCT = "function mm(A[M, K], B[K, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
ARRAYS = tuple(np.ones(shape, np.float32) * 2 for shape in ((4, 8), (8, 16)))
STEPS = """tile-to-lift
map_glb(dim=1) at map
map_glb(dim=0) at map_glb/map
reduce_seq at map_glb/map_glb/reduce"""
FEW = Settings(algorithmic=AlgorithmicSettings(exploration_depth=1, most_programs=3))


def test_a_derivation_computes_a_tile_program(device: td.Device):
    f = td.compile(PRODUCT, device=device)
    subject = f.subject(ARRAYS, {})
    program = Implementation(steps=STEPS).applied(subject.program, subject.types, device)
    assert not program.is_scheduled
    plan = Specialization(program, subject.types, device).plan
    assert [launch.kernel for launch in plan.launches] == ["mm_0_C"]
    assert np.array_equal(td.compile(program.module, device=device)(*ARRAYS), ARRAYS[0] @ ARRAYS[1])


def test_gradients_are_patterns_too(device: td.Device):
    gradient = td.compile(PRODUCT, device=device).gradient("A")
    arrays = (*ARRAYS, np.ones((4, 16), np.float32))
    subject = gradient.subject(arrays, {})
    program = as_patterns(subject.program, subject.types, device)
    found = td.compile(program.module, device=device)(*arrays)
    assert np.array_equal(found, arrays[2] @ arrays[1].T)


def test_other_ops_are_no_patterns(device: td.Device):
    f = td.compile("function f(A[N]) -> (B) { B = exp(A); }", device=device)
    subject = f.subject((np.ones(4, np.float32),), {})
    with pytest.raises(TileError, match="f has ops that are no contractions"):
        as_patterns(subject.program, subject.types, device)


def test_explorations_try_derivations(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(explore, "FEWEST", 2)
    states: list[Progress] = []
    f = td.compile(PRODUCT, device=fast)
    result = td.explore(f, *ARRAYS, trials=14, settings=FEW, progress=states.append)
    own = [trial for trial in result.trials if trial.part == PATTERNS]
    assert len(own) >= 2 and own[0].text == "tile-to-lift" and not result.wrong
    assert all(trial.text.startswith("tile-to-lift") for trial in own)
    assert np.array_equal(result.best(*ARRAYS), ARRAYS[0] @ ARRAYS[1])
    # As if a derivation were the fastest: it is what calls and files take.
    found = replace(result.data.found, implementation=Implementation(steps=own[-1].text))
    chosen = replace(result, data=replace(result.data, found=found))
    assert "tile-to-lift\n" in str(chosen)
    assert np.array_equal(chosen.best(*ARRAYS), ARRAYS[0] @ ARRAYS[1])
    chosen.save(tmp_path / "mm.explored")
    kept = td.compile(PRODUCT, device=fast, explored=tmp_path / "mm.explored")
    assert np.array_equal(kept(*ARRAYS), ARRAYS[0] @ ARRAYS[1])
    bad = replace(own[-1], failure="wrong", message="result 0: off by 1", seconds=inf)
    (tmp_path / "report.py").write_text(result.report(bad))
    run = [tool_server.python(), str(tmp_path / "report.py")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("agrees\n", "")
