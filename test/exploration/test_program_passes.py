"""The passes of a Tile program as decisions of a search."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td
from tiledialect.exploration import explore
from tiledialect.exploration.evaluation import Outcome
from tiledialect.exploration.implementation import PASSES, Implementation
from tiledialect.exploration.kept import kept_for
from tiledialect.exploration.kernels import KernelPart, kernel_parts
from tiledialect.exploration.programs import CHOSEN, WORTH, ProgramPart, passes_text
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.study import Trial
from tiledialect.exploration.subject import Subject
from tiledialect.exploration.workers import LostError, Workers
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.search.decisions import made

SOURCE = """function sums(A[M, K], B[K, N], V[N]) -> (S) {
  C[i, j: M, N] = +(A[i, k] * B[k, j]);
  D = C + V;
  E = exp(D);
  S[i: M] = +(E[i, j]);
}"""
WINDOWS = """function windows(I[H, W, C], K[3, 3, C, D]) -> (O) {
  O[y, x, d: H - 2, W - 2, D] = +(I[y + a, x + b, c] * K[a, b, c, d]);
}"""


@pytest.fixture(scope="module")
def arrays() -> tuple[npt.NDArray[Any], ...]:
    random = np.random.default_rng(0)
    shapes = (4, 64), (64, 8), (8,)
    return tuple(random.uniform(-0.2, 0.2, s).astype(np.float32) for s in shapes)


@pytest.fixture(scope="module")
def sums(fast: td.Device) -> td.Function:
    return td.compile(SOURCE, device=fast)


@pytest.fixture(scope="module")
def part(sums: td.Function) -> ProgramPart:
    return sums.program_part({"A": "4x64xf32", "B": "64x8xf32", "V": "8xf32"})


def test_decisions_are_options_of_passes(part: ProgramPart):
    assert part.decisions["split C"] == [CHOSEN, "whole", *(f"k {2**n}" for n in range(1, 5))]
    assert part.decisions["split S"] == [CHOSEN, "whole", "j 2"]
    assert {"fuse loads", "fuse rows", "fuse C", "fuse D"} <= part.decisions.keys()
    words = {"split C": "k 2", "split S": "whole", "winograd O": "true", "winograd P": "false"}
    fusion = {"fuse loads": "true", "fuse C": "apart", "fuse D": "apart"}
    assert passes_text(words | fusion) == (
        "tile-split-reduction{contraction=C index=k parts=2}",
        "tile-split-reduction{keep=S}",
        "tile-winograd{contraction=O}",
        "tile-winograd{keep=P}",
        "tile-fuse{loads=true apart=C,D}",
    )


def test_programs_are_tried_once(part: ProgramPart):
    """Passes that make the same program are one candidate."""
    found = [made(part.candidate, decisions)[1] for decisions in part.seeds()]
    assert found[0].text == "" and found[0].estimate == part.weight > 0
    assert all(c.estimate < WORTH * part.weight for c in found)
    assert made(part.candidate, {"split C": "whole"})[1] == found[0]


def test_printed_programs_compute_the_same(
    part: ProgramPart, sums: td.Function, arrays: tuple[npt.NDArray[Any], ...], fast: td.Device
):
    expected = sums.reference(*arrays)
    # Their order is that of the cost model, by the rates of the device.
    printed = [*part.printed(100)]
    assert any(text.startswith("builtin.module") for text in printed)
    assert "// tile-fuse{apart=C}\n" in "".join(printed)
    for text in printed[:6]:
        f = td.compile(parse_mlir(text, "printed.mlir"), device=fast)
        # Sums of 64 products in another order.
        np.testing.assert_allclose(f(*arrays), expected, rtol=1e-5)


def test_windows_may_have_winograds_method(fast: td.Device):
    types = {"I": "10x10x4xf32", "K": "3x3x4x8xf32"}
    function = td.compile(WINDOWS, device=fast)
    assert function.program_part(types).decisions["winograd O"] == [CHOSEN, "false", "true"]
    exact = td.compile(WINDOWS, device=fast, precision="exact")
    assert "winograd O" not in exact.program_part(types).decisions
    part = function.program_part(types)
    assert "tile-winograd{contraction=O}" in made(part.candidate, {"winograd O": "true"})[1].text


def test_passes_are_searched_first(
    sums: td.Function,
    arrays: tuple[npt.NDArray[Any], ...],
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(explore, "FEWEST", 2)
    result = td.explore(sums, *arrays, trials=10)
    parts = [trial.part for trial in result.trials]
    assert parts[:2] == [PASSES] * 2 and PASSES not in parts[2:] and len(parts) == 10
    assert not result.wrong and result.seconds <= result.default_seconds
    np.testing.assert_allclose(result.best(*arrays), sums.reference(*arrays), rtol=1e-5)
    result.save(tmp_path / "sums.explored")
    again = td.compile(SOURCE, device=sums.device, explored=tmp_path / "sums.explored")
    assert again.schedules() == result.best.schedules()
    exec(result.report(result.trials[1]), {})
    assert capsys.readouterr().out == "agrees\n"


def in_the_measurements(is_lost: bool) -> tuple[str, Callable[..., Any]]:
    """A method of searches, and one in its place that ends the first of them."""
    confirm = Search.confirm
    calls: list[Search] = []

    def end(search: Search, others: Sequence[Implementation] = ()) -> bool:
        calls.append(search)
        if len(calls) > 1:
            return confirm(search, others)
        if not is_lost:
            raise KeyboardInterrupt
        search.lost = "gone"
        return False

    return "confirm", end


def in_the_first_measurement(is_lost: bool) -> tuple[str, Callable[..., Any]]:
    """The same for the search after that of passes."""
    first = Search._first

    def end(search: Search, *given: Any) -> list[Trial]:
        if search.base is None:
            return first(search, *given)
        raise LostError("gone") if is_lost else KeyboardInterrupt

    return "_first", end


@pytest.mark.covering(1)
@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize(
    ("ended", "warning"),
    [
        (in_the_measurements, "its workers are lost"),
        (in_the_first_measurement, "is not kept: gone"),
    ],
)
def test_searches_end_after_passes(
    ended: Callable[[bool], tuple[str, Callable[..., Any]]],
    warning: str,
    is_lost: bool,
    sums: td.Function,
    arrays: tuple[npt.NDArray[Any], ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """The trials of the passes count, by the user's interrupt and with lost workers."""
    monkeypatch.setattr(explore, "FEWEST", 2)
    monkeypatch.setattr(Search, *ended(is_lost))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = td.explore(sums, *arrays, trials=10)
    assert [trial.part for trial in result.trials] == [PASSES] * 2
    assert result.seconds <= result.default_seconds < inf
    assert [warning in str(w.message) for w in said] == [True] * is_lost
    assert len(kept_for(result.data.program, sums.device)) == (not is_lost)


