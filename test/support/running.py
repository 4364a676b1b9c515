"""Running Tile programs in tests: by the reference semantics and on devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import oclgrind
from building import function_module, type_of
from compare import Largest, assert_close
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, SSAValue

import tiledialect as td
from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.ir.signature import find_function
from tiledialect.language.to_ir import load
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.specialize.tile_widen import TileWidenPass

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """A program, inputs for it, and what it must give, computed without it."""

    name: str
    source: str
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]
    length: int = 1
    """Number of values summed into one element; see `assert_close`."""
    ulps: float = 20
    scale: float | tuple[Array, ...] | Largest = 0.0
    """The magnitude of the summed terms, for all results or one for each; see `assert_close`."""

    def check(self, results: Sequence[Array]) -> None:
        assert len(results) == len(self.expected)
        for k, (actual, expected) in enumerate(zip(results, self.expected, strict=True)):
            assert_close(
                actual,
                expected,
                length=self.length,
                ulps=self.ulps,
                scale=self.scale[k] if isinstance(self.scale, tuple) else self.scale,
                what=f"output {k} of {self.name}",
            )

    def __str__(self) -> str:
        return self.name


def case(
    name: str,
    source: str,
    inputs: Sequence[Array],
    expected: Callable[..., Any],
    *,
    length: int = 1,
    ulps: float = 20,
    scale: float | Largest | None = None,
    dtype: Any = None,
) -> Case:
    """A case whose results are ``expected(*inputs)``: an array, or a tuple of several.

    Where inputs are real, the function gets them as float64, so that its own rounding does not
    count; its results are given ``dtype``, else the element type of the first input. The terms of
    sums may cancel: where ``length`` is more than 1, the scale of each element is by default the
    result for the inputs' magnitudes, which is the sum of the terms' magnitudes in sums of products.
    """

    def results(arrays: Sequence[Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            found = expected(*arrays)
        return tuple(map(np.asarray, found if isinstance(found, tuple) else (found,)))

    exact = [a.astype(np.float64) if kind_of(a.dtype) == "f" else a for a in inputs]
    wanted = np.dtype(dtype) if dtype is not None else inputs[0].dtype
    with np.errstate(all="ignore"):
        arrays = tuple(r.astype(wanted) for r in results(exact))
    if scale is None and length > 1:
        magnitudes = results([np.abs(a) if kind_of(a.dtype) == "f" else a for a in exact])
        return Case(name, source, tuple(inputs), arrays, length, ulps, magnitudes)
    return Case(name, source, tuple(inputs), arrays, length, ulps, scale or 0.0)


def reference(source: str | ModuleOp, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The results by the reference semantics."""
    module = load(source) if isinstance(source, str) else source.clone()
    function = find_function(module)
    types = [type_of(array) for array in inputs]
    if list(function.function_type.inputs) != types:
        specialize(function, types)
    TileWidenPass().apply(Context(), module)
    return run_function(module, None, inputs)


def merged(cases: Sequence[Case]) -> ModuleOp:
    """Merge ``cases`` into one function; building one program is faster than many."""
    block = Block(arg_types=[type_of(array) for case in cases for array in case.inputs])
    rest, results = iter(block.args), list[SSAValue]()
    for case in cases:
        function = find_function(load(case.source))
        specialize(function, [type_of(array) for array in case.inputs])
        values: dict[SSAValue, SSAValue] = dict(zip(function.body.block.args, rest, strict=False))
        for op in function.body.block.ops:
            if isinstance(op, ReturnOp):
                results += [values[value] for value in op.operands]
            else:
                block.add_op(op.clone(values))
    return function_module(block, results)


def run_together(cases: Sequence[Case], device: Any) -> None:
    """Check all cases in one program; if that fails, one by one, to see which."""
    try:
        results = iter(run(merged(cases), [a for case in cases for a in case.inputs], device))
        for case in cases:
            case.check([next(results) for _ in case.expected])
    except Exception:
        for case in cases:
            case.check(run(case.source, case.inputs, device))
        raise


def run(source: str | ModuleOp, inputs: Sequence[Array], device: Any) -> tuple[Array, ...]:
    """The results on an OpenCL device; fails if Oclgrind has something to report."""
    before = len(oclgrind.log())
    results = td.compile(source, device=device)(*inputs)
    report = oclgrind.report(before)
    assert not report, f"Oclgrind reports:\n{report[:2000]}"
    return tuple(results) if isinstance(results, tuple) else (results,)
