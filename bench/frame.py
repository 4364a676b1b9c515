"""Workloads to measure: programs with sizes, and the same computation by peers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

import tiledialect as td
from tiledialect.api.loading import load
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES, NUMPY_TYPES
from tiledialect.ir.signature import find_function
from tiledialect.lowering.compilation import compile_module

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
Scale = Literal["test", "cpu", "gpu"]
"""Kind of device that sizes are for; sizes for tests are tiny."""
Peer = Callable[..., Any]
"""Function from a peer's tensors, in the order of the inputs, to its result."""


@dataclass(frozen=True)
class Problem:
    """A program with the shapes of its inputs."""

    source: str
    shapes: Shapes


def problem(source: str, sizes: Mapping[str, int]) -> Problem:
    """The problem of Tile text whose header names the dimensions that have these sizes."""
    shapes = {
        name: tuple(int(d) if d.isdecimal() else sizes[d] for d in dims)
        for name, dims in dimensions(source).items()
    }
    return Problem(source, shapes)


def dimensions(source: str) -> dict[str, list[str]]:
    """The dimensions of each input of Tile text, as its header has them."""
    header = source[source.index("(") : source.index("->")]
    return {
        name: [d.strip() for d in dims.split(",") if d.strip()]
        for name, dims in re.findall(r"(\w+)\[([^\]]*)\]", header)
    }


@dataclass(frozen=True)
class Workload:
    """A computation at each scale, its work, and the same by peers."""

    name: str
    problems: Mapping[Scale, Problem]
    torch: Peer | None = None
    numpy: Peer | None = None
    others: Mapping[str, Peer] = field(default_factory=dict[str, Peer])
    """Peers by name (`peers.py`); each takes the arrays, and returns a callable."""
    flops: Callable[[Shapes], float] = lambda shapes: 0.0
    """Floating-point operations, where there are more of them than bytes to move."""
    gradients: tuple[str, ...] = ()
    """Inputs by which the gradient is measured, each by itself."""
    step: bool = False
    """Whether the gradient by all weights is measured, together with the outputs."""
    integers: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """The inputs that hold integers, all less than the size of an input's axis."""
    scales: Mapping[str, float] = field(default_factory=dict[str, float])
    """Factors of random inputs, if not 1."""
    dtype: npt.DTypeLike = np.float32
    tf32: bool = False
    """Whether products of float32 may be rounded to tf32."""
    outputs: int = 1
    """Number of outputs; a gradient is of the first."""


def workload(
    name: str,
    source: str,
    test: Mapping[str, int],
    cpu: Mapping[str, int],
    gpu: Mapping[str, int],
    **options: Any,
) -> Workload:
    """A workload whose program is the same at all scales; sizes are by dimension."""
    sizes: dict[Scale, Mapping[str, int]] = {"test": test, "cpu": cpu, "gpu": gpu}
    return Workload(name, {s: problem(source, sizes[s]) for s in sizes}, **options)


@dataclass(frozen=True)
class Task:
    """A workload at a scale, or its gradient."""

    workload: Workload
    scale: Scale
    wrt: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``family/name``, and the inputs that it is differentiated by."""
        if self.workload.step and self.wrt:
            return f"{self.workload.name} step"
        return self.workload.name + "".join(f" d{name}" for name in self.wrt)

    @property
    def problem(self) -> Problem:
        """The program, and the shapes at this scale."""
        return self.workload.problems[self.scale]

    @property
    def flops(self) -> float:
        """Floating-point operations; each gradient of a contraction takes as many as itself."""
        forward = self.workload.flops(self.problem.shapes)
        return forward * (3 if self.wrt and self.workload.step else 1)

    def function(self, device: td.Device | None) -> td.Function:
        """Our function for it."""
        precision = "tf32" if self.workload.tf32 else None
        function = td.compile(self.problem.source, device=device, precision=precision)
        if self.wrt:
            function = function.gradient(wrt=self.wrt, with_outputs=self.workload.step)
        return function

    def inputs(self) -> list[Array]:
        """Random inputs; for a gradient, cotangents of the outputs after them."""
        rng = np.random.default_rng(0)
        arrays = [self._input(rng, name, s) for name, s in self.problem.shapes.items()]
        if not self.wrt:
            return arrays
        return [*arrays, *(_cotangent(rng, t) for t in self.output_types())]

    def _input(self, rng: np.random.Generator, name: str, shape: Shape) -> Array:
        if name in self.workload.integers:
            other, axis = self.workload.integers[name]
            return rng.integers(0, self.problem.shapes[other][axis], shape, dtype=np.int32)
        scale = self.workload.scales.get(name, 1.0)
        return (rng.standard_normal(shape, np.float32) * scale).astype(self.workload.dtype)

    def output_types(self) -> list[tuple[Shape, np.dtype[Any]]]:
        """The shapes and element types of the forward program's outputs."""
        types: list[TensorType[Any]] = []
        for name, shape in self.problem.shapes.items():
            dtype = np.int32 if name in self.workload.integers else self.workload.dtype
            types.append(TensorType(ELEMENT_TYPES[np.dtype(dtype)], shape))
        module = load(self.problem.source).module
        module = compile_module(module, None, types, after="tile-specialize")
        found: list[tuple[Shape, np.dtype[Any]]] = []
        for t in find_function(module).function_type.outputs:
            assert isinstance(t, TensorType)
            found.append((t.get_shape(), np.dtype(NUMPY_TYPES[t.element_type].name)))
        return found


def _cotangent(rng: np.random.Generator, t: tuple[Shape, np.dtype[Any]]) -> Array:
    shape, dtype = t
    if dtype.kind in "biu":
        return np.zeros(shape, dtype)
    return np.asarray(rng.standard_normal(shape, np.float32)).astype(dtype)


def tasks(workloads: Sequence[Workload], scale: Scale) -> list[Task]:
    """Tasks of each workload: itself, and its gradients."""
    found: list[Task] = []
    for w in workloads:
        # A network is smaller in tests, and has fewer weights.
        names = tuple(n for n in w.gradients if n in w.problems[scale].shapes)
        wrt = [names] if w.step else [(name,) for name in names]
        found += [Task(w, scale), *(Task(w, scale, names) for names in wrt)]
    return found


def times(*dims: tuple[str, int]) -> Callable[[Shapes], float]:
    """Twice the product of sizes, each an axis of an input: the work of a contraction."""
    return lambda shapes: 2.0 * prod(shapes[name][axis] for name, axis in dims)


def resized(w: Workload, scale: Scale, sizes: Mapping[str, int]) -> Workload:
    """A workload with other sizes of some dimensions at a scale."""
    own = w.problems[scale]
    known = {
        d: n
        for name, dims in dimensions(own.source).items()
        for d, n in zip(dims, own.shapes[name], strict=True)
    }
    return replace(w, problems={**w.problems, scale: problem(own.source, {**known, **sizes})})


def renamed(w: Workload, name: str, **changes: Any) -> Workload:
    """A workload under another name, with other fields."""
    return replace(w, name=name, **changes)
