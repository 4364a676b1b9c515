"""tile-outline-parts: functions of what the host runs between its loops and branches."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.ir.control_flow import CONTROL, has_control_flow
from tiledialect.ir.names import keep_name
from tiledialect.ir.ops_in import ops_in, ops_of, outer_operands

CONSTANTS = (arith.ConstantOp, ConstantOp)
"""Ops that each part has for itself."""


class TileOutlinePartsPass(ModulePass):
    """Makes functions of the ops between the loops and branches of a function.

    What is left are `scf` ops around calls, and the conditions, elements of tensors. A part takes
    the tensors that it needs, and returns those that are needed elsewhere; constants are repeated.
    Functions without loops and branches stay as they are.
    """

    name = "tile-outline-parts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outline the parts of every function that has control flow."""
        for function in ops_of(op, func.FuncOp):
            if has_control_flow(function):
                _Outlining(function).run()


class _Outlining:
    def __init__(self, function: func.FuncOp):
        self.function = function
        self.parts: list[func.FuncOp] = []

    def run(self) -> None:
        self._block(self.function.body.block)
        Rewriter.insert_op(self.parts, InsertPoint.after(self.function))

    def _block(self, block: Block) -> None:
        part: list[Operation] = []
        for op in list(block.ops):
            if isinstance(op, CONSTANTS):
                continue
            if not isinstance(op, (*CONTROL, tensor.ExtractOp)) and not op.has_trait(IsTerminator):
                part.append(op)
                continue
            if part:
                self._outline(part, op)
                part = []
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner)

    def _outline(self, ops: Sequence[Operation], before: Operation) -> None:
        """Move ops to a function that is called before another op."""
        inside = {x for op in ops for x in ops_in(op)}
        outer = dict.fromkeys(v for op in ops for v in outer_operands(op) if v.owner not in inside)
        inputs = [v for v in outer if not isinstance(v.owner, CONSTANTS)]
        outputs = [
            r
            for op in ops
            for r in op.results
            if any(use.operation not in inside for use in r.uses)
        ]
        block = Block(arg_types=[v.type for v in inputs])
        replaced: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
        for value, argument in zip(inputs, block.args, strict=True):
            keep_name(argument, value)
        for value in outer:
            if isinstance(value.owner, CONSTANTS):
                copy = value.owner.clone()
                block.add_op(copy)
                replaced[value] = copy.results[0]
        for value, new in replaced.items():
            value.replace_uses_with_if(new, lambda use: use.operation in inside)
        name = f"{self.function.sym_name.data}_part{len(self.parts)}"
        types = [v.type for v in outputs]
        call = func.CallOp(name, inputs, types)
        call.location = ops[0].location
        Rewriter.insert_op(call, InsertPoint.before(before))
        for op in ops:
            op.detach()
            block.add_op(op)
        for value, new in zip(outputs, call.results, strict=True):
            keep_name(new, value)
            value.replace_uses_with_if(new, lambda use: use.operation not in inside)
        block.add_op(func.ReturnOp(*outputs))
        made = func.FuncOp(name, (block.arg_types, types), Region(block))
        made.location = ops[0].location
        self.parts.append(made)
