"""The example that trains a network: what it prints, writes and ends with."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_digits.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = spec_from_file_location("train_digits", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["train_digits"] = module
    spec.loader.exec_module(module)
    return module


def test_the_quick_training_reaches_its_goal(
    example: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert example.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("epoch") for line in lines) == example.QUICK_EPOCHS
    assert "held out" in lines[-1] and "(goal: 90%)" in lines[-1]
    assert Image.open(tmp_path / "demo-output" / "digits.png").size == (640, 360)


def test_a_missed_goal_is_status_1(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert example.main(["--epochs", "1"]) == 1


def test_no_epoch_is_refused(example: ModuleType, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        example.main(["--epochs", "0"])
    assert "at least one epoch" in capsys.readouterr().err


def test_held_out_digits_are_not_trained_on(example: ModuleType):
    train, test = example.load_split(np.random.default_rng(0))
    assert len(train[0]) == len(train[1]) == 1438 and len(test[0]) == len(test[1]) == 359
    every = np.concatenate([train[0], test[0]])
    assert np.isclose(every.sum(), example.load_digits().images.sum() / 16)


def test_the_curve_of_one_step_can_be_drawn(example: ModuleType):
    assert example.draw_curve(np.array([2.3])).size == (640, 360)
    assert example.draw_curve(np.array([1.0, 0.0])).size == (640, 360)
