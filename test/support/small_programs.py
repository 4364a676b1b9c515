"""Small Lift programs for tests of explorations."""

# pyright: basic, reportInvalidTypeForm=false

import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.passes.lift import Derivation

EXAMPLES = Path(__file__).parents[2] / "examples" / "lift"
PROGRAMS = {
    "asum": ("sum_absolute_values", {"N": 16}),
    "dot": ("dot_product", {"N": 16}),
    "gemv": ("matrix_vector", {"M": 4, "N": 8}),
    "matmul": ("matrix_product", {"M": 4, "N": 8, "K": 8}),
    "stencil": ("stencil_1d", {"N": 8}),
    "nine_points": ("stencil_2d", {"N": 4, "M": 4}),
    "kmeans": ("kmeans", {"F": 4, "P": 8, "C": 4}),
}
"""Files and sizes of programs."""
QUICK = ("dot", "stencil", "gemv")
"""Programs that are always tried; `--examples 1000` tries all of them."""


@cache
def program(name: str) -> Derivation:
    """A program with small sizes."""
    file, sizes = PROGRAMS[name]
    return Derivation.of(runpy.run_path(str(EXAMPLES / f"{file}.py"))[name]).bind(**sizes)


@cache
def inputs(name: str) -> tuple[np.ndarray, ...]:
    """Inputs of a program: small whole numbers, whose sums in floats are exact in any order."""
    random = np.random.default_rng(0)
    types = program(name).function.function_type.inputs
    return tuple(random.integers(-4, 5, t.get_shape()).astype(np.float32) for t in types)


def outputs(derivation: Derivation, name: str) -> list[np.ndarray]:
    """Results by the reference semantics."""
    found = td.compile(derivation.module).reference(*inputs(name))
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def choose(name: str, request: pytest.FixtureRequest) -> None:
    """Skip programs that take long, unless many examples are wanted."""
    if name not in QUICK and request.config.getoption("--examples") < 1000:
        pytest.skip("takes long: --examples 1000")


def convolution(taps: int) -> lift.Program:
    """Convolution of 256 x 256 elements, with zeros around them, and taps x taps weights."""
    pad = taps // 2
    return lift.fun(
        lift.array(256, 256),
        lift.array(taps, taps),
        lambda x, y: (
            x
            >> lift.pad_constant2(pad, pad, 0.0)
            >> lift.slide2(taps, 1)
            >> lift.map2(
                lambda w: (
                    lift.zip(w >> lift.join, y >> lift.join)
                    >> lift.map(lift.mul)
                    >> lift.reduce(lift.add, 0.0)
                )
            )
        ),
    )
