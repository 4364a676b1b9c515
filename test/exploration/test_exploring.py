"""`td.explore` from the outside."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import tool_server
from explored import Explored

import tiledialect as td
from tiledialect import lift
from tiledialect.api.exploring import _seconds, progress_line
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kept import kept_for
from tiledialect.exploration.kernels import FREE, WHOLE, kernel_parts
from tiledialect.exploration.search import Search
from tiledialect.exploration.subject import Subject
from tiledialect.schedule.search.decisions import made


def test_a_result_says_what_was_found(explored: Explored):
    result = explored.result
    assert len(result.trials) == len(explored.states) == 3
    assert 0 < result.seconds <= result.default_seconds and result.speedup >= 1
    lines = str(result).splitlines()
    assert lines[0].startswith("mm for 4x6xf32,6x8xf32 on ")
    assert lines[1].startswith("3 trials: ") and lines[2].startswith("the cost model expects ")
    assert lines[3].startswith("C: <")
    assert result._repr_html_().startswith("<pre>mm for ")
    assert "trial 3: best " in progress_line(explored.states[-1])


def test_the_default_is_in_the_space(subject: Subject):
    """So that changes of one of its decisions are candidates."""
    (part,) = kernel_parts(subject)
    first = next(part.seeds())
    decisions, candidate = made(part.candidate, first)
    assert first[WHOLE] == FREE and len(decisions) > 4
    assert [candidate.text] == part.ranked(1)


def test_a_result_has_a_chart(explored: Explored, tmp_path: Path):
    text = explored.result.plot(tmp_path / "out.svg")
    assert (tmp_path / "out.svg").read_text() == text
    ElementTree.fromstring(text)
    with pytest.raises(td.TileError, match="cannot be written"):
        explored.result.plot(tmp_path)


def test_the_best_is_a_function(explored: Explored):
    best, (a, b) = explored.result.best, explored.inputs
    (line,) = explored.result.data.found.implementation.schedules
    # Before any call these are of the explored shapes.
    assert [f"{k}: {v}" for k, v in best.schedules().items()] == [line]
    assert "1:  " in best.explanation() and "given, bound by" in best.explanation()
    assert "__kernel" in best.opencl()
    np.testing.assert_allclose(best(a, b), a @ b, rtol=1e-4, atol=1e-5)
    assert best.tuned(a, b) is best
    again = pickle.loads(pickle.dumps(best))
    assert again.schedules() == best.schedules()
    # Other shapes are computed as without it.
    np.testing.assert_allclose(best(b, b.T), b @ b.T, rtol=1e-4, atol=1e-5)


def test_what_was_found_is_taken_again(explored: Explored, tmp_path: Path):
    f = explored.function
    explored.result.save(tmp_path / "mm.explored")
    found = explored.result.best.schedules(*explored.inputs)
    text = f.tile
    saved = td.compile(text, device=f.device, explored=tmp_path / "mm.explored")
    kept = td.compile(text, device=f.device, tune="kept")
    assert saved.schedules() == found
    # Other searches of the program may have found a faster one.
    assert kept.schedules(*explored.inputs).keys() == found.keys()
    a, b = explored.inputs
    np.testing.assert_allclose(kept(a, b), a @ b, rtol=1e-4, atol=1e-5)


def test_explore_stays_a_function(explored: Explored):
    assert callable(td.explore)


def test_gradients_are_explored(explored: Explored, tmp_path: Path):
    gradient = explored.result.best.gradient()
    cotangent = np.ones((4, 8), np.float32)
    result = td.explore(gradient, *explored.inputs, cotangent, trials=2)
    # A program of two kernels: each is a part.
    assert {trial.part for trial in result.trials} == {"DA", "DB"} == {*result.best.schedules()}
    result.save(tmp_path / "g.explored")
    f = explored.function
    again = td.compile(f.tile, device=f.device, explored=tmp_path / "g.explored").gradient()
    assert again.schedules() == result.best.schedules()


def test_wrong_results_are_reported(explored: Explored):
    result = explored.result
    bad = replace(result.trials[0], failure="wrong", message="result 0: off by 1", seconds=inf)
    given = replace(result, data=replace(result.data, trials=(*result.trials, bad)))
    assert given.wrong == (bad,) and not result.wrong
    assert "1 gave wrong results: `report` says how to see that again" in str(given)
    assert "# wrong: result 0: off by 1" in given.report(bad)
    beside = replace(bad, beside=Implementation(("T: <group.x d0 : 4>",)))
    assert f"{{'T': '<group.x d0 : 4>', 'C': {bad.text!r}}}" in given.report(beside)


def test_derivations_are_reported(fast: td.Device, tmp_path: Path):
    @lift.fun
    def squares(x: lift.array("N")):
        return lift.map(lambda a: a * a)(x)

    x = np.arange(8, dtype=np.float32)
    settings = tmp_path / "few.toml"
    settings.write_text("[algorithmic]\nexploration_depth = 1\n[search]\ntrials = 2\n")
    result = td.explore(td.compile(squares, device=fast), x, settings=settings)
    assert len(result.trials) == 2 and np.array_equal(result.best(x), x * x)
    text = result.report(result.trials[-1])
    assert "replay(Derivation.of(module, 'squares'), steps)" in text
    assert result.trials[-1].text in text


def test_a_report_runs_a_trial_again(explored: Explored, tmp_path: Path):
    trial = explored.result.trials[-1]
    text = explored.result.report(trial)
    assert trial.text in text and "def" not in text
    (tmp_path / "report.py").write_text(text)
    run = [tool_server.python(), str(tmp_path / "report.py")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("agrees\n", "")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1.5 min", 90), ("2h", 7200), ("7", 7), (3, 3)],
)
def test_times(text: float | str, seconds: float):
    assert _seconds(text) == seconds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "`trials` must be a whole number, at least 1, got 0"),
        ({"trials": True}, "`trials` must be a whole number"),
        ({"trials": 2.5}, "`trials` must be a whole number"),
        ({"workers": 0}, "`workers` must be a whole number"),
        ({"time": "soon"}, '`time` must be a number of seconds, or as "90s"'),
        ({"time": -1}, "`time` must be a number of seconds"),
        ({"time": inf}, "`time` must be a number of seconds"),
        ({"seed": "x"}, "`seed` must be a whole number, at least 0, got 'x'"),
        ({"sampler": "best"}, "there is no sampler 'best'; there is tpe, random"),
        ({"storage": "nowhere"}, "the storage nowhere cannot be opened"),
        ({"device": "none such"}, "there is no OpenCL device 'none such'"),
        ({"Z": 1}, "Z"),
    ],
)
def test_wrong_arguments(
    product: td.Function, inputs: tuple[Any, ...], options: dict[str, Any], message: str
):
    with pytest.raises(td.TileError, match=message):
        td.explore(product, *inputs, **options)


def test_what_is_no_function_is_refused():
    with pytest.raises(td.TileError, match="`function` must be a function that `compile` gave"):
        td.explore("mm.tile")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("interrupts", [1, 2])
def test_an_interrupt_keeps_what_was_found(
    interrupts: int, explored: Explored, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """After a second one the last measurements are missing, and nothing is kept on disk."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if interrupts == 2:
        monkeypatch.setattr(Search, "confirm", interrupt)
    result = td.explore(explored.function, *explored.inputs, trials=9, progress=interrupt)
    assert len(result.trials) == 1 and result.seconds <= result.default_seconds < inf
    kept = kept_for(result.data.program, explored.function.device)
    assert len(kept) == (interrupts == 1)


def test_simulators_are_refused(product: td.Function, inputs: tuple[Any, ...]):
    simulators = [device for device in td.devices() if device.type == "simulator"]
    if not simulators:
        pytest.skip("there is no simulator")
    with pytest.raises(td.TileError, match=r"has no speed to explore by: it is a simulator"):
        td.explore(product, *inputs, device=simulators[0])
    with pytest.raises(td.TileError, match=r"has no speed to explore by: it is a simulator"):
        product.on_device(simulators[0]).program_part({"A": "4x6xf32", "B": "6x8xf32"})


def test_optuna_is_optional(
    product: td.Function, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(td.TileError, match=r"needs Optuna: pip install 'tiledialect\[explore\]'"):
        td.explore(product, *inputs)


def test_storages_with_trials_are_resumed_on_request(
    explored: Explored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    where = tmp_path / "mm.log"
    arguments = explored.function, *explored.inputs
    td.explore(*arguments, trials=1, storage=where)
    with pytest.raises(td.TileError, match=r"mm.log has 1 trials of mm for these shapes"):
        td.explore(*arguments, storage=where, resume=False)
    assert len(td.explore(*arguments, trials=1, storage=where).trials) == 2
