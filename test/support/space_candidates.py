"""Candidates drawn from the spaces of searches, for random programs of Tile and of Lift's patterns.

Each is run by a device, and its results are compared with those of the reference semantics.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Any
from unittest.mock import patch

import given_schedules
import numpy as np
import numpy.typing as npt
import small_programs
import test_random_programs
from generators import contraction_module
from hypothesis import strategies as st

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.exploration import evaluation
from tiledialect.exploration.evaluation import Failure, outcome_of
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import kernel_parts
from tiledialect.exploration.lift.patterns import LiftPart
from tiledialect.exploration.lift.settings import AlgorithmicSettings, Settings
from tiledialect.exploration.subject import Subject
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.search.decisions import DeadEndError, drawn

Array = npt.NDArray[Any]
CANDIDATES = 8
"""Candidates of each program."""
FEW = Settings(algorithmic=AlgorithmicSettings(exploration_depth=2, most_programs=12))
"""Settings by which the rewriting of a program takes a second."""


@dataclass(frozen=True)
class Drawn:
    """A program with inputs, and the seed of the candidates."""

    module: str
    arrays: tuple[Array, ...]
    seed: int


@st.composite
def of_contractions(draw: st.DrawFn) -> Drawn:
    """Programs of some short contractions, or of one with long loops."""
    seed = draw(st.integers(0, 1 << 30))
    if draw(st.booleans()):
        module, arrays = contraction_module(draw(test_random_programs.batches(4)))
        return Drawn(str(module), tuple(arrays), seed)
    given = draw(given_schedules.given_schedules())
    return Drawn(given.module, given.arrays, seed)


@st.composite
def of_patterns(draw: st.DrawFn) -> Drawn:
    """Examples of Lift with random sizes."""
    name = draw(st.sampled_from(sorted(small_programs.PROGRAMS)))
    sizes = {n: draw(st.sampled_from([4, 6, 8, 12, 16])) for n in small_programs.PROGRAMS[name][1]}
    bound = small_programs.program(name).initial.bind(**sizes)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    # Sums of their products are exact.
    arrays = tuple(
        random.integers(-4, 5, t.get_shape()).astype(np.float32)
        for t in bound.function.function_type.inputs
    )
    return Drawn(str(bound.module), arrays, draw(st.integers(0, 1 << 30)))


def candidates(subject: Subject, random: Random) -> Iterator[Implementation]:
    """Implementations at random: a candidate of every part."""
    if subject.program.is_scheduled:
        parts: list[Any] = kernel_parts(subject)
    else:
        parts = [LiftPart.of(subject, FEW)]
    for _ in range(CANDIDATES if parts else 0):
        texts: dict[str, str] = {}
        for part in parts:
            with contextlib.suppress(DeadEndError):
                texts[part.name] = drawn(part.candidate, random, 20)[1].text
        if subject.program.is_scheduled:
            yield Implementation(tuple(f"{name}: {text}" for name, text in texts.items()))
        else:
            yield Implementation(steps=texts.get(parts[0].name, ""))


counts = Counter[str]()
"""Outcomes of the process's candidates: schedules of kernels, and derivations."""


def candidates_agree(made: Drawn) -> None:
    """Fail if a candidate gives wrong results on a device that is no simulator."""
    device = next((d for d in td.devices() if d.type != "simulator"), None)
    if device is None:
        return
    with warnings.catch_warnings(), patch.object(evaluation, "RUNS", 1):
        warnings.simplefilter("ignore")
        try:
            f = td.compile(parse_mlir(made.module, "drawn.mlir"), device=device)
            subject = f.subject(made.arrays, {})
        except TileError:
            return
        for implementation in candidates(subject, Random(made.seed)):
            with contextlib.redirect_stdout(io.StringIO()):
                outcome = outcome_of(subject, implementation, inf)
            counts[outcome.failure] += max(1, len(implementation.schedules))
            assert outcome.failure != Failure.WRONG, f"{implementation}\n{outcome.message}"
