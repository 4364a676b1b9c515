"""Gradient functions against finite differences of the reference semantics, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp

from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, kind_of
from tiledialect.ir.signature import argument_names, find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.gradient.tile_gradient import gradient
from tiledialect.passes.specialize.tile_specialize import specialize

Array = npt.NDArray[Any]
Arrays = Sequence[Array]

STEP = 1e-5
TOLERANCE = 2e-6


@dataclass(frozen=True)
class Case:
    """A function to differentiate, and the point to do it at."""

    name: str
    source: str
    inputs: tuple[Array, ...]
    wrt: tuple[str, ...] = ()
    """By which inputs; by all real ones if empty."""
    second: bool = True
    """Whether its gradient function can be differentiated too."""
    expected: tuple[Array, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.name

    def module(self) -> ModuleOp:
        """The function for the types of the inputs."""
        return self._module.clone()

    @cached_property
    def _module(self) -> ModuleOp:
        return specialized(load(self.source), self.inputs)


def specialized(module: ModuleOp, inputs: Arrays) -> ModuleOp:
    types = [TensorType(ELEMENT_TYPES[a.dtype], a.shape) for a in inputs]
    specialize(find_function(module), types)
    module.verify()
    return module


def differentiated(module: ModuleOp, wrt: Sequence[str] = ()) -> ModuleOp:
    """A module with the gradient of a module's only function."""
    result = ModuleOp([gradient(find_function(module), wrt)])
    result.verify()
    return result


def run(module: ModuleOp, inputs: Arrays) -> tuple[Array, ...]:
    return run_function(module, None, inputs)


def cotangents(outputs: Arrays, seed: int = 3) -> tuple[Array, ...]:
    random = np.random.default_rng(seed)
    return tuple(
        np.asarray(random.normal(size=o.shape) if kind_of(o.dtype) == "f" else np.zeros(o.shape))
        .astype(o.dtype)
        .reshape(o.shape)
        for o in outputs
    )


def wrt_of(function: FuncOp, inputs: Arrays, wrt: Sequence[str]) -> list[int]:
    names = argument_names(function)
    if wrt:
        return [names.index(name) for name in wrt]
    return [k for k, a in enumerate(inputs) if kind_of(a.dtype) == "f"]


def slope(f: Callable[[Arrays], tuple[Array, ...]], inputs: Arrays, k: int, way: Array) -> Arrays:
    """The derivative of the outputs in a direction of one input, by central differences.

    Of fourth order, so that the step may be long enough for rounding not to count.
    """

    def at(steps: float) -> tuple[Array, ...]:
        moved = [a + steps * STEP * way if j == k else a for j, a in enumerate(inputs)]
        return f(moved)

    near, far = zip(at(1), at(-1), strict=True), zip(at(2), at(-2), strict=True)
    return [
        (8 * (a.astype(float) - b) - (c.astype(float) - d)) / (12 * STEP)
        for (a, b), (c, d) in zip(near, far, strict=True)
    ]


def check_module(module: ModuleOp, inputs: Arrays, wrt: Sequence[str] = (), seed: int = 7) -> None:
    """Compare the gradients at ``inputs``, each input by itself, along a random direction."""
    outputs = run(module, inputs)
    given = cotangents(outputs)
    made = differentiated(module, wrt)
    results = run(made, (*inputs, *given))
    positions = wrt_of(find_function(module), inputs, wrt)
    assert len(results) == len(positions)
    for result, k in zip(results, positions, strict=True):
        assert result.shape == inputs[k].shape
        assert result.dtype == inputs[k].dtype
        way = np.random.default_rng(seed).normal(size=inputs[k].shape)
        check_input(lambda x: run(module, x), inputs, k, given, result, way)


def check_input(
    f: Callable[[Arrays], tuple[Array, ...]],
    inputs: Arrays,
    k: int,
    given: Arrays,
    result: Array,
    way: Array,
) -> None:
    """Compare a gradient in a direction: if wrong anywhere, it is wrong along almost every one."""
    slopes = slope(f, inputs, k, way)
    terms = [(g * s).sum() for g, s in zip(given, slopes, strict=True) if kind_of(g.dtype) == "f"]
    wanted, found = sum(terms), (result * way).sum()
    scale = (
        1
        + np.abs(result * way).sum()
        + sum(np.abs(g * s).sum() for g, s in zip(given, slopes, strict=True))
    )
    assert abs(wanted - found) <= TOLERANCE * scale, (
        f"input {k}: {found} instead of {wanted}\n{result}"
    )
