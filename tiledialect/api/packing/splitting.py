"""Split of a function into functions of its constants, and the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
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
from tiledialect.api.packing.constant_groups import Place, grouped
from tiledialect.dialects.discardable import PRECISION
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.names import give_name, name_values
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import (
    argument_names,
    find_function,
    named_attributes,
    result_names,
    updated_names,
)
from tiledialect.passes.gradient.tile_gradient import derived_names


@dataclass(frozen=True)
class KeptPacker:
    """A function of some constants."""

    function: KeptFunction
    constants: tuple[str, ...]
    """The whole function's names of its inputs."""


@dataclass(frozen=True)
class KeptParts:
    """The parts of a function; none if nothing is constant."""

    packers: tuple[KeptPacker, ...] = ()
    rest: KeptFunction | None = None


Modules = Mapping[KeptFunction, ModuleOp]
"""The modules of functions that need not be read from their texts."""


def split(
    function: Function, types: Types, constants: Collection[str]
) -> tuple[KeptParts, Modules]:
    """The parts of a function, of kernels that are fused, and their modules."""
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
        return KeptParts(), {}
    whole = find_function(module, function.program.result_name)
    groups = grouped(whole, _packed_places(whole, known_values(whole, constants)))
    if not groups:
        return KeptParts(), {}
    attributes = {k: v for k, v in module.attributes.items() if k == PRECISION}
    modules: dict[KeptFunction, ModuleOp] = {}

    def kept(part: func.FuncOp) -> KeptFunction:
        own = ModuleOp([part], attributes)
        found = KeptFunction.of(own)
        # As where the text is read.
        name_values(own)
        modules[found] = own
        return found

    packers = (_packer(whole, group) for group in groups)
    rest = _rest(whole, [place for group in groups for place in group])
    found = tuple(KeptPacker(kept(own), read) for own, read in packers)
    return KeptParts(found, kept(rest)), modules


def _packed_places(whole: func.FuncOp, known: Collection[SSAValue]) -> list[Place]:
    """Places of the values of constants alone that other ops read; none if no kernel computes such
    a value."""
    ops = list(whole.body.block.ops)
    moved = {op for op in ops if op.results and all(v in known for v in op.results)}
    if not any(isinstance(op, KernelOp) for op in moved):
        return []
    return [
        (place, k)
        for place, op in enumerate(ops)
        if op in moved
        for k, result in enumerate(op.results)
        if any(use.operation not in moved for use in result.uses)
    ]


def _packer(whole: func.FuncOp, places: Sequence[Place]) -> tuple[func.FuncOp, tuple[str, ...]]:
    """The function of constants that gives the values at some places, and the constants' names.

    Nothing in it tells which constants they are: those of like layers have the same function.
    """
    ops = list(whole.body.block.ops)
    values = [ops[op].results[k] for op, k in places]
    needed = _needed(values)
    # Of a clone of all ops, for each of many groups, most would be thrown away.
    own = [op for op in ops if op in needed]
    read = {value for op in own for inner in op.walk() for value in inner.operands}
    names = argument_names(whole)
    constants = {
        argument: name
        for argument, name in zip(whole.body.block.args, names, strict=True)
        if argument in read
    }
    block = Block(arg_types=[argument.type for argument in constants])
    mapped: dict[SSAValue, SSAValue] = dict(zip(constants, block.args, strict=True))
    block.add_ops(op.clone(mapped) for op in own)
    block.add_op(func.ReturnOp(*(mapped[value] for value in values)))
    made = func.FuncOp("constants", whole.function_type, Region(block))
    _forget_names(made)
    numbered = [f"Constant{k}" for k in range(len(constants))]
    packed = [(f"Packed{k}", None) for k in range(len(values))]
    return _settled(made, numbered, packed), tuple(constants.values())


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
    """Remove names and locations from the ops and values of a function."""
    for k, op in enumerate(function.walk()):
        op.location = UnknownLoc()
        if isinstance(op, KernelOp):
            op.sym_name = StringAttr(f"pack{k}")
        values = [*op.results, *(v for r in op.regions for b in r.blocks for v in b.args)]
        for value in values:
            value.name_hint = None
            if isinstance(value, BlockArgument):
                value.location = UnknownLoc()


def _rest(whole: func.FuncOp, places: Sequence[Place]) -> func.FuncOp:
    """The function that takes the values at some places after its other inputs."""
    made = whole.clone()
    block = made.body.block
    ops = list(block.ops)
    inputs, outputs = argument_names(whole), result_names(whole)
    packed = derived_names("Packed", [*map(str, range(len(places)))], [*inputs, *outputs])
    for op, k in places:
        value = ops[op].results[k]
        value.replace_all_uses_with(block.insert_arg(value.type, len(block.args)))
    results = zip(outputs, updated_names(whole), strict=True)
    return _settled(made, [*inputs, *packed], [*results])


def _settled(
    made: func.FuncOp, inputs: Sequence[str], results: Sequence[tuple[str, str | None]]
) -> func.FuncOp:
    """A part without unused ops and inputs, with the names of its inputs, and of its results with
    those of the inputs that they update."""
    region_dce(made.body)
    block = made.body.block
    kept: list[str] = []
    updated = {own for _, own in results}
    for argument, name in zip(list(block.args), inputs, strict=True):
        if argument.uses or name in updated:
            kept.append(name)
            give_name(argument, name)
        else:
            block.erase_arg(argument)
    returned = block.last_op
    assert returned is not None
    for value, (name, _) in zip(returned.operands, results, strict=True):
        if not isinstance(value, BlockArgument):
            give_name(value, name)
    made.arg_attrs = ArrayAttr(map(named_attributes, kept))
    made.res_attrs = ArrayAttr(named_attributes(*own) for own in results)
    types = [v.type for v in returned.operands]
    made.function_type = FunctionType.from_lists(block.arg_types, types)
    return made
