"""Calls of functions that are made with a builder of tile ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.ir.verification import verify

Array = npt.NDArray[Any]
Make = Callable[..., SSAValue | Sequence[SSAValue]]
"""Function of a builder and tensors that inserts ops and gives the results."""


def function_of(make: Make, arrays: Sequence[Array]) -> ModuleOp:
    """The function `f` of inputs like these arrays."""
    types = [TensorType(ELEMENT_TYPES[a.dtype], a.shape) for a in arrays]
    function = func.FuncOp("f", (types, []))
    block = function.body.block
    end = func.ReturnOp()
    block.add_op(end)
    made = make(TensorBuilder(end), *block.args)
    end.operands = [made] if isinstance(made, SSAValue) else list(made)
    function.update_function_type()
    module = ModuleOp([function])
    verify(module)
    return module


def call(make: Make, *arrays: Array) -> tuple[Array, ...]:
    """The results by the reference semantics."""
    return interpret(function_of(make, arrays), "f", list(arrays))


def compare_on(device: td.Device, calls: Sequence[tuple[Make, Sequence[Array]]]) -> None:
    """Compare the results of a device with those of the reference semantics, in one program."""
    arrays = [a for _, given in calls for a in given]

    def whole(b: TensorBuilder, *inputs: SSAValue) -> list[SSAValue]:
        rest, results = list(inputs), list[SSAValue]()
        for make, given in calls:
            made = make(b, *rest[: len(given)])
            rest = rest[len(given) :]
            results += [made] if isinstance(made, SSAValue) else made
        return results

    module = function_of(whole, arrays)
    wanted = interpret(module, "f", arrays)
    got = td.compile(module, device=device)(*arrays)
    for x, y in zip(got if len(wanted) > 1 else [got], wanted, strict=True):
        same(np.asarray(x), y)


def same(got: Array, wanted: Array, units: float = 16) -> None:
    """Compare arrays: reals up to `units` in the last place, as functions and sums differ."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted)
        return
    bits = {"bfloat16": 7, "float16": 10, "float32": 23, "float64": 52}[got.dtype.name]
    np.testing.assert_allclose(
        got.astype("f8"), wanted.astype("f8"), rtol=units * 2.0**-bits, atol=units * 2.0**-bits
    )
