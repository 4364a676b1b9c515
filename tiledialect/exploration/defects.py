"""Reports of candidates with wrong results: scripts that show these again."""

from __future__ import annotations

from collections.abc import Iterator

import tiledialect
from tiledialect.dialects.tile.schedule_text import read_schedules
from tiledialect.exploration.kept import Found
from tiledialect.exploration.study import Trial
from tiledialect.ir.mlir_text import print_module
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.program import Program
from tiledialect.passes.fuse.options import Fusion


def report(program: Program, device: Device, found: Found, trial: Trial) -> str:
    """Script in Python that runs the candidate of a trial, and compares its results.

    Random inputs of the same types stand for those of the search.
    """
    lines = [
        f"# tiledialect {tiledialect.__version__} on {found.device}",
        f"# {trial.failure}: {' '.join(trial.message.split())}",
        "import tiledialect as td",
        "from tiledialect.interpreters.agreement import disagreement",
        "from tiledialect.ir.mlir_text import parse_mlir",
        "from tiledialect.tools.array_files import random_array",
        "",
        f"module = parse_mlir(r'''\n{print_module(program.module)}''', 'program.mlir')",
        *_steps(program, trial),
        *_function(program, device, trial),
        f"types = [*filter(None, {found.types!r}.split(','))]",
        "inputs = [random_array(text, seed) for seed, text in enumerate(types)]",
        "actual, expected = f(*inputs), f.reference(*inputs)",
        "pairs = [(actual, expected)] if len(f.outputs) == 1 else zip(actual, expected)",
        "for pair in pairs:",
        "    print(disagreement(*pair) or 'agrees')",
    ]
    return "\n".join(lines) + "\n"


def _is_schedule(trial: Trial) -> bool:
    return trial.text.startswith("<")


def _steps(program: Program, trial: Trial) -> Iterator[str]:
    if not _is_schedule(trial):
        yield "from tiledialect.passes.lift import Derivation, replay"
        yield f"steps = r'''\n{trial.text}\n'''"
        yield f"module = replay(Derivation.of(module, {program.name!r}), steps).module"


def _function(program: Program, device: Device, trial: Trial) -> Iterator[str]:
    """The function with all that was decided of it."""
    yield f"f = td.compile(module, name={program.name!r}, device={device.id!r})"
    for step in program.gradients:
        wrt = None if step.only_reals else tuple(step.wrt)
        yield f"f = f.gradient({wrt!r}, with_outputs={step.with_outputs})"
    if program.fusion != Fusion():
        yield f"f = f.with_fusion(**{vars(program.fusion)!r})"
    schedules = {
        n: text
        for texts in (*trial.beside, *program.schedules)
        for n, text in read_schedules(texts).items()
    }
    if _is_schedule(trial):
        schedules[trial.part] = trial.text
    if schedules:
        yield f"f = f.with_schedules({schedules!r})"
