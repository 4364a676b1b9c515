"""Prepacking: a function is split into ones of its constant inputs alone, kept, and the rest.

Weights that a product reads in another layout, or in another element type, are made once, by
functions of the constants, and given to one of the other inputs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
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
    UnknownLoc,
)
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import PassPipeline
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.api.function import Function
from tiledialect.api.inputs import Types
from tiledialect.api.kept_function import KeptFunction
from tiledialect.api.packing.constant_groups import grouped
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
class KeptFirst:
    """A function of some constants."""

    function: KeptFunction
    constants: tuple[str, ...]
    """The whole function's names of its inputs."""


@dataclass(frozen=True)
class KeptParts:
    """The functions of a packing; none if nothing is constant."""

    firsts: tuple[KeptFirst, ...] = ()
    second: KeptFunction | None = None


@dataclass(frozen=True)
class First:
    """A function of some constants alone. Of alike constants it is the same."""

    text: str
    constants: tuple[str, ...]
    """Names of its inputs in the whole function."""
    function: Function

    def results(self, read: Callable[[str], Any]) -> tuple[Any, ...]:
        """Results; the constants are read by name, and are not held when these are copied."""
        given = self.function(*map(read, self.constants))
        left = [*given] if isinstance(given, tuple) else [given]
        del given
        found = tuple(aligned(left.pop(0)) for _ in range(len(left)))
        _trim()
        # Without an input on the device a call gives arrays of the host.
        if self.constants:
            return found
        from tiledialect.lowering.runtime.call.arrays import placed

        return tuple(placed(self.function.device, array) for array in found)


@dataclass(frozen=True)
class Packing:
    """A function in parts: some of constants alone, and one of their results."""

    firsts: tuple[First, ...]
    """The parts that share no large constant. While one runs, its constants are in memory twice:
    those of most bytes come first, when others need not be in memory yet."""
    inputs: tuple[str, ...]
    """Names of the inputs of the second part that are the whole function's."""
    second: Function
    """The outputs, by these inputs and the results of the first parts."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants that first parts read, each once."""
        return (*dict.fromkeys(name for first in self.firsts for name in first.constants),)

    def arrays(self, values: Mapping[str, Any], kept: Sequence[Any]) -> list[Any]:
        """Inputs of the second part, with the results of the first ones."""
        return [*(values[name] for name in self.inputs), *kept]


class Kept:
    """Results of a first part, which functions of the same constants share."""

    def __init__(self, arrays: Sequence[Any], versions: Sequence[Any] = ()):
        self.arrays = arrays
        self.versions = versions
        """States of the constants, where these may change."""


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
    """The parts of a function for inputs of some types; None if nothing is constant."""
    from tiledialect.lowering.runtime.device.devices import target_system_spec
    from tiledialect.lowering.runtime.program import cache

    if not constants:
        return None
    program = function.program
    given = program.text, program.name, repr(program.transforms), types_text(types)
    described = str(target_system_spec(function.device))
    key = cache.key("packing", *given, described, *sorted(constants))
    parts = cache.kept(KeptParts, key, lambda: _split(function, types, constants))
    if parts.second is None:
        return None

    def made(part: KeptFunction) -> Function:
        # Texts are read if plans are not kept, too.
        return Function(part.source(), part.name, function.device)

    functions = {part: made(part) for part in dict.fromkeys(own.function for own in parts.firsts)}
    firsts = [First(f.function.text, f.constants, functions[f.function]) for f in parts.firsts]
    second = made(parts.second)
    own = [name for name in second.inputs if name in function.inputs]
    return Packing(tuple(firsts), tuple(own), second)


def _split(function: Function, types: Types, constants: Collection[str]) -> KeptParts:
    """The parts, of kernels that are fused; none if nothing is constant."""
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
        return KeptParts()
    whole = find_function(module, function.program.result_name)
    ops = list(whole.body.block.ops)
    known = known_values(whole, constants)
    moved = [op for op in ops if op.results and all(v in known for v in op.results)]
    if not any(isinstance(op, KernelOp) for op in moved):
        return KeptParts()
    places = [
        (ops.index(op), k)
        for op in moved
        for k, result in enumerate(op.results)
        if any(use.operation not in moved for use in result.uses)
    ]
    attributes = {k: v for k, v in module.attributes.items() if k == PRECISION}

    def kept(part: func.FuncOp) -> KeptFunction:
        return KeptFunction.of(ModuleOp([part], attributes))

    groups = grouped(whole, places)
    firsts = [_first(whole, group) for group in groups]
    second = _second(whole, [place for group in groups for place in group])
    return KeptParts(tuple(KeptFirst(kept(part), own) for part, own in firsts), kept(second))


def _first(
    whole: func.FuncOp, places: Sequence[tuple[int, int]]
) -> tuple[func.FuncOp, tuple[str, ...]]:
    """The function of constants that gives the values at these places, and their names.

    Nothing in it tells which constants they are: those of like layers have the same function.
    """
    ops = list(whole.body.block.ops)
    values = [ops[op].results[k] for op, k in places]
    block = Block(arg_types=whole.body.block.arg_types)
    mapped: dict[SSAValue, SSAValue] = dict(zip(whole.body.block.args, block.args, strict=True))
    needed = _needed(values)
    # Of a clone of all ops, for each of many groups, most would be thrown away.
    block.add_ops(op.clone(mapped) for op in ops if op in needed)
    block.add_op(func.ReturnOp(*(mapped[value] for value in values)))
    made = func.FuncOp("constants", whole.function_type, Region(block))
    names = argument_names(whole)
    arguments = zip(made.body.block.args, names, strict=True)
    constants = tuple(name for argument, name in arguments if argument.uses)
    _forget_names(made)
    numbered = iter(range(len(constants)))
    own = [f"Constant{next(numbered)}" if name in constants else name for name in names]
    named = [_named(f"Packed{k}") for k in range(len(places))]
    return _settled(made, own, named), constants


def _needed(values: Sequence[SSAValue]) -> set[Operation]:
    """The ops that values are computed by."""
    found: set[Operation] = set()
    left = list(values)
    while left:
        owner = left.pop().owner
        if isinstance(owner, Operation) and owner not in found:
            found.add(owner)
            left += [value for op in owner.walk() for value in op.operands]
    return found


def _forget_names(function: func.FuncOp) -> None:
    """Take the names and places of all that a function has."""
    for k, op in enumerate(function.walk()):
        op.location = UnknownLoc()
        if isinstance(op, KernelOp):
            op.sym_name = StringAttr(f"pack{k}")
        values = [*op.results, *(v for r in op.regions for b in r.blocks for v in b.args)]
        for value in values:
            value.name_hint = None
            if isinstance(value, BlockArgument):
                value.location = UnknownLoc()


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
