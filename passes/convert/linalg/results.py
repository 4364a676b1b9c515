"""Replacement of converted ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.base import TileOp
from tiledialect.ir.names import give_name, given_name, with_type
from tiledialect.ir.ops_in import ops_of


def replace(op: Operation, values: Sequence[SSAValue], rewriter: PatternRewriter) -> None:
    """Replace an op's results by values, which take their names, with casts to their types."""
    made: list[SSAValue] = []
    for value, old in zip(values, op.results, strict=True):
        name = given_name(old)
        if name is not None and given_name(value) is None:
            give_name(value, name)
        if value.type != old.type:
            cast = tensor.CastOp.create(operands=[value], result_types=[old.type])
            rewriter.insert(cast, InsertPoint.before(op))
            value = cast.dest
        made.append(value)
    rewriter.replace(op, [], made)


def drop_casts(module: ModuleOp) -> None:
    """Let tile ops and functions take tensors as they are, whose type says more or less of their
    shape than was declared."""
    for cast in ops_of(module, tensor.CastOp):
        users = [use.operation for use in cast.dest.uses]
        if all(isinstance(user, TileOp | func.ReturnOp | tensor.DimOp) for user in users):
            Rewriter.replace_op(cast, [], [cast.source])
    for function in ops_of(module, func.FuncOp):
        returned = function.body.blocks.last and function.body.blocks.last.last_op
        if isinstance(returned, func.ReturnOp):
            _retype(module, function, returned)


def _retype(module: ModuleOp, function: func.FuncOp, returned: func.ReturnOp) -> None:
    """Let a function and its calls have the types that it returns."""
    types = function.function_type
    if types.outputs.data == tuple(returned.operand_types):
        return
    new = FunctionType.from_lists(types.inputs.data, returned.operand_types)
    function.properties["function_type"] = new
    for call in ops_of(module, func.CallOp):
        if call.callee.root_reference.data == function.sym_name.data:
            for result, t in zip(list(call.results), returned.operand_types, strict=True):
                with_type(result, t)
