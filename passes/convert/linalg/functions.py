"""Scalars that functions take and return: tensors without axes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IndexType, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.tile import element_types as et
from tiledialect.ir.names import keep_name, with_type
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.convert.linalg.host_loops import element_of, tensor_of, tensors_of


def tensor_signatures(module: ModuleOp) -> None:
    """Let functions that take or return tensors, and scalars, take and return tensors alone."""
    changed = {
        f.sym_name.data
        for f in ops_of(module, func.FuncOp)
        if not f.is_declaration and _is_mixed((*f.function_type.inputs, *f.function_type.outputs))
    }
    for function in ops_of(module, func.FuncOp):
        if function.sym_name.data in changed:
            _change(function)
    for call in ops_of(module, func.CallOp):
        if call.callee.root_reference.data in changed:
            _change_call(call)


def _is_mixed(types: Sequence[Attribute]) -> bool:
    return any(isinstance(t, TensorType) for t in types) and any(_is_scalar(t) for t in types)


def _is_scalar(t: Attribute) -> bool:
    return t in et.CONCRETE.values() or isinstance(t, IndexType)


def _tensor(t: Attribute) -> Attribute:
    return tensor_of(t) if _is_scalar(t) else t


def _change(function: func.FuncOp) -> None:
    types = function.function_type
    block = function.body.block
    first = block.first_op
    assert first is not None
    for argument in list(block.args):
        if _is_scalar(argument.type):
            t = argument.type
            _read(with_type(argument, _tensor(t)), t, InsertPoint.before(first))
    for returned in ops_of(function, func.ReturnOp):
        returned.operands = [_wrapped(v, returned) for v in returned.operands]
    function.properties["function_type"] = FunctionType.from_lists(
        [_tensor(t) for t in types.inputs], [_tensor(t) for t in types.outputs]
    )


def _read(value: SSAValue, t: Attribute, place: InsertPoint) -> None:
    """Let the users of a value that was a scalar of a type take its element."""
    uses = [*value.uses]
    element = element_of(Builder(place), value, t)
    for use in uses:
        use.operation.operands[use.index] = element


def _wrapped(value: SSAValue, before: func.ReturnOp | func.CallOp) -> SSAValue:
    if not _is_scalar(value.type):
        return value
    (made,) = tensors_of(Builder(InsertPoint.before(before)), [value])
    keep_name(made, value)
    return made


def _change_call(call: func.CallOp) -> None:
    call.operands = [_wrapped(v, call) for v in call.operands]
    for result in list(call.results):
        if _is_scalar(result.type):
            t = result.type
            _read(with_type(result, _tensor(t)), t, InsertPoint.after(call))
