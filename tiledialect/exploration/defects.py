"""Reports of candidates with wrong results: scripts that show these again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

import tiledialect
from tiledialect.dialects.tile.schedule_text import read_schedules
from tiledialect.exploration.implementation import PASSES, PATTERNS, Found, Implementation
from tiledialect.exploration.lift.contractions import TO_LIFT, as_patterns
from tiledialect.exploration.study import Trial
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.signature import parse_type
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.compiling import lowered
from tiledialect.lowering.runtime.program.program import Program, Types
from tiledialect.passes.fuse.options import Fusion
from tiledialect.passes.fuse.tile_fuse import TileFusePass


def report(program: Program, device: Device, found: Found, trial: Trial) -> str:
    """Script in Python that runs the candidate of a trial, and compares its results.

    Random inputs of the same types stand for those of the search.
    """
    types = tuple(parse_type(text) for text in found.types.split(",") if text)
    if trial.part == PATTERNS:
        program = as_patterns(program, types, device)
        trial = replace(trial, text=trial.text.removeprefix(TO_LIFT).strip())
    passes = [*(trial.text.splitlines() if trial.part == PASSES else []), *trial.beside.passes]
    module = _made(program, device, types, passes) if passes else program.module
    lines = [
        f"# tiledialect {tiledialect.__version__} on {found.device}",
        f"# {trial.failure}: {' '.join(trial.message.split())}",
        "import tiledialect as td",
        "from tiledialect.interpreters.agreement import counted_terms, disagreement",
        "from tiledialect.ir.mlir_text import parse_mlir",
        "from tiledialect.tools.array_files import random_array",
        "",
        *(f"# {text}" for text in passes),
        f"module = parse_mlir(r'''\n{print_module(module)}''', 'program.mlir')",
        *_steps(program, trial),
        *_function(program, device, trial, bool(passes)),
        f"types = [*filter(None, {found.types!r}.split(','))]",
        "inputs = [random_array(text, seed) for seed, text in enumerate(types)]",
        "with counted_terms() as terms:",
        "    expected = f.reference(*inputs)",
        "actual = f(*inputs)",
        "pairs = [(actual, expected)] if len(f.outputs) == 1 else zip(actual, expected)",
        "for pair in pairs:",
        "    print(disagreement(*pair, terms.most) or 'agrees')",
    ]
    return "\n".join(lines) + "\n"


def _made(program: Program, device: Device, types: Types, passes: Sequence[str]) -> ModuleOp:
    """The program after its passes, for which it must be compiled with no more of them."""
    own = Implementation(passes=tuple(passes)).applied(program, types, device)
    return lowered(own, types, device, TileFusePass.name)


def _is_schedule(trial: Trial) -> bool:
    return trial.text.startswith("<")


def _steps(program: Program, trial: Trial) -> Iterator[str]:
    if not _is_schedule(trial) and trial.part != PASSES:
        yield "from tiledialect.passes.lift import Derivation, replay"
        yield f"steps = r'''\n{trial.text}\n'''"
        yield f"module = replay(Derivation.of(module, {program.name!r}), steps).module"


def _function(program: Program, device: Device, trial: Trial, is_lowered: bool) -> Iterator[str]:
    """The function with all that was decided of it, and is not yet done."""
    yield f"f = td.compile(module, name={program.name!r}, device={device.id!r})"
    for step in () if is_lowered else program.transforms:
        yield f"f = f.{step.call}"
    if program.fusion != Fusion() and not is_lowered:
        yield f"f = f.with_fusion(**{vars(program.fusion)!r})"
    schedules = {
        n: text
        for texts in (*trial.beside.schedules, *program.schedules)
        for n, text in read_schedules(texts).items()
    }
    if _is_schedule(trial):
        schedules[trial.part] = trial.text
    if schedules:
        yield f"f = f.with_schedules({schedules!r})"
