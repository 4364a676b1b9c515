"""Sources of the operands of a contraction, where it loads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import BlockArgument, SSAValue

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import Access, IndexExpr


def broadcast_access(value: SSAValue, access: Sequence[IndexExpr]) -> Access:
    """Access of an elementwise op to an operand if it computes the element at an access."""
    own = shape(value)
    aligned = access[len(access) - len(own) :]
    return tuple(IndexExpr() if n == 1 else e for e, n in zip(aligned, own, strict=True))


def sources(value: SSAValue, access: Sequence[IndexExpr]) -> Mapping[BlockArgument, Access] | None:
    """The inputs of which elementwise ops compute the element of a value at an access, and where.

    None for an input itself, and for a value that other elements determine, too, as a
    gather.
    """
    if isinstance(value, BlockArgument):
        return None
    found: dict[BlockArgument, Access] = {}
    pending, seen = [value], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.owner
        if isinstance(value, BlockArgument):
            # Whatever broadcasts it, its axes are the last ones of the element's place.
            found[value] = broadcast_access(value, access)
        elif isinstance(op, ElementwiseOp) and not isinstance(op, IndexOp):
            pending += reversed(op.operands)
        elif not isinstance(op, ConstantOp | IndexOp):
            return None
    return found


def is_loaded(value: SSAValue, op: ContractionOp) -> bool:
    """Whether an input is not a contraction's operand, but some operand is computed of it."""
    if value in op.inputs:
        return False
    found = (sources(v, a.data) for v, a in zip(op.inputs, op.accesses, strict=True))
    return any(own is not None and value in own for own in found)
