"""The schedules of `bench/` are legal for their workloads."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.gpu import FuncOp

from tiledialect.api.loading import load
from tiledialect.dialects.tile.numeric import ELEMENT_TYPES
from tiledialect.dialects.tile.schedule_text import read_schedules
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.gradient.tile_gradient import Gradient

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

from hand_schedules import SCHEDULES  # noqa: E402
from workloads.by_hand import TASKS  # noqa: E402


@pytest.mark.parametrize("path", sorted(SCHEDULES.iterdir()), ids=lambda path: path.name)
def test_kernels_are_lowered_by_it(path: Path) -> None:
    """For no device in particular: what a device has room for is another matter."""
    task = TASKS[path.name.split(".")[0]]
    texts: dict[str, str] = {}
    if path.suffix == ".mlir":
        module = load(path).module
    else:
        module, texts = load(task.problem.source).module, read_schedules(path.read_text())
    gradients = [Gradient(task.wrt, False)] if task.wrt else []
    element_type = ELEMENT_TYPES[np.dtype(task.workload.dtype)]
    shapes = [*task.problem.shapes.values()]
    if task.wrt:
        shapes += [shape for shape, _ in task.output_types()]
    types = [TensorType(element_type, shape) for shape in shapes]
    schedules = tuple(f"{name}: {text}" for name, text in texts.items())
    lowered = compile_module(module, None, types, None, gradients, schedules=schedules)
    assert any(isinstance(op, FuncOp) for op in lowered.walk())
