"""Functions whose calls change an input: arrays that can be changed, and what such functions lack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect.tools import tile_run

ADDED = """
func.func @added(%A: tensor<6xf32> {tile.name = "A"}, %X: tensor<6xf32> {tile.name = "X"})
    -> (tensor<6xf32> {tile.name = "B", tile.updates = "A"}, tensor<6xf32> {tile.name = "O"}) {
  %B = tile.add %A, %X : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %O = tile.mul %B, %X : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  func.return %B, %O : tensor<6xf32>, tensor<6xf32>
}
"""
STEPS = np.arange(6, dtype=np.float32)
MUST = r"calls of added change A, which must be an array without gaps that can be written"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of the function."""
    found = tmp_path / "added.mlir"
    found.write_text(ADDED)
    return found


def read_only(array: np.ndarray) -> np.ndarray:
    """The array, which nobody writes."""
    array.flags.writeable = False
    return array


def test_a_call_changes_an_input(path: Path, device: td.Device):
    added, a = td.compile(path, device=device), np.ones(6, np.float32)
    for times in (1, 2):
        assert np.array_equal(added(a, STEPS), (1 + times * STEPS) * STEPS)
        assert np.array_equal(a, 1 + times * STEPS)
    added.profile(a, STEPS, repeat=3)
    assert np.array_equal(a, 1 + 3 * STEPS)


@pytest.mark.parametrize(
    "given",
    [np.ones(12, np.float32)[::2], [1.0] * 6, read_only(np.ones(6, np.float32))],
    ids=["gaps", "list", "read-only"],
)
def test_changes_of_copies_are_errors(given: object, path: Path):
    """The caller would not see them."""
    added = td.compile(path)
    added(np.ones(6, np.float32), STEPS)
    for call in (added, added.profile, added.reference):
        with pytest.raises(td.TileError, match=MUST):
            call(given, STEPS)


def test_an_input_is_not_changed_with_another(path: Path):
    added, a = td.compile(path), np.ones(6, np.float32)
    message = "calls of added change A: A and X must be different arrays"
    for _ in range(2):
        with pytest.raises(td.TileError, match=message):
            added(a, a)
        added(a, STEPS)


def test_tile_text_has_no_updates(path: Path):
    with pytest.raises(td.TileError, match="Tile has no form for the update of A"):
        _ = td.compile(path).tile


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda f: f.gradient(), "gradient"),
        (lambda f: f.jvp(), "derivative"),
        (lambda f: td.explore(f, np.ones(6, np.float32), STEPS, trials=1), "exploration"),
    ],
    ids=["gradient", "jvp", "explore"],
)
def test_what_there_is_not(make: Callable[[td.Function], object], what: str, path: Path):
    with pytest.raises(td.TileError, match=f"calls of added change A: there is no {what} of it"):
        make(td.compile(path))


def test_a_call_changes_no_input_several_times_to_tune(path: Path):
    tuned, a = td.compile(path, tune=2), np.ones(6, np.float32)
    with pytest.raises(td.TileError, match="calls of added change A: there is no tuning of it"):
        tuned(a, STEPS)
    assert np.array_equal(a, np.ones(6))


def test_the_command_compares_with_inputs_as_they_were(path: Path):
    given = [*("--input", "A=random(6)"), *("--input", "X=random(6)")]
    assert tile_run.run(tile_run.parser().parse_args([str(path), *given, "--check"]))


def test_the_command_runs_functions_without_outputs(tmp_path: Path):
    path = tmp_path / "scaled.mlir"
    path.write_text(
        'func.func @scaled(%A: tensor<6xf32> {tile.name = "A"}) '
        '-> (tensor<6xf32> {tile.name = "B", tile.updates = "A"}) {\n'
        "  %B = tile.add %A, %A : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>\n"
        "  func.return %B : tensor<6xf32>\n}\n"
    )
    given = [str(path), "--input", "A=random(6)", "--check"]
    assert tile_run.run(tile_run.parser().parse_args(given))


def test_inputs_that_share_memory(tmp_path: Path):
    """A kernel would read what it has written."""
    path, n = tmp_path / "turned.mlir", 4096
    path.write_text(
        f'func.func @turned(%A: tensor<{n}xf32> {{tile.name = "A"}}, '
        f'%B: tensor<{n}xf32> {{tile.name = "B"}}) -> (tensor<{n}xf32> {{tile.updates = "A"}}) {{\n'
        f"  %C = tile.contraction assign(%B[{n - 1} - i]) -> [i] domain <i = 0 to {n}> "
        f": (tensor<{n}xf32>) -> tensor<{n}xf32>\n  func.return %C : tensor<{n}xf32>\n}}\n"
    )
    turned, whole = td.compile(path), np.arange(n + 7, dtype=np.float32)
    for call in (turned, turned.call_apart, turned.call_apart, turned.reference):
        a = np.zeros(n, np.float32)
        call(a, whole[7:])
        assert np.array_equal(a, whole[:6:-1])
    for pair in ((a, a), (whole[7:], whole[:-7]), (whole[:-7], whole[7:])):
        for call in (turned, turned.profile, turned.reference):
            with pytest.raises(
                td.TileError, match="A and B must be different arrays, with no memory"
            ):
                call(*pair)


def test_buffers_that_are_given_twice(path: Path):
    cla = pytest.importorskip("pyopencl.array")
    from tiledialect.lowering.runtime.device.queues import queue_for

    added = td.compile(path)
    a, x = (cla.to_device(queue_for(added.device), STEPS) for _ in range(2))
    for _ in range(2):
        added(a, x)
        with pytest.raises(td.TileError, match="A and X must be different arrays"):
            added(a, a)
    assert np.array_equal(a.get(), 3 * STEPS)
