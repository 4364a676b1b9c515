"""The worked derivations of examples/derivations, by the reference semantics and on every device."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect.passes.lift import Derivation, replay, to_svg

EXAMPLES = Path(__file__).parents[4] / "examples"

WORKED = {
    "stencil_1d": ("stencil", ((12,),), {}),
    "matrix_product": ("matmul", ((16, 3), (3, 64)), {"m": 16, "n": 64}),
    "matrix_product_cpu": ("matmul", ((16, 3), (3, 96)), {}),
    "matrix_product_gpu": ("matmul", ((16, 6), (6, 64)), {"m": 16, "n": 32, "k": 3}),
    "stencil_2d": ("nine_points", ((8, 12),), {"v": 4}),
    "stencil_2d_cpu": ("nine_points", ((8, 12),), {}),
    "stencil_3d": ("seven_points", ((4, 6, 5), (2,)), {}),
    "stencil_3d_gpu": ("seven_points", ((8, 4, 8), (2,)), {"v": 2, "w": 4, "c": 4}),
    "stencil_3d_cpu": ("seven_points", ((4, 6, 5), (2,)), {}),
}


def worked(name: str) -> Derivation:
    function, _, sizes = WORKED[name]
    source = name.removesuffix("_cpu").removesuffix("_gpu")
    program = runpy.run_path(str(EXAMPLES / "lift" / f"{source}.py"))[function]
    return replay(program, (EXAMPLES / "derivations" / f"{name}.txt").read_text()).bind(**sizes)


def inputs(name: str) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(-4, 5, shape).astype(np.float32) for shape in WORKED[name][1]]


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", WORKED)
def test_steps(name: str):
    """Every step keeps the result."""
    derivation, arrays = worked(name), inputs(name)
    programs = [*derivation.history()]
    assert str(programs[-1].module) == str(derivation.module)
    expected = td.compile(derivation.initial.module).reference(*arrays)
    for program in programs[:-1]:
        sizes = {"v": 2, "p": 8, "q": 32, **WORKED[name][2]}
        left = {n: sizes[n] for n in program.sizes & sizes.keys()}
        bound = td.compile(program.bind(**left).module)
        np.testing.assert_array_equal(bound.reference(*arrays), expected)
    assert to_svg(derivation).count('class="title"') == len(derivation.steps)


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", WORKED)
def test_kernels(name: str, device: td.Device):
    """The kernel gives what the program gives that it was derived from."""
    derivation, arrays = worked(name), inputs(name)
    expected = td.compile(derivation.initial.module).reference(*arrays)
    found = td.compile(derivation.module, device=device)(*arrays)
    np.testing.assert_array_equal(found, expected)
