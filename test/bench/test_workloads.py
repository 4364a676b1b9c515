"""The workloads of `bench/` compute what the reference semantics and the peers say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tool_server

from tiledialect.lowering.runtime.device.devices import choose

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

from frame import Task, Workload, tasks  # noqa: E402
from measure import difference  # noqa: E402
from workloads.table import FAMILIES, WORKLOADS  # noqa: E402

CLOSE = 2e-4


def distinct() -> Iterator[Workload]:
    """Workloads, but for repetitions at the sizes of tests."""
    seen: set[str] = set()
    for w in WORKLOADS:
        problem = w.problems["test"]
        key = f"{problem.source} {problem.shapes}"
        if key not in seen:
            seen.add(key)
            yield w


def everything(w: Workload) -> Task:
    """The outputs and all gradients as one program."""
    names = tuple(name for name in w.gradients if name in w.problems["test"].shapes)
    return Task(w, "test", names)


@pytest.mark.parametrize("w", [*distinct()], ids=lambda w: w.name)
def test_it_computes_what_it_says(w: Workload) -> None:
    task = everything(w)
    function = task.function(None)
    if task.wrt and not w.step:
        function = Task(w, "test").function(None).gradient(wrt=task.wrt, with_outputs=True)
    inputs = task.inputs()
    expected = listed(function.reference(*inputs))
    assert difference(expected, listed(function(*inputs))) < CLOSE
    given = inputs[: len(w.problems["test"].shapes)]
    if w.numpy is not None:
        assert difference(expected[:1], listed(w.numpy(*given))) < CLOSE
    if w.torch is not None and find_spec("torch"):
        import torch

        tensors = [torch.from_numpy(a) for a in given]
        result = w.torch(*(t.long() if t.dtype == torch.int32 else t for t in tensors))
        assert difference(expected[:1], [result.numpy()]) < CLOSE


def listed(result: Any) -> list[Any]:
    results = result if isinstance(result, tuple) else (result,)
    return [np.asarray(r) for r in results]


def test_every_line_has_a_name_of_its_own() -> None:
    names = [task.name for task in tasks(WORKLOADS, "cpu")]
    assert len(names) == len(set(names)) and len(names) > 90
    assert all(family.WORKLOADS for family in FAMILIES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--device", "nope"], "there is no device nope; there are: "),
        (["--only", "nope"], "no workload is called nope; `--list` prints their names"),
        (["--json", "/nope/x.json"], "cannot write /nope/x.json: No such file or directory"),
    ],
)
def test_what_cannot_begin(
    options: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import run

    monkeypatch.setattr(sys, "argv", ["run.py", *options])
    assert run.main() == 1
    printed = capsys.readouterr()
    assert printed.err.startswith(said) and not printed.out


def test_the_table(tmp_path: Path) -> None:
    """From the command line, with all that can be written."""
    written, drawn = tmp_path / "rows.json", tmp_path / "rows.svg"
    options = ["--test-sizes", "--rounds", "2", "--only", "reduction/row sums"]
    command = [tool_server.python(), "-W", "ignore", str(BENCH / "run.py"), *options]
    command += ["--device", choose().id, "--json", str(written), "--plot", str(drawn)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "reduction/row sums dX" in output and "a copy moves" in output
    data = json.loads(written.read_text())
    names = {row["name"] for row in data["rows"]}
    assert names == {"reduction/row sums", "reduction/row sums dX"}
    for row in data["rows"]:
        assert row["seconds"] > 0 and row["limit"] > 0
        assert set(row["ratios"]) == set(row["peers"])
        assert data["limits"][row["device"]]["bandwidth"] > 0
    assert drawn.read_text().startswith("<svg")
