"""Prepacking: a function is split into one of its constant inputs alone, kept, and the rest.

Weights that a product reads in another layout, or in another element type, are made once, by a
function of the constants, and given to one of the other inputs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from mmap import ACCESS_COPY, mmap
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import BlockArgument
from xdsl.passes import PassPipeline
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.api.function import Function
from tiledialect.api.inputs import Types
from tiledialect.api.kept_function import KeptFunction
from tiledialect.dialects.discardable import NAME, PRECISION, UPDATES
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.names import give_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import (
    argument_names,
    find_function,
    result_names,
    types_text,
    updated_names,
)
from tiledialect.passes.gradient.tile_gradient import derived_names
from tiledialect.schedule.cost.device import LINE

OWN_PAGES = 1 << 18
"""Bytes from which on a kept array has pages of its own."""


@dataclass(frozen=True)
class KeptParts:
    """The two functions of a packing; none if nothing is constant."""

    parts: tuple[KeptFunction, ...]


@dataclass(frozen=True)
class Packing:
    """A function in two parts."""

    text: str
    """Text of the first part: for other sizes of the other inputs it is often the same."""
    constants: tuple[str, ...]
    """Names of the inputs of the first part."""
    first: Function
    """Function of the constants alone."""
    inputs: tuple[str, ...]
    """Names of the inputs of the second part that are the whole function's."""
    second: Function
    """The outputs, by these inputs and the results of the first part."""

    def results(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Results of the first part."""
        given = self.first(*(values[name] for name in self.constants))
        left = [*given] if isinstance(given, tuple) else [given]
        del given
        # One after the other: all of them twice would be the most memory that a model takes.
        found = tuple(aligned(left.pop(0)) for _ in range(len(left)))
        _trim()
        # Without an input on the device a call gives arrays of the host.
        if self.constants:
            return found
        from tiledialect.lowering.runtime.call.arrays import placed

        return tuple(placed(self.first.device, array) for array in found)

    def arrays(self, values: Mapping[str, Any], kept: Sequence[Any]) -> list[Any]:
        """Inputs of the second part, with the results of the first."""
        return [*(values[name] for name in self.inputs), *kept]


def aligned(array: Any) -> Any:
    """An array of the host at the beginning of a line of the cache: vectors of it are in one each.

    NumPy's own begin anywhere in a line. Large ones have pages of their own, which the system has
    back as soon as they are given up; a heap would keep most of them.
    """
    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        return array
    found = aligned_empty(array.shape, array.dtype)
    found[...] = array
    return found


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array without numbers yet, as ``aligned`` gives it."""
    nbytes = prod(shape) * dtype.itemsize
    size = nbytes + LINE
    memory = mmap(-1, size, access=ACCESS_COPY) if size > OWN_PAGES else bytearray(size)
    room = np.frombuffer(memory, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + nbytes].view(dtype).reshape(shape)


def _trim() -> None:
    """Give the system back what the heap has free, where the C library can: glibc keeps it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def packing_of(function: Function, types: Types, constants: Collection[str]) -> Packing | None:
    """The two parts of a function for inputs of some types; None if nothing is constant."""
    from tiledialect.lowering.runtime.device.devices import target_system_spec
    from tiledialect.lowering.runtime.program import cache

    if not constants:
        return None
    program = function.program
    given = program.text, program.name, repr(program.transforms), types_text(types)
    described = str(target_system_spec(function.device))
    key = cache.key("packing", *given, described, *sorted(constants))
    parts = cache.kept(KeptParts, key, lambda: _split(function, types, constants)).parts
    if not parts:
        return None
    # Texts are read if plans are not kept, too.
    first, second = (Function(part.source(), part.name, function.device) for part in parts)
    own = [name for name in second.inputs if name in function.inputs]
    return Packing(parts[0].text, first.inputs, first, tuple(own), second)


def _split(function: Function, types: Types, constants: Collection[str]) -> KeptParts:
    """The two parts, of kernels that are fused; none if nothing is constant."""
    from tiledialect.lowering.runtime.program.compiling import lowered_with_constants
    from tiledialect.passes.schedule.rewrites.constants import known_values
    from tiledialect.passes.schedule.tile_block_constants import TileBlockConstantsPass
    from tiledialect.passes.schedule.tile_block_layouts import TileBlockLayoutsPass
    from tiledialect.passes.schedule.tile_join_axes import TileJoinAxesPass

    module = lowered_with_constants(function.program, types, function.device, constants)
    names = tuple(constants)
    steps = TileBlockLayoutsPass(names), TileJoinAxesPass(), TileBlockConstantsPass(names)
    PassPipeline(steps).apply(Context(), module)
    if len(ops_of(module, func.FuncOp)) > 1:
        return KeptParts(())
    whole = find_function(module, function.program.result_name)
    ops = list(whole.body.block.ops)
    known = known_values(whole, constants)
    moved = [op for op in ops if op.results and all(v in known for v in op.results)]
    if not any(isinstance(op, KernelOp) for op in moved):
        return KeptParts(())
    places = [
        (ops.index(op), k)
        for op in moved
        for k, result in enumerate(op.results)
        if any(use.operation not in moved for use in result.uses)
    ]
    attributes = {k: v for k, v in module.attributes.items() if k == PRECISION}
    made = _first(whole, places), _second(whole, places)
    return KeptParts(tuple(KeptFunction.of(ModuleOp([part], attributes)) for part in made))


def _first(whole: func.FuncOp, places: Sequence[tuple[int, int]]) -> func.FuncOp:
    """The function of constants that gives the values at these places."""
    made = whole.clone()
    made.sym_name = StringAttr(f"{whole.sym_name.data}_constants")
    ops = list(made.body.block.ops)
    values = [ops[op].results[k] for op, k in places]
    Rewriter.replace_op(ops[-1], func.ReturnOp(*values))
    named = [_named(name) for name in _names(whole, len(places))]
    return _settled(made, argument_names(whole), named)


def _second(whole: func.FuncOp, places: Sequence[tuple[int, int]]) -> func.FuncOp:
    """The function that takes the values at these places after its other inputs."""
    made = whole.clone()
    block = made.body.block
    ops = list(block.ops)
    names = [*argument_names(whole), *_names(whole, len(places))]
    for op, k in places:
        value = ops[op].results[k]
        value.replace_all_uses_with(block.insert_arg(value.type, len(block.args)))
    return _settled(made, names, list(map(_named, result_names(whole), updated_names(whole))))


def _names(whole: func.FuncOp, number: int) -> list[str]:
    """Names of values that one part gives the other."""
    taken = {*argument_names(whole), *result_names(whole)}
    return [*derived_names("Packed", [*map(str, range(number))], [*taken])]


def _named(name: str, updated: str | None = None) -> DictionaryAttr:
    """Attributes of an input or result, which may update an input."""
    entries = {NAME: StringAttr(name)}
    return DictionaryAttr(entries if updated is None else {**entries, UPDATES: StringAttr(updated)})


def _settled(
    made: func.FuncOp, names: Sequence[str], outputs: Sequence[DictionaryAttr]
) -> func.FuncOp:
    """A part without unused ops and inputs, with names."""
    region_dce(made.body)
    block = made.body.block
    kept: list[str] = []
    updated = {own.data.get(UPDATES) for own in outputs}
    for argument, name in zip(list(block.args), names, strict=True):
        if argument.uses or StringAttr(name) in updated:
            kept.append(name)
            give_name(argument, name)
        else:
            block.erase_arg(argument)
    returned = block.last_op
    assert returned is not None
    for value, own in zip(returned.operands, outputs, strict=True):
        name = own.data[NAME]
        if not isinstance(value, BlockArgument) and isinstance(name, StringAttr):
            give_name(value, name.data)
    made.arg_attrs = ArrayAttr([_named(name) for name in kept])
    made.res_attrs = ArrayAttr(outputs)
    types = [v.type for v in returned.operands]
    made.function_type = FunctionType.from_lists(block.arg_types, types)
    return made
