"""The schedules of `bench/` are legal for their workloads."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.gpu import FuncOp
from xdsl.ir import Attribute

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.api.loading import load
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.dialects.tile.schedule_text import named_kernels, read_schedules
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.transform.transforms import Gradient
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.search.decisions import made
from tiledialect.schedule.search.space import decisions_of, schedule_of

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

from hand_schedules import SCHEDULES  # noqa: E402
from workloads.by_hand import TASKS  # noqa: E402

DEVICES = {"intel": "avx512", "nvidia": "h100", "pocl": "pocl"}
"""The described devices of schedules, by the word in their files' names."""
every_file = pytest.mark.parametrize(
    "path", sorted(SCHEDULES.iterdir()), ids=lambda path: path.name
)


def compiled(path: Path, target: Attribute | None, after: str | None) -> ModuleOp:
    """A workload with its schedule."""
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
    return compile_module(module, None, types, target, gradients, after, schedules=schedules)


@pytest.mark.covering(1, words=True)
@every_file
def test_kernels_are_lowered_by_it(path: Path) -> None:
    """For no device in particular: what a device has room for is another matter."""
    assert any(isinstance(op, FuncOp) for op in compiled(path, None, None).walk())


@every_file
def test_it_is_in_the_space_of_schedules(path: Path) -> None:
    """Schedules with instructions, with copies in global memory, and with stages of values that are
    cheap to compute anew are outside."""
    described = load(BENCH / "devices" / f"{DEVICES[path.name.split('.')[1]]}.mlir").module
    module = compiled(path, described.attributes[SPEC], "tile-loop-tiling")
    device = device_of(module)
    assert device is not None
    for kernel in named_kernels(module).values():
        if kernel.schedule is None or kernel.scan is not None or kernel.scatter is not None:
            continue
        facts, schedule = kernel_facts(kernel, device), kernel.schedule.data
        staged = {t.number for t in facts.inputs} | {*facts.kept}
        is_cheap = any(stage.operand not in staged for stage in schedule.stages)
        if schedule.instruction is None and not schedule.global_stages and not is_cheap:
            space = partial(schedule_of, facts, device)
            _, again = made(space, decisions_of(facts, schedule))
            assert decisions_of(facts, again) == decisions_of(facts, schedule)