def one_second(implementation: Implementation, best: float) -> Future[Outcome]:
    future = Future[Outcome]()
    future.set_result(Outcome(1.0))
    return future


def test_the_kernels_of_a_program_are_found_once(
    sums: td.Function, arrays: tuple[npt.NDArray[Any], ...], monkeypatch: pytest.MonkeyPatch
):
    calls: list[Subject] = []

    def counting(subject: Subject) -> list[KernelPart]:
        calls.append(subject)
        return kernel_parts(subject)

    monkeypatch.setattr(explore, "kernel_parts", counting)
    given = explore.Options(), None, Workers(one_second, 1), lambda _: None
    run = explore._Run(sums.subject(arrays, {}), *given)
    passes, limits = run.passes(Limits(40))
    run.parts(passes, limits)
    assert len(calls) == len({(), passes.passes})


def test_the_bound_is_of_the_program_that_was_found(
    sums: td.Function, arrays: tuple[npt.NDArray[Any], ...]
):
    subject = sums.subject(arrays, {})
    workers = Workers(one_second, 1)
    run = explore._Run(subject, explore.Options(), None, workers, lambda _: None)
    run.least = default = sum(part.least for part in kernel_parts(subject))
    found = Implementation(passes=("tile-fuse{apart=C,D,E}",))
    run.parts(found, Limits(1))
    program = found.applied(subject.program, subject.types, subject.device)
    own = kernel_parts(replace(subject, program=program))
    assert run.least == sum(part.least for part in own) != default


def test_estimates_are_of_kernels_or_of_the_program():
    def trial(part: str, text: str, estimate: float) -> Trial:
        return Trial(part, 0, text, estimate, 1.0, "", "", "seed", {})

    trials = (
        *(trial(PASSES, "", 10.0), trial(PASSES, "a\nb", 20.0)),
        *(trial("C", "<x>", 3.0), trial("D", "<x>", 4.0), trial("D", "<y>", 5.0)),
    )
    for implementation, seconds in [
        (Implementation(), 10.0),
        (Implementation(passes=("a", "b")), 20.0),
        (Implementation(("C: <x>", "D: <y>")), 8.0),
        (Implementation(("C: <x>",), ("a", "b")), 3.0),
    ]:
        assert explore._estimate(implementation, trials) == seconds
