"""Tile functions as PyTorch functions: `loss.backward()` runs the gradients the compiler makes.

PyTorch is not among the requirements of tiledialect; importing this module needs it.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import torch
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from tiledialect import caches
from tiledialect.api.error_boundary import front_door
from tiledialect.api.front_door import compile
from tiledialect.api.function import Function, restored
from tiledialect.api.inputs import MISSING
from tiledialect.api.pickling import Saved
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.records import WRONG, from_json, to_json
from tiledialect.torch.tensors import TORCH_TYPES, Tensor, array_of, tensor_of


class TorchFunction:
    """A Tile function on PyTorch tensors; made by ``td.torch.function``.

    Takes CPU tensors (and whatever else the Tile function takes) in order or by name, and gives a
    tensor, or a tuple of tensors where there are several outputs. Can be an attribute of a
    ``torch.nn.Module``: copied, pickled and saved with it. ``torch.compile`` and ``torch.export``
    keep a call as one operator, ``tiledialect::call``.
    """

    def __init__(self, f: Function):
        self._function = f
        self._program = _text_of(f)
        self.__name__ = f.name
        self.inputs: tuple[str, ...] = f.inputs
        """The inputs' names, in order."""
        self.outputs: tuple[str, ...] = f.outputs
        """The outputs' names, in order."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for these inputs; a TileError if they do not fit or cannot be read."""
        tensors = list(args)
        if named or len(args) != len(self.inputs) or not _all_tensors(args):
            tensors = _tensors(self._function, args, named)
        call = _operator if torch.compiler.is_compiling() else _recorded
        results = call(self._program, tensors)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<TorchFunction of {self._function!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return function, (self._function,)

    def __deepcopy__(self, memo: dict[int, Any]) -> TorchFunction:
        # Nothing of it changes.
        return self

    @property
    def function(self) -> Function:
        """The function on arrays."""
        return self._function

    @property
    def tile(self) -> str:
        """The function as Tile text; a TileError if Tile cannot say it."""
        return self._function.tile

    def explanation(self, *args: Any, **named: Any) -> str:
        """``Function.explanation`` for these inputs, which may be tensors."""
        shaped = [_shape_and_type(v) if isinstance(v, Tensor) else v for v in args]
        by_name = {k: _shape_and_type(v) if isinstance(v, Tensor) else v for k, v in named.items()}
        return self._function.explanation(*shaped, **by_name)


def function(f: Function | str | Path) -> TorchFunction:
    """``f`` on PyTorch tensors, differentiable as often as one likes.

    ``f`` is a function, or a program that ``compile`` takes. On a device that works in the host's
    memory, dense tensors pass without a copy. Backward computes the gradients of those inputs only
    that need one, and the forward values that they take anew.

    Raises:
        TileError: ``f`` is no program.
    """
    return TorchFunction(f if isinstance(f, Function) else compile(f))


# -- one call --------------------------------------------------------------------------------


def _run(program: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    f = _function_of(program)
    result = f(*(array_of(name, t) for name, t in zip(f.inputs, tensors, strict=True)))
    return [tensor_of(a) for a in (result if isinstance(result, tuple) else (result,))]


def _save(ctx: Any, program: str, tensors: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """Keep in PyTorch's ``ctx`` all that backward needs."""
    ctx.program = program
    ctx.save_for_backward(*tensors)
    ctx.outputs = [(t.shape, t.dtype) for t in outputs]


def _input_gradients(
    ctx: Any,
    needed: Sequence[bool],
    cotangents: Sequence[Tensor | None],
    call: Callable[[str, list[Tensor]], Sequence[Tensor]],
) -> list[Tensor | None]:
    """The gradients of the inputs that need one, by a ``call`` that has gradients itself."""
    f = _function_of(ctx.program)
    wrt = tuple(name for name, is_needed in zip(f.inputs, needed, strict=True) if is_needed)
    given = [
        torch.zeros(shape, dtype=dtype) if c is None else c.to(dtype)
        for c, (shape, dtype) in zip(cotangents, ctx.outputs, strict=True)
    ]
    program = _derived(ctx.program, "gradient", wrt)
    results = iter(call(program, [*ctx.saved_tensors, *given]))
    return [next(results) if is_needed else None for is_needed in needed]


def _tangents(ctx: Any, tangents: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The tangents of the outputs, None for integers."""
    f, count = _function_of(ctx.program), len(ctx.outputs)
    if not any(dtype.is_floating_point for _, dtype in ctx.outputs):
        return [None] * count
    given = {n: t for n, t in zip(f.inputs, tangents, strict=True) if t is not None}
    program = _derived(ctx.program, "jvp", tuple(given))
    results = _recorded(program, [*ctx.saved_tensors, *given.values()])[count:]
    reals = _function_of(program)._transforms[-1].reals
    found = dict(zip(reals, results, strict=True))
    return [
        found[name] if dtype.is_floating_point else None
        for name, (_, dtype) in zip(f.outputs, ctx.outputs, strict=True)
    ]


def _batched(program: str, dims: Sequence[int | None]) -> str:
    """Text of a program's function of a batch, at the axes that PyTorch gives."""
    axes = zip(_function_of(program).inputs, dims, strict=True)
    return _derived(program, "vmap", tuple((n, d) for n, d in axes if d is not None))


class _Call(torch.autograd.Function):
    """Record a call as a node of the graph that PyTorch records while it runs."""

    @staticmethod
    def forward(program: str, *tensors: Tensor) -> tuple[Tensor, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return tuple(_run(program, tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        program, *tensors = inputs
        _save(ctx, program, tensors, output)
        ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*(t for t in output if not t.is_floating_point()))

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        needed = ctx.needs_input_grad[1:]
        return None, *_input_gradients(ctx, needed, cotangents, _recorded)

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return tuple(_tangents(ctx, tangents[1:]))

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[int | None], program: str, *tensors: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        results = _recorded(_batched(program, in_dims[1:]), list(tensors))
        return tuple(results), (0,) * len(results)


@front_door
def _recorded(program: str, tensors: list[Tensor]) -> Sequence[Tensor]:
    return _Call.apply(program, *tensors)


# -- one call as an operator of graphs that are compiled or exported ---------------------------


@torch.library.custom_op("tiledialect::call", mutates_args=())
def _operator(program: str, inputs: list[Tensor]) -> list[Tensor]:
    return _run(program, inputs)


@_operator.register_fake
def _shapes(program: str, inputs: list[Tensor]) -> list[Tensor]:
    return [_like(t) for t in _function_of(program).output_types(*map(_shape_and_type, inputs))]


def _save_operator(ctx: Any, inputs: tuple[str, list[Tensor]], output: list[Tensor]) -> None:
    _save(ctx, *inputs, output)


def _backward_of_operator(ctx: Any, cotangents: Sequence[Tensor | None]) -> tuple[Any, ...]:
    return None, _input_gradients(ctx, ctx.needs_input_grad[1], cotangents, _operator)


_operator.register_autograd(_backward_of_operator, setup_context=_save_operator)


@_operator.register_vmap
def _batch_of_operator(
    info: Any, in_dims: tuple[Any, Sequence[int | None]], program: str, inputs: list[Tensor]
) -> tuple[list[Tensor], list[int]]:
    results = _operator(_batched(program, in_dims[1]), inputs)
    return results, [0] * len(results)


# -- programs as texts ---------------------------------------------------------------------------

_functions: WeakValueDictionary[str, Function] = WeakValueDictionary()
"""The functions that are in use in this process, by their texts."""


def _text_of(f: Function) -> str:
    """Text of ``f`` as data, so that an exported graph holds the function that it calls."""
    text = to_json(f.saved())
    _functions[text] = f
    return text


def _function_of(program: str) -> Function:
    """The function of a text, that in use where there is one."""
    return _functions.get(program) or _restored(program)


@caches.RESTORED
def _restored(program: str) -> Function:
    try:
        saved = from_json(Saved, program)
    except WRONG:
        raise TileError(
            "the program of tiledialect::call is not of the form that td.torch.function writes"
        ) from None
    f = restored(saved)
    _functions[program] = f
    return f


_derivations: WeakKeyDictionary[Function, dict[tuple[Any, ...], tuple[Function, str]]] = (
    WeakKeyDictionary()
)


def _derived(program: str, method: str, given: tuple[Any, ...]) -> str:
    """Text of a program's gradient, of its tangents or of its function of a batch.

    Each is made once, and kept with its compiled programs.
    """
    f = _function_of(program)
    known = _derivations.setdefault(f, {})
    if (method, given) not in known:
        made = getattr(f, method)(dict(given) if method == "vmap" else given)
        known[method, given] = made, _text_of(made)
    return known[method, given][1]


# -- tensors ---------------------------------------------------------------------------------


def _all_tensors(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Tensor) for value in values)


@front_door
def _tensors(f: Function, args: Sequence[Any], named: Mapping[str, Any]) -> list[Tensor]:
    """Inputs as tensors: those given, the rest converted from arrays and numbers."""
    from tiledialect.lowering.runtime.call.arrays import as_array

    values = f.bind(args, named)
    if _all_tensors(values):
        return list(values)
    for name, value in zip(f.inputs, values, strict=True):
        if isinstance(value, str):
            as_array(name, value)  # refuses it: a text says a type below
    # Only shapes and types are looked at: tensors under a PyTorch transform cannot be read.
    types = f.types([_shape_and_type(v) if isinstance(v, Tensor) else v for v in values], {})
    return [
        v if isinstance(v, Tensor) else _made(name, v, NUMPY_TYPES[t.element_type])
        for name, v, t in zip(f.inputs, values, types, strict=True)
    ]


def _shape_and_type(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    name = str(tensor.dtype).removeprefix("torch.")
    # Types that NumPy lacks are refused on reading.
    return tuple(map(int, tensor.shape)), name if name in TORCH_TYPES else "float32"


def _like(t: TensorType[Attribute]) -> Tensor:
    """An empty tensor of a type."""
    return torch.empty(t.get_shape(), dtype=TORCH_TYPES[str(NUMPY_TYPES[t.element_type])])


def _made(name: str, value: Any, dtype: np.dtype[Any]) -> Tensor:
    """Convert a value to a tensor; a missing cotangent is 1."""
    from tiledialect.lowering.runtime.call.arrays import as_array

    array = np.ones((), dtype) if value is MISSING else as_array(name, value, dtype)
    host = array if isinstance(array, np.ndarray) else array.get()
    # PyTorch has no tensors that cannot be written.
    return tensor_of(np.require(host, requirements="W"))


__all__: Sequence[str] = ["TorchFunction", "function"]
