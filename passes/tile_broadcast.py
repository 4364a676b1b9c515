"""tile-broadcast: contractions that only repeat a tensor are left to the ops that take it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ElementwiseOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ops_in import ops_of


def repeats(op: ContractionOp) -> bool:
    """Whether each element of a contraction's result is the one that broadcasting puts there."""
    if len(op.inputs) != 1 or op.constraints.data or op.default is not None or not op.is_static:
        return False
    (source,), (access,), zero = op.inputs, op.accesses, IndexExpr()
    shape, whole = shape_of(tensor_type(source)) or (), shape_of(tensor_type(op.result)) or ()
    names = [e.variable for e in op.output.data if e.names]
    if tensor_type(source).element_type != tensor_type(op.result).element_type:
        return False
    if None in names or len(set(names)) != len(names) or len(shape) != len(whole):
        return False
    places = zip(op.output.data, whole, strict=True)
    if not all(e.names or (e == zero and n == 1) for e, n in places):
        return False
    axes = zip(op.output.data, access.data, whole, shape, strict=True)
    return all((b == zero and m == 1) or (a == b and n == m) for a, b, n, m in axes)


def _broadcasts(use: Use, source: SSAValue) -> bool:
    """Whether an elementwise op that takes the source has the same result without the copies."""
    op = use.operation
    if not isinstance(op, ElementwiseOp):
        return False
    whole = shape_of(tensor_type(op.operands[use.index]))
    others = (v for k, v in enumerate(op.operands) if k != use.index)
    return any(shape_of(tensor_type(v)) == whole for v in others)


@dataclass(frozen=True)
class TileBroadcastPass(ModulePass):
    """Lets elementwise ops broadcast what contractions have repeated along other axes.

    The gradient of a sum is such a contraction: `add(%DS[0, c]) -> [r, c]`. An op with another
    operand of the whole shape takes `%DS` itself, and then needs no kernel of its own.
    """

    name = "tile-broadcast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Give the ops what is repeated."""
        for contraction in ops_of(op, ContractionOp):
            if not repeats(contraction):
                continue
            (source,) = contraction.inputs
            for use in list(contraction.result.uses):
                if _broadcasts(use, source):
                    use.operation.operands[use.index] = source
            if not contraction.result.uses:
                Rewriter.erase_op(contraction)
