"""Tile functions as PyTorch functions: `loss.backward()` runs the gradients the compiler makes.

PyTorch is not among the requirements of tiledialect; importing this module needs it.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from xdsl.dialects.builtin import bf16

from tiledialect.boundary import front_door
from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.front_door import compile
from tiledialect.function import Function
from tiledialect.inputs import MISSING

try:
    import torch
except ImportError:
    raise ImportError("td.torch needs PyTorch: pip install 'tiledialect[torch]'") from None

Tensor = torch.Tensor
BFLOAT16 = NUMPY_TYPES[bf16]


def function(f: Function | str | Path) -> Callable[..., Any]:
    """``f`` on PyTorch tensors, differentiable as often as one likes.

    ``f`` is a function, or a program that ``compile`` takes. The result takes CPU tensors (and
    whatever else the function takes) in order or by name, and gives a tensor, or a tuple of them
    where there are several outputs. On a device that works in the host's memory, dense tensors pass
    without a copy. Backward computes the gradients of those inputs only that need one, and the
    forward values that they take anew.

    Raises:
        TileError: the inputs do not fit ``f``, or are tensors that NumPy cannot see.
    """

    compiled = f if isinstance(f, Function) else compile(f)

    @front_door
    def call(*args: Any, **named: Any) -> Any:
        return _Call.apply(compiled, *_tensors(compiled, args, named))

    call.__name__ = compiled.name
    call.__doc__ = repr(compiled)
    return call


_gradients: WeakKeyDictionary[Function, dict[tuple[str, ...], Function]] = WeakKeyDictionary()


def _gradient(f: Function, wrt: tuple[str, ...]) -> Function:
    """The gradient of ``f``, made once: with it goes what is compiled."""
    known = _gradients.setdefault(f, {})
    if wrt not in known:
        known[wrt] = f.gradient(wrt)
    return known[wrt]


class _Call(torch.autograd.Function):
    """One call of a Tile function, as a node of PyTorch's graph."""

    @staticmethod
    def forward(f: Function, *tensors: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        arrays = [_array(name, t) for name, t in zip(f.inputs, tensors, strict=True)]
        result = f(*arrays)
        outputs = [_tensor(a) for a in (result if len(f.outputs) > 1 else (result,))]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function, *tensors = inputs
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.save_for_backward(*tensors)
        ctx.outputs = [(t.shape, t.dtype) for t in outputs]
        ctx.mark_non_differentiable(*(t for t in outputs if not t.is_floating_point()))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        f: Function = ctx.function
        needed = ctx.needs_input_grad[1:]
        wrt = tuple(name for name, is_needed in zip(f.inputs, needed, strict=True) if is_needed)
        given = [
            torch.zeros(shape, dtype=dtype) if c is None else c.to(dtype)
            for c, (shape, dtype) in zip(cotangents, ctx.outputs, strict=True)
        ]
        # A call like any other, so that gradients have gradients.
        result = _Call.apply(_gradient(f, wrt), *ctx.saved_tensors, *given)
        results = iter(result if len(wrt) > 1 else (result,))
        return None, *(next(results) if is_needed else None for is_needed in needed)


def _tensors(f: Function, args: Sequence[Any], named: Mapping[str, Any]) -> list[Tensor]:
    """The inputs as tensors: those that are given, and ones made of what else ``f`` takes."""
    from tiledialect.lowering.runtime.arrays import as_array

    values = f.bind(args, named)
    if all(isinstance(value, Tensor) for value in values):
        return list(values)
    for name, value in zip(f.inputs, values, strict=True):
        if isinstance(value, str):
            as_array(name, value)  # refuses it: a text says a type below
    # Only shapes and types are looked at: what PyTorch transforms cannot be read.
    types = f.types([_shape_and_type(v) if isinstance(v, Tensor) else v for v in values], {})
    return [
        v if isinstance(v, Tensor) else _made(name, v, NUMPY_TYPES[t.element_type])
        for name, v, t in zip(f.inputs, values, types, strict=True)
    ]


def _shape_and_type(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    name = str(tensor.dtype).removeprefix("torch.")
    # What NumPy does not have is refused when it is read.
    return tuple(tensor.shape), name if name in map(str, NUMPY_TYPES.values()) else "float32"


def _made(name: str, value: Any, dtype: np.dtype[Any]) -> Tensor:
    """A tensor of what is none; of a cotangent that is missing, 1."""
    from tiledialect.lowering.runtime.arrays import as_array

    array = np.ones((), dtype) if value is MISSING else as_array(name, value, dtype)
    host = array if isinstance(array, np.ndarray) else array.get()
    # PyTorch has no tensors that cannot be written.
    return _tensor(np.require(host, requirements="W"))


def _tensor(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor in an array's memory."""
    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(name: str, tensor: Tensor) -> np.ndarray[Any, Any]:
    """A tensor's memory as an array."""
    if tensor.device.type != "cpu":
        raise TileError(f"{name} is on {tensor.device}: move it to the CPU first")
    try:
        plain = tensor.detach().resolve_conj().resolve_neg()
        if plain.dtype == torch.bfloat16:
            return plain.contiguous().view(torch.int16).numpy().view(BFLOAT16)
        return plain.numpy()
    except (TypeError, RuntimeError) as error:
        raise TileError(f"{name} cannot be read as an array: {error}") from None


__all__: Sequence[str] = ["function"]
