"""Functions run by xDSL's own interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.interpreter import Interpreter
from xdsl.interpreters import arith, builtin, func, linalg, tensor
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.interpreters.utils.ptr import TypedPtr

from tiledialect.ir.signature import find_function

Array = npt.NDArray[Any]


def xdsl_results(module: ModuleOp, name: str, arrays: Sequence[Array]) -> list[Array]:
    """The results of a function on arrays; any error is one of xDSL."""
    interpreter = Interpreter(module)
    for functions in (
        *(builtin.BuiltinFunctions, func.FuncFunctions, arith.ArithFunctions),
        *(linalg.LinalgFunctions, tensor.TensorFunctions),
    ):
        interpreter.register_implementations(functions())
    types = find_function(module, name).function_type.inputs
    inputs = [
        _value(array, isinstance(t, TensorType)) for array, t in zip(arrays, types, strict=True)
    ]
    results = interpreter.call_op(name, tuple(inputs))
    return [
        np.array(r.data, "f8").reshape(r.shape) if isinstance(r, ShapedArray) else np.array(r)
        for r in results
    ]


def _value(array: Array, is_tensor: bool) -> Any:
    """An argument; reals are of 64 bits, which hold all others."""
    if not is_tensor:
        return array.item()
    numbers = array.reshape(-1).tolist()
    make = TypedPtr.new_float64 if array.dtype.kind == "f" else TypedPtr.new_int64
    return ShapedArray(make(numbers), list(array.shape))
