"""Modules of nests or kernels that users give, with the host functions that launch them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.discardable import ELEMENT_TYPE, NAME
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.interpreters.nest import Launch, check_steps
from tiledialect.ir.host_functions import declaration, kernel_of
from tiledialect.ir.host_memory import root
from tiledialect.ir.names import give_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import argument_names, find_function, kernels_of
from tiledialect.ir.target_spec import describe
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.host.shape_binding import bind_shapes
from tiledialect.lowering.nest_to_gpu.nest_to_gpu import NEST_OPS
from tiledialect.lowering.opencl.function import access
from tiledialect.lowering.opencl.target import kernel_functions
from tiledialect.lowering.pipeline import lower_nests
from tiledialect.passes.specialize.argument_types import check_arguments


def bound(module: ModuleOp, name: str, types: Sequence[TensorType[Attribute]]) -> ModuleOp:
    """Module for inputs of these types; a TileError if the declared types are others."""
    check_arguments(declaration(find_function(module, name)), types)
    return bind_shapes(module, name, [t.get_shape() for t in types])


def lowered_kernels(
    module: ModuleOp,
    name: str,
    types: Sequence[TensorType[Attribute]],
    target: Attribute | None,
) -> ModuleOp:
    """The module with its nests lowered for a device; kernels stay as they are."""
    module = bound(module, name, types)
    describe(module, target)
    if ops_of(module, *NEST_OPS):
        _check_loops(module)
        lower_nests(Context(), module)
    GpuArenaPass().apply(Context(), module)
    return module


def _check_loops(module: ModuleOp) -> None:
    """Refuse parallel loops that have not a step for each work-group or work-item launched."""
    kernels = kernels_of(module)
    for op in ops_of(module, gpu.LaunchFuncOp):
        grid = [constant_integer(v) for v in (op.gridSizeX, op.gridSizeY, op.gridSizeZ)]
        block = [constant_integer(v) for v in (op.blockSizeX, op.blockSizeY, op.blockSizeZ)]
        match *grid, *block:
            case int(x), int(y), int(z), int(a), int(b), int(c):
                launch = Launch((x, y, z), (a, b, c))
            case _:
                continue  # It is refused where the host's steps are planned.
        for loop in ops_of(kernel_of(op, kernels), ForOp):
            if loop.is_parallel:
                check_steps(loop, launch)


def return_stored(module: ModuleOp, name: str) -> None:
    """Let a host function return the arguments that are stored to, by their names.

    They are copied first: the arrays of a caller stay as they are.
    """
    function = find_function(module, name)
    arguments, attributes = function.body.block.args, function.arg_attrs
    stored, returned = _stored(function), function.body.block.last_op
    assert returned is not None
    given = {root(v) for v in returned.operands}
    for k, (argument, called) in enumerate(zip(arguments, argument_names(function), strict=True)):
        if argument not in stored:
            continue
        copy = _copied(argument, called)
        if argument not in given:
            own = attributes.data[k].data if attributes is not None else {}
            said = {key: own[key] for key in (ELEMENT_TYPE,) if key in own}
            _return(function, returned, copy, {NAME: StringAttr(called), **said})


def _stored(function: func.FuncOp) -> set[SSAValue]:
    """The memory that kernels and copies of a host function write."""
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    kernels = kernels_of(module)
    found: set[SSAValue] = set()
    for op in function.body.block.ops:
        if isinstance(op, gpu.MemcpyOp):
            found.add(root(op.dst))
        elif isinstance(op, gpu.LaunchFuncOp):
            kernel = kernel_of(op, kernels)
            outer = kernel.parent_op()
            assert isinstance(outer, gpu.ModuleOp)
            functions = kernel_functions(outer)
            found |= {
                root(value)
                for value, parameter in zip(op.kernelOperands, kernel.body.block.args, strict=False)
                if isinstance(value.type, MemRefType) and access(parameter, functions).writes
            }
    return found


def _copied(argument: BlockArgument, name: str) -> SSAValue:
    """A copy of an argument, which is used in its place."""
    t = argument.type
    assert isinstance(t, MemRefType)
    axes = [k for k, size in enumerate(t.get_shape()) if size == DYNAMIC_INDEX]
    numbers = [arith.ConstantOp(IntegerAttr(k, IndexType())) for k in axes]
    sizes = [memref.DimOp(argument, number.result) for number in numbers]
    copy = gpu.AllocOp(t, [size.result for size in sizes])
    give_name(copy.result, name)
    argument.replace_uses_with_if(copy.result, lambda use: use.operation not in sizes)
    new: list[Operation] = [*numbers, *sizes, copy, gpu.MemcpyOp(argument, copy.result)]
    Rewriter.insert_op(new, InsertPoint.at_start(argument.block))
    return copy.result


def _return(
    function: func.FuncOp, returned: Operation, value: SSAValue, attributes: dict[str, Attribute]
) -> None:
    """Return a value more."""
    old = function.res_attrs or ArrayAttr([DictionaryAttr({}) for _ in returned.operands])
    function.res_attrs = ArrayAttr([*old, DictionaryAttr(attributes)])
    returned.operands = [*returned.operands, value]
    types = function.function_type
    function.function_type = FunctionType.from_lists([*types.inputs], [*types.outputs, value.type])
